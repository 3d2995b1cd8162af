"""The output of the measuring programs: a line of JSON for each row."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

KEPT = "Kept"
MUTEX = "Dictionary behind a Mutex"
"""In Swift: a solution that shares and stores nothing, and so is not a rival."""


@dataclass(frozen=True)
class Measured:
    """One candidate in one row, with each round's figure for one operation."""

    name: str
    role: str
    """"candidate", "floor", or "base": what a goal compares with, without a column."""
    rounds: list[float]

    @property
    def median(self) -> float:
        return median(self.rounds)


@dataclass(frozen=True)
class Row:
    section: str
    row: str
    unit: str
    """"ns", "bytes", "instructions" or "count"."""
    goals: list[str]
    measured: list[Measured]

    def named(self, name: str) -> Measured:
        for each in self.measured:
            if each.name == name:
                return each
        raise LookupError(f'the row "{self.row}" has no "{name}"; it has {[each.name for each in self.measured]}')

    @property
    def kept(self) -> Measured:
        return self.named(KEPT)

    def having(self, role: str) -> list[Measured]:
        """All except Kept."""
        return [each for each in self.measured if each.role == role and each.name != KEPT]

    @property
    def rivals(self) -> list[Measured]:
        """Those that store their values."""
        return [each for each in self.having("candidate") if each.name != MUTEX]

    def as_json(self) -> dict[str, Any]:
        medians = {each.name: each.median for each in self.measured}
        return {**asdict(self), "medians": medians}


def read(lines: Iterable[str]) -> list[Row]:
    rows = []
    for line in lines:
        read = json.loads(line)
        read["measured"] = [Measured(**each) for each in read["measured"]]
        rows.append(Row(**read))
    return rows
