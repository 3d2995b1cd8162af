"""Where the instructions of an operation go: the functions of libkept.so and what they call, by inclusive cost."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from instructions import OPERATIONS, callgrind

COUNT = 5000
FUNCTIONS = 60


def profile(program: Path, folder: Path) -> str:
    return "\n\n".join(f"{name}\n{_of(program, folder, operation)}" for name, operation in OPERATIONS.items())


def _of(program: Path, folder: Path, operation: str) -> str:
    out = folder / f"{operation}.callgrind"
    callgrind(program, folder, operation, COUNT, out)
    annotate = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(out)]
    annotated = subprocess.run(annotate, capture_output=True, text=True, check=True).stdout
    readable = subprocess.run(["swift", "demangle", "--simplified"], input=annotated, capture_output=True, text=True)
    lines = [line for line in readable.stdout.splitlines() if re.match(r" *[\d,]+ \(", line)]
    return "\n".join(lines[:FUNCTIONS])
