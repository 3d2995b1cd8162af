"""Counts the instructions of one operation with callgrind.

The programs say themselves what is to be counted: nothing of a start or of a first time, and one thread alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rows import KEPT, Measured, Row

SECTION = "Instructions, by callgrind"
ENGINES = [KEPT, "SQLite", "LMDB"]
OPERATIONS = {"get int64": "get_integers", "get 20-byte string": "get_texts", "set": "set"}
"""And the loop of c/engine.h that does it."""
VARIANTS = {
    "get int64, declared": ("Kept, declared integers", "get_integers"),
    "get int64, all layers": ("Kept, user", "get_integers"),
    "get JSON": ("Kept, JSON", "get_integers"),
    "set JSON": ("Kept, JSON", "set"),
    "set, declared integer with bounds": ("Kept, declared integers", "set"),
    "set, declared string with choices": ("Kept, declared words", "set_words"),
    "set, declared string with a pattern": ("Kept, declared pattern", "set_words"),
    "set, all layers": ("Kept, user", "set"),
}
"""Kept in other circumstances (c/variants.h), beside a plain one that does the same."""
GETS, SETS = 20_000, 2_000
"""So many that it does not show what the library does once in a while, and a checkpoint is among the sets."""
DELIVERIES = 100
"""Fewer: SQLite looks longer for a page the more often its log has it."""
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Counter:
    """Counts with the programs of one build, which link the library or are told of it."""

    operations: Path
    delivery: Path
    profiled: Path
    library: Path

    def operation(self, folder: Path, engine: str, operation: str) -> float:
        count = GETS if operation.startswith("get") else SETS
        return self._counted(count, str(self.operations), str(folder), engine, operation, str(count))

    def change_heard(self, folder: Path) -> float:
        """From one callback to the next, on the thread that calls."""
        return self._counted(DELIVERIES, str(self.delivery), str(folder), str(DELIVERIES))

    def get_in_python(self, folder: Path) -> float:
        program = ROOT / "benchmarks/guard/python_get.py"
        return self._counted(GETS, sys.executable, str(program), str(folder), str(self.profiled), str(GETS))

    def _counted(self, count: int, *command: str) -> float:
        said = callgrind(*command, library=self.library)
        if not (found := re.search(r"Collected : (\d+)", said)) or found[1] == "0":
            raise RuntimeError(f"callgrind told no number of instructions; it said:\n{said}")
        return int(found[1]) / count


def callgrind(*command: str, library: Path | None = None, out: Path = Path("/dev/null")) -> str:
    """Runs a program under callgrind; what callgrind said."""
    tool = ["valgrind", "--tool=callgrind", "--collect-atstart=no", f"--callgrind-out-file={out}"]
    # Swift and Python seed their hashes anew in every process: two runs would not be alike.
    seeds = {"SWIFT_DETERMINISTIC_HASHING": "1", "PYTHONHASHSEED": "0"}
    kept = {"PYTHONPATH": str(ROOT / "bindings/python/src"), "KEPT_LIBRARY": str(library)}
    ran = subprocess.run([*tool, *command], capture_output=True, text=True, env={**os.environ, **seeds, **kept})
    if ran.returncode:
        raise RuntimeError(f"{' '.join(command)} failed under callgrind:\n{ran.stderr}")
    return ran.stderr


def rows(counter: Counter, folder: Path, only: str) -> list[Row]:
    """A row for each operation whose name has `only` in it."""

    def measured(name: str, role: str, engine: str, operation: str) -> Measured:
        return Measured(name, role, [counter.operation(folder, engine, operation)])

    found = []
    for name, operation in OPERATIONS.items():
        if only in name:
            rivals = [measured(engine, "contestant", engine, operation) for engine in ENGINES]
            found.append(Row(SECTION, name, "instructions", [], rivals))
    for name, (engine, operation) in VARIANTS.items():
        if only in name:
            pair = [measured(KEPT, "contestant", engine, operation), measured("plain", "base", KEPT, operation)]
            found.append(Row(SECTION, name, "instructions", [], pair))
    for name, count in {"get in Python": counter.get_in_python, "a change heard": counter.change_heard}.items():
        if only in name:
            found.append(Row(SECTION, name, "instructions", [], [Measured(KEPT, "contestant", [count(folder)])]))
    return found
