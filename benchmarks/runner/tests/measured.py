"""Rows as measuring programs print them, for tests of goals and drawings."""

from __future__ import annotations

from rows import Measured, Row


def row(
    name: str = "set",
    section: str = "Writing, C",
    unit: str = "ns",
    goals: tuple[str, ...] = (),
    *,
    floor: dict[str, float] | None = None,
    base: dict[str, float] | None = None,
    others: dict[str, float] | None = None,
    **candidates: float,
) -> Row:
    """The candidates by name, row(Kept=100, SQLite=200), and others whose names are not identifiers."""
    roles = {"candidate": {**candidates, **(others or {})}, "floor": floor or {}, "base": base or {}}
    measured = [Measured(who, role, [value]) for role, values in roles.items() for who, value in values.items()]
    return Row(section, name, unit, list(goals), measured)
