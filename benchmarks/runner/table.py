"""The table: a part for each section, with a column for each rival that the section has."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from goals import Judgement, judge, to_first_rival
from rows import KEPT, Measured, Row

Line = list[str]
Part = list[Line]
"""Its heading first."""
SCALES = {
    "ns": [(1, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")],
    "bytes": [(1, "B"), (1e3, "kB"), (1e6, "MB")],
}


def figure(value: float, unit: str) -> str:
    """Three digits and a unit; a number without a unit completely."""
    if not (scales := SCALES.get(unit)):
        return f"{value:,.0f}"
    scale, name = max((each for each in scales if value >= each[0]), default=scales[0])
    scaled = value / scale
    return f"{scaled:.0f} {name}" if scaled >= 99.95 else f"{scaled:#.3g} {name}"


def sections(rows: list[Row]) -> list[Part]:
    names = dict.fromkeys(row.section for row in rows)
    return [_section(name, [row for row in rows if row.section == name]) for name in names]


def _section(name: str, rows: list[Row]) -> Part:
    rivals = list(dict.fromkeys(rival.name for row in rows for rival in row.having("candidate")))
    heading = [name, KEPT, *rivals, "Floor or base", "Ratio", "Goal", "Result"]
    return [heading] + [line for row in rows for line in _lines(row, rivals)]


def _lines(row: Row, rivals: list[str]) -> list[Line]:
    """A line for the row with its first goal, and one for each further goal."""
    first = _figures(row, rivals)
    if not row.goals:
        return [[*first, to_first_rival(row), "", ""]]
    further = [""] * len(first)
    judged = [_judged(judge(row, goal)) for goal in row.goals]
    return [figures + judgement for figures, judgement in zip_longest([first], judged, fillvalue=further)]


def _figures(row: Row, rivals: list[str]) -> Line:
    by_name = {each.name: figure(each.median, row.unit) for each in row.measured}
    others = [_named(each, row.unit) for each in row.having("floor") + row.having("base")]
    return [row.row, by_name[KEPT], *(by_name.get(rival, "") for rival in rivals), ", ".join(others)]


def _named(measured: Measured, unit: str) -> str:
    return f"{figure(measured.median, unit)} ({measured.name})"


def _judged(judgement: Judgement) -> Line:
    return [judgement.ratio, judgement.goal, judgement.verdict]


def in_words(seen: dict[str, Any]) -> str:
    """The conditions of the figures."""
    versions = ", ".join(f"{name} {version}" for name, version in seen["versions"].items())
    return (
        f"`{seen['command']}` on {seen['date']}, {seen['processor']}, {seen['cores']} cores; other programs "
        f"used {seen['used by other programs']} of them.\n{versions}."
    )


def as_text(parts: list[Part]) -> str:
    return "\n\n".join("\n".join(_aligned(part)) for part in parts)


def as_markdown(parts: list[Part]) -> str:
    return "\n\n".join("\n".join(_piped(part)) for part in parts)


def _aligned(lines: Part) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines)]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths)] for line in lines]
    padded.insert(1, ["-" * width for width in widths])
    return ["  ".join(line).rstrip() for line in padded]


def _piped(lines: Part) -> list[str]:
    rule = ["---" for _ in lines[0]]
    return ["| " + " | ".join(line) + " |" for line in [lines[0], rule, *lines[1:]]]
