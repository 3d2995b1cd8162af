"""Dates as text, and as Python's own classes or a `Timestamp`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ._datetime_ns import datetime_ns, nanosecond_of
from ._errors import InvalidError, OutOfRangeError
from ._refusal import Refusal
from ._timestamps import EPOCH, ERA, Timestamp


def text_of_date(date: datetime) -> str:
    """RFC 3339 in UTC, with as many digits of seconds as the date has."""
    if date.utcoffset() is None:
        raise Refusal(InvalidError, f"{date} has no time zone; add one, such as datetime.timezone.utc")
    try:
        utc = date.astimezone(UTC)
    except OverflowError:
        advice = "; write a kept.Timestamp" if date.year == 1 else ""
        raise Refusal(OutOfRangeError, f"{date} is outside the years 1 to 9999 in UTC{advice}") from None
    whole = utc.replace(microsecond=0, tzinfo=None).isoformat(timespec="seconds")
    fraction = f"{utc.microsecond:06}{nanosecond_of(date):03}".rstrip("0")
    return f"{whole}.{fraction}Z" if fraction else f"{whole}Z"


_RFC_3339 = r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z"


def date_of_text(text: str) -> datetime | Timestamp:
    """The date in canonical text: a `datetime` in UTC, a `datetime_ns` if that would lose digits, or a `Timestamp`
    in year 0, which `datetime` does not have."""
    import re

    parts = re.fullmatch(_RFC_3339, text, re.ASCII)
    if parts is None:
        raise Refusal(InvalidError, f"{text!r} is not a date in UTC such as 2026-11-20T23:44:01.25Z")
    nanoseconds = int((parts[7] or "").ljust(9, "0"))
    try:
        year, month, day, hour, minute, second = map(int, parts.groups()[:6])
        # The calendar repeats itself after 400 years, and year 400 is one of Python's.
        date = datetime(year or 400, month, day, hour, minute, second, nanoseconds // 1000, UTC)
    except ValueError as error:
        raise Refusal(InvalidError, f"{text!r} is not a date: {error}") from None
    if year == 0:
        return Timestamp((date - EPOCH) // timedelta(seconds=1) - ERA, nanoseconds)
    return datetime_ns.of(date, nanoseconds % 1000) if nanoseconds % 1000 else date


def date_of_timestamp(date: Timestamp) -> datetime | Timestamp:
    """The same as `date_of_text` gives it."""
    return date if date.is_before_datetime else date.to_datetime()


def timestamp_of_date(date: datetime | Timestamp) -> Timestamp:
    """The date as a `Timestamp`. A date without a time zone is refused."""
    if isinstance(date, Timestamp):
        return date
    if date.utcoffset() is None:
        raise Refusal(InvalidError, f"{date} has no time zone; add one, such as datetime.timezone.utc")
    return Timestamp.of(date)
