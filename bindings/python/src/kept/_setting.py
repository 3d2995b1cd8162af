"""A key as an attribute of a class."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from ._key import Key
from ._settings import Settings

T = TypeVar("T")


class Setting(Generic[T]):
    """An attribute that is a key of a store:

        class Player:
            volume = kept.Setting(VOLUME)

            def __init__(self, settings: kept.Settings) -> None:
                self.settings = settings

        player.volume += 10

    It reads and writes as `settings[VOLUME]` does, with the same errors; `del player.volume` removes the stored value.
    The store is the object's attribute `settings`, or the one that `store` names, or `store` itself. To mypy the
    attribute has the key's type. `Player.volume`, an attribute of the class, is the Setting, and its `key` the key.
    In Swift: `@Setting(.volume) var volume`. C passes keys to functions.
    """

    __slots__ = ("key", "_store")
    key: Key[T]
    """The key that is read and written."""

    def __init__(self, key: Key[T], store: Settings | str = "settings") -> None:
        if not isinstance(key, Key):
            raise TypeError(f"kept.Setting() takes a kept.Key, not {key!r}")
        self.key = key
        self._store = store

    @overload
    def __get__(self, owner: None, cls: type[Any]) -> Setting[T]: ...
    @overload
    def __get__(self, owner: object, cls: type[Any] | None = None) -> T: ...
    def __get__(self, owner: object | None, cls: type[Any] | None = None) -> Setting[T] | T:
        return self if owner is None else self._settings(owner)[self.key]

    def __set__(self, owner: object, value: T) -> None:
        self._settings(owner)[self.key] = value

    def __delete__(self, owner: object) -> None:
        del self._settings(owner)[self.key]

    def _settings(self, owner: object) -> Settings:
        if isinstance(self._store, Settings):
            return self._store
        settings = getattr(owner, self._store, None)
        if not isinstance(settings, Settings):
            raise TypeError(
                f"{type(owner).__name__}.{self._store} is {settings!r}, but it must be the store of the setting "
                f"{self.key.name!r}: set it first, or pass a store to kept.Setting()"
            )
        return settings
