"""The module shelve, on the dbm that it selects: gdbm or Berkeley DB if Python was built with them, SQLite from
Python 3.13 on, otherwise dbm.dumb, which writes all its keys at each `sync`.

A set is followed by `sync`. Without it a kill may lose the value or, with dbm.dumb, leave one that cannot be read. One
process only: gdbm refuses a second writer, and with the others two writers lose changes or the whole file. A kill in
the middle of a `sync` of dbm.dumb can lose everything. There are no transactions."""

from __future__ import annotations

import shelve
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engines.engine import Engine
from names import Value


class Shelf(Engine):
    together = False

    def __init__(self, folder: Path, kind: type[Value]) -> None:
        self.shelf = shelve.open(str(folder / "values"))

    def get(self, keys: Iterable[Any]) -> None:
        shelf = self.shelf
        for key in keys:
            shelf[key]

    def set(self, changes: Iterable[tuple[Any, Value]]) -> None:
        shelf = self.shelf
        for key, value in changes:
            shelf[key] = value
            shelf.sync()

    def set_together(self, changes: Iterable[tuple[Any, Value]]) -> None:
        self.shelf.update(changes)
        self.shelf.sync()

    def close(self) -> None:
        self.shelf.close()
