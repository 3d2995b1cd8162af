"""Kept, through both Python APIs for a key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import kept
from engines.engine import Engine
from names import Value


class KeptByName(Engine):
    """`settings["audio.volume"]`."""

    def __init__(self, folder: Path, kind: type[Value]) -> None:
        self.store = kept.open(f"{folder}/settings.kept")
        self.kind = kind

    def get(self, keys: Iterable[Any]) -> None:
        store = self.store
        for key in keys:
            store[key]

    def set(self, changes: Iterable[tuple[Any, Value]]) -> None:
        store = self.store
        for key, value in changes:
            store[key] = value

    def set_together(self, changes: Iterable[tuple[Any, Value]]) -> None:
        with self.store.transaction() as transaction:
            for key, value in changes:
                transaction[key] = value

    def close(self) -> None:
        self.store.close()


class KeptByKey(KeptByName):
    """`settings[VOLUME]`, with a typed `kept.Key`."""

    def keys(self, names: Sequence[str]) -> Sequence[Any]:
        return [kept.Key(name, self.kind) for name in names]
