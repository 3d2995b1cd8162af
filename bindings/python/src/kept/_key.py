"""Keys: the name of a setting together with its type and its default, declared once."""

from __future__ import annotations

from _collections_abc import Hashable  # collections.abc would import all of collections

from ._conversion import SCALARS, is_surely_storable, name_of_type
from ._errors import InvalidError, OutOfRangeError
from ._refusal import converted, with_article
from ._typing import TYPE_CHECKING, Generic, TypeVar, final, overload

if TYPE_CHECKING:
    from types import UnionType
    from typing import Any, Final, Self, Unpack

    from ._conversion import Conversion
    from ._refusal import Secrecy, TypedKey
    from ._schemas import Schema
    from ._types import JSON, Rules, Storable

T = TypeVar("T")
KEY_BYTES = 1024
A_KEY, A_PREFIX = "the key", "the prefix"


class Absence:
    """Means that no default is given, since None is a default. There is one object, which is compared by identity."""

    def __repr__(self) -> str:
        return "…"

    def __reduce__(self) -> str:
        # By its name: a copy would be another value.
        return "ABSENCE"


ABSENCE: Final = Absence()


_WORDS = {
    "choices": "enum",
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusive_minimum": "exclusiveMinimum",
    "exclusive_maximum": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "constant": "const",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "min_items": "minItems",
    "max_items": "maxItems",
    "unique_items": "uniqueItems",
    "min_members": "minProperties",
    "max_members": "maxProperties",
    "format": "format",
    "deprecated": "deprecated",
    "replaced_by": "replacedBy",
    "renamed_from": "renamedFrom",
    "since": "since",
    "summary": "summary",
    "secret": "secret",
}
_VALUES = frozenset({"default", "choices", "constant"})
"""The rules of a secret key whose values are not shown."""


@final
class Key(Generic[T]):
    """A key's name, type and default: `VOLUME = kept.Key("audio.volume", int, default=50)`.

    Then `settings[VOLUME]` is an `int`, also for mypy. The type is bool, int, float, str, bytes,
    `datetime`, `kept.datetime_ns`, `kept.Timestamp`, `list[…]`, `dict[str, …]`, an Enum (stored by value), a Literal, a
    dataclass or a TypedDict (stored as a JSON object), or one of them with None. A key with None has the default None,
    and setting it to None removes it; mypy needs its type spelled: `Key[Frame | None]("frame", Frame | None)`, or
    `default=None`.

    `choices`, `minimum`, `pattern` and the other rules of `Rules` hold for every process and language once
    `settings.declare(VOLUME)` has put them into the store, with the type and the default.

    Of a dataclass, the fields that its constructor takes are stored, and no others. Reading ignores members that the
    type does not have, and writing the value back drops them. To keep what a newer program has stored, change the dict
    that reading by the key's name gives.

    Immutable; may be used with any store and from any thread, copied, and pickled if its type can be.
    In Swift: `Key`. C passes the name alone.
    """

    __slots__ = ("name", "value_type", "_conversion", "_encoded", "_identity", "_rules", "_default")
    name: str
    """1 to 1024 bytes of UTF-8 without NUL; dots have no special meaning."""
    value_type: Any
    """The type of the values."""
    _default: Any

    @overload
    def __init__(self, name: str, type: type[T], **rules: Unpack[Rules]) -> None: ...
    @overload
    def __init__(self, name: str, type: type[T], *, default: T, **rules: Unpack[Rules]) -> None: ...
    @overload
    def __init__(self: Key[T | None], name: str, type: type[T], *, default: None, **rules: Unpack[Rules]) -> None: ...
    @overload
    def __init__(self, name: str, type: UnionType, *, default: T = ..., **rules: Unpack[Rules]) -> None: ...

    def __init__(self, name: str, type: Any, *, default: Any = ABSENCE, **rules: Any) -> None:
        """Makes a key. An invalid name and a type that cannot be stored are an `InvalidError`; a default of another
        type is a `WrongTypeError`."""
        if unknown := rules.keys() - _WORDS.keys():
            raise TypeError(f"kept.Key() does not take {min(unknown)!r}; it takes default, {', '.join(_WORDS)}")
        self._encoded = encoded_name(name)
        self._rules = {_WORDS[rule]: value for rule, value in rules.items() if value is not None}
        if "enum" in self._rules:
            self._rules["enum"] = tuple(self._rules["enum"])
        # A dict finds the key by this object without calling Python, which `__hash__` would.
        self._identity = object()
        kind = type | None if default is None else type
        self.name, self.value_type = name, kind
        # Any object may be passed, also one that is not hashable.
        scalar = SCALARS.get(kind) if isinstance(kind, Hashable) else None
        self._conversion = scalar or _conversion_of(kind, self)
        if default is ABSENCE or default is None:
            self._default = None if self._conversion.optional else ABSENCE
            return
        stored = self._to_json(default, self)
        if not is_surely_storable(stored):
            encoded_value(stored, self, self)
        # As reading would give it once it is stored: the default 1 of a float key is 1.0.
        self._default = self._from_json(stored, self)

    @property
    def has_default(self) -> bool:
        """Whether reading an absent key gives a default instead of an `AbsentError`."""
        return self._default is not ABSENCE

    @property
    def default(self) -> T:
        """The default, a new copy each time. `InvalidError` when the key has none."""
        if self._default is ABSENCE:
            raise InvalidError(f'"{self.name}" has no default', key=self.name)
        if self._conversion.read:
            return self._default  # type: ignore[no-any-return]
        from copy import deepcopy

        return deepcopy(self._default)  # type: ignore[no-any-return]

    @property
    def schema(self) -> Schema:
        """The JSON Schema that `settings.declare` declares the key with: its type, default and rules."""
        from ._schemas import schema_of

        schema = schema_of(self.value_type) | self._rules
        if "enum" in self._rules:
            schema["enum"] = [self._to_json(choice, self) for choice in self._rules["enum"]]
        if "const" in self._rules:
            schema["const"] = self._to_json(self._rules["const"], self)
        if self._default is not ABSENCE and self._default is not None:
            schema["default"] = self._to_json(self._default, self)
        return schema

    def _to_json(self, value: T, secrecy: Secrecy) -> Storable:
        """The stored form of a value; None removes the key."""
        return converted(self._conversion.to_json, value, self, secrecy)  # type: ignore[no-any-return]

    def _from_json(self, json: JSON | Storable, secrecy: Secrecy) -> T:
        """The value that is stored as `json`. Another type is a `WrongTypeError`."""
        return converted(self._conversion.from_json, json, self, secrecy)  # type: ignore[no-any-return]

    def _is_secret(self, key: str | TypedKey) -> bool:
        """Whether this program declares it secret. If there is a store, ask that: the key may be declared so there."""
        return bool(self._rules.get("secret"))

    @property
    def _mismatch(self) -> str:
        """The text of an error about a value that is secret."""
        from ._key_types import secretive_name_of_type

        return f"is not {with_article(secretive_name_of_type(self.value_type))}"

    @property
    def _type_name(self) -> str:
        if not self._is_secret(self):
            return name_of_type(self.value_type)
        from ._key_types import secretive_name_of_type

        return secretive_name_of_type(self.value_type)

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, "_default"):
            raise AttributeError("a kept.Key cannot be changed; make another one")
        object.__setattr__(self, name, value)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle must be able to find its type. Unpickling makes a new conversion.
        rules = {rule: self._rules[word] for rule, word in _WORDS.items() if word in self._rules}
        return _made, (self.name, self.value_type, self._default, rules)

    def __eq__(self, other: object) -> bool:
        """Whether both keys declare the same."""
        if not isinstance(other, Key):
            return NotImplemented
        mine, others = (self.name, self.value_type, self._rules), (other.name, other.value_type, other._rules)
        return mine == others and bool(self._default == other._default)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        hidden = _VALUES if self._is_secret(self) else frozenset()
        shown = {"default": self._default} if self.has_default else {}
        shown |= {rule: self._rules[word] for rule, word in _WORDS.items() if word in self._rules}
        rules = "".join(f", {rule}={'…' if rule in hidden else repr(value)}" for rule, value in shown.items())
        return f"kept.Key({self.name!r}, {self._type_name}{rules})"


def _conversion_of(kind: Any, key: Key[Any]) -> Conversion:
    """The conversion of another type than those of `SCALARS`."""
    from ._key_types import conversion_of

    return converted(conversion_of, kind, key, key, f"{key._type_name} cannot be the type of a key")


def _made(name: str, kind: Any, default: Any, rules: dict[str, Any]) -> Key[Any]:
    """Restores a pickled key."""
    return Key(name, kind, default=default, **rules)


def encoded_value(value: Any, key: str | Key[Any], secrecy: Secrecy) -> bytes:
    """A value as JSON. What cannot be stored is an `InvalidError` that names the key and the part."""
    from ._json import encode

    return converted(encode, value, key, secrecy, "cannot be stored")


def decoded_value(text: bytes | str, key: str | Key[Any], secrecy: Secrecy) -> JSON:
    """The value of JSON that the library has written."""
    from ._json import decode

    return converted(decode, text, key, secrecy, "cannot be read")


def name_of(key: str | Key[Any]) -> str:
    """The name of a key that is given either way."""
    return key.name if isinstance(key, Key) else key


def encoded_key(key: str | Key[Any]) -> bytes:
    """The name of a key that is given either way, for C."""
    return key._encoded if isinstance(key, Key) else encoded_name(key)


def encoded_name(name: str) -> bytes:
    """A key's name for C. A name that C would cut or cannot take is an `InvalidError` here."""
    encoded = encoded_text(name, A_KEY)
    if not 0 < len(encoded) <= KEY_BYTES:
        raise InvalidError(f"the key is {len(encoded)} bytes long; 1 to {KEY_BYTES} are allowed", key=name)
    return encoded


def encoded_text(text: str, role: str) -> bytes:
    """Text for C, which ends it with a NUL. Anything but a str, a NUL and a lone surrogate are an `InvalidError`."""
    if not isinstance(text, str):
        possible = "a str or a kept.Key" if role == A_KEY else "a str"
        raise InvalidError(f"{role} is {with_article(type(text).__qualname__)}; it must be {possible}")
    # Any other text may contain a secret, such as a declaration's default.
    key = text if role in (A_KEY, A_PREFIX) else None
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError as error:
        # This error contains the text, and must not become the context of the one that is raised.
        trouble = f"the lone surrogate U+{ord(text[error.start]):04X}, which is not a character"
    else:
        if b"\0" not in encoded:
            return encoded
        trouble = f"a NUL at byte {encoded.index(0)}; remove it"
    raise InvalidError(f"{role} contains {trouble}", key=key)


def revision_number(value: int) -> int:
    """A revision for C. ctypes would cut off bits that do not fit."""
    if not isinstance(value, int):
        raise InvalidError(f"the revision is {with_article(type(value).__qualname__)}; it must be an int")
    if not 0 <= value < 2**64:
        raise OutOfRangeError(f"the revision {value} is invalid; revisions are 0 to 2^64 - 1")
    return value
