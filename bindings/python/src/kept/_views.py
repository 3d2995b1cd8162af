"""The views of settings as a mapping. Each use of a view reads again, since other processes write too."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView

from ._errors import AbsentError, CorruptError, UnavailableError
from ._types import JSON


class KeysOf(KeysView[str]):
    """The keys with a prefix, which `names` lists."""

    _mapping: Mapping[str, JSON]

    def __init__(self, settings: Mapping[str, JSON], prefix: str, names: Callable[[], list[str]]) -> None:
        super().__init__(settings)
        self._prefix, self._names = prefix, names

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.startswith(self._prefix) and key in self._mapping


class ItemsOf(ItemsView[str, JSON]):
    """Keys and values. A key that is removed during the iteration is skipped."""

    _mapping: Mapping[str, JSON]

    def __init__(self, settings: Mapping[str, JSON], skip_unreadable: bool = False) -> None:
        super().__init__(settings)
        self._skipped = (AbsentError, CorruptError, UnavailableError) if skip_unreadable else (AbsentError,)

    def __len__(self) -> int:
        return sum(1 for _ in self) if len(self._skipped) > 1 else super().__len__()

    def __iter__(self) -> Iterator[tuple[str, JSON]]:
        for key in self._mapping:
            try:
                yield key, self._mapping[key]
            except self._skipped:
                continue


class ValuesOf(ValuesView[JSON]):
    """The values of `ItemsOf`."""

    _mapping: Mapping[str, JSON]

    def __iter__(self) -> Iterator[JSON]:
        return (value for _, value in ItemsOf(self._mapping))
