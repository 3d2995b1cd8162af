"""The JSON Schema that the type of a `kept.Key` is declared with."""

from __future__ import annotations

import dataclasses
import types
import typing
from datetime import datetime
from enum import Enum
from typing import Any, Union

from ._datetime_ns import datetime_ns
from ._key_types import _bare, _has_default, _hints, _required
from ._timestamps import Timestamp

Schema = dict[str, Any]
"""A JSON Schema as Python writes it."""

_WORDS: dict[Any, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    bytes: "bytes",
    datetime: "date",
    datetime_ns: "date",
    Timestamp: "date",
}


def schema_of(kind: Any) -> Schema:
    """The schema of a type that a key may have, without None, which removes the key."""
    return _schema(_without_none(kind), ())


def _schema(kind: Any, around: tuple[Any, ...]) -> Schema:
    """`around` are the types that contain this one. A type that contains itself is any object there."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return _or_null(_schema(_without_none(kind), around))
    if origin is typing.Literal:
        return _choices(arguments)
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0], around)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1], around)}
    if kind in _WORDS:
        return {"type": _WORDS[kind]}
    if issubclass(kind, Enum):
        return _choices([member.value for member in kind])
    if kind in around:
        return {"type": "object"}
    return _members(kind, (*around, kind))


def _members(kind: Any, around: tuple[Any, ...]) -> Schema:
    """The schema of a dataclass or a TypedDict. Other members are allowed, since a newer program may have some."""
    hints = {name: _bare(hint) for name, hint in _hints(kind).items()}
    if dataclasses.is_dataclass(kind):
        fields = [field for field in dataclasses.fields(kind) if field.init]
        hints = {field.name: hints[field.name] for field in fields}
        required = {field.name for field in fields if not _has_default(field)}
    else:
        required = _required(kind, _hints(kind))
    # A member that may be None may also be absent.
    needed = sorted(name for name in required if _without_none(hints[name]) is hints[name])
    schema = {"type": "object", "properties": {name: _schema(hint, around) for name, hint in hints.items()}}
    return schema | ({"required": needed} if needed else {})


def _choices(values: typing.Iterable[Any]) -> Schema:
    values = list(values)
    words = {_WORDS[type(value)] for value in values}
    if words == {"integer", "number"}:
        words = {"number"}
    # Several types are allowed only inside other types; elsewhere the library refuses them.
    return {"type": words.pop() if len(words) == 1 else sorted(words), "enum": values}


def _or_null(schema: Schema) -> Schema:
    found = schema["type"]
    result = schema | {"type": [*(found if isinstance(found, list) else [found]), "null"]}
    return result | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def _without_none(kind: Any) -> Any:
    if typing.get_origin(kind) not in (Union, types.UnionType):
        return kind
    return next(argument for argument in typing.get_args(kind) if argument is not types.NoneType)
