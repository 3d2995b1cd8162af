"""The cells of the table."""

from __future__ import annotations

import pytest
from measured import row

import safety
import table
from safety import Safety


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8.04, "ns", "8.04 ns"),
        (99.96, "ns", "100 ns"),
        (1040, "ns", "1.04 µs"),
        (2.5e6, "ns", "2.50 ms"),
        (3.2e9, "ns", "3.20 s"),
        (578, "bytes", "578 B"),
        (6_900_000, "bytes", "6.90 MB"),
        (44573.2, "instructions", "44,573"),
        (0, "count", "0"),
    ],
)
def test_a_figure_has_three_digits_and_a_unit(value: float, unit: str, text: str) -> None:
    assert table.figure(value, unit) == text


def test_a_rival_that_cannot_do_a_row_leaves_its_cell_empty() -> None:
    [part] = table.sections([row("set", Kept=1, SQLite=2), row("set, durable", Kept=3, LMDB=4)])
    assert part[0][:4] == ["Writing, C", "Kept", "SQLite", "LMDB"]
    assert part[1][:4] == ["set", "1.00 ns", "2.00 ns", ""]
    assert part[2][:4] == ["set, durable", "3.00 ns", "", "4.00 ns"]


def test_each_further_goal_has_a_line() -> None:
    [part] = table.sections([row(goals=("<= 25 ns", "<= 1 x LMDB"), Kept=30, LMDB=60)])
    assert [line[0] for line in part[1:]] == ["set", ""]
    assert [line[-2:] for line in part[1:]] == [["≤ 25 ns", "missed"], ["≤ 1 × LMDB", "met"]]


def test_floor_and_base_share_a_column() -> None:
    [part] = table.sections([row(Kept=30, floor={"a page": 10}, base={"one thread": 20})])
    assert part[1][2] == "10.0 ns (a page), 20.0 ns (one thread)"


def test_each_section_is_a_separate_part() -> None:
    parts = table.sections([row(section="Reading, C", Kept=1), row(Kept=1), row(section="Reading, C", Kept=2)])
    assert [len(part) for part in parts] == [3, 2]


def test_markdown_has_a_rule_below_the_heading() -> None:
    assert table.as_markdown([[["what", "Kept"], ["set", "1 ns"]]]) == "| what | Kept |\n| --- | --- |\n| set | 1 ns |"


def test_safety_has_a_line_for_each_candidate() -> None:
    tests = [
        Safety("kill -9", {"Kept": "none lost", "shelve": "all lost"}),
        Safety("a full disk", {"Kept": "reported"}),
    ]
    [part] = safety.as_lines(tests)
    assert part == [["Safety", "kill -9", "a full disk"], ["Kept", "none lost", "reported"], ["shelve", "all lost", ""]]


def test_without_a_test_of_safety_there_is_no_table() -> None:
    assert safety.as_lines([]) == [] and safety.as_text([]) == ""
