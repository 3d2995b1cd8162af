"""Typed text as a value."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import kept
from kept_browse._values import (
    NotAValue,
    bytes_value,
    caret,
    date_value,
    json_text,
    json_value,
    kind_of,
    text_of,
    value_of,
)

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=10)
SCALARS = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | NAMES
    | st.binary(max_size=10)
    | st.datetimes(timezones=st.just(UTC))
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4))


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal and have the same types of numbers."""
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return isinstance(right, dict) and left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return type(left) is type(right) and left == right and str(left) == str(right)


@settings(max_examples=60)
@given(VALUES)
@example({"$date": "no date", "$": [{"$binary": 1}]})
@example(["\x1b\x7f\x9b\u202e\u2028\ufeff", "設定"])
@example([-0.0, 1.0, 1, True, float("inf")])
def test_json_is_read_back_as_the_same_value(value: kept.JSON) -> None:
    with kept.open("memory:") as store:
        store["value"] = value
        stored = store["value"]
    assert same(json_value(json_text(stored)), stored)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
@settings(max_examples=40)
def test_json_for_an_editor_has_nothing_that_acts_on_a_terminal(text: str) -> None:
    written = json_text([text, "\x1b\x7f\x9b\u202e\u2028\ufeff"])
    assert not set(written) & set("\x1b\x7f\x9b\u202e\u2028\ufeff\u200e\u2066")


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ("", 0, "ends where"),
        ("[1,", 3, "ends where"),
        ('{"a": 1,}', 8, "key in double quotes"),
        ('"設定" x', 5, "after the JSON value"),
        ("1 2", 2, "after the JSON value"),
        ('["a"]\n"b"', 6, "after the JSON value"),
        ("}", 0, "expected "),
        ('"\x01"', 1, "control character"),
        ("[1,\n 2,\n x]", 9, "expected "),
        ("1e999", 0, "out of the range"),
        ("99999999999999999999", 0, "64 bits"),
        ("NaN", 0, "NaN"),
        ('"\\ud800"', 1, "surrogate"),
    ],
)
def test_wrong_json_is_refused_with_the_place(text: str, offset: int, words: str) -> None:
    with pytest.raises(NotAValue) as raised:
        json_value(text)
    assert raised.value.offset == offset and words in str(raised.value) and "(at byte" not in str(raised.value)


@pytest.mark.parametrize(
    "text", ["null", '1, "other": 2', '{"$date": "yesterday"}', '{"$binary": 1}', '{"a": {"$foo": 1}}', "[" * 1000]
)
def test_json_that_cannot_be_stored_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(NotAValue) as raised:
        json_value(text)
    assert len(str(raised.value)) > 10


@pytest.mark.parametrize(("text", "value"), [("", b""), ("AP8=", b"\0\xff"), ("AP\n8=\n", b"\0\xff")])
def test_bytes_are_base64(text: str, value: bytes) -> None:
    assert bytes_value(text) == value


@pytest.mark.parametrize("text", ["0", "00 ff", "AP8", "AP9=", "\u0660\u0660\u0660\u0660", "x"])
def test_text_that_is_not_base64_is_refused(text: str) -> None:
    with pytest.raises(NotAValue, match="base64"):
        bytes_value(text)


def test_a_date_may_be_a_day() -> None:
    assert date_value("2026-11-20") == datetime(2026, 11, 20, tzinfo=UTC)
    assert date_value(" 2026-11-20T23:44:01Z ") == datetime(2026, 11, 20, 23, 44, 1, tzinfo=UTC)


def test_a_date_may_have_an_offset_and_is_in_utc_without_one() -> None:
    assert date_value("2026-11-20 23:44") == datetime(2026, 11, 20, 23, 44, tzinfo=UTC)
    assert date_value("2026-11-20T23:44:01+01:00") == datetime(2026, 11, 20, 22, 44, 1, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-02-30", "20/11/2026", '"}, "'])
def test_text_that_is_not_a_date_is_refused(text: str) -> None:
    with pytest.raises(NotAValue, match="date"):
        date_value(text)


@pytest.mark.parametrize(
    ("declaration", "kind"),
    [
        (None, "json"),
        ({}, "json"),
        ({"type": "string", "enum": ["a"]}, "choice"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "integer"}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "string"}, "string"),
        ({"type": "date"}, "date"),
        ({"type": "bytes"}, "bytes"),
        ({"type": "array"}, "json"),
        ({"type": "object"}, "json"),
        ({"type": ["string", "integer"]}, "json"),
    ],
)
def test_the_declaration_decides_how_a_value_is_edited(declaration: dict[str, Any] | None, kind: str) -> None:
    assert kind_of(declaration) == kind


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("string", "a b", "a b"),
        ("string", "", ""),
        ("integer", -3, "-3"),
        ("number", 0.5, "0.5"),
        ("number", 3.0, "3.0"),
        ("number", 9007199254740993, "9007199254740993"),
        ("bytes", b"\0\xff", "AP8="),
        ("date", datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        ("date", kept.Timestamp.of(datetime(2026, 1, 2, tzinfo=UTC)), "2026-01-02T00:00:00Z"),
        ("json", [1, {"a": True}], '[\n  1,\n  {\n    "a": true\n  }\n]'),
    ],
)
def test_an_editor_reads_back_its_own_text(kind: str, value: kept.JSON, text: str) -> None:
    assert text_of(kind, value) == text
    again = value_of(kind, text)
    assert again == value and isinstance(again, int) is isinstance(value, int)


def test_a_date_keeps_all_digits() -> None:
    text = "1970-01-01T00:00:01.000000001Z"
    assert text_of("date", value_of("date", text)) == text


@pytest.mark.parametrize("kind", ["string", "integer", "number", "date", "bytes", "json"])
def test_an_absent_value_is_an_empty_editor(kind: str) -> None:
    assert text_of(kind, None) == ""


@pytest.mark.parametrize("kind", ["integer", "number", "date", "bytes"])
def test_a_stored_value_of_another_type_is_shown_unchanged(kind: str) -> None:
    assert text_of(kind, "text") == '"text"'
    assert text_of(kind, [True]) == "[\n  true\n]"


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("text", ["", "x", "true", '"1"', "[1]", "0x10", "1,5", "1_000", "NaN", "٣"])
def test_text_that_is_not_a_number_is_refused(kind: str, text: str) -> None:
    with pytest.raises(NotAValue):
        value_of(kind, text)


def test_a_whole_number_is_a_number_too() -> None:
    assert type(value_of("number", "3")) is float and type(value_of("integer", "3")) is int


def test_the_caret_is_under_the_wrong_character() -> None:
    assert caret("[1,\n 2,\n x]", 9) == "line 3, column 2\n x]\n ^"
    assert caret("", 0) == "line 1, column 1\n\n^"


def test_the_caret_is_in_view_on_a_long_line() -> None:
    place, line, mark = caret("x" * 500, 300).split("\n")
    assert place == "line 1, column 301" and len(line) <= 70 and len(mark) <= 70


@pytest.mark.parametrize(
    ("text", "before"), [('"設定" x', '"設定" '), ('\t\t"a" x', '\\t\\t"a" '), ('"\u202e" x', '"\\u{202E}" ')]
)
def test_the_caret_counts_displayed_cells(text: str, before: str) -> None:
    _, line, mark = caret(text, text.index("x")).split("\n")
    assert line == f"{before}x" and mark == f"{' ' * cell_len(before)}^"
