"""What a store and a transaction have in common: reading, writing, and being a mapping."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from contextlib import suppress
from ctypes import byref, c_bool, c_char_p, c_uint32, c_uint64
from typing import Any, TypeVar, overload

from ._c.json import kept_get_json, kept_set_json
from ._c.keys import kept_contains, kept_list, kept_list_callback, kept_remove, kept_revision_of
from ._c.layers import kept_explain_json, kept_layer_of
from ._c.status import kept_error, kept_free
from ._c.store import StorePointer
from ._declaring import Declaring
from ._errors import AbsentError, UnsupportedError, WrongTypeError
from ._exit import calling_back
from ._json import JSON, Storable, decode, encode
from ._key import ABSENCE, Key, encoded_key, encoded_text, name_of
from ._layers import TEXT_LAYERS, Explanation, Layer, explanation, layer_of_number
from ._memory import UNKNOWN, Memory
from ._migrations import Renaming
from ._scalars import read_scalar, write_scalar
from ._views import ItemsOf, KeysOf, ValuesOf

T = TypeVar("T")
D = TypeVar("D")


class Settings(MutableMapping[str, JSON], Declaring, Renaming):
    """A store or a transaction, as a mapping: functions that work with both say `kept.Settings`.

    A key is a `kept.Key`, which fixes the type of its values, or a str, whose values are `kept.JSON`. What is read
    comes from the highest layer that has a fitting value (`explain` tells), what is written goes to the store. Defaults
    are read by `[]` and `get`, the declared and registered ones before a `Key`'s own; `in`, `len` and iteration pass
    over them. Any thread may call everything.
    Every call may raise `ClosedError`, `BusyError`, `NoSpaceError`, `DeniedError`, `CorruptError`,
    `UnavailableError`, `ForkedError` or `FailedError`; the methods say what they add to these.
    In Swift: `SettingsAccess`. In C: every function that takes a `kept_store *`.
    """

    _handle: StorePointer
    # `_memory.py` says what is remembered; a transaction remembers nothing.
    _generation: memoryview[int] = UNKNOWN
    _memory: Memory = {}

    # --- one key

    @overload
    def __getitem__(self, key: Key[T]) -> T: ...
    @overload
    def __getitem__(self, key: str) -> JSON: ...
    def __getitem__(self, key: Any) -> Any:
        """The value of a key. Absent without a default is an `AbsentError`, which is a KeyError; a stored value that
        is not of the key's type is a `WrongTypeError`, and is not touched. In C: `kept_get_json`."""
        try:
            return self._memory[self._generation[0]][key._identity if type(key) is Key else key]
        except (KeyError, TypeError):
            pass  # not remembered
        try:
            return self._read(key)
        except AbsentError:
            if isinstance(key, Key) and key.has_default:
                return key.default
            raise

    @overload
    def __setitem__(self, key: Key[T], value: T) -> None: ...
    @overload
    def __setitem__(self, key: str, value: Storable) -> None: ...
    def __setitem__(self, key: Any, value: Any) -> None:
        """Sets a key. A value that cannot be stored, or that breaks a rule of the key's declaration, is an
        `InvalidError`, one that is not of the key's type a `WrongTypeError`, one above 16 MiB a `TooLargeError`. A key
        that an administrator has locked is a `LockedError`; one that arguments or environment hide is set with a
        `ShadowedWarning`. None removes a key whose type has None, and is an `InvalidError` for all others.
        In C: `kept_set_int64` and its kin, and `kept_set_json`."""
        name, stored = encoded_key(key), stored_for(key, value)
        if not write_scalar(self._handle, name, stored):
            kept_set_json(self._handle, name, json_for(key, stored), kept_error())

    def __delitem__(self, key: str | Key[Any]) -> None:
        """Removes a key from the store. One that is not stored is an `AbsentError`, also if it has a default or a value
        in another layer. In C: `kept_remove`."""
        kept_remove(self._handle, encoded_key(key), kept_error())

    def __contains__(self, key: object) -> bool:
        """Whether any layer has something for the key; defaults do not count. In C: `kept_contains`."""
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
        """The value of a key. Where no layer has one: `default` if given, else the key's own, else None."""
        try:
            return self._memory[self._generation[0]][key._identity if type(key) is Key else key]
        except (KeyError, TypeError):
            pass  # not remembered
        try:
            return self._read(key)
        except AbsentError:
            if default is not ABSENCE:
                return default
            return key.default if isinstance(key, Key) and key.has_default else None

    def revision(self, key: str | Key[Any]) -> int:
        """The revision of the store that last changed the key, from 1; 0 where it is absent, which is what
        `Store.set(..., if_revision=0)` expects. In C: `kept_revision_of`."""
        revision = c_uint64()
        try:
            kept_revision_of(self._handle, encoded_key(key), byref(revision), kept_error())
        except AbsentError:
            return 0
        return revision.value

    def _read(self, key: str | Key[Any]) -> Any:
        """What a key reads as, of its type."""
        text = c_char_p()
        kept_get_json(self._handle, encoded_key(key), byref(text), kept_error())
        try:
            stored = decode(text.value or b"", name_of(key))
        finally:
            kept_free(text)
        if not isinstance(key, Key):
            return stored
        try:
            return key._from_json(stored)
        except WrongTypeError:
            return self._read_text(key)

    def _read_text(self, key: Key[T]) -> T:
        """The same where another type was found: "50" on a command line is an int, and a str if that is asked for."""
        for kind in key._conversion.scalars if self.layer(key) in TEXT_LAYERS else ():
            try:
                return key._from_json(read_scalar(self._handle, key._encoded, kind))
            except WrongTypeError:
                continue
        return key._from_json(self[key.name])

    def _beneath_text(self, key: str | Key[T], default: Any) -> Any:
        """What `[]`, or `get` with a default, would give if arguments and environment were not asked."""
        if self.layer(key) not in TEXT_LAYERS:
            return self[key] if default is ABSENCE else self.get(key, default)
        explanation = self.explain(key)
        if explanation.secret:
            raise UnsupportedError(f"{explanation.key} is secret and {explanation.reason}", key=explanation.key)
        for opinion in explanation.layers:
            if opinion.verdict == "hidden" and opinion.layer not in TEXT_LAYERS:
                return key._from_json(opinion.value) if isinstance(key, Key) else opinion.value
        if default is not ABSENCE:
            return default
        if isinstance(key, Key) and key.has_default:
            return key.default
        sentence = f'"{explanation.key}" has no value in the store; give update_value() a default'
        raise AbsentError(sentence, key=explanation.key)

    # --- layers

    def explain(self, key: str | Key[Any]) -> Explanation:
        """What each layer has for a key, which one wins, and why: `print(settings.explain("audio.volume"))`.
        In C: `kept_explain_json`. In Swift: `Store.explain(_:)`."""
        text = c_char_p()
        kept_explain_json(self._handle, encoded_key(key), byref(text), kept_error())
        try:
            return explanation(text.value or b"", name_of(key))
        finally:
            kept_free(text)

    def layer(self, key: str | Key[Any]) -> Layer | None:
        """The layer that decides what a key reads as; None where no layer has a value. In C: `kept_layer_of`."""
        number = c_uint32()
        kept_layer_of(self._handle, encoded_key(key), byref(number), kept_error())
        return layer_of_number(number.value)

    # --- all keys

    def keys(self, prefix: str = "") -> KeysView[str]:
        """A view of the keys that begin with `prefix` and that any layer has something for, but for defaults, in the
        order of their UTF-8 bytes. Each look at the view lists them as they are at one moment. In C: `kept_list`."""
        return KeysOf(self, encoded_text(prefix, "a prefix"))

    def items(self) -> ItemsView[str, JSON]:
        """A view of keys and values. A key that another writer removes meanwhile is passed over; for one moment's
        values, ask a transaction."""
        return ItemsOf(self)

    def values(self) -> ValuesView[JSON]:
        """A view of the values, as `items`."""
        return ValuesOf(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._list(b""))

    def __len__(self) -> int:
        return len(self._list(b""))

    def _list(self, prefix: bytes) -> list[str]:
        keys: list[str] = []
        interrupts: list[BaseException] = []

        def collect(_: int | None, key: bytes) -> int:
            try:
                keys.append(key.decode("utf-8"))
                return 0
            except BaseException as interrupt:  # such as Ctrl-C: C could not pass it on
                interrupts.append(interrupt)
                return 1

        with calling_back():
            kept_list(self._handle, prefix, kept_list_callback(collect), None, kept_error())
        if interrupts:
            raise interrupts[0]
        return keys

    # --- several steps as one

    @abstractmethod
    def _together(self, steps: Callable[[Settings], T]) -> T:
        """Runs `steps` so that all of it happens at once or not at all."""

    @overload
    def update_value(self, key: Key[T], change: Callable[[T], T], *, default: T = ...) -> T: ...
    @overload
    def update_value(self, key: str, change: Callable[[Any], Storable], *, default: Storable = ...) -> JSON: ...
    def update_value(self, key: Any, change: Callable[[Any], Any], *, default: Any = ABSENCE) -> Any:
        """Replaces a value by what `change` makes of it, and returns the new one: `update_value(N, lambda n: n + 1)`.

        Nobody can write between the reading and the writing: then `change` is called again, so it must have no effect
        of its own. An absent key begins with `default`, else with the key's own, else it is an `AbsentError`. What it
        begins with comes from the store or the layers beneath, not from arguments or environment that hide it.
        In Swift: `Store.update(_:_:)`."""

        def step(settings: Settings) -> Any:
            new = change(settings._beneath_text(key, default))
            settings[key] = new
            # What is read now, or what is stored and hidden.
            return new if settings.layer(key) in TEXT_LAYERS else settings.get(key)

        return self._together(step)

    @overload
    def pop(self, key: Key[T]) -> T: ...
    @overload
    def pop(self, key: Key[T], default: D) -> T | D: ...
    @overload
    def pop(self, key: str) -> JSON: ...
    @overload
    def pop(self, key: str, default: D) -> JSON | D: ...
    def pop(self, key: Any, default: Any = ABSENCE) -> Any:
        """Removes a key and returns the value it had, atomically. Where it is not stored: `default` if given, else the
        key's own, else an `AbsentError`."""

        def step(settings: Settings) -> Any:
            value = settings.get(key)
            try:
                del settings[key]
            except AbsentError:
                return settings[key] if default is ABSENCE else default
            return value

        return self._together(step)

    def popitem(self) -> tuple[str, JSON]:
        """Removes the first key that is stored and returns it with its value, atomically; `AbsentError` when there is
        none."""

        def step(settings: Settings) -> tuple[str, JSON]:
            for key in settings:
                value = settings.get(key)
                with suppress(AbsentError):  # another layer's
                    del settings[key]
                    return key, value
            raise AbsentError("popitem() found no key: the settings are empty")

        return self._together(step)

    @overload  # type: ignore[override]
    def setdefault(self, key: Key[T], default: T) -> T: ...
    @overload
    def setdefault(self, key: str, default: Storable) -> JSON: ...
    def setdefault(self, key: Any, default: Any) -> Any:
        """Sets a key that is not stored, and returns the value it then has, atomically."""

        def step(settings: Settings) -> Any:
            if key not in settings:
                settings[key] = default
            return settings[key]

        return self._together(step)

    def update(  # type: ignore[override]
        self,
        values: Mapping[str, Storable] | Mapping[Key[Any], Any] | Iterable[tuple[str | Key[Any], Any]] = (),
        /,
        **more: Storable,
    ) -> None:
        """Sets many keys, all or none of them."""
        pairs: list[tuple[Any, Any]] = list(values.items() if isinstance(values, Mapping) else values)
        pairs.extend(more.items())

        def step(settings: Settings) -> None:
            for key, value in pairs:
                settings[key] = value

        self._together(step)

    def clear(self) -> None:
        """Removes every key that is stored, all or none of them."""

        def step(settings: Settings) -> None:
            for key in settings:
                with suppress(AbsentError):  # another layer's
                    del settings[key]

        self._together(step)


def stored_for(key: str | Key[Any], value: Any) -> Any:
    """What is stored for a value. Checked only if the key has a type."""
    return key._to_json(value) if isinstance(key, Key) else value


def json_for(key: str | Key[Any], stored: Any) -> bytes:
    """What `stored_for` gave as JSON; the text null, which removes the key, only where the key's type has None."""
    return b"null" if stored is None and isinstance(key, Key) else encode(stored, name_of(key))
