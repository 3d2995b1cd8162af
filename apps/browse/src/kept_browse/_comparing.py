"""Compares the stored values of two stores, or of a store and a backup or export."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import kept

from ._pending import stored
from ._places import path_of
from ._session import Layers, open_store
from ._text import SECRET, one_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOT_COMPARED = "(not compared)"


@dataclass(frozen=True)
class Difference:
    """A key on both sides, as it is displayed. A side without a value has None."""

    key: str
    mark: str
    """As in the output of `kept diff`; a space if the values are equal, and ? if one is unknown."""
    left: str | None
    right: str | None

    @property
    def covered(self) -> Difference:
        """The same without values."""
        left, right = (side if side in (None, NOT_COMPARED) else SECRET for side in (self.left, self.right))
        return Difference(self.key, self.mark, left, right)


@dataclass(frozen=True)
class Comparison:
    """The keys of both sides, as of the time of the comparison."""

    keys: tuple[str, ...]
    values: dict[str, kept.Difference]
    """The keys whose values differ."""
    unknown: frozenset[str]
    """The keys that could not be compared."""
    secrets: frozenset[str]
    """Keys that only one side declares secret."""
    left: kept.Snapshot

    def __getitem__(self, key: str) -> Difference:
        """A key, read now if necessary: for the few keys on the screen."""
        if value := self.values.get(key):
            return Difference(key, value.mark, _side(value, "old"), _side(value, "new"))
        text = self._text(key)
        return Difference(key, "?", text, NOT_COMPARED) if key in self.unknown else Difference(key, " ", text, text)

    @property
    def differing(self) -> list[str]:
        """The keys whose values differ, or may differ."""
        return [key for key in self.keys if key in self.values or key in self.unknown]

    def _text(self, key: str) -> str | None:
        """The stored value on the left side."""
        if not self.left.revision(key):
            return None
        try:
            found = self.left.explain(key)
        except kept.KeptError as error:
            return one_line(f"({error})")
        return SECRET if found.secret or key in self.secrets else _text_of(stored(found)[0])


def open_other(location: str) -> AbstractContextManager[kept.Store | Path]:
    """Opens the other side of a comparison: a store, or a file that is a backup or an export."""
    path = path_of(location)
    if os.path.isfile(path):
        return nullcontext(path)
    return open_store(str(path) if "/" in location else location, Layers(has_standard=False), read_only=True)


def compare(left: kept.Store, right: kept.Store | Path, progress: Callable[[int, int], object]) -> Comparison:
    """Compares the stored values. Any thread."""
    progress(0, 3)
    snapshot = left.snapshot()
    progress(1, 3)
    found = kept.differences(snapshot, right)
    progress(2, 3)
    values, unknown = {value.key: value for value in found.values}, frozenset(each.key for each in found.unknown)
    keys = {key for key in snapshot if snapshot.revision(key)}
    secrets = {declared.key for declared in found.declarations if declared.secret}
    secrets |= {each.key for each in found.unknown if each.secret}
    return Comparison(tuple(sorted(keys | values.keys() | unknown)), values, unknown, frozenset(secrets), snapshot)


def _side(found: kept.Difference, side: str) -> str | None:
    """The value on one side; None if there is none."""
    if side in found.not_kept:
        return SECRET
    value = found.old if side == "old" else found.new
    return None if value is None else _text_of(value)


def _text_of(value: kept.JSON) -> str:
    return kept.display_text(kept.text_of_value(value), json=True)
