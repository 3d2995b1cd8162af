"""The words of the search box."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kept_browse._rows import Past, Row
from kept_browse._search import FILTERS, Query

PLAIN = Row("audio.volume", "30", "integer", "user", "How loud it is", True, False, False, False, False, False, None)
NOW = datetime.now(UTC)


def finds(text: str, row: Row) -> bool:
    """Whether a query finds a row, on which both ways to search must agree."""
    query = Query.of(text)
    found = query.finds(row.text, row)
    assert (query.select([row.key], [row.text], {row.key: row}) == [row.key]) is found
    return found


@pytest.mark.parametrize("text", ["volume", "VOLUME", "loud", "30", "audio loud 30", "  loud   volume ", "io.v", ""])
def test_a_key_is_found_by_its_name_its_summary_and_its_value(text: str) -> None:
    assert finds(text, PLAIN)


@pytest.mark.parametrize("text", ["balance", "loud balance", "31", "integer"])
def test_every_word_has_to_be_found(text: str) -> None:
    assert not finds(text, PLAIN)


def test_case_folding_is_independent_of_language() -> None:
    assert finds("STRASSE", replace(PLAIN, value='"Straße"'))


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("@modified", replace(PLAIN, is_modified=True)),
        ("@locked", replace(PLAIN, is_locked=True)),
        ("@shadowed", replace(PLAIN, is_shadowed=True)),
        ("@invalid", replace(PLAIN, is_invalid=True)),
        ("@secret", replace(PLAIN, is_secret=True)),
        ("@recent", replace(PLAIN, past=Past(NOW, None))),
        ("@undeclared", replace(PLAIN, is_declared=False)),
    ],
)
def test_a_filter_finds_matching_keys(name: str, row: Row) -> None:
    assert finds(name, row) and not finds(name, PLAIN)
    assert finds(name.upper(), row) and finds(f"loud {name}", row) and not finds(f"quiet {name}", row)


def test_every_filter_is_tested_here() -> None:
    assert set(FILTERS) == {"@modified", "@locked", "@shadowed", "@invalid", "@secret", "@recent", "@undeclared"}


def test_filters_are_combined() -> None:
    both = replace(PLAIN, is_modified=True, is_locked=True)
    assert finds("@modified @locked", both) and not finds("@modified @locked", replace(both, is_locked=False))


def test_recent_is_within_a_day() -> None:
    assert not finds("@recent", replace(PLAIN, past=Past(NOW - timedelta(days=1, minutes=1), None)))


def test_an_incomplete_filter_finds_everything() -> None:
    assert Query.of("@mod").begun == "@mod" and Query.of("@mod").is_empty and finds("@mod", PLAIN)
    assert Query.of("@").begun == "@"
    assert Query.of("loud @mod").words == ("loud",)


def test_a_word_with_an_at_sign_that_is_not_a_filter_is_searched() -> None:
    assert finds("@home", replace(PLAIN, value='"me@home"')) and not finds("@home", PLAIN)
    assert Query.of("@modifiedx").words == ("@modifiedx",)


def test_markup_and_patterns_are_only_text() -> None:
    assert finds("[red]", replace(PLAIN, value="[red]odd")) and not finds("[red]", PLAIN)
    assert finds(".*", replace(PLAIN, value=".*")) and not finds(".*", PLAIN)


def test_an_unread_key_is_found_by_name_but_passes_no_filter() -> None:
    query = Query.of("volume @modified")
    assert not query.finds("audio.volume", None)
    assert query.select(["audio.volume"], ["audio.volume"], {}) == []
    assert Query.of("volume").select(["audio.volume"], ["audio.volume"], {}) == ["audio.volume"]


@given(st.text())
def test_anything_may_be_typed(text: str) -> None:
    finds(text, PLAIN)
