"""Explains why a key has its value: the administrator's files, the command line, the environment and the user's value.

    explain_key.py LOCATION FOLDER ENVIRONMENT KEY [-KEY VALUE]...

FOLDER contains the files managed.json and system.json; ENVIRONMENT is the prefix of the variables' names.
"""

from __future__ import annotations

import sys
from pathlib import Path

import kept


def main(location: str, folder: Path, environment: str, command_line: list[str]) -> None:
    key = command_line[0]  # in the place of the program's name
    with kept.open(
        location,
        managed=folder / "managed.json",
        system=folder / "system.json",
        arguments=command_line,
        environment=environment,
    ) as settings:
        print("Python:", str(settings.explain(key)).replace("\n", "\n      "))


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit("usage: explain_key.py LOCATION FOLDER ENVIRONMENT KEY [-KEY VALUE]...")
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
