"""The output of benchmarks/rivals/safety: for each of its rows a line of JSON with a text for each candidate."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Safety:
    safety: str
    """The treatment of the stores."""
    cells: dict[str, str]
    """The result of each candidate."""


def read(lines: Iterable[str]) -> list[Safety]:
    return [Safety(**json.loads(line)) for line in lines]


def as_text(tests: list[Safety]) -> str:
    """A part for each row: side by side, the cells would be too wide."""
    return "\n\n".join("\n".join([test.safety, *_listed(test.cells)]) for test in tests)


def _listed(cells: dict[str, str]) -> list[str]:
    width = max(map(len, cells))
    return [f"  {name:{width}}  {cell}" for name, cell in cells.items()]


def as_lines(tests: list[Safety]) -> list[list[list[str]]]:
    """One table, or none: a line for each candidate, since there are more of them than tests."""
    heading = ["Safety", *(test.safety for test in tests)]
    names = dict.fromkeys(name for test in tests for name in test.cells)
    return [[heading, *([name, *(test.cells.get(name, "") for test in tests)] for name in names)]] if tests else []
