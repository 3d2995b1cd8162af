"""The stores for Python programs, each used as its programs use it, behind one interface.

A set has returned here when users of the store consider it done. Errors of a store are passed on as exceptions.
Programs are started by the hundred: each imports only what its store needs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gsettings import GSettings


class Store(Protocol):
    def set(self, name: str, text: str) -> None: ...
    def get(self, name: str) -> str | None: ...
    def close(self) -> None: ...


class Kept:
    def __init__(self, folder: Path) -> None:
        import kept

        self.store = kept.open(folder / "store.kept", busy_timeout=60)

    def set(self, name: str, text: str) -> None:
        self.store[name] = text

    def get(self, name: str) -> str | None:
        return self.store.get(name)  # type: ignore[return-value]

    def close(self) -> None:
        self.store.close()


class SQLite:
    """A bare key-value table, write-ahead log, a transaction for each statement."""

    SELECT = "SELECT value FROM setting WHERE key = ?"
    UPSERT = "INSERT INTO setting VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

    def __init__(self, folder: Path) -> None:
        import sqlite3

        self.connection = sqlite3.connect(folder / "values.sqlite", isolation_level=None, timeout=60)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        table = "CREATE TABLE IF NOT EXISTS setting (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID"
        self.connection.execute(table)

    def set(self, name: str, text: str) -> None:
        self.connection.execute(self.UPSERT, (name, text))

    def get(self, name: str) -> str | None:
        row = self.connection.execute(self.SELECT, (name,)).fetchone()
        return row[0] if row else None

    def close(self) -> None:
        self.connection.close()


class LMDB:
    """Through py-lmdb; without a sync, as in the speed measurements."""

    def __init__(self, folder: Path) -> None:
        import lmdb

        self.environment = lmdb.open(str(folder), map_size=1 << 28, sync=False)

    def set(self, name: str, text: str) -> None:
        with self.environment.begin(write=True) as writing:
            writing.put(name.encode(), text.encode())

    def get(self, name: str) -> str | None:
        with self.environment.begin() as reading:
            found = reading.get(name.encode())
        return None if found is None else found.decode(errors="surrogateescape")

    def close(self) -> None:
        self.environment.close()


class Shelve:
    def __init__(self, folder: Path) -> None:
        import shelve

        self.shelf = shelve.open(str(folder / "values"))

    def set(self, name: str, text: str) -> None:
        self.shelf[name] = text

    def get(self, name: str) -> str | None:
        return self.shelf.get(name)

    def close(self) -> None:
        self.shelf.close()


class SyncedShelve(Shelve):
    def set(self, name: str, text: str) -> None:
        super().set(name, text)
        self.shelf.sync()


class JSONFile:
    """Reads, changes and replaces the file for each set, so that the window for losing other sets is small."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "values.json"
        self.values = self.read()

    def read(self) -> dict[str, str]:
        import json

        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def set(self, name: str, text: str) -> None:
        import json
        import os
        import tempfile

        self.values = {**self.read(), name: text}
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False) as file:
            json.dump(self.values, file)
        os.replace(file.name, self.path)

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    def close(self) -> None:
        pass


class DiskCache:
    def __init__(self, folder: Path) -> None:
        import diskcache

        self.cache = diskcache.Cache(str(folder))

    def set(self, name: str, text: str) -> None:
        self.cache[name] = text

    def get(self, name: str) -> str | None:
        return self.cache.get(name)  # type: ignore[no-any-return]

    def close(self) -> None:
        self.cache.close()


STORES: dict[str, Callable[[Path], Store]] = {
    "Kept": Kept,
    "SQLite": SQLite,
    "LMDB": LMDB,
    "GSettings": GSettings,
    "shelve": SyncedShelve,
    "shelve without sync()": Shelve,
    "JSON file": JSONFile,
    "diskcache": DiskCache,
}
