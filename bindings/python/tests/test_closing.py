"""The end of a store: explicit, by a `with` block, or by being dropped; and the errors afterwards."""

from __future__ import annotations

import copy
import gc
import pickle
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kept
from kept import _exit

USES: list[Callable[[kept.Store], Any]] = [
    lambda settings: settings["a"],
    lambda settings: settings.get("a"),
    lambda settings: settings.__setitem__("a", 1),
    lambda settings: settings.__delitem__("a"),
    lambda settings: "a" in settings,
    lambda settings: len(settings),
    lambda settings: list(settings),
    lambda settings: settings.revision("a"),
    lambda settings: settings.set("a", 1, if_revision=0),
    lambda settings: settings.set("a", 1, durable=True),
    lambda settings: settings.flush(),
    lambda settings: settings.transaction(),
    lambda settings: settings.run_transaction(lambda transaction: None),
    lambda settings: settings.update_value("a", lambda value: 1, default=1),
    lambda settings: settings.update(a=1),
    lambda settings: settings.clear(),
    lambda settings: settings.observe("a", print),
]


@pytest.mark.parametrize("use", USES)
def test_a_closed_store_raises_closed(settings: kept.Store, use: Callable[[kept.Store], Any]) -> None:
    settings.close()
    with pytest.raises(kept.ClosedError, match="was closed"):
        use(settings)


def test_closing_twice_is_allowed(settings: kept.Store) -> None:
    settings.close()
    settings.close()
    assert repr(settings).endswith(", closed>")


def test_a_with_block_closes_also_on_an_exception(location: Path) -> None:
    with pytest.raises(ZeroDivisionError), kept.open(location) as settings:
        1 / 0
    with pytest.raises(kept.ClosedError):
        settings["a"]


def test_a_dropped_store_is_closed(location: Path) -> None:
    before = set(_exit._gate.handles)
    settings = kept.open(location)
    gone = weakref.ref(settings)
    assert len(set(_exit._gate.handles) - before) == 1
    del settings
    gc.collect()
    assert gone() is None and set(_exit._gate.handles) == before


def test_a_store_is_neither_copied_nor_pickled(settings: kept.Store) -> None:
    for use in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="open its location again"):
            use(settings)


def test_a_store_that_failed_to_open_leaks_nothing() -> None:
    before = set(_exit._gate.handles)
    with pytest.raises(kept.InvalidError):
        kept.open("")
    assert set(_exit._gate.handles) == before


def test_a_copy_that_has_taken_the_place_of_a_store_is_not_written(location: Path, tmp_path: Path) -> None:
    """The copy has the same identity, and the state of before."""
    with kept.open(location) as settings:
        settings["a"] = 1
    shutil.copytree(location, tmp_path / "copy")
    before = {file.name: file.read_bytes() for file in (tmp_path / "copy").iterdir()}
    with kept.open(location) as settings:
        settings["a"] = 2
        location.rename(tmp_path / "gone")
        (tmp_path / "copy").rename(location)
    assert {file.name: file.read_bytes() for file in location.iterdir()} == before
    with kept.open(location) as settings, kept.open(tmp_path / "gone") as gone:
        assert (settings["a"], gone["a"]) == (1, 2)
