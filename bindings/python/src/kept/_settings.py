"""Writing as a mutable mapping, common to a store and a transaction."""

from __future__ import annotations

from _collections_abc import Mapping, MutableMapping  # collections.abc would import all of collections
from abc import abstractmethod
from ctypes import byref, c_size_t

from ._c.json import kept_set_json
from ._c.keys import kept_remove
from ._c.status import kept_error
from ._declaring import Declaring
from ._errors import AbsentError, InvalidError, KeptError, UnsupportedError, WrongTypeError
from ._key import A_PREFIX, ABSENCE, Key, encoded_key, encoded_text, encoded_value, name_of
from ._reading import SettingsReading
from ._refusal import NOT_SHOWN, Refusal
from ._scalars import write_scalar
from ._typing import TYPE_CHECKING, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ._refusal import Secrecy
    from ._types import JSON, Storable

T = TypeVar("T")
D = TypeVar("D")


class Settings(SettingsReading, MutableMapping[str, "JSON"], Declaring):
    """A store or a transaction, as a mapping: functions that work with both take `kept.Settings`.

    Reading is as in `SettingsReading`; writes go to the store. In Swift: `SettingsAccess`. In C: every
    function that takes a `kept_store *`.
    """

    # --- one key

    @overload
    def __setitem__(self, key: Key[T], value: T) -> None: ...
    @overload
    def __setitem__(self, key: str, value: Storable) -> None: ...
    def __setitem__(self, key: Any, value: Any) -> None:
        """Sets a key. A value that cannot be stored, or that breaks a rule of the key's declaration, is an
        `InvalidError`, one that is not of the key's type a `WrongTypeError`, one above 16 MiB a `TooLargeError`. A key
        that an administrator has locked is a `LockedError`; one that arguments or environment hide is set with a
        `ShadowedWarning`. None removes a key whose type has None, and is an `InvalidError` for all others.
        In C: `kept_set_int64` and the like, and `kept_set_json`."""
        name, stored = encoded_key(key), stored_for(key, value, self)
        try:
            if not write_scalar(self._handle, name, stored):
                kept_set_json(self._handle, name, json_for(key, stored, self), kept_error())
        except (InvalidError, WrongTypeError) as refused:
            if not self._is_quoted(key):
                raise
            kind = type(refused)
        else:
            return
        raise unquoted(kind, key)

    def __delitem__(self, key: str | Key[Any]) -> None:
        """Removes a key from the store. One that is not stored is an `AbsentError`, also if it has a default or a value
        in another layer. In C: `kept_remove`."""
        kept_remove(self._handle, encoded_key(key), kept_error())

    def rename(self, key: str | Key[Any], to: str | Key[Any]) -> bool:
        """Moves the stored value and the declaration of a key to another key, in one commit. Returns False if the key
        is neither stored nor declared. `InvalidError` if the other key is stored or declared; `LockedError`.
        In C: `kept_rename`. In Swift: `rename(_:to:)`."""
        from ._c.migrations import kept_rename

        try:
            kept_rename(self._handle, encoded_key(key), encoded_key(to), kept_error())
        except AbsentError:
            return False
        return True

    def _beneath_text(self, key: str | Key[T], default: Any) -> Any:
        """The value that `[]`, or `get` with a default, would give without arguments and environment."""
        from ._layers import TEXT_LAYERS

        if self.layer(key) not in TEXT_LAYERS:
            return self[key] if default is ABSENCE else self.get(key, default)
        # This shows the values of a key that is secret in this program alone.
        explanation = self.explain(name_of(key))
        if explanation.secret:
            sentence = f'update_value() cannot read the secret "{explanation.key}": {explanation.reason}'
            raise UnsupportedError(sentence, key=explanation.key)
        for finding in explanation.layers:
            if finding.outcome == "hidden" and finding.layer not in TEXT_LAYERS:
                return key._from_json(finding.value, self) if isinstance(key, Key) else finding.value
        if default is not ABSENCE:
            return default
        if isinstance(key, Key) and key.has_default:
            return key.default
        sentence = f'"{explanation.key}" has no value in the store; pass a default to update_value()'
        raise AbsentError(sentence, key=explanation.key)

    def _is_quoted(self, key: str | Key[Any]) -> bool:
        """Whether the store's error messages quote the values of a secret key: if it is not declared secret there."""
        return isinstance(key, Key) and key._is_secret(key) and not self._is_secret(key.name)

    # --- several steps as one

    @abstractmethod
    def _together(self, steps: Callable[[Settings], T]) -> T:
        """Runs `steps` atomically."""

    @overload
    def update_value(self, key: Key[T], change: Callable[[T], T], *, default: T = ...) -> T: ...
    @overload
    def update_value(self, key: str, change: Callable[[Any], Storable], *, default: Storable = ...) -> JSON: ...
    def update_value(self, key: Any, change: Callable[[Any], Any], *, default: Any = ABSENCE) -> Any:
        """Replaces a value by what `change` makes of it, and returns the new one: `update_value(N, lambda n: n + 1)`.

        It is atomic: if another process writes at the same time, `change` is called again, so it must have no other
        effect. An absent key begins with `default`, else with the key's own default, else it is an `AbsentError`. The
        old value comes from the store or the layers beneath, and not from arguments or environment that hide it. In
        Swift: `Store.updateValue(_:_:)`."""
        from ._layers import TEXT_LAYERS

        def step(settings: Settings) -> Any:
            new = change(settings._beneath_text(key, default))
            settings[key] = new
            # The value that is read now, or the stored one if a layer hides it.
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
        """Removes a key and returns the value it had, atomically. If it is not stored: `default` if given, else the
        key's own default, else an `AbsentError`."""

        def step(settings: Settings) -> Any:
            value = settings.get(key)
            try:
                del settings[key]
            except AbsentError:
                return settings[key] if default is ABSENCE else default
            return value

        return self._together(step)

    def popitem(self) -> tuple[str, JSON]:
        """Removes the first key that is stored and returns it with its value, atomically; `AbsentError` if there is
        none."""

        def step(settings: Settings) -> tuple[str, JSON]:
            for key in settings:
                value = settings.get(key)
                try:
                    del settings[key]
                except AbsentError:
                    continue  # another layer's
                return key, value
            raise AbsentError("popitem() found no stored key")

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
        """Sets several keys, all or none; in a transaction, the keys before a refused one stay set."""
        pairs: list[tuple[Any, Any]] = list(values.items() if isinstance(values, Mapping) else values)
        pairs.extend(more.items())

        def step(settings: Settings) -> None:
            for key, value in pairs:
                settings[key] = value

        self._together(step)

    def clear(self) -> None:
        """Removes every key that is stored, all or none of them, as `remove_all("")`."""
        self.remove_all("")

    # --- back to the defaults

    def reset(self, key: str | Key[Any]) -> None:
        """Resets a key to its default by removing the stored value, if there is one. A key that an administrator has
        locked is a `LockedError`; one that arguments or environment hide is reset with a `ShadowedWarning`.
        In C: `kept_reset`. In Swift: `Store.reset(_:)`."""
        from ._c.clearing import kept_reset

        kept_reset(self._handle, encoded_key(key), kept_error())

    def remove_all(self, prefix: str) -> int:
        """Removes every stored key that begins with `prefix` ("" is every key), in one commit, and returns their
        number; declarations stay. If one of them is locked, a `LockedError`, and if there are several in a `dir:`
        store, which changes one key at a time, an `UnsupportedError`; nothing is removed then.
        In C: `kept_remove_all`. In Swift: `Store.removeAll(prefix:)`."""
        from ._c.clearing import kept_remove_all

        removed = c_size_t()
        kept_remove_all(self._handle, encoded_text(prefix, A_PREFIX), byref(removed), kept_error())
        return removed.value


def unquoted(kind: type[KeptError], key: Key[Any]) -> KeptError:
    """An error for a value that the store has refused, without the store's message."""
    return Refusal(kind, f"does not match the key's declaration; {NOT_SHOWN}").about(key.name)


def stored_for(key: str | Key[Any], value: Any, secrecy: Secrecy) -> Any:
    """The stored form of a value. It is checked only if the key has a type."""
    return key._to_json(value, secrecy) if isinstance(key, Key) else value


def json_for(key: str | Key[Any], stored: Any, secrecy: Secrecy) -> bytes:
    """The stored form as JSON. The text null, which removes the key, is used only if the key's type has None."""
    return b"null" if stored is None and isinstance(key, Key) else encoded_value(stored, key, secrecy)
