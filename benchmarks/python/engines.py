"""What is measured: Kept, sqlite3 and the floors. Each runs its own loops; to add a rival, add a class.

`get` and `set` do so many operations, each set with a new value and as a commit of its own.
"""

from __future__ import annotations

import ctypes
import sqlite3
from itertools import count
from pathlib import Path

import kept
from kept._c.library import library
from names import NAMES, walk


class KeptByKey:
    """`settings[VOLUME]`, with a typed `kept.Key`."""

    def __init__(self, folder: Path) -> None:
        self.store = kept.open(f"{folder}/by-key.kept")
        self.keys = [kept.Key(name, int) for name in NAMES]
        self.values = count(1)
        self.set(len(NAMES))

    def get(self, operations: int) -> None:
        store = self.store
        for key in walk(self.keys, operations):
            store[key]

    def set(self, operations: int) -> None:
        store = self.store
        for key, value in zip(walk(self.keys, operations), self.values):
            store[key] = value


class KeptByName:
    """`settings["audio.volume"]`."""

    def __init__(self, folder: Path) -> None:
        self.store = kept.open(f"{folder}/by-name.kept")
        for name in NAMES:
            self.store[name] = 1

    def get(self, operations: int) -> None:
        store = self.store
        for name in walk(NAMES, operations):
            store[name]


class SQLite:
    """A bare key-value table: write-ahead log, one connection, a transaction for each statement."""

    SELECT = "SELECT value FROM setting WHERE key = ?"
    UPSERT = "INSERT INTO setting VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / "values.sqlite", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("CREATE TABLE setting (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID")
        self.values = count(1)
        self.set(len(NAMES))

    def get(self, operations: int) -> None:
        execute = self.connection.execute
        for name in walk(NAMES, operations):
            execute(self.SELECT, (name,)).fetchone()[0]

    def set(self, operations: int) -> None:
        execute = self.connection.execute
        for name, value in zip(walk(NAMES, operations), self.values):
            execute(self.UPSERT, (name, value))


class Dictionary:
    """The floor of reading: a plain dict."""

    def __init__(self) -> None:
        self.plain = dict.fromkeys(NAMES, 1)

    def get(self, operations: int) -> None:
        plain = self.plain
        for name in walk(NAMES, operations):
            plain[name]


class BareCall:
    """The cheapest call into libkept.so that ctypes can make: no arguments, an integer back."""

    def __init__(self) -> None:
        self.function = ctypes.CDLL(library._name).kept_version
        self.function.restype = ctypes.c_size_t

    def call(self, operations: int) -> None:
        function = self.function
        for _ in walk(NAMES, operations):
            function()
