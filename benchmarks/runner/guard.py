"""scripts/bench --check: what Kept's operations cost in instructions, beside what they cost when it was last accepted.

Counts do not depend on what else the machine does, so this may run anywhere; they do depend on what the library is
built with and runs on, so the file of counts names that too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import machine
from instructions import Counter
from rows import KEPT

TOLERATED = 0.10
Counts = dict[str, float]


@dataclass(frozen=True)
class Accepted:
    """The file benchmarks/instructions.json."""

    counted_with: dict[str, str]
    instructions: Counts

    @classmethod
    def read(cls, path: Path) -> Accepted:
        return cls(**json.loads(path.read_text())) if path.exists() else cls({}, {})

    def write(self, path: Path) -> None:
        rounded = {name: round(count) for name, count in self.instructions.items()}
        path.write_text(json.dumps({"counted_with": self.counted_with, "instructions": rounded}, indent=2) + "\n")


@dataclass(frozen=True)
class Verdict:
    lines: list[str]
    grew: list[str]


def count(counter: Counter, folder: Path) -> Counts:
    """All of them, as many at a time as there are cores; those that take longest begin first."""
    measures: dict[str, Callable[[Path], float]] = {
        "get in Python": counter.get_in_python,
        "set JSON": lambda own: counter.operation(own, "Kept, JSON", "set"),
        "set": lambda own: counter.operation(own, KEPT, "set"),
        "get JSON": lambda own: counter.operation(own, "Kept, JSON", "get_integers"),
        "get 20-byte string": lambda own: counter.operation(own, KEPT, "get_texts"),
        "get int64": lambda own: counter.operation(own, KEPT, "get_integers"),
        "a change heard": counter.change_heard,
    }

    def in_own_folder(measure: Callable[[Path], float]) -> float:
        with TemporaryDirectory(dir=folder) as own:
            return measure(Path(own))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(measures, pool.map(in_own_folder, measures.values())))


def judge(accepted: Counts, counted: Counts) -> Verdict:
    """A line for each measure; what has no accepted count is new, and no failure."""
    width = max(map(len, counted), default=0)
    lines, grew = [], []
    for name, now in counted.items():
        line = f"{name:{width}}  {now:>9,.0f}"
        if name in accepted:
            change = now / accepted[name] - 1
            line += f"  {accepted[name]:>9,.0f}  {change:+7.1%}"
            if abs(change) > TOLERATED:
                line += "  grew" if change > 0 else "  shrank: accept it"
            if change > TOLERATED:
                grew.append(name)
        else:
            line += "  new: accept it"
        lines.append(line)
    return Verdict(lines, grew)


def differing(accepted: dict[str, str], here: dict[str, str]) -> list[str]:
    """What the accepted counts were counted with that is another here."""
    return [f"{name} {accepted[name]}, here {here.get(name, 'none')}" for name in accepted
            if accepted[name] != here.get(name)]


def check(counter: Counter, folder: Path, path: Path, accepting: bool) -> int:
    """Prints what grew or shrank; the program's exit status."""
    accepted, counted, here = Accepted.read(path), count(counter, folder), machine.counted_with()
    verdict = judge(accepted.instructions, counted)
    print("instructions of one, by callgrind: now, accepted, change", *verdict.lines, sep="\n")
    if others := differing(accepted.counted_with, here):
        print("accepted counts are of", "; ".join(others) + ": a change may come from that")
    if accepting:
        Accepted(here, counted).write(path)
        print(f"accepted, in {path.name}")
    elif verdict.grew:
        print(f"by more than {TOLERATED:.0%}: {', '.join(verdict.grew)}. If so it must be:", "scripts/bench --check --accept")
        return 1
    return 0
