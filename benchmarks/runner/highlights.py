"""The README's short table: a few rows, each with the best rival."""

from __future__ import annotations

from dataclasses import dataclass

from rows import Row
from table import Line, figure


@dataclass(frozen=True)
class Highlight:
    what: str
    section: str
    row: str

    def line(self, rows: list[Row]) -> Line | None:
        """None if it was not measured, or has no rival."""
        for row in rows:
            if (row.section, row.row) == (self.section, self.row) and row.rivals:
                best = min(row.rivals, key=lambda each: each.median)
                rival = f"{best.name}, {figure(best.median, row.unit)}"
                return [self.what, figure(row.kept.median, row.unit), rival, ratio(row.kept.median / best.median)]
        return None


HIGHLIGHTS = [
    Highlight("C: get a text of 20 bytes, 1,000 keys", "Reading, C", "get 20-byte string, 1,000 keys"),
    Highlight("Swift: get an integer, `settings[.volume]`", "Reading, Swift", "get Int, store[.key]"),
    Highlight("Python: get an integer, `settings[VOLUME]`", "Python", "get by kept.Key, read before"),
    Highlight("C: set, survives `kill -9`", "Writing, C", "set 20-byte string"),
    Highlight("C: set, survives power loss", "Writing, C", "set, durable"),
    Highlight(
        "from a set to another process's callback, median",
        "Notification of changes, C",
        "set to callback in another process, one in 3 ms, p50",
    ),
    Highlight(
        "C: open a store of 100,000 keys, to the first value",
        "Opening and loading",
        "open to first value, 100,000 keys",
    ),
    Highlight(
        "Python: start a program, to the first value", "Starting a program", "a Python program to its first value"
    ),
]


def ratio(value: float) -> str:
    return f"{value:.2g} ×" if value < 10 else f"{value:,.0f} ×"


def lines(rows: list[Row]) -> list[Line]:
    heading = ["what", "Kept", "best rival", "Kept's time ÷ rival's"]
    return [heading, *(line for each in HIGHLIGHTS if (line := each.line(rows)))]
