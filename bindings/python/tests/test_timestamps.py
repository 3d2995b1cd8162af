"""`kept.Timestamp` is what a date of year 0 is read as, and compares with every other date."""

from __future__ import annotations

import copy
import pickle
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kept
from values import dates, first_dates

UTC = UTC
NEVER = kept.Timestamp(-62_135_769_600)
"""Foundation's `Date.distantPast`."""
seconds = st.integers(-62_167_219_200, 253_402_300_799)
timestamps = st.builds(kept.Timestamp, seconds, st.integers(0, 999_999_999))


def test_a_date_of_year_0_is_read_by_name_and_written_back(settings: kept.Store) -> None:
    settings["seen"] = NEVER
    assert settings["seen"] == NEVER and isinstance(settings["seen"], kept.Timestamp)
    assert str(NEVER) == "0000-12-30T00:00:00Z"
    before = settings.revision("seen")
    settings["seen"] = settings["seen"]
    assert settings.revision("seen") == before
    settings["list"] = [NEVER, {"at": NEVER}, datetime(1, 1, 1, tzinfo=UTC)]
    assert settings["list"] == [NEVER, {"at": NEVER}, datetime(1, 1, 1, tzinfo=UTC)]
    assert dict(settings)["seen"] == NEVER


@pytest.mark.parametrize("kind", [datetime, kept.datetime_ns])
def test_a_key_of_datetime_says_how_to_read_it(settings: kept.Store, kind: Any) -> None:
    settings["seen"] = NEVER
    sentence = '"seen": the date 0000-12-30T00:00:00Z is before year 1'
    with pytest.raises(kept.WrongTypeError, match=sentence) as caught:
        settings[kept.Key("seen", kind)]
    assert "use a kept.Key of kept.Timestamp" in str(caught.value)
    assert settings["seen"] == NEVER


def test_a_key_of_timestamp_reads_and_writes_every_date(settings: kept.Store) -> None:
    key = kept.Key("seen", kept.Timestamp, default=NEVER)
    settings.declare(key)
    assert settings[key] == NEVER and settings["seen"] == NEVER
    for date in (NEVER, kept.Timestamp(0, 1), kept.Timestamp(253_402_300_799, 999_999_999)):
        settings[key] = date
        assert settings[key] == date and isinstance(settings[key], kept.Timestamp)
    settings["seen"] = datetime(2026, 11, 20, 23, 44, 1, 250_000, UTC)
    assert settings[key] == kept.Timestamp(1_795_218_241, 250_000_000)
    with pytest.raises(kept.WrongTypeError, match="not a Timestamp"):
        settings[key] = 5  # type: ignore[misc]


def test_a_text_of_the_command_line_is_read_as_one(location: Path) -> None:
    arguments = ["program", "-seen", "0000-12-30T00:00:00Z"]
    with kept.open(f"{location}/", arguments=arguments) as settings:
        assert settings[kept.Key("seen", kept.Timestamp)] == NEVER
        with pytest.raises(kept.WrongTypeError, match="not a datetime"):
            settings[kept.Key("seen", datetime)]


def test_an_invalid_date_is_refused() -> None:
    for second in (-62_167_219_201, 253_402_300_800, sys.maxsize, -sys.maxsize):
        with pytest.raises(kept.OutOfRangeError, match="outside the years 0 to 9999"):
            kept.Timestamp(second)
    for nanosecond in (-1, 1_000_000_000):
        with pytest.raises(kept.InvalidError, match="must be 0 to 999,999,999"):
            kept.Timestamp(0, nanosecond)
    with pytest.raises(kept.InvalidError, match="no time zone"):
        kept.Timestamp.of(datetime(2026, 1, 1))
    with pytest.raises(kept.OutOfRangeError, match="before year 1"):
        NEVER.to_datetime()


@given(timestamps | first_dates, timestamps)
def test_timestamps_are_ordered_by_time(a: kept.Timestamp, b: kept.Timestamp) -> None:
    parts = (a.seconds, a.nanoseconds), (b.seconds, b.nanoseconds)
    assert (a < b) == (parts[0] < parts[1]) and (a >= b) == (parts[0] >= parts[1])
    assert (str(a)[:19] < str(b)[:19]) == (a.seconds < b.seconds)
    for copied in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), eval(repr(a), {"kept": kept})):
        assert copied == a and hash(copied) == hash(a)


@given(dates, st.integers(0, 999))
def test_an_equal_date_is_equal(date: datetime, nanosecond: int) -> None:
    precise = kept.datetime_ns.of(date, nanosecond)
    stamp = kept.Timestamp.of(precise)
    assert stamp == precise and precise == stamp and hash(stamp) == hash(precise)
    assert stamp.to_datetime() == precise
    assert NEVER < date and date > NEVER and not precise < NEVER
    assert stamp != date.replace(tzinfo=None)


def test_a_date_that_is_in_year_0_in_utc_has_a_timestamp() -> None:
    east = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    assert str(kept.Timestamp.of(east)) == "0000-12-31T23:00:00Z"
    assert kept.Timestamp.of(east) == east
