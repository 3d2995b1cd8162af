"""The meaning of a goal, and whether a row meets it.

<= 25 ns            Kept's figure is at most this
<= 1.5 x SQLite     Kept takes at most 1.5 times the time of SQLite in the same row
>= 4 x one thread   Kept is at least 4 times as fast as the base "one thread" in the same row
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rows import Row

UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "MB": 1e6}
SIGNS = {"<=": "≤", ">=": "≥"}


@dataclass(frozen=True)
class Judgement:
    ratio: str
    goal: str
    met: bool

    @property
    def verdict(self) -> str:
        return "met" if self.met else "missed"


def judge(row: Row, goal: str) -> Judgement:
    if found := re.fullmatch(r"(<=|>=) ([\d.]+) x (.+)", goal):
        return _relative(row, found[1], float(found[2]), found[3])
    if found := re.fullmatch(r"<= ([\d.]+) (\w+)", goal):
        limit = float(found[1]) * UNITS[found[2]]
        return Judgement(to_first_rival(row), f"≤ {found[1]} {found[2]}", row.kept.median <= limit)
    raise ValueError(f'the row "{row.row}" has the goal "{goal}"; goals.py says how one is written')


def to_first_rival(row: Row) -> str:
    """The ratio of Kept's time to the first rival's, for rows without a comparing goal."""
    rivals = row.having("candidate")
    return _times(row.kept.median / rivals[0].median, rivals[0].name) if rivals else ""


def _relative(row: Row, sign: str, limit: float, name: str) -> Judgement:
    other, kept = row.named(name).median, row.kept.median
    ratio = kept / other if sign == "<=" else other / kept
    met = ratio <= limit if sign == "<=" else ratio >= limit
    return Judgement(_times(ratio, name), f"{SIGNS[sign]} {limit:g} × {name}", met)


def _times(ratio: float, name: str) -> str:
    return f"{ratio:.2g} × {name}" if ratio < 10 else f"{ratio:,.0f} × {name}"
