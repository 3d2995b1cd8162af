"""scripts/bench --check: the instructions of Kept's operations, compared with the last accepted counts.

The counts hardly depend on other activity of the machine, so this may run anywhere: a writer may pay for a checkpoint
that a starved thread has not made, so what grew is counted again. They depend on what the library is
built with and runs on, so the file of counts lists that too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import machine
from instructions import BY_HAND, GENERATED, VARIANTS, Counter
from rows import KEPT

TOLERATED = 0.10
GENERATED_LIMIT = 1.05
"""How many times the instructions of code by hand generated code may take."""
Counts = dict[str, float]


@dataclass(frozen=True)
class Accepted:
    """The file benchmarks/guard/instructions.json."""

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


Measures = dict[str, Callable[[], float]]


def measures(counter: Counter) -> Measures:
    """What counts each of them.

    Not a set of JSON: it fills journals so fast that the speed of the machine decides how many checkpoints it pays for.
    """
    return {
        **counter.alone(),
        "set": lambda: counter.operation(KEPT, "set"),
        "set in a transaction of 1,000": lambda: counter.operation(KEPT, "set_together"),
        **{name: partial(counter.operation, *VARIANTS[name]) for name in VARIANTS if "declared" in name},
        "get JSON": lambda: counter.operation("Kept, JSON", "get_integers"),
        "get 20-byte string": lambda: counter.operation(KEPT, "get_texts"),
        "get int64": lambda: counter.operation(KEPT, "get_integers"),
        **{reading: partial(counter.generated, reading) for reading in GENERATED},
    }


def count(measures: Measures, accepted: Counts) -> Counts:
    """All of them, in parallel on all cores; the least of three counts of what grew."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = dict(zip(measures, pool.map(lambda measure: measure(), measures.values())))
    for _ in range(2):
        Counter.operation.cache_clear()
        counted |= {name: min(counted[name], measures[name]()) for name in judge(accepted, counted).grew}
    return counted


def judge(accepted: Counts, counted: Counts) -> Verdict:
    """A line for each measure; only an increase is a failure."""
    names = list(dict.fromkeys([*counted, *accepted]))
    width = max(map(len, names), default=0)
    changes = {name: counted[name] / accepted[name] - 1 for name in names if name in counted and name in accepted}
    lines = [f"{name:{width}}  {_beside(accepted.get(name), counted.get(name))}" for name in names]
    return Verdict(lines, [name for name, change in changes.items() if change > TOLERATED])


def dear(counted: Counts) -> list[str]:
    """The readings of generated code that take more than code by hand may."""
    by_hand = {name: counted[name + BY_HAND] for name in counted if name + BY_HAND in counted}
    return [
        f"{name} takes {counted[name] / count:.2f} times the instructions of code by hand"
        for name, count in by_hand.items()
        if counted[name] > GENERATED_LIMIT * count
    ]


def _beside(accepted: float | None, now: float | None) -> str:
    if now is None:
        return "gone: accept it"
    if accepted is None:
        return f"{now:>9,.0f}  new: accept it"
    change = now / accepted - 1
    word = "" if abs(change) <= TOLERATED else "  grew" if change > 0 else "  shrank: accept it"
    return f"{now:>9,.0f}  {accepted:>9,.0f}  {change:+7.1%}{word}"


def differing(accepted: dict[str, str], here: dict[str, str]) -> list[str]:
    """The versions that differ from those of the accepted counts."""
    return [
        f"{name} {accepted[name]}, here {here.get(name, 'none')}"
        for name in accepted
        if accepted[name] != here.get(name)
    ]


def check(counter: Counter, path: Path, accepting: bool) -> int:
    """Prints what increased or decreased; returns the program's exit status."""
    accepted, here = Accepted.read(path), machine.counted_with()
    counted = count(measures(counter), accepted.instructions)
    verdict = judge(accepted.instructions, counted)
    print("instructions of one, by callgrind: now, accepted, change", *verdict.lines, sep="\n")
    if others := differing(accepted.counted_with, here):
        print("accepted counts are of", "; ".join(others) + ": a change may come from that")
    if costly := dear(counted):
        print(f"more than {GENERATED_LIMIT} times:", *costly, sep="\n")
        return 1
    if accepting:
        Accepted(here, counted).write(path)
        print(f"accepted, in {path.name}")
    elif verdict.grew:
        print(f"grew by more than {TOLERATED:.0%}:", ", ".join(verdict.grew))
        print("if so it must be: scripts/bench --check --accept")
        return 1
    return 0
