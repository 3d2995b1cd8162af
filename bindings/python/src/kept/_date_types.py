"""The conversions of the types of dates."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ._conversion import Conversion, require
from ._dates import timestamp_of_date
from ._datetime_ns import datetime_ns
from ._errors import WrongTypeError
from ._refusal import Refusal
from ._timestamps import Timestamp


def _datetime(value: Any) -> datetime:
    if isinstance(value, Timestamp) and value.is_before_datetime:
        raise Refusal(
            WrongTypeError,
            f"the date {value} is before year 1, where Python's datetime begins; use a kept.Key of kept.Timestamp",
        )
    require(datetime, value, "datetime")
    return value  # type: ignore[no-any-return]


def _with_nanoseconds(value: Any) -> datetime_ns:
    return datetime_ns.of(_datetime(value))


def _timestamp(value: Any) -> Timestamp:
    if not isinstance(value, Timestamp):
        require(datetime, value, "Timestamp")
    return timestamp_of_date(value)


DATES: dict[Any, Conversion] = {
    datetime: Conversion("datetime", _datetime, _datetime, scalars=(datetime,)),
    datetime_ns: Conversion("datetime_ns", _with_nanoseconds, _with_nanoseconds, scalars=(datetime,)),
    Timestamp: Conversion("Timestamp", _timestamp, _timestamp, scalars=(datetime,)),
}
