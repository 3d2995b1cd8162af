"""The text form of GVariant values, as used in settings schemas: `parse("as", "['a', 'b']")` is `['a', 'b']`.

https://docs.gtk.org/glib/gvariant-text-format.html has the grammar. The type is given, so that none is inferred.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

INTEGERS = {  # by type: the least and the greatest value
    "y": (0, 2**8 - 1),
    "n": (-(2**15), 2**15 - 1),
    "q": (0, 2**16 - 1),
    "i": (-(2**31), 2**31 - 1),
    "u": (0, 2**32 - 1),
    "x": (-(2**63), 2**63 - 1),
    "t": (0, 2**64 - 1),
}
ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def parse(kind: str, text: str) -> Any:
    """The value of a text as a type. A ValueError gives the character of the error."""
    reader = _Reader(text)
    read, rest = _reader_of(kind)
    if rest:
        raise ValueError(f"{kind!r} is more than one type")
    value = read(reader)
    reader.expect_end()
    return value


def members(kind: str) -> list[str]:
    """The types of the members of a tuple: `members("(sai)")` is `["s", "ai"]`."""
    types: list[str] = []
    rest = kind[1:-1]
    while rest:
        after = _reader_of(rest)[1]
        types.append(rest[: len(rest) - len(after)])
        rest = after
    return types


class _Reader:
    """A text and how far it has been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def match(self, pattern: str) -> str | None:
        """Reads and returns what comes next, after spaces, if it matches the pattern."""
        found = re.compile(r"\s*(" + pattern + ")").match(self.text, self.position)
        if found is None:
            return None
        self.position = found.end()
        return found[1]

    def expect(self, pattern: str, name: str) -> str:
        found = self.match(pattern)
        if found is None:
            raise self.error(f"there is no {name}")
        return found

    def expect_end(self) -> None:
        if self.text[self.position :].strip():
            raise self.error("something follows the value")

    def error(self, what: str) -> ValueError:
        return ValueError(f"{self.text!r}: at character {self.position} {what}")


Read = Callable[[_Reader], Any]


def _reader_of(kind: str) -> tuple[Read, str]:
    """The reader of the first type in a type string, and the remaining types."""
    first, rest = kind[:1], kind[1:]
    if first == "b":
        return _boolean, rest
    if first in INTEGERS:
        least, greatest = INTEGERS[first]
        return lambda reader: _integer(reader, least, greatest), rest
    if first == "d":
        return _double, rest
    if first in ("s", "o", "g"):
        return _string, rest
    if first == "a":
        element, rest = _reader_of(rest)
        return lambda reader: _sequence(reader, "[", element, "]"), rest
    if first == "(":
        return _tuple_reader(rest)
    raise ValueError(f"{kind!r} is a type that this program does not read")


def _tuple_reader(kind: str) -> tuple[Read, str]:
    members: list[Read] = []
    while not kind.startswith(")"):
        member, kind = _reader_of(kind)
        members.append(member)

    def read(reader: _Reader) -> list[Any]:
        reader.expect(r"\(", "(")
        values = []
        for index, member in enumerate(members):
            if index:
                reader.expect(",", "comma")
            values.append(member(reader))
        if len(members) == 1:
            reader.expect(",", "comma")  # as in Python
        reader.expect(r"\)", ")")
        return values

    return read, kind[1:]


def _boolean(reader: _Reader) -> bool:
    return reader.expect(r"(?:true|false)\b", "boolean") == "true"


def _integer(reader: _Reader, least: int, greatest: int) -> int:
    text = reader.expect(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)(?![0-9.eE])", "integer")
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.removeprefix("+"))
    octal = digits.startswith("0") and digits.isdigit()
    value = sign * (int(digits, 8) if octal else int(digits, 0))
    if not least <= value <= greatest:
        raise reader.error(f"{value} is not between {least} and {greatest}")
    return value


def _double(reader: _Reader) -> float:
    return float(reader.expect(r"[+-]?(?:inf|nan|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)", "number"))


def _string(reader: _Reader) -> str:
    quoted = reader.expect(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", "string")

    def unescaped(escape: re.Match[str]) -> str:
        if escape[1]:
            return chr(int(escape[1][1:], 16))
        return ESCAPES.get(escape[2], escape[2])

    return re.sub(r"\\(?:(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(.))", unescaped, quoted[1:-1], flags=re.DOTALL)


def _sequence(reader: _Reader, opening: str, element: Read, closing: str) -> list[Any]:
    reader.match("@[a-z(){}*?]+")  # the type again, which an empty array may state
    reader.expect(re.escape(opening), opening)
    values: list[Any] = []
    while reader.match(re.escape(closing)) is None:
        if values:
            reader.expect(",", "comma")
        values.append(element(reader))
    return values
