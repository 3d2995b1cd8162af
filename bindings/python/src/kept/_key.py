"""Keys: the name of a setting together with its type and its default, declared once."""

from __future__ import annotations

import copy
from types import UnionType
from typing import Any, Final, Generic, TypeVar, cast, final, overload

from ._conversion import name_of_type
from ._errors import InvalidError
from ._json import JSON, Storable, encode
from ._key_types import conversion_of
from ._refusal import Refusal

T = TypeVar("T")
KEY_BYTES = 1024


class Absence:
    """Stands where no default is given, since None is a default."""

    def __repr__(self) -> str:
        return "…"


ABSENCE: Final = Absence()


@final
class Key(Generic[T]):
    """A key's name, type and default: `VOLUME = kept.Key("audio.volume", int, default=50)`.

    Then `settings[VOLUME]` is an `int` to mypy and to the reader. The type is bool, int, float, str, bytes,
    `datetime`, `kept.datetime_ns`, `list[…]`, `dict[str, …]`, an Enum (stored by value), a dataclass or a TypedDict
    (stored as a JSON object), or one of them with None. A key with None has the default None, and setting it to None
    removes it; mypy needs its type spelled: `Key[Frame | None]("frame", Frame | None)`, or `default=None`.

    Immutable; may be used with any store and from any thread. In Swift: `Key`. C passes the name alone.
    """

    __slots__ = ("name", "value_type", "_conversion", "_encoded", "_identity", "_default")
    name: str
    """1 to 1024 bytes of UTF-8 without NUL; dots have no special meaning."""
    value_type: Any
    """The type of the values."""
    _default: Any

    @overload
    def __init__(self, name: str, type: type[T]) -> None: ...
    @overload
    def __init__(self, name: str, type: type[T], *, default: T) -> None: ...
    @overload
    def __init__(self: Key[T | None], name: str, type: type[T], *, default: None) -> None: ...
    @overload
    def __init__(self, name: str, type: UnionType, *, default: T = ...) -> None: ...

    def __init__(self, name: str, type: Any, *, default: Any = ABSENCE) -> None:
        """Declares a key. A name that is no key and a type that cannot be stored are an `InvalidError`; a default of
        another type is a `WrongTypeError`."""
        self._encoded = encoded_name(name)
        # Finds the key in a dict without a Python call, as its own hash cannot.
        self._identity = object()
        kind = type | None if default is None else type
        try:
            self._conversion = conversion_of(kind)
        except Refusal as refusal:
            raise refusal.about(name) from None
        self.name, self.value_type = name, kind
        if default is ABSENCE or default is None:
            self._default = None if self._conversion.optional else ABSENCE
            return
        stored = self._to_json(default)
        encode(stored, name)
        # What reading gives once it is stored: a float key's default 1 is 1.0.
        self._default = self._from_json(stored)

    @property
    def has_default(self) -> bool:
        """Whether reading an absent key gives a default instead of an `AbsentError`."""
        return self._default is not ABSENCE

    @property
    def default(self) -> T:
        """The default, a new copy each time. `InvalidError` when the key has none."""
        if self._default is ABSENCE:
            raise InvalidError(f'"{self.name}" has no default', key=self.name)
        return cast(T, copy.deepcopy(self._default))

    def _to_json(self, value: T) -> Storable:
        """What is stored for a value; None removes the key."""
        try:
            return self._conversion.to_json(value)  # type: ignore[no-any-return]
        except Refusal as refusal:
            raise refusal.about(self.name) from None

    def _from_json(self, json: JSON | Storable) -> T:
        """The value that is stored as `json`. Another type is a `WrongTypeError`."""
        try:
            return self._conversion.from_json(json)  # type: ignore[no-any-return]
        except Refusal as refusal:
            raise refusal.about(self.name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, "_default"):
            raise AttributeError("a kept.Key cannot be changed; make another one")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        """Whether both declare the same."""
        if not isinstance(other, Key):
            return NotImplemented
        mine, others = (self.name, self.value_type), (other.name, other.value_type)
        return mine == others and bool(self._default == other._default)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        default = f", default={self._default!r}" if self.has_default else ""
        return f"kept.Key({self.name!r}, {name_of_type(self.value_type)}{default})"


def name_of(key: str | Key[Any]) -> str:
    """The name of a key that is given either way."""
    return key.name if isinstance(key, Key) else key


def encoded_key(key: str | Key[Any]) -> bytes:
    """The name of a key that is given either way, as C takes it."""
    return key._encoded if isinstance(key, Key) else encoded_name(key)


def encoded_name(name: str) -> bytes:
    """A key's name as C takes it. What C would cut or cannot be told is an `InvalidError` here."""
    encoded = encoded_text(name, "a key")
    if not 0 < len(encoded) <= KEY_BYTES:
        raise InvalidError(f"a key has {len(encoded)} bytes of UTF-8; it must have 1 to {KEY_BYTES}", key=name)
    return encoded


def encoded_text(text: str, role: str) -> bytes:
    """Text that ends with a NUL in C. Anything but a str, a NUL and a lone surrogate are an `InvalidError`."""
    if not isinstance(text, str):
        possible = "a str or a kept.Key" if role == "a key" else "a str"
        raise InvalidError(f"{role} is a {type(text).__qualname__}; it must be {possible}")
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError as error:
        unit = ord(text[error.start])
        raise InvalidError(f"{role} holds the lone surrogate U+{unit:04X}, which is no character", key=text) from None
    if b"\0" in encoded:
        raise InvalidError(f"{role} holds a NUL at byte {encoded.index(0)}; leave it out", key=text)
    return encoded
