"""Text that a person has written as a value, as the declaration of its key asks for it."""

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
    """Why a text is no value, and where."""

    reason: str
    offset: int | None = None
    """The character at which it is wrong."""

    def __str__(self) -> str:
        return self.reason


def json_value(text: str) -> kept.JSON:
    """The value of JSON as `kept.h` describes it, read by the library itself."""
    _check_end(text)
    # An export, because the JSON of other programs may have numbers that are reported without their place.
    opening = '{"kept":1,"values":{"value":'
    words = r'^"value": | \(1 key is refused, and nothing was imported\)| \(at byte \d+\)$'
    with kept.open("memory:") as scratch:
        try:
            # A line break at the end, so that a missing value is not a misplaced brace.
            scratch.import_text(f"{opening}{text}\n}}}}", format="kept")
        except kept.KeptError as error:
            raise NotAValue(re.sub(words, "", str(error)), _character(text, error.offset, len(opening))) from None
        if list(scratch) != ["value"]:
            raise NotAValue("one value stands here; put several in brackets")
        return scratch["value"]


def _check_end(text: str) -> None:
    """Refuses what follows a value: inside the object that is imported, it would be taken for a part of that."""
    start = len(text) - len(text.lstrip())
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return  # the library says what is wrong
    if rest := text[end:].lstrip():
        raise NotAValue("one value stands here, and this follows it; put several in brackets", len(text) - len(rest))


def _character(text: str, offset: int | None, before: int) -> int | None:
    """The character of `text` at a byte of the text with something before it."""
    if offset is None:
        return None
    head = text.encode("utf-8", "surrogatepass")[: max(0, offset - before)]
    return min(len(text), len(head.decode("utf-8", "replace")))


def json_text(value: kept.JSON) -> str:
    """A value as the JSON of `kept.h` over several lines, which `json_value` reads again."""
    with kept.open("memory:") as scratch:
        scratch["value"] = value
        tree = json.loads(scratch.export())["values"]["value"]
    # Characters that act on a terminal can only stand in texts, where JSON has escapes for them.
    return kept.display_text(json.dumps(tree, indent=2, ensure_ascii=False), json=True)


def bytes_value(text: str) -> bytes:
    """Bytes of hexadecimal digits. Spaces and line breaks may stand between them."""
    try:
        return bytes.fromhex(text.strip().removeprefix("0x"))
    except ValueError:
        raise NotAValue("bytes are written as pairs of hexadecimal digits, such as 00 ff 1c") from None


def date_value(text: str) -> kept.JSON:
    """A date as in RFC 3339, or in another form of ISO 8601; without an offset it is in UTC."""
    text = text.strip()
    try:
        return json_value(json.dumps({"$date": text}))  # which reads nanoseconds, and the year 0
    except NotAValue:
        pass
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except ValueError:
        raise NotAValue("write a date as 2026-11-20T23:44:01Z, or with an offset such as +01:00") from None


def kind_of(declaration: Mapping[str, Any] | None) -> str:
    """How a value is edited: `choice`, `boolean`, `integer`, `number`, `string`, `date`, `bytes` or `json`."""
    declaration = declaration or {}
    if "enum" in declaration:
        return "choice"
    kind = declaration.get("type")
    return kind if kind in ("boolean", "integer", "number", "string", "date", "bytes") else "json"


def value_of(kind: str, text: str) -> kept.JSON:
    """The value of a text, or `NotAValue`. Whether it fits the declaration is the store's to say."""
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
                raise NotAValue(f"write a {'whole number, such as 7' if kind == 'integer' else 'number, such as 0.5'}")
            # A whole number fits a `number` too. It is the same one there, unless it has more digits than a double.
            return float(value) if kind == "number" and float(value) == value else value
    return json_value(text)


def text_of(kind: str, value: kept.JSON) -> str:
    """The text of a value in its editor, which `value_of` reads again."""
    if value is None:
        return ""
    if kind == "string" and isinstance(value, str):
        return value
    if kind == "bytes" and isinstance(value, bytes):
        return value.hex(" ")
    if kind == "date" and not isinstance(value, str | bytes | bool | int | float | list | dict):
        return date_text(value)
    return json_text(value)


def place_text(text: str, offset: int) -> str:
    """Where a character of a text is."""
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - text.rfind(chr(10), 0, offset)}"


def caret(text: str, offset: int) -> str:
    """The line of a text as it is shown, with a mark under a character, and where that is."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : end if end >= 0 else len(text)]
    column = offset - start
    # A long line is cut, so that the place is in view.
    cut = max(0, column - 40)
    before, after = one_line(line[cut:column]), one_line(line[column : cut + 70])
    return f"{place_text(text, offset)}\n{before}{after}\n{' ' * cell_len(before)}^"
