"""Formats values, keys and times for the cells of a terminal."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size

import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

SECRET = "(secret)"
"""The text shown instead of a secret value."""

LOCKED = "(locked secret)"
"""The text shown instead of an encrypted secret whose key no provider has given."""

_LONGEST = 2000
"""The maximum number of characters of a value in a line. The page of a key shows more."""


def one_line(text: str) -> str:
    """Text with line breaks and control characters shown as escapes."""
    return kept.display_text(text)


def many_lines(text: str) -> str:
    """The same, but keeps line breaks and tabs."""
    return kept.display_text(text, lines=True)


def first_unsafe(text: str) -> str | None:
    """The first character that `many_lines` shows as an escape."""
    return next((found for found, shown in zip(text, many_lines(text), strict=False) if found != shown), None)


# Variation selectors, joiners and skin tones. Terminals disagree about the widths of emojis that contain them. Without
# them, an emoji has its basic form, or falls apart into the emojis that it is made of.
_MODIFIERS = re.compile("[\ufe00-\ufe0f\u200d\U0001f3fb-\U0001f3ff]")


def steady(text: str) -> str:
    """Text that has the same width in every terminal."""
    return text if text.isascii() else _MODIFIERS.sub("", text)


def fitted(text: str, width: int) -> str:
    """Text that takes exactly `width` cells in every terminal, padded with spaces or cut with an ellipsis."""
    if width <= 0:
        return ""
    if text.isascii() and len(text) <= width:
        return text.ljust(width)
    text = steady(text)
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + "…", width)


def fitted_name(text: str, width: int) -> str:
    """The same for a name, which is cut in its middle. More of its end is left, as names often begin alike."""
    text = steady(text)
    if cell_len(text) <= width or width < 4:
        return fitted(text, width)
    end = text[-(width * 2 // 3) :]
    while cell_len(end) > width * 2 // 3:
        end = end[1:]
    return set_cell_size(f"{set_cell_size(text, width - 1 - cell_len(end)).rstrip()}…{end}", width)


def shortened(text: str, width: int = 60) -> str:
    """Text of about `width` cells or fewer. Where it must be exact, there is `fitted`: terminals and Textual disagree
    about the widths of some characters."""
    return kept.display_text(text, columns=width)


def title_line(name: str, notes: list[str], mode: str, width: int) -> str:
    """The first line of a screen. A name that is too long is cut at its start, so that its end is visible."""
    name, rest = steady(name), "".join(f"  ·  {note}" for note in notes)
    room = max(8, width - cell_len(rest) - len(mode) - 3)
    if cell_len(name) > room:
        name = name[1 - room :]
        while cell_len(name) >= room:
            name = name[1:]
        name = f"…{name}"
    return f"{fitted(f' {name}{rest}', width - len(mode) - 1)}{mode} "


def value_text(value: kept.JSON) -> str:
    """A value as one line of JSON, with dates as in RFC 3339 and bytes as base64."""
    if isinstance(value, datetime | kept.Timestamp):
        return date_text(value)
    if isinstance(value, bytes):
        text = kept.text_of_value(value[:_LONGEST], "bytes")
    else:
        text = json.dumps(value, ensure_ascii=False, default=_form)
    return kept.display_text(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…", json=True)


def date_text(value: datetime | kept.Timestamp) -> str:
    """A date as it is stored: in UTC, with all its fractional digits."""
    return str(value if isinstance(value, kept.Timestamp) else kept.Timestamp.of(value))


def _form(value: Any) -> Any:
    """The JSON form of a value whose type JSON lacks."""
    if isinstance(value, bytes):
        return {"$binary": {"base64": kept.text_of_value(value, "bytes"), "subType": "00"}}
    return {"$date": date_text(value)}


def ago(time: datetime, now: datetime | None = None) -> str:
    """The age of a time in at most eight characters, or its date if it is older than a month."""
    seconds = int(((now or datetime.now(UTC)) - time).total_seconds())
    if seconds < 60:
        return "now" if seconds < 5 else f"{seconds} s"
    for unit, size, most in (("min", 60, 60), ("h", 3600, 24), ("d", 86_400, 31)):
        if seconds < size * most:
            return f"{seconds // size} {unit}"
    return f"{time:%Y-%m}"


def time_text(time: datetime) -> str:
    """A time in the user's time zone."""
    return f"{time.astimezone():%Y-%m-%d %H:%M:%S}"


def name_text(name: str) -> str:
    """A name shortened for a sentence that has to be visible as a whole."""
    name = one_line(name)
    return name if len(name) <= 40 else f"{name[:40]}…"


def names_text(names: Sequence[str]) -> str:
    """The first few names, and the number of others."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(one_line, names[:3])) + more


def count_text(count: int, noun: str) -> str:
    """`1 key`, `12,000 keys`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
