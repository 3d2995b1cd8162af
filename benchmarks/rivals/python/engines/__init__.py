"""The engines: Kept, its rivals and the floors. To add a rival: a file that implements `Engine`, and an entry in
`RIVALS`, under its name in the table."""

from __future__ import annotations

from engines.disk_cache import DiskCache
from engines.engine import Engine
from engines.json_file import JSONFile
from engines.kept_store import KeptByKey, KeptByName
from engines.py_lmdb import PyLMDB
from engines.shelf import Shelf
from engines.sqlite import SQLite

__all__ = ["KEPT_BY_KEY", "KEPT_BY_NAME", "RIVALS"]

KEPT_BY_KEY: dict[str, type[Engine]] = {"Kept": KeptByKey}
KEPT_BY_NAME: dict[str, type[Engine]] = {"Kept": KeptByName}
RIVALS: dict[str, type[Engine]] = {
    "sqlite3": SQLite,
    "shelve": Shelf,
    "JSON file": JSONFile,
    "diskcache": DiskCache,
    "py-lmdb": PyLMDB,
}
