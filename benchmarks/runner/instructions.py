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
VARIANTS = {
    "get int64, declared": ("Kept, declared integers", "get_integers"),
    "get int64, all layers": ("Kept, user", "get_integers"),
    "set, declared integer with bounds": ("Kept, declared integers", "set"),
    "set, declared string with choices": ("Kept, declared words", "set_words"),
    "set, declared string with a pattern": ("Kept, declared pattern", "set_words"),
    "set, all layers": ("Kept, user", "set"),
}
"""Kept in other circumstances (c/variants.h), beside a plain one that does the same."""
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


def _counted(program: Path, folder: Path, engine: str, operation: str) -> float:
    short, long = (_collected(program, folder, engine, operation, str(count)) for count in (SHORT, LONG))
    return (long - short) / (LONG - SHORT)


def rows(program: Path, folder: Path, only: str) -> list[Row]:
    """A row for each operation whose name has `only` in it."""

    def measured(name: str, role: str, engine: str, operation: str) -> Measured:
        return Measured(name, role, [_counted(program, folder, engine, operation)])

    found = []
    for name, operation in OPERATIONS.items():
        if only in name:
            rivals = [measured(engine, "contestant", engine, operation) for engine in ENGINES]
            found.append(Row(SECTION, name, "instructions", [], rivals))
    for name, (engine, operation) in VARIANTS.items():
        if only in name:
            pair = [measured(KEPT, "contestant", engine, operation), measured("plain", "base", KEPT, operation)]
            found.append(Row(SECTION, name, "instructions", [], pair))
    return found
