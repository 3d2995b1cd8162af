"""The past of a store, and undoing it."""

from __future__ import annotations

from ctypes import byref

from ._c.status import kept_error, text_from
from ._c.store import StorePointer
from ._key import decoded_value, encoded_key, encoded_text, encoded_value, revision_number
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
        returned. The store keeps a limited number, see `history_limits`; of a secret that is not encrypted, only
        that it has changed.

        `UnsupportedError` for "memory:" and "dir:" stores.
        In C: `kept_history_json`. In Swift: `Store.history(of:)`, `Store.history(prefix:)`."""
        from ._c.history import KEPT_HISTORY_PREFIX, kept_history_json
        from ._history import history_of

        name = encoded_text(prefix, "the prefix") if key is None else encoded_key(key)
        flags = KEPT_HISTORY_PREFIX if key is None else 0
        return history_of(text_from(lambda out: kept_history_json(self._handle, name, flags, out, kept_error())))

    def undo(self, revision: int, *, tag: str | None = None) -> list[str]:
        """Restores the values that the commit with a revision has replaced, as one new commit, which can be undone,
        too. Nothing else is changed. Returns the keys.

        With nothing changed: `AbsentError` if the history does not have all of that commit, or has it as a part of a
        later one; `ConflictError`, with a list, if one of its keys has changed since; `UnsupportedError` if an old
        value was not kept, as that of a secret that was not encrypted.
        In C: `kept_undo`. In Swift: `Store.undo(revision:tag:)`."""
        from ._c.history import kept_undo
        from ._c.transactions import KEPT_TRANSACTION_OPTIONS_INIT

        options = KEPT_TRANSACTION_OPTIONS_INIT()
        options.tag = None if tag is None else encoded_text(tag, "the tag")
        number = revision_number(revision)
        text = text_from(lambda out: kept_undo(self._handle, number, byref(options), out, kept_error()))
        keys: Any = decoded_value(text or b"[]", "an undone commit", Known(False))
        return list(keys)

    @property
    def history_limits(self) -> dict[str, int]:
        """How much of its past the store keeps, for all programs: `changesPerKey`, `changes`, `days` and `bytes`.

        When set, members that are left out have their default; {"changes": 0} forgets the history and keeps none.
        In C: `kept_history_limits_json`. In Swift: `Store.historyLimits()`."""
        from ._c.history import kept_history_limits_json

        text = text_from(lambda out: kept_history_limits_json(self._handle, out, kept_error()))
        limits: Any = decoded_value(text, "the limits of the history", Known(False))
        return dict(limits)

    @history_limits.setter
    def history_limits(self, limits: Mapping[str, int]) -> None:
        from ._c.history import kept_set_history_limits

        text = encoded_value(dict(limits), "the limits of the history", Known(False))
        kept_set_history_limits(self._handle, text, kept_error())
