"""Values as text: the Extended JSON profile of kept.h, which keeps the kinds that JSON lacks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from json import JSONDecoder, JSONEncoder

from ._dates import date_of_text, text_of_date
from ._errors import InvalidError, OutOfRangeError, TooLargeError
from ._refusal import Refusal, with_article
from ._timestamps import Timestamp
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ._types import JSON, Storable

NESTING = 64
"""How deep lists and dicts may be nested; the library's own limit."""


def encode(value: Storable) -> bytes:
    """The value as JSON in UTF-8. What cannot be stored is a `Refusal`: see `converted`."""
    if value is None:
        raise Refusal(InvalidError, "None cannot be stored; use del to remove a key")
    tree = _plain(value, 0)
    try:
        return _WRITER.encode(tree).encode("utf-8")
    except UnicodeEncodeError as error:
        unit = ord(error.object[error.start])
        raise Refusal(
            InvalidError, f"the text contains the lone surrogate U+{unit:04X}, which is not a character"
        ) from None


def decode(text: bytes | str) -> JSON:
    """The value of canonical JSON, as the library returns it. Anything else is a `Refusal`: see `converted`."""
    try:
        text = text if isinstance(text, str) else text.decode("utf-8")
        tree = _READER.decode(text)
    except ValueError as error:
        raise Refusal(InvalidError, f"the text is not JSON: {error}") from None
    # Only wrapped kinds have a key that begins with a dollar sign; everything else needs no conversion.
    return _unwrapped(tree) if '"$' in text else tree  # type: ignore[no-any-return]


def decode_schema(text: bytes) -> JSON:
    """The JSON Schema of canonical JSON, where a name with a dollar sign, such as $id, may be a plain name."""
    tree = _READER.decode(text.decode("utf-8"))
    # As in `decode`: few schemas have such a name, and a store may have a hundred thousand.
    return _named(tree) if b'"$' in text else tree  # type: ignore[no-any-return]


# --- from Python to JSON


def _plain(value: object, depth: int) -> object:
    """The value in the types of JSON. Each type that JSON lacks is wrapped in an object."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return _plain_integer(int(value))
        case float():
            return float(value) if math.isfinite(value) else {"$numberDouble": _NOT_NUMBERS[repr(float(value))]}
        case bytes():
            from base64 import b64encode

            return {"$binary": {"base64": b64encode(value).decode("ascii"), "subType": "00"}}
        case datetime():
            return {"$date": text_of_date(value)}
        case Timestamp():
            return {"$date": str(value)}
        case bytearray() | memoryview():
            # They are sequences of integers too, and would become arrays.
            raise Refusal(InvalidError, f"{with_article(_name(value))} cannot be stored; convert it to bytes")
        case Mapping():
            return _plain_object(value, _deeper(depth))
        case Sequence():
            return _plain_array(value, _deeper(depth))
    raise Refusal(
        InvalidError,
        f"{with_article(_name(value))} cannot be stored;"
        " use bool, int, float, str, bytes, datetime, list or dict, or a kept.Key",
    )


_NOT_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _name(value: object) -> str:
    return type(value).__qualname__


def _deeper(depth: int) -> int:
    if depth == NESTING:
        raise Refusal(TooLargeError, f"lists and dicts are nested more than {NESTING} levels deep")
    return depth + 1


def _plain_integer(value: int) -> object:
    if -(2**63) <= value < 2**63:
        return value
    if 0 < value < 2**64:
        return {"$numberULong": str(value)}
    size = f"an integer of {value.bit_length()} bits"
    raise Refusal(OutOfRangeError, f"{size} cannot be stored; integers range from -2^63 to 2^64 - 1")


def _plain_array(values: Sequence[object], depth: int) -> list[object]:
    result: list[object] = []
    for index, value in enumerate(values):
        try:
            result.append(_plain(value, depth))
        except Refusal as refusal:
            refusal.inside(index)
            raise
    return result


def _plain_object(members: Mapping[Any, object], depth: int) -> dict[str, object]:
    result: dict[str, object] = {}
    literal = False
    for name, value in members.items():
        if not isinstance(name, str):
            raise Refusal(InvalidError, f"a dict has the key {name!r}; keys must be str")
        literal = literal or name.startswith("$")
        try:
            result[name] = _plain(value, depth)
        except Refusal as refusal:
            refusal.inside(name)
            raise
    return {"$literal": result} if literal else result


# --- from JSON to Python


def _unwrapped(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_unwrapped(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    for name in tree:
        if name.startswith("$"):
            return _unwrapped_kind(name, tree)
    return {name: _unwrapped(value) for name, value in tree.items()}


def _named(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_named(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1 and tree.keys() <= _KINDS.keys():
        try:
            return _unwrapped(tree)
        except Refusal:
            pass
    return {name: _named(value) for name, value in tree.items()}


def _unwrapped_kind(name: str, tree: dict[str, Any]) -> JSON:
    try:
        if len(tree) == 1 and name in _KINDS:
            return _KINDS[name](tree[name])
    except (TypeError, ValueError, KeyError, AttributeError):
        pass
    raise Refusal(InvalidError, f"the JSON form {_form(tree)} is unknown; a newer version may have written it")


def _form(tree: dict[str, Any]) -> str:
    """The names of an object's members: enough to recognise a form, and no value that may be secret."""
    return "{" + ", ".join(sorted(tree)) + "}"


def _unsigned(text: str) -> int:
    value = int(text)
    if str(value) != text or not 0 <= value < 2**64:
        raise ValueError(text)
    return value


def _signed(text: str) -> int:
    value = int(text)
    if str(value) != text or not -(2**63) <= value < 2**63:
        raise ValueError(text)
    return value


def _not_number(text: str) -> float:
    return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}[text]


def _binary(form: dict[str, str]) -> bytes:
    if form.keys() != {"base64", "subType"} or form["subType"] != "00":
        raise ValueError(form)
    from base64 import b64decode
    from binascii import Error

    try:
        return b64decode(form["base64"], validate=True)
    except Error as error:
        raise Refusal(InvalidError, f"the bytes are not valid base64: {error}") from None


def _literal(members: dict[str, Any]) -> JSON:
    return {name: _unwrapped(value) for name, value in members.items()}


_KINDS: dict[str, Callable[[Any], JSON]] = {
    "$numberULong": _unsigned,
    "$numberLong": _signed,
    "$numberDouble": _not_number,
    "$binary": _binary,
    "$date": date_of_text,
    "$literal": _literal,
}


def _refuse_constant(name: str) -> NoReturn:
    raise Refusal(InvalidError, f"{name} is not JSON")


# Made once: json.loads and json.dumps make new ones for each call with options.
_READER = JSONDecoder(parse_constant=_refuse_constant)
_WRITER = JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":"))
