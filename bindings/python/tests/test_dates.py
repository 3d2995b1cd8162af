"""`kept.datetime_ns` is a datetime in everything, and keeps its nanoseconds."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kept
from values import dates

UTC = UTC
PRECISE = kept.datetime_ns(2026, 11, 20, 23, 44, 1, 250_000, UTC, nanosecond=7)
PLAIN = datetime(2026, 11, 20, 23, 44, 1, 250_000, UTC)


def test_it_is_a_datetime() -> None:
    assert isinstance(PRECISE, datetime)
    assert (PRECISE.year, PRECISE.microsecond, PRECISE.nanosecond) == (2026, 250_000, 7)


@pytest.mark.parametrize("nanosecond", [-1, 1000, 10**9])
def test_invalid_nanoseconds_are_refused(nanosecond: int) -> None:
    with pytest.raises(kept.InvalidError, match="must be 0 to 999"):
        kept.datetime_ns(2026, 1, 1, nanosecond=nanosecond)


def test_it_differs_from_a_datetime_by_its_nanoseconds() -> None:
    assert PRECISE != PLAIN and PLAIN != PRECISE
    assert PLAIN < PRECISE and PRECISE > PLAIN and not PRECISE < PLAIN
    assert PLAIN <= PRECISE and PRECISE >= PLAIN and not PRECISE <= PLAIN
    assert PRECISE == kept.datetime_ns.of(PLAIN, 7) != kept.datetime_ns.of(PLAIN, 8)
    assert PRECISE != "no date"


def test_without_nanoseconds_it_equals_a_datetime() -> None:
    zero = kept.datetime_ns.of(PLAIN, 0)
    assert zero == PLAIN and PLAIN == zero and hash(zero) == hash(PLAIN)


def test_equal_in_orderof_two_zones_are_equal() -> None:
    east = PRECISE.astimezone(timezone(timedelta(hours=3)))
    assert east == PRECISE and hash(east) == hash(PRECISE) and east.nanosecond == 7 and east.hour == 2


def test_it_is_ordered_only_with_dates() -> None:
    with pytest.raises(TypeError):
        PRECISE < 5  # type: ignore[operator]
    with pytest.raises(TypeError):
        PRECISE < datetime(2026, 1, 1)


def test_it_prints_nine_digits() -> None:
    assert PRECISE.isoformat() == "2026-11-20T23:44:01.250000007+00:00"
    assert str(PRECISE) == "2026-11-20 23:44:01.250000007+00:00"
    assert PRECISE.isoformat(timespec="milliseconds") == "2026-11-20T23:44:01.250+00:00"
    assert eval(repr(PRECISE), {"kept": kept, "datetime": __import__("datetime")}) == PRECISE


def test_replacing_and_adding_keep_the_nanoseconds() -> None:
    assert PRECISE.replace(year=2027).nanosecond == 7
    assert PRECISE.replace(nanosecond=0) == PLAIN
    later: kept.datetime_ns = PRECISE + timedelta(seconds=1)
    assert later.nanosecond == 7 and later.second == 2
    assert timedelta(seconds=1) + PRECISE == later
    assert later - timedelta(seconds=1) == PRECISE
    assert later - PRECISE == timedelta(seconds=1) == later - PLAIN == later.replace(nanosecond=0) - PLAIN
    assert PLAIN - PRECISE == timedelta(0)


@given(dates, st.integers(0, 999))
def test_it_survives_copying_and_pickling(date: datetime, nanosecond: int) -> None:
    precise = kept.datetime_ns.of(date, nanosecond)
    for copied in (copy.copy(precise), copy.deepcopy(precise), pickle.loads(pickle.dumps(precise))):
        assert copied == precise and type(copied) is kept.datetime_ns


@given(st.lists(st.tuples(dates, st.integers(0, 999)), min_size=2))
def test_it_sorts_by_time(parts: list[tuple[datetime, int]]) -> None:
    in_order = [kept.datetime_ns.of(*part) for part in parts]
    assert sorted(in_order) == [kept.datetime_ns.of(*part) for part in sorted(parts)]


def test_a_stored_date_is_equal_when_it_is_written_back(settings: kept.Store) -> None:
    settings["opened"] = PRECISE
    before = settings.revision("opened")
    settings["opened"] = settings["opened"]
    assert settings["opened"] == PRECISE
    assert settings.revision("opened") == before


def test_the_nanoseconds_of_other_libraries_in_orderare_stored(settings: kept.Store) -> None:
    class Stamp(datetime):
        """As the Timestamp of pandas is."""

        nanosecond = 123

    noon = Stamp(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=1)))
    stored = kept.datetime_ns(2026, 1, 1, 11, tzinfo=UTC, nanosecond=123)
    keys: list[Any] = ["k", *(kept.Key("k", kind) for kind in (datetime, kept.datetime_ns, kept.Timestamp))]
    for key in keys:
        settings[key] = noon
        assert settings["k"] == stored
