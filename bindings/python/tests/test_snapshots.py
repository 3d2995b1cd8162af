"""Snapshots and clearing as Python has them; the shared scenarios check the rest."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path

import pytest

import kept

VOLUME = kept.Key("audio.volume", int, default=50)


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[kept.Store]:
    with kept.open(f"{tmp_path}/store") as store:
        yield store


def test_a_snapshot_is_an_immutable_mapping(settings: kept.Store) -> None:
    settings.update({"a": 1, "b": [1, {"c": None}]})
    with settings.snapshot() as before:
        settings["a"] = 2
        del settings["b"]
        assert isinstance(before, Mapping) and not isinstance(before, MutableMapping)
        assert dict(before) == {"a": 1, "b": [1, {"c": None}]}
        assert list(before.items()) == [("a", 1), ("b", [1, {"c": None}])]
        assert len(before) == 2 and "b" in before and "c" not in before
        assert before.get("c") is None and before.get("c", 7) == 7
    assert dict(settings) == {"a": 2}


def test_typed_keys_read_it_with_their_defaults(settings: kept.Store) -> None:
    with settings.snapshot() as empty:
        settings[VOLUME] = 70
        assert empty[VOLUME] == 50 and settings[VOLUME] == 70
    settings["audio.volume"] = "loud"
    with settings.snapshot("audio.") as wrong, pytest.raises(kept.WrongTypeError):
        wrong[VOLUME]


def test_its_revision_does_not_change(settings: kept.Store) -> None:
    settings["a"] = 1
    snapshot = settings.snapshot()
    settings["b"] = 1
    assert (snapshot.revision(), settings.revision()) == (1, 2)
    assert (snapshot.revision("a"), snapshot.revision("b"), settings.revision("b")) == (1, 0, 2)
    with settings.transaction() as transaction, pytest.raises(kept.UnsupportedError):
        transaction.revision()


def test_keys_outside_its_prefix_are_refused(settings: kept.Store) -> None:
    settings.update({"a.x": 1, "b": 2})
    snapshot = settings.snapshot("a.")
    assert list(snapshot) == ["a.x"]
    with pytest.raises(kept.InvalidError, match="another prefix"):
        snapshot["b"]
    with pytest.raises(kept.InvalidError):
        "b" in snapshot
    with pytest.raises(kept.InvalidError):
        settings.snapshot("\ud800")


def test_an_ended_snapshot_raises_and_a_dropped_one_ends(settings: kept.Store) -> None:
    settings["a"] = 1
    snapshot = settings.snapshot()
    snapshot.close()
    snapshot.close()
    with pytest.raises(kept.ClosedError):
        snapshot["a"]
    assert repr(snapshot) == "<kept.Snapshot, closed>"
    dropped = settings.snapshot()
    end = dropped._end
    del dropped
    gc.collect()
    assert not end.alive


def test_it_outlives_its_store_and_is_not_pickled(settings: kept.Store) -> None:
    settings["a"] = 1
    snapshot = settings.snapshot()
    assert repr(snapshot) == "<kept.Snapshot of revision 1>"
    with pytest.raises(TypeError, match="dict"):
        pickle.dumps(snapshot)
    settings.close()
    assert dict(snapshot) == {"a": 1}
    with pytest.raises(kept.ClosedError):
        settings.snapshot()


def test_remove_all_counts_and_reset_returns_to_the_default(settings: kept.Store) -> None:
    settings.update({"a.x": 1, "a.y": 2, "b": 3, "audio.volume": 70})
    assert settings.remove_all("a.") == 2 and settings.remove_all("a.") == 0
    settings.reset(VOLUME)
    settings.reset(VOLUME)
    assert settings[VOLUME] == 50 and dict(settings) == {"b": 3}
    with settings.transaction() as transaction:
        transaction["c"] = 4
        assert transaction.remove_all("") == 2
    assert dict(settings) == {}
    with pytest.raises(kept.InvalidError):
        settings.reset("")


def test_remove_all_of_a_store_of_files_says_that_it_removes_one_key_at_a_time(tmp_path: Path) -> None:
    with kept.open(f"dir:{tmp_path}/files") as settings:
        settings["a.b"], settings["a.c"] = 1, 2
        with pytest.raises(kept.UnsupportedError, match='one key at a time, and 2 keys begin with "a."'):
            settings.remove_all("a.")
        assert list(settings) == ["a.b", "a.c"]
        assert settings.remove_all("a.b") == 1 and settings.remove_all("a.b") == 0
