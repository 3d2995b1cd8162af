"""The row that the list shows for each key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from sys import intern
from typing import TYPE_CHECKING, Any

import kept

from ._text import LOCKED, SECRET, one_line, value_text

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS = (kept.Layer.SYSTEM, kept.Layer.REGISTERED, kept.Layer.DECLARED)
"""The layers with defaults, the highest first."""

RECENT = timedelta(days=1)


@dataclass(slots=True)
class Past:
    """The newest known change of a key."""

    time: datetime
    tag: str | None


@dataclass(slots=True)
class Row:
    """One key, read and ready for a list. The reading is the expensive part."""

    key: str
    value: str
    """One line; empty if the key has no value."""
    type: str
    layer: str
    summary: str
    is_declared: bool
    is_secret: bool
    is_locked: bool
    is_shadowed: bool
    is_invalid: bool
    is_modified: bool
    past: Past | None

    @property
    def is_recent(self) -> bool:
        return self.past is not None and datetime.now(UTC) - self.past.time < RECENT

    @property
    def mark(self) -> str:
        """The character for the most important state of the key; the help explains it."""
        return (
            "!" if self.is_invalid else
            "=" if self.is_locked else
            "~" if self.is_shadowed else
            "*" if self.is_modified else " "
        )  # fmt: skip

    @property
    def text(self) -> str:
        """The searched text."""
        return f"{self.key}\n{self.summary}\n{self.value}".casefold()


def read_row(
    settings: kept.SettingsReading, key: str, declaration: Mapping[str, Any] | None, past: Past | None
) -> Row | None:
    """Reads a key. None if it no longer has a value or a declaration."""
    found = settings.explain(key)
    if declaration is None and all(finding.outcome in ("silent", "locks") for finding in found.layers):
        return None
    secret = found.secret or bool(declaration and declaration.get("secret"))
    user = next((finding for finding in found.layers if finding.layer is kept.Layer.USER), None)
    return Row(
        key=key,
        value=(
            "" if found.layer is None else LOCKED if locked_by(found) else SECRET if secret else value_text(found.value)
        ),  # fmt: skip
        type=intern(type_of(declaration)) or ("" if secret else type_of_value(found.value)),
        layer="" if found.layer is None else intern(found.layer.name.lower()),
        summary=summary_of(declaration),
        is_declared=declaration is not None,
        is_secret=secret,
        is_locked=found.locked,
        is_shadowed=user is not None and user.outcome in ("hidden", "ignored"),
        is_invalid=any(finding.outcome == "skipped" for finding in found.layers),
        is_modified=_is_modified(found),
        past=past,
    )


def locked_by(found: kept.Explanation) -> str | None:
    """Why the value of a key, which is an encrypted secret, cannot be read; None if it can be."""
    if not found.secret or found.layer is not kept.Layer.USER:
        return None
    return next(
        (each.problem for each in found.layers if each.layer is kept.Layer.USER and each.outcome == "wins"), None
    )


def default_of(found: kept.Explanation) -> kept.LayerFinding | None:
    """The default that a stored value hides, if any."""
    return next((each for each in found.layers if each.layer in DEFAULTS and each.outcome == "hidden"), None)


def _is_modified(found: kept.Explanation) -> bool:
    if found.layer is None or found.layer in DEFAULTS:
        return False
    if default := default_of(found):
        return found.secret or default.value != found.value or type(default.value) is not type(found.value)
    return True


def type_of(declaration: Mapping[str, Any] | None) -> str:
    """The declared type as `kept list` prints it; empty without one."""
    kind = (declaration or {}).get("type", "")
    return kind if isinstance(kind, str) else " or ".join(map(str, kind))


def summary_of(declaration: Mapping[str, Any] | None) -> str:
    """The purpose of a key: its summary, else its description."""
    declaration = declaration or {}
    return one_line(str(declaration.get("summary") or declaration.get("description") or ""))


def type_of_value(value: kept.JSON) -> str:
    """The type of a value, named as in declarations; empty for None."""
    match value:
        case None:
            return ""
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case bytes():
            return "bytes"
        case list():
            return "array"
        case dict():
            return "object"
    return "date"
