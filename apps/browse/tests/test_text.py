"""Text in the cells of a terminal: no value acts on the terminal, and each column has its width."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import kept
from kept_browse._text import (
    ago,
    count_text,
    date_text,
    fitted,
    fitted_name,
    many_lines,
    one_line,
    time_text,
    value_text,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(st.text(), st.integers(0, 120))
def test_a_column_has_exactly_its_width(text: str, width: int) -> None:
    assert cell_len(fitted(one_line(text), width)) == width
    assert cell_len(fitted_name(one_line(text), width)) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("ab", 4, "ab  "),
        ("abcd", 4, "abcd"),
        ("abcde", 4, "abc…"),
        ("設定値", 6, "設定値"),
        ("設定値", 5, "設定…"),
        ("設定値", 4, "設… "),
        ("שלום", 6, "שלום  "),
        ("a", 0, ""),
        ("a", -1, ""),
        ("", 2, "  "),
    ],
)
def test_text_that_does_not_fit_ends_with_an_ellipsis(text: str, width: int, shown: str) -> None:
    assert fitted(text, width) == shown


@given(st.text())
def test_one_line_has_no_control_or_direction_characters(text: str) -> None:
    shown = one_line(text)
    assert not [character for character in shown if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(shown) & set(DIRECTIONS)
    assert one_line(shown) == shown


@given(st.text())
def test_many_lines_keep_only_breaks_and_tabs(text: str) -> None:
    shown = many_lines(text)
    assert not [
        character for character in shown
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
    ]  # fmt: skip
    assert not set(shown) & set(DIRECTIONS)
    assert shown.count("\n") == text.count("\n")


def test_escapes_name_the_character() -> None:
    assert one_line("a\nb\tc\rd\x1be\u202ef\x9bg") == "a\\nb\\tc\\rd\\u{1B}e\\u{202E}f\\u{9B}g"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("é\x1b\u202e", '"é\\u001b\\u202e"'),
        (b"\x00\xff", "AP8="),
        ([b"\xff"], '[{"$binary": {"base64": "/w==", "subType": "00"}}]'),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        ({"a": kept.Timestamp(0, 1)}, '{"a": {"$date": "1970-01-01T00:00:00.000000001Z"}}'),
        ([], "[]"),
    ],
)
def test_a_value_is_a_line_of_json(value: kept.JSON, text: str) -> None:
    assert value_text(value) == text


def test_a_line_has_a_limit_however_long_the_value_is() -> None:
    assert len(value_text("x" * 1_000_000)) == 2001 and value_text("x" * 1_000_000).endswith("x…")
    assert len(value_text(b"x" * 1_000_000)) == 2001


def test_a_date_has_all_its_stored_digits() -> None:
    assert date_text(kept.Timestamp(1, 120_000_000)) == "1970-01-01T00:00:01.12Z"


@pytest.mark.parametrize(
    ("past", "text"),
    [
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=4), "now"),
        (timedelta(seconds=59), "59 s"),
        (timedelta(minutes=1), "1 min"),
        (timedelta(hours=1), "1 h"),
        (timedelta(hours=23, minutes=59), "23 h"),
        (timedelta(days=1), "1 d"),
        (timedelta(days=30), "30 d"),
        (timedelta(days=31), "2026-10"),
    ],
)
def test_the_age_of_a_time(past: timedelta, text: str) -> None:
    assert ago(NOW - past, NOW) == text


@given(st.timedeltas(timedelta(0), timedelta(days=300_000)))
def test_an_age_has_at_most_eight_characters(past: timedelta) -> None:
    assert len(ago(NOW - past, NOW)) <= 8


def test_a_time_is_in_the_users_time_zone() -> None:
    assert time_text(NOW) == f"{NOW.astimezone():%Y-%m-%d %H:%M:%S}"


def test_counts_have_a_noun() -> None:
    assert [count_text(number, "key") for number in (0, 1, 12_000)] == ["0 keys", "1 key", "12,000 keys"]
