"""Plants faults in a copy of the sources: plant.py [--check] TREE SUBSTITUTIONS.

A substitution is the path of a file, the lines that it replaces, each after a minus, and the new lines, each after a
plus. An empty line ends it. The replaced lines must occur once in the file: change the substitution with the code. With
--check nothing is written.
"""

import pathlib
import sys


def plant(tree: str, substitutions: str, writes: bool = True) -> str | None:
    """Replaces the lines. Returns the problem with a substitution."""
    for block in pathlib.Path(substitutions).read_text(encoding="utf-8").rstrip("\n").split("\n\n"):
        name, *lines = block.split("\n")
        old, new = ("".join(f"{line[1:]}\n" for line in lines if line[0] == sign) for sign in "-+")
        path = pathlib.Path(tree, name)
        # The first line, too, is found after a line break.
        text = "\n" + path.read_text(encoding="utf-8")
        if (found := text.count(f"\n{old}")) != 1:
            return f"{substitutions}: these lines of {name} must occur once, and occur {found} times:\n{old}"
        if writes:
            path.write_text(text.replace(f"\n{old}", f"\n{new}")[1:], encoding="utf-8")
    return None


if __name__ == "__main__":
    *options, tree, substitutions = sys.argv[1:]
    sys.exit(plant(tree, substitutions, writes=options != ["--check"]))
