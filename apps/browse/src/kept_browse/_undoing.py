"""Which commits can be undone: the warnings before a commit, and the check after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kept

from ._rows import locked_by
from ._text import count_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ._pending import Edit

NO_SECRETS = "the history does not keep the values of secrets"
NO_KEY = "the key of the encrypted secret is not available"
NO_LONG_VALUES = "the history does not keep values that long"
NOT_KNOWN = "It is not known whether it can be undone; u in the list tries it."
NO_MISFITS = "the store refuses the old value, which does not match the declaration"

MOST = 65_536
"""The largest value that the history keeps, in bytes; see docs/guide/history.md."""


def size_of(value: kept.JSON) -> int:
    """The size of a value as the limits of the history count it: the bytes of a text, or of the canonical JSON."""
    match value:
        case str():
            return len(value.encode("utf-8", "surrogatepass"))
        case bytes():
            return len(value)
        case list() | dict():
            with kept.open("memory:") as scratch:
                scratch["value"] = ""
                empty = len(scratch.export()) - len('""')
                scratch["value"] = value
                text = scratch.export()
            return len(text.encode()) - empty
    return 8


def why_final(settings: kept.Store, edit: Edit) -> str | None:
    """Why the history cannot restore the value that an edit replaces; None if it can."""
    if edit.is_secret:
        return _why_secret_is_final(settings, edit.key)
    if edit.is_misfit:
        return NO_MISFITS
    return NO_LONG_VALUES if edit.revision and size_of(edit.old) > MOST else None


def finality(settings: kept.Store, edits: Sequence[Edit]) -> str | None:
    """A sentence if a commit of the edits could not be undone, with the reason; else None."""
    try:
        reasons = [*_why_nothing_is_kept(settings, edits), *(why_final(settings, edit) for edit in edits)]
    except kept.KeptError:
        return None  # the store cannot be reached, which is reported elsewhere
    return sentence(filter(None, reasons))


def _why_secret_is_final(settings: kept.Store, key: str) -> str | None:
    """Why the history cannot restore the replaced value of a secret: only encrypted ones are kept."""
    try:
        if settings.secrets().state == "encrypted":
            return NO_KEY if locked_by(settings.explain(key)) else None
    except kept.KeptError:
        pass  # a store in memory
    return NO_SECRETS


def sentence(reasons: Iterable[str]) -> str | None:
    """The sentence that a commit cannot be undone for the given reasons; None without a reason."""
    several = " and ".join(dict.fromkeys(reasons))
    return f"It cannot be undone: {several}." if several else None


def _why_nothing_is_kept(settings: kept.Store, edits: Sequence[Edit]) -> list[str]:
    """Why the history would not keep a commit, whatever its values."""
    try:
        limits = settings.history_limits
    except kept.UnsupportedError:
        return ["the store keeps no history"]
    if not all(limits.values()):
        return ["the history of the store is turned off"]
    size = sum(32 + len(edit.key.encode()) + (size_of(edit.old) if edit.revision else 0) for edit in edits)
    if len(edits) > limits["changes"] or size > limits["bytes"]:
        return ["the limits of the history are too small for it"]
    return []


def obstacle(settings: kept.Store, revision: int, history: kept.History | None = None) -> str | None:
    """Why a commit cannot be undone; None if it can be. Raises an error if the history cannot be read for now. Nothing
    is written. Any thread."""
    if history is None:
        try:
            history = settings.history()
        except kept.UnsupportedError:
            return "the store keeps no history"
        except kept.CorruptError as error:
            return str(error)
    changes = [change for change in history.changes if change.revision == revision]
    if not changes or revision <= history.complete_after:
        return "the history does not have it"
    later = {change.key for change in history.changes if change.revision > revision}
    changed = [change.key for change in changes if change.key in later]
    if changed:
        return f"{count_text(len(changed), 'key')} changed since then"
    for change in changes:
        if change.secret and (why := _why_secret_is_final(settings, change.key)):
            return why
    if any("old" in change.not_kept and not change.secret for change in changes):
        return "the history has not kept the replaced values"
    transaction = settings.transaction()
    try:
        for change in changes:
            if change.secret:
                continue
            if change.old is None:
                transaction.reset(change.key)
            else:
                transaction[change.key] = change.old
    except (kept.KeptError, TypeError, ValueError) as error:
        return NO_MISFITS if isinstance(error, kept.InvalidError | kept.WrongTypeError) else str(error)
    finally:
        transaction.rollback()
    return None
