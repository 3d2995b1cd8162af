"""Dates as the store holds them, from year 0 on: Python's own dates begin at year 1."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import total_ordering
from typing import TypeGuard, final

from ._datetime_ns import datetime_ns, nanosecond_of
from ._errors import InvalidError, OutOfRangeError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ERA = 146_097 * 86_400
"""The seconds of 400 years, after which the calendar repeats itself."""
_FIRST, _FIRST_OF_DATETIME, _LAST = -62_167_219_200, -62_135_596_800, 253_402_300_799


@final
@total_ordering
class Timestamp:
    """A date as the store holds it: seconds since 1970-01-01T00:00:00Z, and nanoseconds to add to them.

    Dates reach from year 0 to 9999, and Python's `datetime` begins at year 1. A stored date of year 0, such as
    Foundation's `Date.distantPast`, is read as a `Timestamp` by the key's name, and is a `WrongTypeError` for a
    `kept.Key` of `datetime`. A `kept.Key` of `Timestamp` reads every date as one.

    Immutable. It can be compared with other timestamps and with dates that have a time zone.
    In C: `kept_get_date`, `kept_set_date`. In Swift: `Timestamp`.
    """

    __slots__ = ("_seconds", "_nanoseconds")

    def __init__(self, seconds: int, nanoseconds: int = 0) -> None:
        """Makes a timestamp. Seconds outside the years 0 to 9999 are an `OutOfRangeError`, nanoseconds outside 0
        to 999,999,999 an `InvalidError`."""
        if not _FIRST <= seconds <= _LAST:
            raise OutOfRangeError(f"{seconds} seconds since 1970 is outside the years 0 to 9999")
        if not 0 <= nanoseconds <= 999_999_999:
            raise InvalidError(f"the nanoseconds of a date must be 0 to 999,999,999, not {nanoseconds}")
        self._seconds, self._nanoseconds = int(seconds), int(nanoseconds)

    @classmethod
    def of(cls, moment: datetime) -> Timestamp:
        """The timestamp of a date, which must have a time zone, else `InvalidError`."""
        if moment.utcoffset() is None:
            raise InvalidError(f"{moment} has no time zone; add one, such as datetime.timezone.utc")
        return cls(*_parts_of(moment))

    @property
    def seconds(self) -> int:
        """Whole seconds since 1970-01-01T00:00:00Z; negative before."""
        return self._seconds

    @property
    def nanoseconds(self) -> int:
        """Nanoseconds to add to the seconds, 0 to 999,999,999."""
        return self._nanoseconds

    @property
    def is_before_datetime(self) -> bool:
        """Whether it lies in year 0, which Python's `datetime` does not have."""
        return self._seconds < _FIRST_OF_DATETIME

    def to_datetime(self) -> datetime:
        """The date in UTC, a `kept.datetime_ns` if a `datetime` would lose digits. `OutOfRangeError` in year
        0."""
        if self.is_before_datetime:
            raise OutOfRangeError(f"{self} is before year 1, where Python's datetime begins")
        microseconds, rest = divmod(self._nanoseconds, 1000)
        plain = EPOCH + timedelta(seconds=self._seconds, microseconds=microseconds)
        return datetime_ns.of(plain, rest) if rest else plain

    def __str__(self) -> str:
        """RFC 3339 in UTC, with as many digits of seconds as it needs."""
        shift = ERA if self.is_before_datetime else 0
        text = (EPOCH + timedelta(seconds=self._seconds + shift)).replace(tzinfo=None).isoformat()
        fraction = f"{self._nanoseconds:09}".rstrip("0")
        return ("0000" + text[4:] if shift else text) + (f".{fraction}Z" if fraction else "Z")

    def __repr__(self) -> str:
        nanoseconds = f", {self._nanoseconds}" if self._nanoseconds else ""
        return f"kept.Timestamp({self._seconds}{nanoseconds})"

    def _parts(self) -> tuple[int, int]:
        return self._seconds, self._nanoseconds

    def __eq__(self, other: object) -> bool:
        return self._parts() == _parts_of(other) if _is_comparable(other) else NotImplemented

    def __lt__(self, other: Timestamp | datetime) -> bool:
        return self._parts() < _parts_of(other) if _is_comparable(other) else NotImplemented

    def __hash__(self) -> int:
        # Equal dates have equal hashes, also across the classes.
        return hash(self._parts()) if self.is_before_datetime else hash(self.to_datetime())

    def __reduce__(self) -> tuple[type[Timestamp], tuple[int, int]]:
        return Timestamp, self._parts()


def _is_comparable(other: object) -> TypeGuard[Timestamp | datetime]:
    """Whether it can be compared with a timestamp; a date without a time zone cannot."""
    return isinstance(other, Timestamp) or (isinstance(other, datetime) and other.utcoffset() is not None)


def _parts_of(date: Timestamp | datetime) -> tuple[int, int]:
    if isinstance(date, Timestamp):
        return date._parts()
    since = date - EPOCH
    return since.days * 86_400 + since.seconds, since.microseconds * 1000 + nanosecond_of(date)
