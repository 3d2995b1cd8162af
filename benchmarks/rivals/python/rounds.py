"""Fair measurements, as in c/rounds.c: many short turns, A B C A B C …, and their median."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

T = TypeVar("T")
Turn = Callable[[int], int]
"""Runs a number of operations, and returns their time in nanoseconds."""

MILLISECOND = 1_000_000


@dataclass(frozen=True)
class Plan:
    """Reading takes many short turns. Writing takes long ones, so that each has its share of SQLite's checkpoints."""

    rounds: int
    turn_ns: int


Kind = Literal["reading", "opening", "writing", "starting"]
FULL: dict[Kind, Plan] = {
    "reading": Plan(151, 2 * MILLISECOND),
    "opening": Plan(41, 10 * MILLISECOND),
    "writing": Plan(41, 100 * MILLISECOND),
    "starting": Plan(41, 1),
}
QUICK: dict[Kind, Plan] = {
    "reading": Plan(31, 2 * MILLISECOND),
    "opening": Plan(15, 10 * MILLISECOND),
    "writing": Plan(9, 100 * MILLISECOND),
    "starting": Plan(9, 1),
}


def timed(work: Callable[[T], object]) -> Callable[[T], int]:
    """The work, which returns its time."""

    def turn(given: T) -> int:
        began = time.perf_counter_ns()
        work(given)
        return time.perf_counter_ns() - began

    return turn


@dataclass(frozen=True)
class Candidate:
    name: str
    turn: Turn
    role: str = "candidate"
    """Or "floor", or "base": what a goal compares with, without a column."""

    def calibrated(self, turn_ns: int) -> int:
        """How many operations fill a turn."""
        operations = 1
        # The best of several turns: a single one may have been delayed, and would count as many operations.
        while (took := min(self.turn(operations) for _ in range(4))) < turn_ns / 4:
            operations *= 2
        return max(1, operations * turn_ns // took)


def measure(candidates: list[Candidate], plan: Plan) -> list[list[float]]:
    """For each candidate the nanoseconds of one operation, in each round."""
    operations = [each.calibrated(plan.turn_ns) for each in candidates]
    results: list[list[float]] = [[] for _ in candidates]
    for _ in range(plan.rounds):
        for candidate, count, result in zip(candidates, operations, results):
            result.append(candidate.turn(count) / count)
    return results


def line(section: str, row: str, goals: list[str], candidates: list[Candidate], results: list[list[float]]) -> str:
    """The line of JSON for runner/rows.py."""
    measured = [{"name": each.name, "role": each.role, "rounds": result} for each, result in zip(candidates, results)]
    return json.dumps({"section": section, "row": row, "unit": "ns", "goals": goals, "measured": measured})
