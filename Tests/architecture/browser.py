"""The modules of the browser import downwards: screens know actions, actions know the session, no module knows the app.

Imports for the type checker and inside functions are checked too. Of the library they import `kept` alone.
"""

import ast
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parents[2] / "apps/browse/src/kept_browse"
LAYERS = {
    "text": "_text _values _similar _plain _terminal _outline _leaving _seen _places _slider _entry",
    "data": "_pending _undoing _rows _search _catalog _passphrase",
    "session": "_session _comparing _importing",
    "dialogs": "_window _ask _check _conflict _row_list _work",
    "editor": "_editor",
    "actions": "_actions",
    "screens": "_overview _help _keys _key_page _pending_screen _import_screen _export_screen _compare_screen",
    "app": "_app",
    "program": "__init__ _screenshot __main__",
}
"""From the bottom to the top."""


def imported(path: pathlib.Path) -> set[str]:
    """What a module imports or names: modules of the browser by their last name, others by all of it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            private = {alias.name for alias in node.names if alias.name.startswith("_")}
            names |= {node.module, *(f"{node.module}.{name}" for name in private)} if node.module else private
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr != "__version__":
            names |= {f"{node.value.id}.{node.attr}"} if node.attr.startswith("_") else set()
    return {name.removeprefix(f"{FOLDER.name}.") for name in names}


def main() -> str | None:
    rank = {name: place for place, names in enumerate(LAYERS.values()) for name in names.split()}
    modules = {path.stem: path for path in FOLDER.glob("*.py")}
    if modules.keys() != rank.keys():
        return f"browser.py and the folder differ: {', '.join(sorted(modules.keys() ^ rank.keys()))}"
    imports = {name: imported(path) for name, path in modules.items()}
    uses = {name: others & rank.keys() for name, others in imports.items()}
    wrong = [f"{name} imports {other}" for name in uses for other in uses[name] if rank[other] > rank[name]]
    # The library's private modules are not for programs.
    wrong += [f"{name} imports {other}" for name in imports for other in imports[name] if other.startswith("kept.")]
    # When modules that import none of the others are removed again and again, a circle is left.
    while free := [name for name in uses if not uses[name]]:
        for name in free:
            del uses[name]
        for others in uses.values():
            others -= set(free)
    if uses:
        wrong.append(f"these import each other: {', '.join(sorted(uses))}")
    return "the browser's imports point upwards, or into the library:\n" + "\n".join(wrong) if wrong else None


if __name__ == "__main__":
    sys.exit(main())
