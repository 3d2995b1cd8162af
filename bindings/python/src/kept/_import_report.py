"""The changes of an import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._key import decoded_value
from ._refusal import Known
from ._types import JSON


@dataclass(frozen=True)
class ImportChange:
    """A key with another value. In Swift: `ImportReport.Change`."""

    key: str
    old: JSON
    """None if there was none that could be read, or if it is a secret."""
    new: JSON
    """None if it is a secret."""
    secret: bool


@dataclass(frozen=True)
class ImportRefusal:
    """A key that cannot be stored. In Swift: `ImportReport.Refusal`."""

    key: str
    reason: str


@dataclass(frozen=True)
class NotCarried:
    """Something in a text that was not imported, or was changed. In Swift: `NotCarried`."""

    place: str
    """Its place: "line 3", or its name in the text."""
    reason: str


@dataclass(frozen=True)
class ImportReport:
    """The result of an import, or of a dry run. In Swift: `ImportReport`."""

    revision: int
    """The store's revision after the import; in a dry run, the revision that it was compared with."""
    changed: tuple[ImportChange, ...]
    removed: tuple[str, ...]
    declared: tuple[str, ...]
    """The keys whose declaration was changed or removed."""
    unchanged: int
    """How many keys had the value before."""
    refused: tuple[ImportRefusal, ...]
    """The keys that cannot be stored; empty except in a dry run."""
    not_carried: tuple[NotCarried, ...]


def report_of(text: bytes) -> ImportReport:
    """The report that C has written."""
    # It has no values of secrets.
    members: Any = decoded_value(text, "a report", Known(False))
    return ImportReport(
        revision=members["revision"],
        changed=tuple(
            ImportChange(change["key"], change.get("old"), change.get("new"), "secret" in change)
            for change in members["changed"]
        ),
        removed=tuple(members["removed"]),
        declared=tuple(members["declared"]),
        unchanged=members["unchanged"],
        refused=tuple(ImportRefusal(refusal["key"], refusal["reason"]) for refusal in members["refused"]),
        not_carried=tuple(NotCarried(lost["place"], lost["reason"]) for lost in members["notCarried"]),
    )
