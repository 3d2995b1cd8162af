"""Text of values, keys and times in the cells of a terminal."""

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
"""What stands for the value of a secret."""

_LONGEST = 2000
"""Characters of a value that a line has at most; the page of a key has all of them."""


def one_line(text: str) -> str:
    """Text without line breaks and control characters, which are shown as escapes."""
    return kept.display_text(text)


def many_lines(text: str) -> str:
    """The same with line breaks and tabs."""
    return kept.display_text(text, lines=True)


def first_unsafe(text: str) -> str | None:
    """The first character that `many_lines` shows as an escape."""
    return next((found for found, shown in zip(text, many_lines(text), strict=False) if found != shown), None)


# Variation selectors, joiners and skin tones: terminals do not agree on the width of what they are a part of. Without
# them, an emoji is its first form, or the emojis that it is made of.
_MODIFIERS = re.compile("[\ufe00-\ufe0f\u200d\U0001f3fb-\U0001f3ff]")


def steady(text: str) -> str:
    """Text that is as wide in every terminal."""
    return text if text.isascii() else _MODIFIERS.sub("", text)


def fitted(text: str, width: int) -> str:
    """Text in exactly so many cells of every terminal: filled with spaces, or cut with an ellipsis."""
    if width <= 0:
        return ""
    if text.isascii() and len(text) <= width:
        return text.ljust(width)
    text = steady(text)
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + "…", width)


def title_line(name: str, notes: list[str], mode: str, width: int) -> str:
    """The first line of a screen. A name that is too long is cut at its beginning, so that the rest is seen."""
    name, rest = steady(name), "".join(f"  ·  {note}" for note in notes)
    room = max(8, width - cell_len(rest) - len(mode) - 3)
    if cell_len(name) > room:
        name = name[1 - room :]
        while cell_len(name) >= room:
            name = name[1:]
        name = f"…{name}"
    return f"{fitted(f' {name}{rest}', width - len(mode) - 1)}{mode} "


def value_text(value: kept.JSON) -> str:
    """A value as one line of JSON. Dates are as in RFC 3339, and bytes as hexadecimal digits."""
    if isinstance(value, bytes):
        return f"0x{value[:_LONGEST].hex()}{'…' * (len(value) > _LONGEST)}"
    if isinstance(value, datetime | kept.Timestamp):
        return date_text(value)
    text = json.dumps(value, ensure_ascii=False, default=_form)
    return kept.display_text(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…", json=True)


def date_text(value: datetime | kept.Timestamp) -> str:
    """A date as it is stored: in UTC, with as many digits of seconds as it has."""
    return str(value if isinstance(value, kept.Timestamp) else kept.Timestamp.of(value))


def _form(value: Any) -> Any:
    """The JSON form of a kind of value that JSON does not have."""
    if isinstance(value, bytes):
        return {"$binary": f"0x{value.hex()}"}
    return {"$date": date_text(value)}


def ago(time: datetime, now: datetime | None = None) -> str:
    """How long ago something was, in at most eight characters; a date for what is older than a month."""
    seconds = int(((now or datetime.now(UTC)) - time).total_seconds())
    if seconds < 60:
        return "now" if seconds < 5 else f"{seconds} s"
    for unit, size, most in (("min", 60, 60), ("h", 3600, 24), ("d", 86_400, 31)):
        if seconds < size * most:
            return f"{seconds // size} {unit}"
    return f"{time:%Y-%m}"


def moment(time: datetime) -> str:
    """A time for people, in their time zone."""
    return f"{time.astimezone():%Y-%m-%d %H:%M:%S}"


def name_text(name: str) -> str:
    """A name in a sentence that has to be seen whole."""
    name = one_line(name)
    return name if len(name) <= 40 else f"{name[:40]}…"


def names_text(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(one_line, names[:3])) + more


def count_text(count: int, noun: str) -> str:
    """`1 key`, `12,000 keys`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
