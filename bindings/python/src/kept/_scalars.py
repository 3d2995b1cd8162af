"""Scalars by the typed functions of C: all scalars are written by them, which saves making and parsing JSON; text from
the command line or the environment is read by them."""

from __future__ import annotations

from ctypes import byref, c_bool, c_double, c_int32, c_int64, c_size_t, create_string_buffer

from ._c.buffers import kept_get_bytes, kept_get_string, kept_set_bytes, kept_set_string
from ._c.status import kept_error
from ._c.values import (
    kept_get_bool,
    kept_get_date,
    kept_get_double,
    kept_get_int64,
    kept_set_bool,
    kept_set_double,
    kept_set_int64,
)
from ._errors import TooLargeError
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any

    from ._c.store import StorePointer
    from ._timestamps import Timestamp


def write_scalar(settings: StorePointer, key: bytes, value: Any) -> bool:
    """Writes a scalar. Returns False for values that only JSON can express, or only `encode` can refuse."""
    kind = type(value)
    if kind is int:
        if not -(2**63) <= value < 2**63:
            return False
        kept_set_int64(settings, key, value, kept_error())
    elif kind is bool:
        kept_set_bool(settings, key, value, kept_error())
    elif kind is float:
        kept_set_double(settings, key, value, kept_error())
    elif kind is str:
        try:
            text = value.encode("utf-8")
        except UnicodeEncodeError:
            return False
        kept_set_string(settings, key, text, len(text), kept_error())
    elif kind is bytes:
        kept_set_bytes(settings, key, value, len(value), kept_error())
    else:
        return False
    return True


def scalar_of_json(text: bytes) -> bool | int | str | None:
    """The value of canonical JSON that is read without a parser. None for all other JSON, which `_json` decodes."""
    if text.lstrip(b"-").isdigit():
        return int(text)
    if text[:1] == b'"' and b"\\" not in text:
        return text[1:-1].decode("utf-8")
    return {b"true": True, b"false": False}.get(text)


def read_scalar(settings: StorePointer, key: bytes, kind: type) -> Any:
    """Reads a scalar of a type. A value of another type is a `WrongTypeError`."""
    return READERS[kind](settings, key) if kind in READERS else _date(settings, key)


def _number(function: Any, kind: Any) -> Callable[[StorePointer, bytes], Any]:
    def read(settings: StorePointer, key: bytes) -> Any:
        result = kind()
        function(settings, key, byref(result), kept_error())
        return result.value

    return read


def _buffer(function: Any, convert: Callable[[bytes], Any]) -> Callable[[StorePointer, bytes], Any]:
    def read(settings: StorePointer, key: bytes) -> Any:
        capacity, length = 256, c_size_t()
        while True:
            buffer = create_string_buffer(capacity)
            try:
                function(settings, key, buffer, capacity, byref(length), kept_error())
                return convert(buffer.raw[: length.value])
            except TooLargeError:
                capacity = length.value + 1

    return read


def _date(settings: StorePointer, key: bytes) -> datetime | Timestamp:
    from ._dates import date_of_timestamp
    from ._timestamps import Timestamp

    seconds, nanoseconds = c_int64(), c_int32()
    kept_get_date(settings, key, byref(seconds), byref(nanoseconds), kept_error())
    return date_of_timestamp(Timestamp(seconds.value, nanoseconds.value))


READERS: dict[type, Callable[[StorePointer, bytes], Any]] = {
    bool: _number(kept_get_bool, c_bool),
    int: _number(kept_get_int64, c_int64),
    float: _number(kept_get_double, c_double),
    str: _buffer(kept_get_string, lambda text: text.decode("utf-8")),
    bytes: _buffer(kept_get_bytes, bytes),
}
"""How C reads a type without JSON. Dates have a function of their own."""
