"""The meaning of a goal, and whether a row meets it."""

from __future__ import annotations

import pytest
from measured import row

from goals import judge


@pytest.mark.parametrize(("kept", "verdict"), [(25, "met"), (25.1, "missed")])
def test_a_limit_is_met_up_to_it(kept: float, verdict: str) -> None:
    judged = judge(row(Kept=kept, SQLite=100), "<= 25 ns")
    assert (judged.goal, judged.verdict) == ("≤ 25 ns", verdict)


def test_a_limit_has_a_unit() -> None:
    assert judge(row(Kept=2_999_999), "<= 3 ms").met
    assert not judge(row(Kept=7_000_001, unit="bytes"), "<= 7 MB").met


@pytest.mark.parametrize(("kept", "verdict"), [(150, "met"), (151, "missed")])
def test_a_limit_may_be_a_multiple_of_a_rival(kept: float, verdict: str) -> None:
    judged = judge(row(Kept=kept, SQLite=100, LMDB=1), "<= 1.5 x SQLite")
    assert (judged.ratio, judged.verdict) == ("1.5 × SQLite", verdict)


@pytest.mark.parametrize(("kept", "verdict"), [(25, "met"), (26, "missed")])
def test_a_limit_may_be_a_multiple_of_the_base(kept: float, verdict: str) -> None:
    judged = judge(row(Kept=kept, base={"one thread": 100}), ">= 4 x one thread")
    assert (judged.goal, judged.verdict) == ("≥ 4 × one thread", verdict)


def test_the_ratio_of_a_limit_is_to_the_first_rival() -> None:
    assert judge(row(Kept=50, SQLite=100, LMDB=10), "<= 25 ns").ratio == "0.5 × SQLite"


def test_the_median_of_the_rounds_counts() -> None:
    measured = row(Kept=1)
    measured.kept.rounds[:] = [20, 24, 1000]
    assert judge(measured, "<= 25 ns").met


def test_a_goal_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ValueError, match="about 25 ns"):
        judge(row(Kept=1), "about 25 ns")


def test_a_goal_about_an_unknown_rival_is_an_error() -> None:
    with pytest.raises(LookupError, match="MMKV"):
        judge(row(Kept=1), "<= 1 x MMKV")
