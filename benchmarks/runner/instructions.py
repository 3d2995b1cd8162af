"""Counts the instructions of one operation with callgrind.

The programs mark the counted part: one thread, without start-up and first use.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rows import KEPT, Measured, Row

SECTION = "Instructions, by callgrind"
ENGINES = [KEPT, "SQLite", "LMDB"]
OPERATIONS = {
    "get int64": "get_integers",
    "get 20-byte string": "get_texts",
    "set": "set",
    "set in a transaction of 1,000": "set_together",
}
"""The loop of c/engine.h that performs it."""
VARIANTS = {
    "get int64, declared": ("Kept, declared integers", "get_integers"),
    "get int64, all layers": ("Kept, user", "get_integers"),
    "get JSON": ("Kept, JSON", "get_integers"),
    "set JSON": ("Kept, JSON", "set"),
    "set, declared integer with bounds": ("Kept, declared integers", "set"),
    "set, declared string with choices": ("Kept, declared words", "set_words"),
    "set, declared string with a pattern": ("Kept, declared pattern", "set_words"),
    "set declared keys in a transaction of 1,000": ("Kept, declared integers", "set_together"),
    "set, all layers": ("Kept, user", "set"),
}
"""Variants of Kept (c/variants.h), each with a plain one that does the same."""
GETS, SETS, TOGETHER = 5_000, 1_000, 1_000
"""Enough to spread occasional work of the library."""
KEYS, MANY_KEYS = 1_000, 5_000
"""Of an operation on a whole store. An import of many is planned before it locks."""
DELIVERIES = 100
BY_HAND = " by hand"
GENERATED = [
    f"{kind} in {language}{how}" for kind in ("integer", "choice") for language in ("C", "C++") for how in ("", BY_HAND)
]
"""Readings of guard/generated.cpp, by generated code and by code that does the same."""
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Counter:
    """Counts with the programs of one build, which link the library or are passed its path."""

    operations: Path
    guard: Path
    """The folder of the programs of guard/CMakeLists.txt."""
    face: Path
    """The program of benchmarks/rivals/swift."""
    library: Path
    stores: Path
    """The parent of each count's own folder, so that counts can run in parallel."""

    @cache  # noqa: B019 (one object, which lives as long as the program)
    def operation(self, engine: str, operation: str) -> float:
        count = TOGETHER if operation == "set_together" else GETS if operation.startswith("get") else SETS
        return self._counted(count, lambda folder: [str(self.operations), folder, engine, operation, str(count)])

    def alone(self) -> dict[str, Callable[[], float]]:
        """The counts of Kept alone, by name; the longest begin first."""
        return {
            f"import, each of {MANY_KEYS:,} keys": lambda: self._whole("import", MANY_KEYS),
            f"declare again, each of {KEYS:,} keys": lambda: self._whole("declare_again", KEYS),
            f"list declarations, each of {KEYS:,}": lambda: self._whole("list_declarations", KEYS),
            f"list keys, each of {KEYS:,} declared": lambda: self._whole("list_keys", KEYS),
            "import kept in Python": self.import_in_python,
            "get in Python": self.get_in_python,
            "get 20-byte String in Swift": lambda: self._in_swift("get 20-byte String, store[.key]"),
            "get default in Swift": lambda: self._in_swift("get Int, store[.key], its default"),
            f"export, each of {KEYS:,} keys": lambda: self._whole("export", KEYS),
            f"snapshot, each of {KEYS:,} keys": lambda: self._whole("snapshot", KEYS),
            "first open in a process": self.first_open,
            "a change received": self.change_received,
        }

    def first_open(self) -> float:
        """Until the first value, without loading the library."""
        return self._counted(1, lambda folder: [str(self.guard / "first_open"), folder, str(KEYS)])

    def change_received(self) -> float:
        """From one callback to the next, on the thread that calls."""
        return self._counted(DELIVERIES, lambda folder: [str(self.guard / "delivery"), folder, str(DELIVERIES)])

    def get_in_python(self) -> float:
        program = [sys.executable, str(ROOT / "benchmarks/guard/python_get.py")]
        return self._counted(GETS, lambda folder: [*program, folder, str(self.counting), str(GETS)])

    def import_in_python(self) -> float:
        """The instructions that a program with `import kept` executes beyond one without, from its start to its end."""
        with_kept, alone = (self._program(sys.executable, "-c", code) for code in ("import kept", "pass"))
        return with_kept - alone

    def generated(self, reading: str) -> float:
        return self._counted(GETS, lambda folder: [str(self.guard / "generated"), folder, reading, str(GETS)])

    @property
    def counting(self) -> Path:
        """The preloaded library: guard/profiled.c, guard/chance.c."""
        return self.guard / "libcounting.so"

    @property
    def environment(self) -> dict[str, str]:
        """Random numbers are the same in all runs: they seed the hashes of Kept, Swift and Python."""
        seeds = {"LD_PRELOAD": str(self.counting), "SWIFT_DETERMINISTIC_HASHING": "1", "PYTHONHASHSEED": "0"}
        return {**seeds, "PYTHONPATH": str(ROOT / "bindings/python/src"), "KEPT_LIBRARY": str(self.library)}

    def _whole(self, operation: str, keys: int) -> float:
        return self._counted(keys, lambda folder: [str(self.guard / "whole"), folder, operation, str(keys)])

    def _in_swift(self, row: str) -> float:
        return self._counted(GETS, lambda folder: [str(self.face), folder, "--loop", row, str(GETS)])

    def _counted(self, count: int, command: Callable[[str], list[str]]) -> float:
        with TemporaryDirectory(dir=self.stores) as folder:
            return collected(callgrind(*command(folder), environment=self.environment)) / count

    def _program(self, *command: str) -> int:
        """All of a program. Its first run, which is not counted, writes the bytecode of the modules."""
        with TemporaryDirectory(dir=self.stores) as folder:
            environment = {**self.environment, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
            subprocess.run(command, check=True, env={**os.environ, **environment})
            return collected(callgrind(*command, environment=environment, at_start=True))


def collected(said: str) -> int:
    """The number of instructions in callgrind's output."""
    if not (found := re.search(r"Collected : (\d+)", said)) or found[1] == "0":
        raise RuntimeError(f"callgrind printed no number of instructions; it said:\n{said}")
    return int(found[1])


def callgrind(*command: str, environment: dict[str, str], out: Path = Path("/dev/null"), at_start: bool = False) -> str:
    """Runs a program under callgrind, which counts `at_start` or from a mark on; returns callgrind's output."""
    collect = "yes" if at_start else "no"
    alone = "--child-silent-after-fork=yes"  # a forked process would print a number too
    tool = ["valgrind", "--tool=callgrind", alone, f"--collect-atstart={collect}", f"--callgrind-out-file={out}"]
    ran = subprocess.run([*tool, *command], capture_output=True, text=True, env={**os.environ, **environment})
    if ran.returncode:
        raise RuntimeError(f"{' '.join(command)} failed under callgrind:\n{ran.stderr}")
    return ran.stderr


def rows(counter: Counter, only: str) -> list[Row]:
    """A row for each operation whose name contains `only`, in parallel on all cores."""

    def beside_rivals(operation: str) -> list[Measured]:
        return [Measured(engine, "candidate", [counter.operation(engine, operation)]) for engine in ENGINES]

    def beside_plain(engine: str, operation: str) -> list[Measured]:
        plain = Measured("plain", "base", [counter.operation(KEPT, operation)])
        return [Measured(KEPT, "candidate", [counter.operation(engine, operation)]), plain]

    def by_itself(count: Callable[[], float]) -> list[Measured]:
        return [Measured(KEPT, "candidate", [count()])]

    makers: dict[str, Callable[[], list[Measured]]] = {
        **{name: partial(beside_rivals, operation) for name, operation in OPERATIONS.items()},
        **{name: partial(beside_plain, *variant) for name, variant in VARIANTS.items()},
        **{name: partial(by_itself, count) for name, count in counter.alone().items()},
    }
    names = [name for name in makers if only in name]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = pool.map(lambda name: makers[name](), names)
        return [Row(SECTION, name, "instructions", [], each) for name, each in zip(names, measured)]
