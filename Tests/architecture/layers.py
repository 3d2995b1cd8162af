"""Which folder of the sources uses which, by the names of types, and whether every use points downwards.

    python3 Tests/architecture/layers.py            fails if a use points upwards, or the page differs
    python3 Tests/architecture/layers.py --print    prints the layers as docs/architecture.md shows them

A use is a file that contains the name of a type that another folder declares at the top level. Members without a
type's name are not seen: what the compiler checks between modules, this checks between folders of one module.
"""

import collections
import dataclasses
import pathlib
import re
import sys
from collections.abc import Callable

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]

Use = tuple[str, str]
"""A file, below the folder of its module, and the folder whose type it uses."""


@dataclasses.dataclass
class Module:
    name: str
    layers: list[str]
    """Its folders, from the bottom to the top."""
    closed: dict[str, set[str]]
    """Folders within them, and the only files outside each that may use it."""

    @property
    def folder(self) -> pathlib.Path:
        return ROOT / "Sources" / self.name


def modules() -> list[Module]:
    """Reads layers.txt: a module in a line of its own, its folders in the indented lines below it.

    A line with a colon has a closed folder and the files that may use it.
    """
    found: list[Module] = []
    for line in (HERE / "layers.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        closed, colon, users = line.partition(":")
        if colon:
            found[-1].closed[closed.strip()] = set(users.split())
        elif line[0] == " ":
            found[-1].layers += line.split()
        else:
            found.append(Module(line, [], {}))
    return found


TYPE = re.compile(
    r"^(?:@[\w.]+(?:\([^)]*\))?\s+)*(?P<access>(?:[a-z]+(?:\(set\))? )*)"
    r"(?:struct|class|enum|protocol|actor|typealias) `?(?P<name>[A-Z]\w*)",
    re.M,
)
IMPORT = re.compile(r"^(?:\w+ )?import (Kept\w+)$", re.M)
NESTED = r"^ +.*\b(?:struct|class|enum|protocol|actor|typealias|case) `?([A-Z]\w*)"


def code(source: str) -> str:
    """The source without comments and text."""
    source = re.sub(r'"""(?:.|\n)*?"""', '""', source)
    source = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', source)
    return re.sub(r"//[^\n]*", "", source)


def layer(module: Module, path: pathlib.Path) -> str:
    return path.relative_to(module.folder).parts[0]


def uses(module: Module, layer: Callable[[Module, pathlib.Path], str] = layer) -> dict[Use, set[str]]:
    """The types of other folders that each file of a module uses."""
    sources = {path: code(path.read_text(encoding="utf-8")) for path in sorted(module.folder.rglob("*.swift"))}
    homes: dict[str, set[str]] = collections.defaultdict(set)
    for path, source in sources.items():
        for match in TYPE.finditer(source):
            if "private" not in match["access"].split():
                homes[match["name"]].add(layer(module, path))
    found: dict[Use, set[str]] = collections.defaultdict(set)
    for path, source in sources.items():
        # A nested type hides others of its name.
        nested = set(re.findall(NESTED, source, re.M))
        for name in set(re.findall(r"(?<![\w.])[A-Z]\w*", source)) - nested:
            home = homes.get(name, set())
            # A name that two folders declare tells nothing.
            if len(home) == 1 and layer(module, path) not in home:
                found[str(path.relative_to(module.folder)), next(iter(home))].add(name)
    return found


def upward(module: Module) -> list[str]:
    rank = {name: place for place, name in enumerate(module.layers)}
    lines = []
    for (path, home), names in uses(module).items():
        if rank[home] > rank[path.split("/")[0]]:
            lines += [f"{module.name}/{path} uses {name} of {home}" for name in sorted(names)]
    return lines


def intruding(module: Module) -> list[str]:
    """Files that use a closed folder and may not, or that may and do not."""
    lines = []
    for folder, users in module.closed.items():

        def inside(module: Module, path: pathlib.Path, folder: str = folder) -> str:
            return folder if module.folder / folder in path.parents else ""

        found = uses(module, inside)
        inner = {path: names for (path, home), names in found.items() if home == folder}
        lines += [f"{module.name}/{path} uses {min(inner[path])} of {folder}" for path in sorted(inner.keys() - users)]
        lines += [f"{module.name}/{path} does not use {folder}, as layers.txt says" for path in users - inner.keys()]
    return lines


def unlisted(module: Module) -> list[str]:
    """Folders that layers.txt does not name, or names in vain."""
    present = {path.name for path in module.folder.iterdir() if path.is_dir()}
    return [f"layers.txt and the folders of {module.name} differ: {name}" for name in present ^ set(module.layers)]


def picture() -> str:
    """Each module with those that it imports, and each folder with those of its module that it uses."""
    lines = []
    names = [module.name for module in modules()]
    for module in reversed(modules()):
        used: dict[str, set[str]] = collections.defaultdict(set)
        for path, home in uses(module):
            used[path.split("/")[0]].add(home)
        imports = {name for path in module.folder.rglob("*.swift") for name in IMPORT.findall(path.read_text("utf-8"))}
        lines.append(f"{module.name:<18}{' '.join(name for name in reversed(names) if name in imports)}".rstrip())
        for name in reversed(module.layers):
            below = [other for other in reversed(module.layers) if other in used[name]]
            lines.append(f"  {name:<16}{' '.join(below)}".rstrip())
    return "\n".join(lines)


def main(arguments: list[str]) -> str | None:
    if arguments == ["--print"]:
        print(picture())
        return None
    found = [
        line for module in modules() if module.layers for line in unlisted(module) + upward(module) + intruding(module)
    ]
    if found:
        return "these uses are not what Tests/architecture/layers.txt has:\n" + "\n".join(found)
    if picture() not in (ROOT / "docs/architecture.md").read_text(encoding="utf-8"):
        return "docs/architecture.md shows other layers than Tests/architecture/layers.py --print"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
