"""What a store and a transaction have in common: reading, writing, and being a mapping."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from ctypes import byref, c_bool, c_char_p, c_uint64
from typing import Any, TypeVar, overload

from ._c.json import kept_get_json, kept_set_json
from ._c.keys import kept_contains, kept_list, kept_list_callback, kept_remove, kept_revision_of
from ._c.status import kept_error, kept_free
from ._c.store import StorePointer
from ._errors import AbsentError
from ._exit import calling_back
from ._json import JSON, Storable, decode, encode
from ._key import ABSENCE, Key, encoded_key, encoded_text, name_of
from ._memory import UNKNOWN, Memory
from ._scalars import write_scalar
from ._views import ItemsOf, KeysOf, ValuesOf

T = TypeVar("T")
D = TypeVar("D")


class Settings(MutableMapping[str, JSON]):
    """A store or a transaction, as a mapping: functions that work with both say `kept.Settings`.

    A key is a `kept.Key`, which fixes the type of its values, or a str, whose values are `kept.JSON`. Defaults of keys
    are read by `[]` and `get`; `in`, `len` and iteration count only what is stored. Any thread may call everything.
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
        """Sets a key. A value that cannot be stored is an `InvalidError`, one that is not of the key's type a
        `WrongTypeError`, one above 16 MiB a `TooLargeError`. None removes a key whose type has None, and is an
        `InvalidError` for all others. In C: `kept_set_int64` and its kin, and `kept_set_json`."""
        name, stored = encoded_key(key), stored_for(key, value)
        if not write_scalar(self._handle, name, stored):
            kept_set_json(self._handle, name, json_for(key, stored), kept_error())

    def __delitem__(self, key: str | Key[Any]) -> None:
        """Removes a key. One that is not stored is an `AbsentError`, also if it has a default. In C: `kept_remove`."""
        kept_remove(self._handle, encoded_key(key), kept_error())

    def __contains__(self, key: object) -> bool:
        """Whether the key is stored; its default does not count. In C: `kept_contains`."""
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
        """The value of a key. Where it is not stored: `default` if given, else the key's own, else None."""
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
        """What is stored, of the key's type."""
        text = c_char_p()
        kept_get_json(self._handle, encoded_key(key), byref(text), kept_error())
        try:
            stored = decode(text.value or b"", name_of(key))
        finally:
            kept_free(text)
        return key._from_json(stored) if isinstance(key, Key) else stored

    # --- all keys

    def keys(self, prefix: str = "") -> KeysView[str]:
        """A view of the stored keys that begin with `prefix`, in the order of their UTF-8 bytes. Each look at the view
        lists the keys as they are at one moment. In C: `kept_list`."""
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
        of its own. An absent key begins with `default`, else with the key's own, else it is an `AbsentError`.
        In Swift: `Store.update(_:_:)`."""

        def step(settings: Settings) -> Any:
            value = settings[key] if default is ABSENCE else settings.get(key, default)
            settings[key] = change(value)
            return settings.get(key)

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
            if key not in settings:
                return settings[key] if default is ABSENCE else default
            value = settings[key]
            del settings[key]
            return value

        return self._together(step)

    def popitem(self) -> tuple[str, JSON]:
        """Removes the first key and returns it with its value, atomically; `AbsentError` when there is none."""

        def step(settings: Settings) -> tuple[str, JSON]:
            for key in settings:
                return key, settings.pop(key)
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
        """Removes every key, all or none of them."""

        def step(settings: Settings) -> None:
            for key in settings:
                del settings[key]

        self._together(step)


def stored_for(key: str | Key[Any], value: Any) -> Any:
    """What is stored for a value. Checked only if the key has a type."""
    return key._to_json(value) if isinstance(key, Key) else value


def json_for(key: str | Key[Any], stored: Any) -> bytes:
    """What `stored_for` gave as JSON; the text null, which removes the key, only where the key's type has None."""
    return b"null" if stored is None and isinstance(key, Key) else encode(stored, name_of(key))
