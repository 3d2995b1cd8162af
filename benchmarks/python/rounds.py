"""Fair measuring, as c/rounds.c does it: many short turns, A B C A B C …, of which the median counts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

MILLISECOND = 1_000_000


@dataclass(frozen=True)
class Plan:
    """Reading takes many short turns. Writing takes long ones, so that each has its share of SQLite's checkpoints."""

    rounds: int
    turn_ns: int


FULL = {"reading": Plan(151, 2 * MILLISECOND), "writing": Plan(41, 100 * MILLISECOND)}
QUICK = {"reading": Plan(31, 2 * MILLISECOND), "writing": Plan(9, 100 * MILLISECOND)}


@dataclass(frozen=True)
class Contestant:
    name: str
    loop: Callable[[int], None]
    """Does so many operations."""
    role: str = "contestant"
    """Or "floor", or "base": what a goal compares with, in no column of its own."""

    def turn(self, operations: int) -> int:
        """The nanoseconds that a turn took."""
        began = time.perf_counter_ns()
        self.loop(operations)
        return time.perf_counter_ns() - began

    def calibrated(self, turn_ns: int) -> int:
        """How many operations fill a turn."""
        operations = 1
        # The best of some turns: a single one may have been kept waiting, and would look like many operations.
        while (took := min(self.turn(operations) for _ in range(4))) < turn_ns / 4:
            operations *= 2
        return max(1, operations * turn_ns // took)


@dataclass(frozen=True)
class Row:
    name: str
    goals: list[str]
    contestants: list[Contestant]
    kind: str = "reading"
    section: str = "Python"

    def run(self, plan: Plan) -> None:
        """Measures, and prints a line of JSON for runner/rows.py."""
        operations = [each.calibrated(plan.turn_ns) for each in self.contestants]
        results: list[list[float]] = [[] for _ in self.contestants]
        for _ in range(plan.rounds):
            for contestant, count, result in zip(self.contestants, operations, results):
                result.append(contestant.turn(count) / count)
        self.print(results)

    def print(self, results: list[list[float]]) -> None:
        measured = [
            {"name": each.name, "role": each.role, "rounds": result} for each, result in zip(self.contestants, results)
        ]
        line = {"section": self.section, "row": self.name, "unit": "ns", "goals": self.goals, "measured": measured}
        print(json.dumps(line), flush=True)
