"""The module sqlite3, with a bare key-value table: write-ahead log, one connection, a transaction for each statement.

A set is visible to every process and survives kill -9, not power loss: `synchronous` is NORMAL, like Kept's default."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engines.engine import Engine
from names import Value

CREATE = "CREATE TABLE IF NOT EXISTS setting (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID"
SELECT = "SELECT value FROM setting WHERE key = ?"
UPSERT = "INSERT INTO setting VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class SQLite(Engine):
    def __init__(self, folder: Path, kind: type[Value]) -> None:
        self.connection = sqlite3.connect(folder / "values.sqlite", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute(CREATE)

    def get(self, keys: Iterable[Any]) -> None:
        execute = self.connection.execute
        for key in keys:
            execute(SELECT, (key,)).fetchone()[0]

    def set(self, changes: Iterable[tuple[Any, Value]]) -> None:
        execute = self.connection.execute
        for change in changes:
            execute(UPSERT, change)

    def set_together(self, changes: Iterable[tuple[Any, Value]]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.set(changes)
        self.connection.execute("COMMIT")

    def close(self) -> None:
        self.connection.close()
