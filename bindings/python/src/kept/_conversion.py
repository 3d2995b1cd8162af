"""How a value of one type becomes JSON and comes back: what a conversion is, and those of scalars and Enums.

A conversion refuses what does not survive the round trip: 3.0 is the int 3, 3.5 is not an int, a bool is not a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from ._dates import timestamp_of_date
from ._datetime_ns import datetime_ns
from ._errors import InvalidError, OutOfRangeError, WrongTypeError
from ._json import JSON
from ._refusal import Refusal, with_article
from ._timestamps import Timestamp


class Conversion(NamedTuple):
    """Both ways between a key's type and JSON. Either way raises a `Refusal`."""

    name: str
    to_json: Callable[[Any], Any]
    from_json: Callable[[Any], Any]
    optional: bool = False
    scalars: tuple[type, ...] = ()
    """The types as which a text on a command line or in the environment is read."""


def require(kind: Any, value: Any, name: str) -> None:
    """Refuses a value of another type. A bool is an int to Python, and never to Kept."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Refusal(WrongTypeError, f"holds {with_article(name_of_type(type(value)))}, asked for {name}")


def name_of_type(kind: Any) -> str:
    """The name of a type as a program spells it: list[int] and not list."""
    return kind.__qualname__ if isinstance(kind, type) and not get_args(kind) else str(kind)


def secretive_name_of_type(kind: Any) -> str:
    """The same without the values of a Literal, for a key that is secret."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "Literal[…]"
    if origin in (Union, UnionType):
        return " | ".join("None" if each is NoneType else secretive_name_of_type(each) for each in arguments)
    if not arguments:
        return name_of_type(kind)
    return f"{name_of_type(origin)}[{', '.join(map(secretive_name_of_type, arguments))}]"


def _exact_int(value: Any) -> int:
    # -0.0 would lose its sign.
    if isinstance(value, float) and value.is_integer() and -(2.0**63) <= value < 2.0**64 and str(value) != "-0.0":
        return int(value)
    require(int, value, "int")
    return int(value)


def _exact_float(value: Any) -> float:
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            if int(float(value)) == value:
                return float(value)
        except OverflowError:
            pass
        # Python writes no int of thousands of digits.
        shown = f"the int {value}" if value.bit_length() <= 64 else f"an int of {value.bit_length()} bits"
        raise Refusal(OutOfRangeError, f"{shown} is no float exactly")
    require(float, value, "float")
    return float(value)


def _stored_float(json: JSON) -> float:
    try:
        return _exact_float(json)
    except Refusal as refusal:
        raise Refusal(WrongTypeError, str(refusal)) from None


def _int_to_json(value: Any) -> int:
    if type(value) is int:
        return value
    require(int, value, "int")
    return int(value)


def _scalar(kind: type) -> Conversion:
    def same(value: Any) -> Any:
        require(kind, value, kind.__name__)
        return value

    return Conversion(kind.__name__, same, same, scalars=(kind,))


def _datetime(value: Any) -> datetime:
    if isinstance(value, Timestamp) and value.is_before_datetime:
        raise Refusal(
            WrongTypeError,
            f"holds the date {value}, and Python's datetime begins at year 1; use a kept.Key of kept.Timestamp",
        )
    require(datetime, value, "datetime")
    return value  # type: ignore[no-any-return]


def _with_nanoseconds(value: Any) -> datetime_ns:
    return datetime_ns.of(_datetime(value))


def _timestamp(value: Any) -> Timestamp:
    if not isinstance(value, Timestamp):
        require(datetime, value, "Timestamp")
    return timestamp_of_date(value)


SCALARS: dict[Any, Conversion] = {
    bool: _scalar(bool),
    int: Conversion("int", _int_to_json, _exact_int, scalars=(int,)),
    float: Conversion("float", _exact_float, _stored_float, scalars=(float,)),
    str: _scalar(str),
    bytes: _scalar(bytes),
    datetime: Conversion("datetime", _datetime, _datetime, scalars=(datetime,)),
    datetime_ns: Conversion("datetime_ns", _with_nanoseconds, _with_nanoseconds, scalars=(datetime,)),
    Timestamp: Conversion("Timestamp", _timestamp, _timestamp, scalars=(datetime,)),
}


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
            raise Refusal(WrongTypeError, f"holds {with_article(name_of_type(type(value)))}, asked for {name}")
        return found

    return Conversion(name, to_json, choice, scalars=tuple(dict.fromkeys(map(type, values))))


def _choice(name: str, choices: Iterable[tuple[Any, Any]]) -> Callable[[Any], Any]:
    """What is stored as one of some values."""
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
        raise Refusal(WrongTypeError, f"holds {with_article(name_of_type(type(json)))} that is no value of {name}")

    return from_json
