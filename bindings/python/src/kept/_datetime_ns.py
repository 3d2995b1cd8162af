"""Python's dates with nanoseconds: its own hold microseconds."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Self, SupportsIndex, overload

from ._errors import InvalidError


class datetime_ns(datetime):
    """A `datetime` that also knows the nanoseconds, 0 to 999, that follow its microseconds.

    Reading a stored date gives one only if a `datetime` would lose digits; writing it back writes the same date.
    Comparing, hashing, `replace`, `astimezone`, pickling and adding a `timedelta` respect the nanoseconds; the
    difference of two dates is a `timedelta`, which has none. In C: `kept_get_date`. In Swift: `Timestamp`.
    """

    __slots__ = ("_nanosecond",)
    _nanosecond: int

    def __new__(
        cls,
        year: SupportsIndex,
        month: SupportsIndex,
        day: SupportsIndex,
        hour: SupportsIndex = 0,
        minute: SupportsIndex = 0,
        second: SupportsIndex = 0,
        microsecond: SupportsIndex = 0,
        tzinfo: tzinfo | None = None,
        *,
        fold: int = 0,
        nanosecond: int = 0,
    ) -> Self:
        """Makes a date from its parts. A `nanosecond` outside 0 to 999 is an `InvalidError`."""
        if not 0 <= nanosecond <= 999:
            raise InvalidError(f"nanosecond is {nanosecond}; it must be 0 to 999, because microsecond holds the rest")
        made = super().__new__(cls, year, month, day, hour, minute, second, microsecond, tzinfo, fold=fold)
        made._nanosecond = nanosecond
        return made

    @classmethod
    def of(cls, moment: datetime, nanosecond: int | None = None) -> Self:
        """The date with `nanosecond`, which is by default that of `moment`."""
        return cls(
            moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond,
            moment.tzinfo, fold=moment.fold, nanosecond=nanosecond_of(moment) if nanosecond is None else nanosecond,
        )  # fmt: skip

    @property
    def nanosecond(self) -> int:
        """The nanoseconds after the microseconds, 0 to 999."""
        return self._nanosecond

    def _plain(self) -> datetime:
        return datetime(
            self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond, self.tzinfo,
            fold=self.fold,
        )  # fmt: skip

    def replace(self, *arguments: Any, nanosecond: int | None = None, **parts: Any) -> Self:
        """As `datetime.replace`, and `nanosecond` may be replaced too."""
        replaced = self._plain().replace(*arguments, **parts)
        return type(self).of(replaced, self._nanosecond if nanosecond is None else nanosecond)

    def astimezone(self, tz: tzinfo | None = None) -> Self:
        """The date in another zone, with its nanoseconds."""
        return type(self).of(self._plain().astimezone(tz), self._nanosecond)

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """As `datetime.isoformat`, with nine digits of seconds by default; also the `timespec` "nanoseconds"."""
        if timespec not in ("auto", "nanoseconds"):
            return self._plain().isoformat(sep, timespec)
        text = self._plain().isoformat(sep, "microseconds")
        end = len("2026-11-20T23:44:01.250000")
        return f"{text[:end]}{self._nanosecond:03}{text[end:]}"

    def __str__(self) -> str:
        return self.isoformat(" ")

    def __repr__(self) -> str:
        inner = repr(self._plain()).removeprefix("datetime.datetime(").removesuffix(")")
        return f"kept.datetime_ns({inner}, nanosecond={self._nanosecond})"

    def __add__(self, other: timedelta) -> Self:
        if not isinstance(other, timedelta):
            return NotImplemented
        return type(self).of(self._plain() + other, self._nanosecond)

    __radd__ = __add__

    @overload  # type: ignore[override]
    def __sub__(self, other: timedelta) -> Self: ...
    @overload
    def __sub__(self, other: datetime) -> timedelta: ...
    def __sub__(self, other: datetime | timedelta) -> datetime | timedelta:
        if isinstance(other, timedelta):
            return self + -other
        if isinstance(other, datetime):
            return self._plain() - other
        return NotImplemented

    def _order(self, other: datetime) -> int:
        """Negative, 0 or positive, as `self` comes before, with or after `other`."""
        plain, others = self._plain(), other._plain() if isinstance(other, datetime_ns) else other
        if plain == others:
            return self._nanosecond - nanosecond_of(other)
        return -1 if plain < others else 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, datetime):
            return NotImplemented
        others = other._plain() if isinstance(other, datetime_ns) else other
        return self._plain() == others and self._nanosecond == nanosecond_of(other)

    # datetime has its own, which does not call __eq__.
    __ne__ = object.__ne__

    def __hash__(self) -> int:
        # Equal dates have equal hashes, also across the two classes.
        plain = hash(self._plain())
        return hash((plain, self._nanosecond)) if self._nanosecond else plain

    def __lt__(self, other: datetime) -> bool:  # type: ignore[override]
        return self._order(other) < 0 if isinstance(other, datetime) else NotImplemented

    def __le__(self, other: datetime) -> bool:  # type: ignore[override]
        return self._order(other) <= 0 if isinstance(other, datetime) else NotImplemented

    def __gt__(self, other: datetime) -> bool:  # type: ignore[override]
        return self._order(other) > 0 if isinstance(other, datetime) else NotImplemented

    def __ge__(self, other: datetime) -> bool:  # type: ignore[override]
        return self._order(other) >= 0 if isinstance(other, datetime) else NotImplemented

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return type(self).of, (self._plain(), self._nanosecond)


def nanosecond_of(moment: date) -> int:
    """The nanoseconds after the microseconds; 0 if the class has none. The Timestamp of pandas has them too."""
    nanosecond = getattr(moment, "nanosecond", 0)
    return nanosecond if isinstance(nanosecond, int) and 0 <= nanosecond <= 999 else 0
