"""The start-up cost of a program: from its exec until it has printed the first value. The programs are in starting/,
each a few lines long."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from comparisons import filled
from engines import KEPT_BY_KEY, RIVALS
from names import SHUFFLED
from rounds import Candidate, Kind, Turn

# Like installed packages: with bytecode, which the first of the programs may have to write.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
PROGRAMS = Path(__file__).with_name("starting")
FILES = {
    "Kept": "with_kept.py",
    "sqlite3": "with_sqlite3.py",
    "shelve": "with_shelve.py",
    "JSON file": "with_json.py",
    "diskcache": "with_diskcache.py",
    "py-lmdb": "with_lmdb.py",
}


def started(file: str, folder: Path) -> Turn:
    command = [sys.executable, str(PROGRAMS / file), str(folder), SHUFFLED[0]]

    def turn(operations: int) -> int:
        took = 0
        for _ in range(operations):
            began = time.perf_counter_ns()
            # Leaving the block waits for its end, which is not counted.
            with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT) as program:
                assert program.stdout
                printed = program.stdout.readline()
                took += time.perf_counter_ns() - began
            if not printed.strip().isdigit() or program.returncode:
                raise RuntimeError(f"{file} printed {printed!r} instead of a value")
        return took

    return turn


@dataclass(frozen=True)
class Row:
    section = "Starting a program"
    name: str = "a Python program to its first value"
    goals: list[str] = field(default_factory=list)
    kind: Kind = "starting"

    @contextmanager
    def candidates(self, folder: Path) -> Iterator[list[Candidate]]:
        for name, engine in (KEPT_BY_KEY | RIVALS).items():
            filled(engine, folder / name, 1).close()
        programs = [Candidate(name, started(file, folder / name)) for name, file in FILES.items()]
        yield [*programs, Candidate("python3 alone", started("alone.py", folder), role="base")]
