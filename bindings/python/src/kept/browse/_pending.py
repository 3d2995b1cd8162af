"""Changes that wait to be committed together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import kept

from ._text import SECRET, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

TAG = "kept browse"
"""What other programs see as the writer of a change."""


@dataclass(frozen=True)
class Edit:
    """A change of one key that is not committed yet."""

    key: str
    old: kept.JSON
    """What the key read as when it was edited; None if it was absent."""
    new: kept.JSON
    """None resets the key."""
    revision: int
    """The key's revision when it was edited. A commit refuses to overwrite a later one."""
    is_secret: bool = False

    @property
    def is_reset(self) -> bool:
        return self.new is None

    @property
    def text(self) -> str:
        """The new value for a line of text."""
        return "(reset)" if self.is_reset else SECRET if self.is_secret else value_text(self.new)

    @property
    def old_text(self) -> str:
        """The old value for a line of text."""
        return SECRET if self.is_secret else "(absent)" if self.old is None else value_text(self.old)


class ChangedMeanwhile(Exception):
    """Another program has changed keys since they were edited."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        names = ", ".join(f'"{key}"' for key in self.keys[:3]) + (" and others" if len(self.keys) > 3 else "")
        super().__init__(f"{names} changed since you edited; look at the new value, and edit again to replace it")


class Pending:
    """The edits that wait, one for each key, in the order in which they were begun."""

    def __init__(self) -> None:
        self._edits: dict[str, Edit] = {}

    def add(self, edit: Edit) -> None:
        """Adds an edit. A later one of the same key replaces the first, and has its old value."""
        if (before := self._edits.get(edit.key)) and before.revision == edit.revision:
            edit = Edit(edit.key, before.old, edit.new, edit.revision, edit.is_secret)
        self._edits[edit.key] = edit

    def drop(self, key: str) -> None:
        """Discards the edit of a key."""
        self._edits.pop(key, None)

    def clear(self) -> None:
        """Discards all of them."""
        self._edits.clear()

    def get(self, key: str) -> Edit | None:
        return self._edits.get(key)

    def __len__(self) -> int:
        return len(self._edits)

    def __contains__(self, key: str) -> bool:
        return key in self._edits

    @property
    def edits(self) -> list[Edit]:
        return list(self._edits.values())


def commit(settings: kept.Store, edits: Sequence[Edit]) -> int | None:
    """Commits edits as one transaction, and returns the revision; None if they change nothing.

    Raises `ChangedMeanwhile`, or what the store refuses them with; nothing is changed then. Any thread.
    """
    try:
        with settings.transaction(tag=TAG) as transaction:
            # Reading the revisions makes the commit fail if one of them changes before it.
            changed = [edit.key for edit in edits if transaction.revision(edit.key) != edit.revision]
            if changed:
                raise ChangedMeanwhile(changed)
            for edit in edits:
                if edit.is_reset:
                    transaction.reset(edit.key)
                else:
                    transaction[edit.key] = edit.new
            before = settings.revision()
            revision = transaction.commit()
    except kept.ConflictError as error:
        raise ChangedMeanwhile([error.key] if error.key else [edit.key for edit in edits]) from None
    return revision if revision > before else None


def check(settings: kept.Store, key: str, value: kept.JSON) -> str | None:
    """Why the store would refuse a value, in its own sentence; None if it would not. Nothing is written."""
    transaction = settings.transaction()
    try:
        transaction[key] = value
    except (kept.KeptError, TypeError, ValueError) as error:
        return str(error)
    finally:
        transaction.rollback()
    return None
