"""The past of a store, and undoing it."""

from __future__ import annotations

from ctypes import byref, c_char_p

from ._c.status import kept_error, kept_free
from ._c.store import StorePointer
from ._key import decoded_value, encoded_key, encoded_text, encoded_value
from ._refusal import Known
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._history import History
    from ._key import Key


class Undoing:
    """What a store can do with its past, and a transaction cannot."""

    _handle: StorePointer

    def history(self, key: str | Key[Any] | None = None, *, prefix: str = "") -> History:
        """The past changes of a key, or of all keys that begin with `prefix`, with those of every commit that has
        returned. The store keeps a limited number, see `history_limits`; of a secret, that it changed and no value.

        `UnsupportedError` for "memory:" and "dir:" stores.
        In C: `kept_history_json`. In Swift: `Store.history(of:)`, `Store.history(prefix:)`."""
        from ._c.history import KEPT_HISTORY_PREFIX, kept_history_json
        from ._history import history_of

        text = c_char_p()
        if key is None:
            kept_history_json(
                self._handle, encoded_text(prefix, "a prefix"), KEPT_HISTORY_PREFIX, byref(text), kept_error()
            )
        else:
            kept_history_json(self._handle, encoded_key(key), 0, byref(text), kept_error())
        try:
            return history_of(text.value or b"")
        finally:
            kept_free(text)

    def undo(self, revision: int, *, tag: str | None = None) -> list[str]:
        """Restores what the commit with a revision has replaced, as one new commit, which can be undone, too. Nothing
        else is changed. Returns the keys.

        With nothing changed: `AbsentError` if the history does not have all of that commit, or has it as a part of a
        later one; `ConflictError`, with a list, if one of its keys has changed since; `UnsupportedError` if an old
        value is secret or was not kept.
        In C: `kept_undo`. In Swift: `Store.undo(revision:tag:)`."""
        from ._c.history import kept_undo
        from ._c.transactions import KEPT_TRANSACTION_OPTIONS_INIT

        options = KEPT_TRANSACTION_OPTIONS_INIT()
        options.tag = None if tag is None else encoded_text(tag, "a tag")
        text = c_char_p()
        kept_undo(self._handle, revision, byref(options), byref(text), kept_error())
        try:
            keys: Any = decoded_value(text.value or b"[]", "an undone commit", Known(False))
            return list(keys)
        finally:
            kept_free(text)

    @property
    def history_limits(self) -> dict[str, int]:
        """How much of its past the store keeps, for all programs: `changesPerKey`, `changes`, `days` and `bytes`.

        When set, members that are left out have their default; {"changes": 0} forgets the history and keeps none.
        In C: `kept_history_limits_json`. In Swift: `Store.historyLimits()`."""
        from ._c.history import kept_history_limits_json

        text = c_char_p()
        kept_history_limits_json(self._handle, byref(text), kept_error())
        try:
            limits: Any = decoded_value(text.value or b"", "the limits of the history", Known(False))
            return dict(limits)
        finally:
            kept_free(text)

    @history_limits.setter
    def history_limits(self, limits: Mapping[str, int]) -> None:
        from ._c.history import kept_set_history_limits

        text = encoded_value(dict(limits), "the limits of the history", Known(False))
        kept_set_history_limits(self._handle, text, kept_error())
