"""Transactions: several keys change together or not at all."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from ctypes import POINTER, byref, c_uint64
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from ._c.json import kept_set_json_if
from ._c.status import kept_error
from ._c.store import KEPT_DURABLE, StorePointer, kept_store
from ._c.transactions import KEPT_TRANSACTION_OPTIONS_INIT, kept_begin, kept_commit, kept_rollback
from ._errors import ConflictError, InvalidError, UnsupportedError, WrongTypeError
from ._key import Key, encoded_key, encoded_text, name_of, revision_number
from ._settings import Settings, json_for, stored_for, unquoted
from ._types import Storable

T = TypeVar("T")


class Transaction(Settings):
    """A commit that is being prepared. It reads its own writes, and holds no lock.

    Made by `Store.transaction`; as a context manager it commits at the end of the block, and rolls back on an
    exception. Its reads raise `ConflictError` once a value that it has read is known to have changed. A transaction
    that is dropped is rolled back. In C: `kept_begin`. In Swift: `Transaction`.
    """

    def __init__(self, store: StorePointer, durable: bool, tag: str | None) -> None:
        """Begins a transaction on an open store. Programs call `Store.transaction`."""
        options = KEPT_TRANSACTION_OPTIONS_INIT()
        options.tag = None if tag is None else encoded_text(tag, "the tag")
        if durable:
            options.durability = KEPT_DURABLE
        self._handle = POINTER(kept_store)()
        kept_begin(store, byref(options), byref(self._handle), kept_error())
        self._rollback = weakref.finalize(self, kept_rollback, self._handle)
        self._rollback.atexit = False
        # The expected revision that `set` has not found. A retry helps only if it expects another one.
        self._refused: tuple[str, int] | None = None

    def commit(self) -> int:
        """Commits, and ends the transaction even if that fails. Returns the store's new revision, or the current one if
        nothing changed. If another writer has changed a value that it has read, `ConflictError`, and nothing is
        written: start again. In C: `kept_commit`."""
        self._rollback.detach()
        revision = c_uint64()
        kept_commit(self._handle, byref(revision), kept_error())
        return revision.value

    def rollback(self) -> None:
        """Ends the transaction and discards its writes. Does nothing if it has ended. In C: `kept_rollback`."""
        self._rollback()

    @overload
    def set(self, key: Key[T], value: T, *, if_revision: int | None = None) -> None: ...
    @overload
    def set(self, key: str, value: Storable, *, if_revision: int | None = None) -> None: ...
    def set(self, key: Any, value: Any, *, if_revision: int | None = None) -> None:
        """Sets a key as `[]` does. If the key's revision is not `if_revision`, this call or `commit` raises a
        `ConflictError`. 0 expects that the key is absent. In C: `kept_set_json_if`."""
        if if_revision is None:
            self[key] = value
            return
        try:
            set_if(self, key, value, if_revision)
        except ConflictError:
            self._refused = name_of(key), if_revision
            raise

    def _together(self, steps: Callable[[Settings], T]) -> T:
        return steps(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The block may have ended it already.
        if not self._rollback.alive:
            return
        if kind is None:
            self.commit()
        else:
            self.rollback()


class LentTransaction(Transaction):
    """The transaction of a migration's step. It is committed after the last step, and not by a step: `commit` and
    `rollback` are an `UnsupportedError`, and a step that raises rolls back."""

    def __init__(self, handle: StorePointer) -> None:
        self._handle = handle
        self._rollback = weakref.finalize(self, kept_rollback, handle)
        self._rollback.detach()
        self._refused = None
        self.has_ended = False

    def rollback(self) -> None:
        if self.has_ended:
            return
        raise UnsupportedError(
            "a migration step cannot roll back its transaction; raise an exception to undo the migration"
        )


def set_if(settings: Settings, key: Any, value: Any, expected: int) -> int:
    """Compare-and-set. Returns the key's revision; 0 in a transaction, where it is not known before the commit."""
    revision = c_uint64()
    name, json = encoded_key(key), json_for(key, stored_for(key, value, settings), settings)
    try:
        kept_set_json_if(settings._handle, name, json, revision_number(expected), byref(revision), kept_error())
    except (InvalidError, WrongTypeError) as refused:
        if not settings._is_quoted(key):
            raise
        kind = type(refused)
    else:
        return revision.value
    raise unquoted(kind, key)
