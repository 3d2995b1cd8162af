"""Arbitrary storable values, and what makes two of them the same to Kept."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

import kept

# Hypothesis draws no surrogates from this; NUL is drawn, and is fine in text but not in a dict's key.
text = st.text(st.characters(codec="utf-8"))
names = st.text(st.characters(codec="utf-8", exclude_characters="\0")) | st.sampled_from(
    ["", "$", "$date", "$literal", "$numberLong", "$binary", "é", "e\u0301", "😀"]
)
dates = st.datetimes(
    min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59, 999_999), timezones=st.just(UTC)
)
precise_dates = st.builds(kept.datetime_ns.of, dates, st.integers(1, 999))
first_dates = st.builds(kept.Timestamp, st.integers(-62_167_219_200, -62_135_596_801), st.integers(0, 999_999_999))
scalars = (
    st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.sampled_from([2**63 - 1, 2**63, 2**64 - 1, -(2**63)])
    | st.floats()
    | text
    | st.binary()
    | dates
    | precise_dates
    | first_dates
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(st.none() | inner, max_size=5) | st.dictionaries(names, st.none() | inner, max_size=5),
    max_leaves=20,
)


def canonical(value: Any) -> Any:
    """Equal for what Kept holds to be the same: type and bits, and no order of members."""
    match value:
        case float():
            return "float", "nan" if value != value else struct.pack("d", value)
        case datetime():
            return "date", value.astimezone(UTC).replace(tzinfo=None), getattr(value, "nanosecond", 0)
        case list() | tuple():
            return "list", [canonical(item) for item in value]
        case dict():
            return "dict", sorted((name.encode(), canonical(item)) for name, item in value.items())
    return type(value).__name__, value
