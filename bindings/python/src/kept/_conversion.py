"""How a value of one type becomes JSON and comes back: what a conversion is, and those of bool, int, float, str, bytes.

A conversion refuses what does not survive the round trip: 3.0 is the int 3, 3.5 is not an int, a bool is not a number.
"""

from __future__ import annotations

from types import GenericAlias

from ._errors import OutOfRangeError, WrongTypeError
from ._refusal import Refusal, with_article
from ._scalars import READERS
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._c.store import StorePointer
    from ._types import JSON


class Conversion:
    """Both ways between a key's type and JSON. Either way raises a `Refusal`."""

    __slots__ = ("name", "to_json", "from_json", "optional", "scalars", "read")

    def __init__(
        self,
        name: str,
        to_json: Callable[[Any], Any],
        from_json: Callable[[Any], Any],
        *,
        optional: bool = False,
        scalars: tuple[type, ...] = (),
        read: Callable[[StorePointer, bytes], Any] | None = None,
    ) -> None:
        self.name, self.to_json, self.from_json, self.optional = name, to_json, from_json, optional
        # The types as which a text on a command line or in the environment is read.
        self.scalars = scalars
        # How C reads exactly the values of this type, without JSON; None if it cannot.
        self.read = read


def is_surely_storable(value: Any) -> bool:
    """Whether a value can be stored, as far as this can be told without importing `_json`, which knows all rules."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, (float, bytes)) or (isinstance(value, str) and value.isascii())


def require(kind: Any, value: Any, name: str) -> None:
    """Refuses a value of another type. A bool is an int to Python, and never to Kept."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise another_type(value, name)


def another_type(value: Any, name: str) -> Refusal:
    """The refusal of a value that is not of the type with this name."""
    found = with_article(name_of_type(type(value)))
    return Refusal(WrongTypeError, f"the value is {found}, not {with_article(name)}")


def name_of_type(kind: Any) -> str:
    """The name of a type as a program spells it: list[int] and not list."""
    return kind.__qualname__ if isinstance(kind, type) and not isinstance(kind, GenericAlias) else str(kind)


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
        raise Refusal(OutOfRangeError, f"{shown} cannot be represented exactly by a float")
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

    return Conversion(kind.__name__, same, same, scalars=(kind,), read=READERS[kind])


SCALARS: dict[Any, Conversion] = {
    bool: _scalar(bool),
    int: Conversion("int", _int_to_json, _exact_int, scalars=(int,), read=READERS[int]),
    float: Conversion("float", _exact_float, _stored_float, scalars=(float,), read=READERS[float]),
    str: _scalar(str),
    bytes: _scalar(bytes),
}
