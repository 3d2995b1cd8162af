"""Status: the result of a call."""

from __future__ import annotations

from _thread import get_ident
from ctypes import Structure, byref, c_char, c_char_p, c_int32, c_int64, c_void_p

from .._errors import KeptError, error_of_status, warn_of_status
from .._typing import TYPE_CHECKING
from .library import prototype

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

kept_status = c_int32

KEPT_OK = 0
KEPT_SHADOWED = 1
KEPT_SALVAGED = 2
KEPT_MISFIT = 3
KEPT_DEPRECATED = 4
KEPT_ABSENT = -1
KEPT_WRONG_TYPE = -2
KEPT_TYPE_CONFLICT = -3
KEPT_INVALID = -4
KEPT_LOCKED = -5
KEPT_CONFLICT = -6
KEPT_BUSY = -7
KEPT_NO_SPACE = -8
KEPT_DENIED = -9
KEPT_CORRUPT = -10
KEPT_UNAVAILABLE = -11
KEPT_CLOSED = -12
KEPT_FORKED = -13
KEPT_TOO_LARGE = -14
KEPT_UNSUPPORTED = -15
KEPT_FAILED = -16


class kept_error(Structure):
    """Why a call failed. Filled only when it did."""

    _fields_ = (
        ("status", kept_status),
        ("reserved", c_int32),
        ("offset", c_int64),
        ("message", c_char * 496),
    )


interrupts: dict[int, BaseException] = {}
"""The exception that interrupted a thread in a callback that has no call of its own: raised when the call that it came
in returns."""


def check(status: int, function: Any, arguments: tuple[Any, ...]) -> int:
    """The errcheck of every function that returns a kept_status: an error becomes its exception, a warning is shown.

    Such a function takes its kept_error last, and the key or prefix it is about second, as bytes.
    """
    if interrupts:
        _interrupt()
    if status == KEPT_OK:
        return status
    key = arguments[1].decode("utf-8", "replace") if isinstance(arguments[1], bytes) else None
    return _judged(status, arguments[-1], key)


def check_without_key(status: int, function: Any, arguments: tuple[Any, ...]) -> int:
    """The same for functions whose second argument is not a key: only the sentence names it."""
    if interrupts:
        _interrupt()
    return status if status == KEPT_OK else _judged(status, arguments[-1], None)


def check_interrupt(result: Any, function: Any, arguments: tuple[Any, ...]) -> Any:
    """The errcheck of a function without a status that may report."""
    if interrupts:
        _interrupt()
    return result


def error_of(error: kept_error, key: str | None) -> KeptError:
    """The exception for a filled kept_error."""
    offset = None if error.offset < 0 else error.offset
    return error_of_status(error.status, error.message.decode("utf-8", "replace"), key=key, offset=offset)


def _interrupt() -> None:
    if interrupt := interrupts.pop(get_ident(), None):
        raise interrupt


def _judged(status: int, error: kept_error, key: str | None) -> int:
    if status < KEPT_OK:
        raise error_of(error, key)
    warn_of_status(status, error.message.decode("utf-8", "replace"))
    return status


def text_from(call: Callable[[Any], object]) -> bytes:
    """The text that a function of the library writes to the place that `call` passes to it."""
    text = c_char_p()
    call(byref(text))
    try:
        return text.value or b""
    finally:
        kept_free(text)


# const char *kept_version(void);
kept_version = prototype("kept_version", c_char_p, [])

# const char *kept_status_text(kept_status status);
kept_status_text = prototype("kept_status_text", c_char_p, [kept_status])

# void kept_free(void *memory);
kept_free = prototype("kept_free", None, [c_void_p])
