"""The table of what becomes of acknowledged values: benchmarks/safety says a line of JSON for each of its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]
"""{"safety": what is done to the stores, "cells": {contestant: what became of it}}"""


def read(lines: Iterable[str]) -> list[Row]:
    return [json.loads(line) for line in lines]


def as_text(rows: list[Row]) -> str:
    """A part for each row: side by side, the cells would be too wide."""
    return "\n\n".join("\n".join([row["safety"], *_listed(row["cells"])]) for row in rows)


def _listed(cells: dict[str, str]) -> list[str]:
    width = max(map(len, cells))
    return [f"  {name:{width}}  {cell}" for name, cell in cells.items()]


def as_markdown(rows: list[Row]) -> str:
    if not rows:
        return ""
    names = list(rows[0]["cells"])
    lines = [["Safety", *names], ["---" for _ in ["", *names]]]
    lines += [[row["safety"], *(row["cells"][name] for name in names)] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
