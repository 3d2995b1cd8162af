"""diskcache.Cache with its default settings: SQLite with a write-ahead log, and culling.

A set is visible to every process and survives kill -9, not power loss."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import diskcache

from engines.engine import Engine
from names import Value


class DiskCache(Engine):
    def __init__(self, folder: Path, kind: type[Value]) -> None:
        self.cache = diskcache.Cache(str(folder))

    def get(self, keys: Iterable[Any]) -> None:
        cache = self.cache
        for key in keys:
            cache[key]

    def set(self, changes: Iterable[tuple[Any, Value]]) -> None:
        cache = self.cache
        for key, value in changes:
            cache[key] = value

    def set_together(self, changes: Iterable[tuple[Any, Value]]) -> None:
        with self.cache.transact():
            self.set(changes)

    def close(self) -> None:
        self.cache.close()
