"""The types that a `kept.Key` may have in addition to bool, int, float, str and bytes."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Hashable
from enum import Enum, Flag
from typing import TYPE_CHECKING, Any, Union

from ._choices import enum_conversion, literal_conversion
from ._conversion import SCALARS, Conversion, name_of_type, require
from ._date_types import DATES
from ._errors import InvalidError, WrongTypeError
from ._refusal import Refusal, with_article

if TYPE_CHECKING:
    from dataclasses import Field


def conversion_of(kind: Any) -> Conversion:
    """The conversion of a type. If there is none, a `Refusal` lists the possible types."""
    return _Conversions().of(kind)


def secretive_name_of_type(kind: Any) -> str:
    """The same without the values of a Literal, for a key that is secret."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return "Literal[…]"
    if origin in (Union, types.UnionType):
        return " | ".join("None" if each is types.NoneType else secretive_name_of_type(each) for each in arguments)
    if not arguments:
        return name_of_type(kind)
    return f"{name_of_type(origin)}[{', '.join(map(secretive_name_of_type, arguments))}]"


_SCALARS = SCALARS | DATES


class _Conversions:
    """The conversions made so far: a dataclass may hold lists of itself."""

    def __init__(self) -> None:
        self._known: dict[Any, Conversion] = {}

    def of(self, kind: Any) -> Conversion:
        # Any object may be passed, also one that is not hashable.
        if isinstance(kind, Hashable) and (known := _SCALARS.get(kind) or self._known.get(kind)):
            return known
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (Union, types.UnionType):
            return self._optional(arguments)
        if origin is typing.Literal:
            return literal_conversion(arguments)
        if origin is list:
            return self._list(arguments[0])
        if origin is dict and arguments[0] is str:
            return self._dict(arguments[1])
        if isinstance(kind, type) and issubclass(kind, Enum) and not issubclass(kind, Flag):
            return enum_conversion(kind)
        if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
            return self._dataclass(kind)
        if typing.is_typeddict(kind):
            return self._typed_dict(kind)
        raise Refusal(
            InvalidError,
            f"{name_of_type(kind)} cannot be the type of a key; use bool, int, float, str, bytes, datetime, list[…],"
            " dict[str, …], an Enum, a Literal, a dataclass, a TypedDict, or one of them with None",
        )

    def _optional(self, arguments: tuple[Any, ...]) -> Conversion:
        kinds = [argument for argument in arguments if argument is not types.NoneType]
        if len(kinds) != 1 or len(arguments) != 2:
            names = " | ".join(name_of_type(argument) for argument in arguments)
            raise Refusal(InvalidError, f"{names} cannot be the type of a key; a union must be of one type and None")
        inner = self.of(kinds[0])
        return Conversion(
            f"{inner.name} or None",
            lambda value: None if value is None else inner.to_json(value),
            lambda json: None if json is None else inner.from_json(json),
            optional=True,
            scalars=inner.scalars,
        )

    def _list(self, kind: Any) -> Conversion:
        item = self.of(kind)

        def each(convert: Callable[[Any], Any], values: Any) -> list[Any]:
            require(list, values, "list")
            return [_inside(index, convert, value) for index, value in enumerate(values)]

        return Conversion(
            f"list of {item.name}",
            lambda values: each(item.to_json, list(values) if isinstance(values, tuple) else values),
            lambda json: each(item.from_json, json),
        )

    def _dict(self, kind: Any) -> Conversion:
        member = self.of(kind)

        def each(convert: Callable[[Any], Any], members: Any) -> dict[str, Any]:
            require(dict, members, "dict")
            return {name: _inside(name, convert, value) for name, value in members.items()}

        return Conversion(
            f"dict of {member.name}",
            lambda members: each(member.to_json, members),
            lambda json: each(member.from_json, json),
        )

    def _dataclass(self, kind: Any) -> Conversion:
        from dataclasses import InitVar
        from dataclasses import fields as fields_of

        fields = {field.name: field for field in fields_of(kind) if field.init}
        members: dict[str, Conversion] = {}

        def to_json(value: Any) -> dict[str, Any]:
            require(kind, value, name_of_type(kind))
            if type(value) is not kind:
                require_no_more(type(value))
            return {name: _inside(name, members[name].to_json, getattr(value, name)) for name in fields}

        def require_no_more(subclass: Any) -> None:
            for field in fields_of(subclass):
                if field.init and field.name not in fields:
                    found = f"the value is {with_article(name_of_type(subclass))}, whose field {field.name!r}"
                    raise Refusal(WrongTypeError, f"{found} does not exist in {name_of_type(kind)}")

        def from_json(json: Any) -> Any:
            require(dict, json, name_of_type(kind))
            optional = {name for name, field in fields.items() if _has_default(field)}
            found = _members(json, members, optional)
            try:
                return kind(**found)
            except Exception as error:
                raise Refusal(WrongTypeError, f"{name_of_type(kind)} refuses the value: {error}") from error

        result = self._known[kind] = Conversion(name_of_type(kind), to_json, from_json)
        hints = _hints(kind)
        for name, hint in hints.items():
            if (hint is InitVar or isinstance(hint, InitVar)) and not hasattr(kind, name):
                found = f"the InitVar {name!r} of {name_of_type(kind)} is not stored and has no default"
                raise Refusal(InvalidError, f"{found}; give it one")
        members.update((name, _inside(name, self.of, hints[name])) for name in fields)
        return result

    def _typed_dict(self, kind: Any) -> Conversion:
        members: dict[str, Conversion] = {}
        hints = _hints(kind)
        required = _required(kind, hints)

        def to_json(value: Any) -> dict[str, Any]:
            require(dict, value, name_of_type(kind))
            for name in value.keys() - members.keys():
                raise Refusal(WrongTypeError, f"{name_of_type(kind)} has no member {name!r}")
            for name in required - value.keys():
                raise Refusal(WrongTypeError, f"the member {name!r} of {name_of_type(kind)} is missing")
            return {name: _inside(name, members[name].to_json, value[name]) for name in members if name in value}

        def from_json(json: Any) -> dict[str, Any]:
            require(dict, json, name_of_type(kind))
            return _members(json, members, members.keys() - required)

        result = self._known[kind] = Conversion(name_of_type(kind), to_json, from_json)
        members.update((name, _inside(name, self.of, _bare(hint))) for name, hint in hints.items())
        return result


def _inside(step: str | int, convert: Callable[[Any], Any], value: Any) -> Any:
    try:
        return convert(value)
    except Refusal as refusal:
        refusal.inside(step)
        raise


def _members(json: dict[str, Any], members: dict[str, Conversion], optional: set[str]) -> dict[str, Any]:
    """The members that a type has. Others belong to a newer program and are ignored."""
    found: dict[str, Any] = {}
    for name, member in members.items():
        if name in json:
            found[name] = _inside(name, member.from_json, json[name])
        elif name not in optional:
            if not member.optional:
                raise Refusal(WrongTypeError, f"the member {name!r} is missing")
            found[name] = None
    return found


def _has_default(field: Field[Any]) -> bool:
    from dataclasses import MISSING

    return field.default is not MISSING or field.default_factory is not MISSING


def _hints(kind: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise Refusal(InvalidError, f"the types of {name_of_type(kind)} cannot be resolved: {error}") from None


def _required(kind: Any, hints: dict[str, Any]) -> set[str]:
    """The members that a TypedDict must have. `__required_keys__` ignores annotations that are still strings."""
    required = set(kind.__required_keys__)
    required -= {name for name, hint in hints.items() if typing.get_origin(hint) is typing.NotRequired}
    required |= {name for name, hint in hints.items() if typing.get_origin(hint) is typing.Required}
    return required


def _bare(hint: Any) -> Any:
    """The type inside Required[…] and NotRequired[…]."""
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (typing.Required, typing.NotRequired) else hint
