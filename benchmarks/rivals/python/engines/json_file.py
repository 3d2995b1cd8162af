"""A JSON file that is rewritten completely: a temporary file next to it, then `os.replace`.

A get calls `stat` to detect that the file was replaced. A program that does not check is the floor "dict", and sees no
changes of other processes. A set survives kill -9, not power loss: careful programs sync the file too. If two processes
set at the same time, one of the two sets is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engines.engine import Engine
from names import Value


class JSONFile(Engine):
    def __init__(self, folder: Path, kind: type[Value]) -> None:
        self.path, self.temporary = str(folder / "values.json"), str(folder / "values.json.new")
        self.values: dict[str, Value] = {}
        self.seen = (0, 0)
        if not os.path.exists(self.path):
            self.write()

    def current(self) -> dict[str, Value]:
        if (found := self.identity()) != self.seen:
            with open(self.path) as file:
                self.values = json.load(file)
            self.seen = found
        return self.values

    def identity(self) -> tuple[int, int]:
        found = os.stat(self.path)
        return found.st_ino, found.st_mtime_ns

    def write(self) -> None:
        with open(self.temporary, "w") as file:
            # In one piece: json.dump writes small pieces, and takes more than twice as long.
            file.write(json.dumps(self.values))
        os.replace(self.temporary, self.path)
        self.seen = self.identity()

    def get(self, keys: Iterable[Any]) -> None:
        current = self.current
        for key in keys:
            current()[key]

    def set(self, changes: Iterable[tuple[Any, Value]]) -> None:
        for key, value in changes:
            self.current()[key] = value
            self.write()

    def set_together(self, changes: Iterable[tuple[Any, Value]]) -> None:
        self.current().update(changes)
        self.write()

    def close(self) -> None:
        pass
