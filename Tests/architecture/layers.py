"""Which folder of the sources uses which, by the names of types, and whether every use points downwards.

    python3 Tests/architecture/layers.py            fails if a use points upwards that upward-uses.txt does not list
    python3 Tests/architecture/layers.py --print    prints the layers as docs/architecture.md shows them
    python3 Tests/architecture/layers.py --accept   rewrites upward-uses.txt; it may only become shorter

A use is a file in which the name of a type appears that another folder declares at the top level. Members without a
type's name are not seen: what the compiler checks between modules, this checks between folders of one module.
"""

import collections
import dataclasses
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]

Use = tuple[str, str]
"""A file, below the folder of its module, and the folder whose type it uses."""


@dataclasses.dataclass
class Module:
    name: str
    layers: list[str]
    """Its folders, from the bottom to the top."""

    @property
    def folder(self) -> pathlib.Path:
        return ROOT / "Sources" / self.name


def modules() -> list[Module]:
    """Reads layers.txt: a module in a line of its own, its folders in the indented lines below it."""
    found: list[Module] = []
    for line in (HERE / "layers.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line[0] == " ":
            found[-1].layers += line.split()
        else:
            found.append(Module(line, []))
    return found


TYPE = re.compile(
    r"^(?:@[\w.]+(?:\([^)]*\))?\s+)*(?P<access>(?:[a-z]+(?:\(set\))? )*)"
    r"(?:struct|class|enum|protocol|actor|typealias) `?(?P<name>[A-Z]\w*)",
    re.M,
)
NESTED = r"^ +.*\b(?:struct|class|enum|protocol|actor|typealias|case) `?([A-Z]\w*)"


def code(source: str) -> str:
    """The source without comments and text."""
    source = re.sub(r'"""(?:.|\n)*?"""', '""', source)
    source = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', source)
    return re.sub(r"//[^\n]*", "", source)


def layer(module: Module, path: pathlib.Path) -> str:
    return path.relative_to(module.folder).parts[0]


def uses(module: Module) -> dict[Use, set[str]]:
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


def unlisted(module: Module) -> list[str]:
    """Folders that layers.txt does not name, or names in vain."""
    present = {path.name for path in module.folder.iterdir() if path.is_dir()}
    return [f"layers.txt and the folders of {module.name} differ: {name}" for name in present ^ set(module.layers)]


def picture() -> str:
    """Each layer, from the top to the bottom, with the layers of its module that it uses."""
    lines = []
    for module in reversed(modules()):
        used: dict[str, set[str]] = collections.defaultdict(set)
        for path, home in uses(module):
            used[path.split("/")[0]].add(home)
        lines.append(module.name)
        for name in reversed(module.layers):
            below = [other for other in reversed(module.layers) if other in used[name]]
            lines.append(f"  {name:<14}{' '.join(below)}".rstrip())
    return "\n".join(lines)


def main(arguments: list[str]) -> str | None:
    if arguments == ["--print"]:
        print(picture())
        return None
    accepted = HERE / "upward-uses.txt"
    known = accepted.read_text(encoding="utf-8").splitlines() if accepted.exists() else []
    found = sorted(line for module in modules() for line in upward(module))
    added = sorted(set(found) - set(known)) + [line for module in modules() for line in unlisted(module)]
    if added and (known or arguments != ["--accept"]):
        return "these uses point upwards; Tests/architecture/layers.txt has the layers:\n" + "\n".join(added)
    if found != known:
        if arguments != ["--accept"]:
            return "fewer uses point upwards than upward-uses.txt lists: run Tests/architecture/layers.py --accept"
        accepted.write_text("".join(line + "\n" for line in found), encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
