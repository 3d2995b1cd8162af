"""The history of a store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._key import decoded_value
from ._refusal import Known
from ._types import JSON


@dataclass(frozen=True)
class PastChange:
    """A past change of one key. Commits that one program makes within about a second, and that change the same keys,
    are one change of each key. In Swift: `PastChange`."""

    key: str
    revision: int
    time: datetime
    """When it was committed, in UTC, by the writer's clock, which may have been wrong."""
    tag: str | None
    """The tag that the writer had set."""
    old: JSON
    """The value before; None if there was none, if it is a secret, and if it was not kept."""
    new: JSON
    """The value after, as `old`."""
    secret: bool
    not_kept: tuple[str, ...]
    """"old" and "new", where a value was too large to be kept, was forgotten, or is secret."""


@dataclass(frozen=True)
class History:
    """The past changes of a store, or of some of its keys. In Swift: `History`."""

    changes: tuple[PastChange, ...]
    """The newest first."""
    complete_after: int
    """The revision after which no change is missing."""
    missing: tuple[range, ...] = ()
    """Revisions that are parts of a change, so that what the keys had then is not known; in ascending order."""


def history_of(text: bytes) -> History:
    """The object that C has written."""
    members: Any = decoded_value(text, "a history", Known(False))
    return History(
        changes=tuple(
            PastChange(
                key=change["key"],
                revision=change["revision"],
                time=datetime.fromisoformat(change["time"]),
                tag=change.get("tag"),
                old=change.get("old"),
                new=change.get("new"),
                secret=change.get("secret", False),
                not_kept=tuple(change.get("notKept", ())),
            )
            for change in members["changes"]
        ),
        complete_after=members["completeAfter"],
        missing=tuple(range(first, last + 1) for first, last in members.get("missing", ())),
    )
