"""py-lmdb: a transaction for each get, so that no read is stale, and for each set.

A set is visible to every process and survives kill -9. With `sync=False`, since no engine here syncs, power loss may
damage the file. Keys and values are bytes: encoding and decoding the values is part of the figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import lmdb

from engines.engine import Engine
from names import Value


class PyLMDB(Engine):
    def __init__(self, folder: Path, kind: type[Value]) -> None:
        self.environment = lmdb.open(str(folder), map_size=1 << 28, sync=False)
        self.decode: Callable[[Any], Value] = int if kind is int else bytes.decode

    def keys(self, names: Sequence[str]) -> Sequence[Any]:
        return [name.encode() for name in names]

    def get(self, keys: Iterable[Any]) -> None:
        begin, decode = self.environment.begin, self.decode
        for key in keys:
            with begin() as transaction:
                decode(transaction.get(key))

    def set(self, changes: Iterable[tuple[Any, Value]]) -> None:
        begin = self.environment.begin
        for key, value in changes:
            with begin(write=True) as transaction:
                transaction.put(key, str(value).encode())

    def set_together(self, changes: Iterable[tuple[Any, Value]]) -> None:
        with self.environment.begin(write=True) as transaction:
            for key, value in changes:
                transaction.put(key, str(value).encode())

    def close(self) -> None:
        self.environment.close()
