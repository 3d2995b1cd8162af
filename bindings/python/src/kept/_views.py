"""The views of a store as a mapping: they look anew each time, since others write too."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import TYPE_CHECKING

from ._errors import AbsentError
from ._json import JSON

if TYPE_CHECKING:
    from ._reading import SettingsReading


class KeysOf(KeysView[str]):
    """Keys with a prefix."""

    _mapping: SettingsReading

    def __init__(self, settings: SettingsReading, prefix: bytes) -> None:
        super().__init__(settings)
        self._prefix = prefix

    def __len__(self) -> int:
        return len(self._mapping._list(self._prefix))

    def __iter__(self) -> Iterator[str]:
        return iter(self._mapping._list(self._prefix))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.startswith(self._prefix.decode()) and key in self._mapping


class ItemsOf(ItemsView[str, JSON]):
    """Keys and values that are there when their turn comes."""

    _mapping: SettingsReading

    def __iter__(self) -> Iterator[tuple[str, JSON]]:
        for key in self._mapping:
            try:
                yield key, self._mapping[key]
            except AbsentError:
                continue


class ValuesOf(ValuesView[JSON]):
    """Values that are there when their turn comes."""

    _mapping: SettingsReading

    def __iter__(self) -> Iterator[JSON]:
        return (value for _, value in ItemsOf(self._mapping))
