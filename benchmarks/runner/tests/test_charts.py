"""The contents of the charts and of the README's short table."""

from __future__ import annotations

from pathlib import Path

import pytest
from measured import row

from charts import CHARTS, Bar, Chart, Drawn
from highlights import HIGHLIGHTS, Highlight, lines
from rows import MUTEX

WRITING = Chart("writing", "Writing", [Drawn("C", "Writing, C", "set", ("a page",)), Drawn("Python", "Python", "set")])


def test_the_quickest_comes_first() -> None:
    [group] = WRITING.groups([row(Kept=20, SQLite=30, LMDB=10, floor={"a page": 5})])
    quickest, *others = group.bars
    assert quickest == Bar("a page", "floor", 5)
    assert others == [Bar("LMDB", "rival", 10), Bar("Kept", "Kept", 20), Bar("SQLite", "rival", 30)]


def test_a_floor_that_is_not_asked_for_is_not_shown() -> None:
    [group] = WRITING.groups([row(Kept=20, floor={"nothing": 1}, base={"one thread": 2})])
    assert [bar.name for bar in group.bars] == ["Kept"]


def test_a_dictionary_is_not_a_rival() -> None:
    beside: dict[str, float] = {MUTEX: 10, "UserDefaults": 90}
    measured = row("get", "Reading, Swift", others=beside, Kept=20)
    [group] = Chart("", "", [Drawn("", "Reading, Swift", "get", (MUTEX,))]).groups([measured])
    assert [bar.role for bar in group.bars] == ["floor", "Kept", "rival"]
    line = Highlight("get", "Reading, Swift", "get").line([measured])
    assert line == ["get", "20.0 ns", "UserDefaults, 90.0 ns", "0.22 ×"]


def test_a_row_that_was_not_measured_is_left_out() -> None:
    assert [group.heading for group in WRITING.groups([row(Kept=1)])] == ["C"]
    assert WRITING.groups([row("set, durable", Kept=1)]) == []


def test_the_same_row_of_another_section_is_another_row() -> None:
    assert [group.heading for group in WRITING.groups([row(section="Python", Kept=1)])] == ["Python"]


def test_the_short_table_names_the_best_rival() -> None:
    found = Highlight("a set", "Writing, C", "set").line([row(Kept=20, SQLite=30, LMDB=10)])
    assert found == ["a set", "20.0 ns", "LMDB, 10.0 ns", "2 ×"]


def test_the_short_table_leaves_out_rows_without_a_rival() -> None:
    assert Highlight("a set", "Writing, C", "set").line([row(Kept=20)]) is None
    assert [line[0] for line in lines([])] == ["what"]


SOURCES = "".join(
    file.read_text()
    for pattern in ("*.c", "*.swift", "*.py")
    for file in Path(__file__).parents[2].rglob(pattern)
    if file.parent.name not in ("runner", "tests")
)
DRAWN = [(drawn.section, drawn.row) for chart in CHARTS for drawn in chart.drawn]
SHOWN = [*DRAWN, *((each.section, each.row) for each in HIGHLIGHTS)]


@pytest.mark.parametrize(("section", "name"), dict.fromkeys(SHOWN))
def test_the_charts_show_measured_rows(section: str, name: str) -> None:
    """Renaming a row must not silently remove it from the charts."""
    assert f'"{section}"' in SOURCES or f'\\"{section}\\"' in SOURCES
    # Programs compute the end of a few names: ", p50", the number of keys.
    assert f'"{name}"' in SOURCES or f'"{name.rpartition(", ")[0] or name}' in SOURCES
