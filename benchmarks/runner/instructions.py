"""Counts the instructions of one operation with callgrind: two runs of different length differ by the operations alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from rows import KEPT, Measured, Row

SECTION = "Instructions, by callgrind"
OPERATIONS = {
    "get int64": "get-int64",
    "get 20-byte string": "get-string",
    "set": "set-int64",
}
SHORT, LONG = 200, 1200
"""Of 1,000 keys: the difference asks each of them once."""


def callgrind(program: Path, folder: Path, operation: str, count: int, out: Path = Path("/dev/null")) -> str:
    """Runs the program `operations` under callgrind; what callgrind said."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(program), str(folder), operation]
    return subprocess.run([*command, str(count)], capture_output=True, text=True, check=True).stderr


def _collected(program: Path, folder: Path, operation: str, count: int) -> int:
    said = callgrind(program, folder, operation, count)
    if not (found := re.search(r"Collected : (\d+)", said)):
        raise RuntimeError(f"callgrind told no number of instructions; it said:\n{said}")
    return int(found[1])


def rows(program: Path, folder: Path) -> list[Row]:
    rows = []
    for name, operation in OPERATIONS.items():
        short, long = (_collected(program, folder, operation, count) for count in (SHORT, LONG))
        counted = Measured(KEPT, "contestant", [(long - short) / (LONG - SHORT)])
        rows.append(Row(SECTION, name, "instructions", [], [counted]))
    return rows
