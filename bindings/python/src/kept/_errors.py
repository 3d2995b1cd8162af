"""The errors: one tree of exceptions, one class for each status of kept.h.

    KeptError
    ├── AbsentError (KeyError)         no layer has a value for the key
    ├── WrongTypeError (TypeError)     the value is of another type; the stored value is untouched
    ├── TypeConflictError              the key is declared with another type
    ├── InvalidError (ValueError)      an argument, a JSON text or a constraint is not as it must be
    │   └── OutOfRangeError (OverflowError)   a number has no place in the store
    ├── LockedError                    an administrator has locked the key
    ├── ConflictError                  the expected revision is no longer the current one
    ├── BusyError                      another writer held the store for longer than the timeout
    ├── NoSpaceError                   the disk or the quota is full; the old state is intact
    ├── DeniedError                    the file system does not permit the operation
    ├── CorruptError                   the stored data is damaged
    ├── UnavailableError               the store cannot be reached now; this does not mean that it is empty
    ├── ClosedError                    the store or the transaction was closed
    ├── ForkedError                    the transaction or the changes belong to the parent of this process
    ├── TooLargeError                  the value or the text is over a limit
    ├── UnsupportedError               this storage or this version does not support the call
    └── FailedError                    anything else; the sentence says what

A `ShadowedWarning`, a `MisfitWarning` and a `SalvagedWarning` are not errors: the call has done its work.

In C: `kept_status` and `kept_error`. In Swift: `StoreError`.
"""

from __future__ import annotations

import sys


class KeptError(Exception):
    """Why a call failed. `str(error)` is one sentence: the request, the finding, and the remedy."""

    status: int = -16
    """The `KEPT_…` status of kept.h."""
    key: str | None
    """The key or the prefix that it is about, if there is one."""
    offset: int | None
    """The byte at which a JSON text is wrong, from 0."""

    def __init__(self, message: str, *, key: str | None = None, offset: int | None = None) -> None:
        super().__init__(message)
        self.key = key
        self.offset = offset

    def __str__(self) -> str:
        # KeyError would show the repr of a sentence.
        sentence = str(self.args[0]) if self.args else ""
        if sentence.isascii() and sentence.isprintable():
            return sentence
        # Keys may contain anything. This module is imported by those that call C.
        from ._display import display_text

        return display_text(sentence)


class AbsentError(KeptError, KeyError):
    """No layer has a value for the key."""

    status = -1


class WrongTypeError(KeptError, TypeError):
    """The value is of another type than the key. The stored value is untouched."""

    status = -2


class TypeConflictError(KeptError):
    """The key is declared with another type."""

    status = -3


class InvalidError(KeptError, ValueError):
    """An argument, a JSON text or a constraint is not as it must be."""

    status = -4


class OutOfRangeError(InvalidError, OverflowError):
    """A number is not among those that a store can hold: integers of -2^63 to 2^64 - 1."""


class LockedError(KeptError):
    """An administrator has locked the key."""

    status = -5


class ConflictError(KeptError):
    """The expected revision is no longer the current one: read again, then write again."""

    status = -6


class BusyError(KeptError):
    """Another writer held the store for longer than the timeout."""

    status = -7


class NoSpaceError(KeptError):
    """The disk or the quota is full. The old state is intact."""

    status = -8


class DeniedError(KeptError):
    """The file system does not permit the operation."""

    status = -9


class CorruptError(KeptError):
    """The stored data is damaged."""

    status = -10


class UnavailableError(KeptError):
    """The store cannot be reached now. This does not mean that it is empty."""

    status = -11


class ClosedError(KeptError):
    """The store or the transaction was closed."""

    status = -12


class ForkedError(KeptError):
    """The transaction or the changes were begun in the parent of this process: begin others."""

    status = -13


class TooLargeError(KeptError):
    """The value or the text is over a limit."""

    status = -14


class UnsupportedError(KeptError):
    """This storage or this version does not support the call."""

    status = -15


class FailedError(KeptError):
    """Anything else. The sentence says what."""

    status = -16


class SalvagedWarning(UserWarning):
    """The store is open, but it was damaged, and values may be missing or older: see `Store.salvaged`.

    If it is raised, because the program makes warnings errors, the store is closed."""


class ShadowedWarning(UserWarning):
    """The value is stored, but arguments or environment hide it: see `Settings.explain`."""


class MisfitWarning(UserWarning):
    """The key is declared, but an earlier value does not fit. It stays, and reads as if it did not exist."""


class_of_status: dict[int, type[KeptError]] = {
    error.status: error
    for error in (
        AbsentError, WrongTypeError, TypeConflictError, InvalidError, LockedError, ConflictError, BusyError,
        NoSpaceError, DeniedError, CorruptError, UnavailableError, ClosedError, ForkedError, TooLargeError,
        UnsupportedError, FailedError,
    )
}  # fmt: skip


def error_of_status(status: int, message: str, *, key: str | None, offset: int | None) -> KeptError:
    """The exception for a negative status. One that this version does not know is a `FailedError` with its number."""
    error = class_of_status.get(status, FailedError)(message, key=key, offset=offset)
    error.status = status
    return error


_warning_of_status: dict[int, type[UserWarning]] = {1: ShadowedWarning, 3: MisfitWarning}


def warn_of_status(status: int, message: str) -> None:
    """Shows a warning for a positive status, at the place where the program has called the package."""
    if category := _warning_of_status.get(status):
        warn(message, category)


def warn(message: str, category: type[UserWarning]) -> None:
    """Shows a warning at the place where the program has called the package."""
    import warnings

    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "kept":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
