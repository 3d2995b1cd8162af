"""Pending changes, which are committed together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import kept

from ._text import SECRET, one_line, shortened, value_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

TAG = "kept browse"
"""The name of the writer that other programs see for a change."""


@dataclass(frozen=True)
class Edit:
    """A change of one key that is not committed yet."""

    key: str
    old: kept.JSON
    """The value of the key when it was edited; None if it was absent."""
    new: kept.JSON
    """None resets the key."""
    revision: int
    """The key's revision when `old` was shown. A commit refuses to overwrite a later one."""
    is_secret: bool = False
    is_misfit: bool = False
    """Whether the stored value does not fit the declaration. An undo cannot restore such a value."""

    @property
    def is_reset(self) -> bool:
        return self.new is None

    @property
    def text(self) -> str:
        """The new value as part of a line."""
        return "(reset)" if self.is_reset else SECRET if self.is_secret else value_text(self.new)

    @property
    def old_text(self) -> str:
        """The old value as part of a line."""
        return SECRET if self.is_secret else "(absent)" if self.old is None else value_text(self.old)


class KeysChanged(Exception):
    """Another program has changed keys since they were edited."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        names = ", ".join(f'"{key}"' for key in self.keys[:3]) + (" and others" if len(self.keys) > 3 else "")
        super().__init__(
            f"{names} changed since your edit, and nothing was committed; check the new value and try again"
        )


class Pending:
    """The pending edits, one for each key, in the order of their first addition."""

    def __init__(self) -> None:
        self._edits: dict[str, Edit] = {}

    def add(self, edit: Edit) -> None:
        """Adds an edit. A later edit of the same key replaces the first and keeps its old value."""
        if (before := self._edits.get(edit.key)) and before.revision == edit.revision:
            edit = replace(edit, old=before.old)
        self._edits[edit.key] = edit

    def put(self, edit: Edit) -> None:
        """Replaces an edit of the same key."""
        self._edits[edit.key] = edit

    def drop(self, key: str) -> None:
        """Discards the edit of a key."""
        self._edits.pop(key, None)

    def drop_same(self, edits: Sequence[Edit]) -> None:
        """Discards committed edits, unless another edit of their key was added since. The marks of a declaration may
        have changed."""
        for edit in edits:
            now = self.get(edit.key)
            if now and now.new is edit.new and now.revision == edit.revision:
                self.drop(edit.key)

    def get(self, key: str) -> Edit | None:
        return self._edits.get(key)

    def __len__(self) -> int:
        return len(self._edits)

    def __contains__(self, key: str) -> bool:
        return key in self._edits

    @property
    def edits(self) -> list[Edit]:
        return list(self._edits.values())

    def lines(self, keys: Collection[str] | None = None) -> list[str]:
        """A line for each edit of the given keys, or of all. Several are shortened, so that no long value hides the
        others."""
        edits = [edit for edit in self.edits if keys is None or edit.key in keys]
        short = shortened if len(edits) > 1 else str
        return [f"{one_line(edit.key)}  {short(edit.old_text)} -> {short(edit.text)}" for edit in edits]

    def conflict(self, settings: kept.Store) -> Edit | None:
        """The first edit whose key another program has changed since its value was shown."""
        return next((edit for edit in self.edits if settings.revision(edit.key) != edit.revision), None)

    def compare(self, settings: kept.Store, *, is_other: bool) -> None:
        """Compares the edits with a store that was opened again, and turns those with other values or revisions into
        conflicts. If it is another store, turns all into conflicts, as equal revisions mean nothing there."""
        for key, edit in self._edits.items():
            if is_other or stored(settings.explain(key)) != (edit.old, edit.revision):
                self._edits[key] = replace(edit, revision=-1)

    def redeclared(self, settings: kept.Store) -> None:
        """Covers the values of keys that were declared secret since they were edited, and marks stored values that no
        longer fit."""
        for key, edit in self._edits.items():
            self._edits[key] = redeclared(edit, settings.explain(key))


def is_misfit(found: kept.Explanation) -> bool:
    """Whether the stored value of a key does not fit the declaration."""
    return any(finding.layer is kept.Layer.USER and finding.outcome == "skipped" for finding in found.layers)


def stored(found: kept.Explanation) -> tuple[kept.JSON, int]:
    """The stored value of a key, even if a higher layer hides it, or else its effective value; and its revision. The
    values of secrets are left out."""
    for finding in found.layers:
        if finding.layer is kept.Layer.USER and finding.outcome in ("wins", "hidden", "skipped", "ignored"):
            return finding.value, found.revision
    return found.value, found.revision


def redeclared(edit: Edit, found: kept.Explanation) -> Edit:
    """An edit updated to the current declaration. A secret stays secret."""
    return replace(edit, is_secret=edit.is_secret or found.secret, is_misfit=is_misfit(found))


def reset_of(found: kept.Explanation) -> Edit:
    """An edit that resets a key."""
    value, revision = stored(found)
    return Edit(found.key, value, None, revision, found.secret, is_misfit(found))


def commit(settings: kept.Store, edits: Sequence[Edit]) -> int | None:
    """Commits edits as one transaction, and returns the revision; None if they change nothing.

    Raises `KeysChanged`, or the error of a store that refuses them. Then nothing is changed. Any thread.
    """
    try:
        with settings.transaction(tag=TAG) as transaction:
            # Having read the revisions, the commit fails if one of them has changed.
            changed = [edit.key for edit in edits if transaction.revision(edit.key) != edit.revision]
            if changed:
                raise KeysChanged(changed)
            for edit in edits:
                if edit.is_reset:
                    transaction.reset(edit.key)
                else:
                    transaction[edit.key] = edit.new
            revision = transaction.commit()
    except kept.ConflictError as error:
        raise KeysChanged([error.key] if error.key else [edit.key for edit in edits]) from None
    # If nothing changed, it is the revision of another commit.
    is_changed = any(edit.is_reset or settings.revision(edit.key) != edit.revision for edit in edits)
    return revision if is_changed else None


def check(settings: kept.Store, key: str, value: kept.JSON) -> str | None:
    """The store's own reason for refusing a value; None if it would accept it. Nothing is written."""
    transaction = settings.transaction()
    try:
        transaction[key] = value
    except (kept.KeptError, TypeError, ValueError) as error:
        return str(error)
    finally:
        transaction.rollback()
    return None
