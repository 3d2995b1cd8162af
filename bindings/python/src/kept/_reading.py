"""Reading as a mapping, common to a store, a transaction and a snapshot."""

from __future__ import annotations

from _collections_abc import Mapping  # collections.abc would import all of collections
from ctypes import byref, c_bool, c_char_p, c_uint32, c_uint64

from ._c.json import kept_get_json
from ._c.keys import kept_contains, kept_list_json, kept_revision_of
from ._c.status import kept_error, kept_free
from ._errors import AbsentError, WrongTypeError
from ._key import A_PREFIX, ABSENCE, Key, decoded_value, encoded_key, encoded_text
from ._memory import NOTHING, UNKNOWN
from ._refusal import Known, Refusal
from ._scalars import read_scalar, scalar_of_json
from ._typing import TYPE_CHECKING, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, KeysView, ValuesView
    from typing import Any

    from ._c.store import StorePointer
    from ._explanation import Explanation
    from ._layers import Layer
    from ._memory import Memory, Words
    from ._refusal import TypedKey
    from ._types import JSON

T = TypeVar("T")
D = TypeVar("D")


class SettingsReading(Mapping[str, "JSON"]):
    """A store, a transaction or a snapshot, as a read-only mapping: functions that read any of them take
    `kept.SettingsReading`.

    A key is a `kept.Key`, which fixes the type of its values, or a str, whose values are `kept.JSON`. A value comes
    from the highest layer that has a fitting one (`explain` shows which). `[]` and `get` also read defaults, declared
    and registered ones before a `Key`'s own; `in`, `len` and iteration ignore them. Any thread may call everything.
    Every call may raise `ClosedError`, `BusyError`, `NoSpaceError`, `DeniedError`, `CorruptError`,
    `UnavailableError`, `ForkedError` or `FailedError`; the methods say what they add to these.
    In Swift: `SettingsReading`. In C: every function that takes a `kept_store *` and does not write.
    """

    _handle: StorePointer
    # See `_memory.py`. Only a store remembers values.
    _generation: Words = UNKNOWN
    _memory: Memory = NOTHING

    # --- one key

    @overload
    def __getitem__(self, key: Key[T]) -> T: ...
    @overload
    def __getitem__(self, key: str) -> JSON: ...
    def __getitem__(self, key: Any) -> Any:
        """The value of a key. If it is absent and has no default, an `AbsentError`, which is a KeyError; if the stored
        value is not of the key's type, a `WrongTypeError`, and the value stays. In C: `kept_get_json`."""
        try:
            numbers, values = self._memory
            if self._generation == numbers:
                return values[key._identity if type(key) is Key else key]
        except (KeyError, TypeError, ValueError):
            pass  # not remembered
        try:
            return self._read(key)
        except AbsentError:
            if isinstance(key, Key) and key.has_default:
                return key.default
            raise

    def __contains__(self, key: object) -> bool:
        """Whether any layer has a value for the key, defaults excluded. In C: `kept_contains`."""
        found = c_bool()
        kept_contains(self._handle, encoded_key(key), byref(found), kept_error())  # type: ignore[arg-type]
        return found.value

    @overload
    def get(self, key: Key[T]) -> T | None: ...
    @overload
    def get(self, key: Key[T], default: D) -> T | D: ...
    @overload
    def get(self, key: str) -> JSON: ...
    @overload
    def get(self, key: str, default: D) -> JSON | D: ...
    def get(self, key: Any, default: Any = ABSENCE) -> Any:
        """The value of a key. If no layer has one: `default` if given, else the key's own default, else None."""
        try:
            numbers, values = self._memory
            if self._generation == numbers:
                return values[key._identity if type(key) is Key else key]
        except (KeyError, TypeError, ValueError):
            pass  # not remembered
        try:
            return self._read(key)
        except AbsentError:
            if default is not ABSENCE:
                return default
            return key.default if isinstance(key, Key) and key.has_default else None

    @overload
    def revision(self) -> int: ...
    @overload
    def revision(self, key: str | Key[Any]) -> int: ...
    def revision(self, key: Any = ABSENCE) -> int:
        """The revision of the store that last changed the key, from 1; 0 if it is absent, which is what
        `Store.set(..., if_revision=0)` expects. Without a key, the revision of the store, or that of a snapshot;
        `UnsupportedError` for a transaction.
        In C: `kept_revision_of`, `kept_store_revision`."""
        revision = c_uint64()
        if key is ABSENCE:
            from ._c.snapshots import kept_store_revision

            kept_store_revision(self._handle, byref(revision), kept_error())
            return revision.value
        try:
            kept_revision_of(self._handle, encoded_key(key), byref(revision), kept_error())
        except AbsentError:
            return 0
        return revision.value

    def _read(self, key: str | Key[Any]) -> Any:
        """The value of a key, in its type."""
        if isinstance(key, Key) and (read := key._conversion.read):
            try:
                return read(self._handle, key._encoded)
            except WrongTypeError:
                pass  # the error is made below, where secrets are known
        text = c_char_p()
        kept_get_json(self._handle, encoded_key(key), byref(text), kept_error())
        try:
            json = text.value or b""
        finally:
            kept_free(text)
        stored: Any = scalar_of_json(json)
        if stored is None:
            stored = decoded_value(json, key, self)
        if not isinstance(key, Key):
            return stored
        try:
            return key._conversion.from_json(stored)
        except Exception:
            pass  # it may be text from a layer; if not, the error is made from the current value
        return self._read_text(key)

    def _read_text(self, key: Key[T]) -> T:
        """The value if another type was found: "50" on a command line is read as an int or a str, as the key says."""
        from ._layers import TEXT_LAYERS

        for kind in key._conversion.scalars if self.layer(key) in TEXT_LAYERS else ():
            try:
                read: T = key._conversion.from_json(read_scalar(self._handle, key._encoded, kind))
                return read
            except (Refusal, WrongTypeError):
                continue
        return key._from_json(self[key.name], self)

    def _is_secret(self, key: str | TypedKey) -> bool:
        """Whether a key is secret in this program or declared secret in the store; true also if that is unknown."""
        if isinstance(key, Key) and key._is_secret(key):
            return True
        try:
            return self.explain(key if isinstance(key, str) else key.name).secret
        except Exception:
            return True

    # --- layers

    def explain(self, key: str | Key[Any]) -> Explanation:
        """Explains what each layer has for a key, which one wins, and why: `print(settings.explain("audio.volume"))`.
        In C: `kept_explain_json`. In Swift: `Store.explain(_:)`."""
        from ._c.layers import kept_explain_json
        from ._explanation import explanation

        text = c_char_p()
        kept_explain_json(self._handle, encoded_key(key), byref(text), kept_error())
        try:
            return explanation(text.value or b"", key)
        finally:
            kept_free(text)

    def layer(self, key: str | Key[Any]) -> Layer | None:
        """The layer that a key's value comes from; None if no layer has one. In C: `kept_layer_of`."""
        from ._c.layers import kept_layer_of
        from ._layers import layer_of_number

        number = c_uint32()
        kept_layer_of(self._handle, encoded_key(key), byref(number), kept_error())
        return layer_of_number(number.value)

    # --- all keys

    def keys(self, prefix: str = "") -> KeysView[str]:
        """A view of the keys that begin with `prefix` and have a value in any layer, defaults excluded, in the order
        of their UTF-8 bytes. Each use of the view lists the keys of one revision.
        In C: `kept_list_json`."""
        from ._views import KeysOf

        encoded = encoded_text(prefix, A_PREFIX)
        return KeysOf(self, prefix, lambda: self._list(encoded))

    def items(self, *, skip_unreadable: bool = False) -> ItemsView[str, JSON]:
        """A view of keys and values. A key that another process removes during the iteration is skipped. For the
        values of one revision, use a transaction or a snapshot.

        A value that cannot be read ends the iteration: `UnavailableError` for a secret without its key, `CorruptError`
        for a damaged value. With `skip_unreadable` the view leaves out such keys, which `keys` has."""
        from ._views import ItemsOf

        return ItemsOf(self, skip_unreadable)

    def values(self) -> ValuesView[JSON]:
        """A view of the values, as `items`."""
        from ._views import ValuesOf

        return ValuesOf(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._list(b""))

    def __len__(self) -> int:
        return len(self._list(b""))

    def _list(self, prefix: bytes) -> list[str]:
        # `kept_list` is not used: an interrupted callback would leave out a key.
        text = c_char_p()
        kept_list_json(self._handle, prefix, byref(text), kept_error())
        try:
            return decoded_value(text.value or b"", "keys", Known(False))  # type: ignore[return-value]
        finally:
            kept_free(text)

    # --- declarations

    def declaration(self, key: str | Key[Any]) -> dict[str, JSON] | None:
        """The JSON Schema that a key is declared with; None if it may hold anything.
        In C: `kept_declaration_json`. In Swift: `Store.declaration(forKey:)`."""
        from ._c.declarations import kept_declaration_json

        try:
            return self._schema(kept_declaration_json, encoded_key(key))
        except AbsentError:
            return None

    def declarations(self, prefix: str = "") -> dict[str, dict[str, JSON]]:
        """The JSON Schemas of all declared keys that begin with `prefix`, as `declare` takes them. `UnsupportedError`
        for a transaction. In C: `kept_declarations_json`. In Swift: `Store.declarations(prefix:)`."""
        from ._c.declarations import kept_declarations_json

        schema = self._schema(kept_declarations_json, encoded_text(prefix, A_PREFIX))
        return schema["properties"]  # type: ignore[return-value]

    def _schema(self, function: Any, name: bytes) -> dict[str, JSON]:
        from ._json import decode_schema

        text = c_char_p()
        function(self._handle, name, byref(text), kept_error())
        try:
            return decode_schema(text.value or b"")  # type: ignore[return-value]
        finally:
            kept_free(text)
