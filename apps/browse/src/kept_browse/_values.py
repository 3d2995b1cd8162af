"""Converts between text in an editor and values, in the form that suits the declaration."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

import kept

from ._text import date_text, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class NotAValue(Exception):
    """Why and where a text is not a valid value."""

    reason: str
    offset: int | None = None
    """The index of the first wrong character."""

    def __str__(self) -> str:
        return self.reason


def json_value(text: str) -> kept.JSON:
    """Parses JSON as `kept.h` describes it, with the library's own parser."""
    if (value := _read(text)) is None:
        raise NotAValue("null cannot be stored; remove the key instead")
    return value


def _read(text: str, type: str | None = None) -> kept.JSON:
    try:
        return kept.value_of_text(text, type)
    except kept.KeptError as error:
        raise NotAValue(re.sub(r" \(at byte \d+\)$", "", str(error)), _character(text, error.offset)) from None


def _character(text: str, offset: int | None) -> int | None:
    """The index of the character at a byte offset of `text`."""
    return None if offset is None else len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))


def json_text(value: kept.JSON) -> str:
    """A value as indented JSON as `kept.h` describes it, which `json_value` can parse."""
    tree = json.loads(kept.text_of_value(value))
    # Characters that act on a terminal can only be in strings, where JSON has escapes for them.
    return kept.display_text(json.dumps(tree, indent=2, ensure_ascii=False), json=True)


def bytes_value(text: str) -> kept.JSON:
    """Parses bytes as base64, which may have line breaks."""
    try:
        return _read("".join(text.splitlines()), "bytes")
    except NotAValue:
        # Without the text, which may be a secret.
        raise NotAValue("the text is not base64; write the bytes as base64, such as AP8c") from None


def date_value(text: str) -> kept.JSON:
    """Parses a date as in RFC 3339 or another form of ISO 8601. Without an offset it is in UTC."""
    text = text.strip()
    try:
        return _read(text, "date")  # which accepts nanoseconds and the year 0
    except NotAValue:
        pass
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except ValueError:
        raise NotAValue("the text is not a date such as 2026-11-20T23:44:01Z or 2026-11-21T00:44:01+01:00") from None


def kind_of(declaration: Mapping[str, Any] | None) -> str:
    """How a value is edited: `choice`, `boolean`, `integer`, `number`, `string`, `date`, `bytes` or `json`."""
    declaration = declaration or {}
    if "enum" in declaration:
        return "choice"
    kind = declaration.get("type")
    return kind if kind in ("boolean", "integer", "number", "string", "date", "bytes") else "json"


def value_of(kind: str, text: str) -> kept.JSON:
    """The value of a text. Raises `NotAValue`. The store decides whether the value fits the declaration."""
    match kind:
        case "string":
            return text
        case "bytes":
            return bytes_value(text)
        case "date":
            return date_value(text)
        case "integer" | "number":
            try:
                value = json_value(text)
            except NotAValue:
                if re.fullmatch(r"-?\d+", text.strip()):
                    raise  # too large
                value = None
            if isinstance(value, bool) or not isinstance(value, int | float):
                what = "whole number such as 7" if kind == "integer" else "number such as 0.5"
                raise NotAValue(f"the text is not a {what}")
            # A whole number fits a `number` too, and is equal as a double unless it has too many digits.
            return float(value) if kind == "number" and float(value) == value else value
    return json_value(text)


def text_of(kind: str, value: kept.JSON) -> str:
    """The text of a value in its editor, which `value_of` can parse."""
    if value is None:
        return ""
    if kind == "string" and isinstance(value, str):
        return value
    if kind == "bytes" and isinstance(value, bytes):
        return kept.text_of_value(value, "bytes")
    if kind == "date" and not isinstance(value, str | bytes | bool | int | float | list | dict):
        return date_text(value)
    return json_text(value)


def place_text(text: str, offset: int) -> str:
    """The line and column of a character in a text."""
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - text.rfind(chr(10), 0, offset)}"


def caret(text: str, offset: int) -> str:
    """The displayed line of a text with a caret under a character, below its line and column."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : end if end >= 0 else len(text)]
    column = offset - start
    # A long line is cut so that the character is in view.
    cut = max(0, column - 40)
    before, after = one_line(line[cut:column]), one_line(line[column : cut + 70])
    return f"{place_text(text, offset)}\n{before}{after}\n{' ' * cell_len(before)}^"
