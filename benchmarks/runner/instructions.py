"""Counts the instructions of one operation with callgrind: two runs of different length differ by that alone."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from rows import KEPT, Measured, Row

SECTION = "Instructions, by callgrind"
ENGINES = [KEPT, "SQLite", "LMDB"]
OPERATIONS = {"get int64": "get_integers", "get 20-byte string": "get_texts", "set": "set"}
"""And the loop of c/engine.h that does it."""
SHORT, LONG = 1000, 5000
"""Of 1,000 keys: the difference asks for each of them four times."""


def callgrind(program: Path, folder: Path, *arguments: str, out: Path = Path("/dev/null")) -> str:
    """Runs the program `operations` under callgrind; what callgrind said."""
    # Only what happens inside `profiled`, and on its thread: the library's own comes and goes with the time of day.
    tool = ["valgrind", "--tool=callgrind", "--toggle-collect=profiled", f"--callgrind-out-file={out}"]
    command = [*tool, str(program), str(folder), *arguments]
    # Swift seeds its hashes anew in every process: two runs would not be alike.
    environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr


def _collected(program: Path, folder: Path, *arguments: str) -> int:
    said = callgrind(program, folder, *arguments)
    if not (found := re.search(r"Collected : (\d+)", said)):
        raise RuntimeError(f"callgrind told no number of instructions; it said:\n{said}")
    return int(found[1])


def _counted(program: Path, folder: Path, engine: str, operation: str) -> Measured:
    short, long = (_collected(program, folder, engine, operation, str(count)) for count in (SHORT, LONG))
    return Measured(engine, "contestant", [(long - short) / (LONG - SHORT)])


def rows(program: Path, folder: Path, only: str) -> list[Row]:
    """A row for each operation whose name has `only` in it."""
    return [
        Row(SECTION, name, "instructions", [], [_counted(program, folder, engine, operation) for engine in ENGINES])
        for name, operation in OPERATIONS.items()
        if only in name
    ]
