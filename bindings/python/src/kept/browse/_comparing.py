"""Comparing the stored values of two stores, or of a store and a backup or an export."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kept

from ._places import path_of
from ._session import Layers, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

SQLITE = b"SQLite format 3\0"
"""The first bytes of a backup."""


@dataclass(frozen=True)
class Difference:
    """A key on both sides. A side without a value has None."""

    key: str
    left: str | None
    right: str | None

    @property
    def mark(self) -> str:
        """As in the output of `kept diff`."""
        return " " if self.left == self.right else "+" if self.left is None else "-" if self.right is None else "~"


@dataclass(frozen=True)
class Comparison:
    """All keys of both sides."""

    keys: tuple[Difference, ...]
    secrets: int
    """Keys that are secret on either side. They are left out."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(difference for difference in self.keys if difference.mark != " ")


def open_other(location: str) -> kept.Store:
    """Opens what a store is compared with: a store, a backup, or an export. The last two are read into memory."""
    path = path_of(location)
    if not path.is_file():
        return open_store(str(path) if "/" in location else location, Layers(has_standard=False))
    with open(path, "rb") as file:
        is_backup = file.read(len(SQLITE)) == SQLITE
    memory = kept.open("memory:")
    try:
        if is_backup:
            memory.restore(path)
        else:
            memory.import_file(path, declarations=True)
    except BaseException:
        memory.close()
        raise
    return memory


def compare(left: kept.Store, right: kept.Store, progress: Callable[[int, int], object]) -> Comparison:
    """Compares what is stored. Any thread."""
    values, other = _values(left, progress), _values(right, progress)
    hidden = values[1] | other[1]
    keys = sorted((values[0].keys() | other[0].keys()) - hidden)
    return Comparison(tuple(Difference(key, values[0].get(key), other[0].get(key)) for key in keys), len(hidden))


def _values(settings: kept.Store, progress: Callable[[int, int], object]) -> tuple[dict[str, str], set[str]]:
    """The stored values as text, and the keys of secrets."""
    export: dict[str, Any] = json.loads(settings.export(progress=progress))
    texts = {key: json.dumps(value, ensure_ascii=False) for key, value in export["values"].items()}
    values = {key: kept.display_text(text, json=True) for key, text in texts.items()}
    return values, set(export["omitted"])
