"""The conversions of types that list their values: an Enum and a Literal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from ._conversion import SCALARS, Conversion, another_type, name_of_type, require
from ._errors import InvalidError, WrongTypeError
from ._refusal import Refusal, with_article


def enum_conversion(kind: type[Enum]) -> Conversion:
    """Of an Enum, whose members are stored by value."""
    from_json = _choice(name_of_type(kind), [(member.value, member) for member in kind])

    def to_json(value: Any) -> Any:
        require(kind, value, name_of_type(kind))
        return value.value

    scalars = tuple(dict.fromkeys(type(member.value) for member in kind))
    return Conversion(name_of_type(kind), to_json, from_json, scalars=scalars)


def literal_conversion(values: tuple[Any, ...]) -> Conversion:
    """Of a Literal, whose values are stored as they are."""
    name = f"Literal{list(values)}"
    choice = _choice(name, [(value, value) for value in values])

    def to_json(value: Any) -> Any:
        found = choice(value)
        if type(found) is not type(value):
            raise another_type(value, name)
        return found

    return Conversion(name, to_json, choice, scalars=tuple(dict.fromkeys(map(type, values))))


def _choice(name: str, choices: Iterable[tuple[Any, Any]]) -> Callable[[Any], Any]:
    """Converts a stored value that is one of some values."""
    # By type and value, since True is 1 and 1.0 is 1 to Python.
    members = {(type(value), value): member for value, member in choices}
    for value_type, value in members:
        if value_type not in (bool, int, float, str):
            raise Refusal(InvalidError, f"the value {value!r} of {name} is not a bool, int, float or str")
    numbers = [SCALARS[value_type] for value_type in {found for found, _ in members} & {int, float}]

    def from_json(json: Any) -> Any:
        if isinstance(json, (bool, int, float, str)) and (type(json), json) in members:
            return members[type(json), json]
        for number in numbers:
            try:
                value = number.from_json(json)
                return members[type(value), value]
            except (Refusal, KeyError):
                continue
        raise Refusal(WrongTypeError, f"the value, {with_article(name_of_type(type(json)))}, is not in {name}")

    return from_json
