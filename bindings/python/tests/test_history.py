"""The past of a store, and undoing it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import kept


def set_alone(settings: kept.Store, key: str, value: kept.Storable, tag: str | None = None) -> None:
    """Sets a key, and makes it a change of its own."""
    with settings.transaction(tag=tag) as transaction:
        transaction[key] = value
    settings.history(key)


def test_each_change_has_its_revision_tag_time_and_values(settings: kept.Store) -> None:
    set_alone(settings, "theme", "dark", "installer")
    set_alone(settings, "theme", "light")
    set_alone(settings, "other", 1)
    history = settings.history("theme")
    assert history.complete_after == 0
    assert [(change.revision, change.tag, change.old, change.new) for change in history.changes] == [
        (2, None, "dark", "light"),
        (1, "installer", None, "dark"),
    ]
    assert abs(history.changes[0].time - datetime.now(UTC)) < timedelta(hours=1)
    assert [change.key for change in settings.history(prefix="o").changes] == ["other"]
    assert len(settings.history().changes) == 3


def test_a_secret_has_no_value_in_it(settings: kept.Store) -> None:
    settings.declare(kept.Key("pin", str, default="", secret=True))
    set_alone(settings, "pin", "1234")
    (change,) = settings.history().changes
    assert change.secret and change.old is None and change.new is None


def test_undo_restores_a_commit_and_can_be_undone(settings: kept.Store) -> None:
    set_alone(settings, "theme", "dark")
    set_alone(settings, "theme", "light")
    assert settings.undo(2, tag="undo") == ["theme"]
    assert settings["theme"] == "dark"
    assert settings.history().changes[0].tag == "undo"
    with pytest.raises(kept.ConflictError, match="these keys have changed since: theme"):
        settings.undo(2)
    with pytest.raises(kept.AbsentError, match="revision 77 cannot be undone"):
        settings.undo(77)
    settings.undo(3)
    assert settings["theme"] == "light"


def test_limits_are_stored_and_checked(settings: kept.Store) -> None:
    assert settings.history_limits == {"changesPerKey": 100, "changes": 10_000, "days": 90, "bytes": 4 << 20}
    settings.history_limits = {"days": 7}
    assert settings.history_limits["days"] == 7
    for wrong in ({"weeks": 1}, {"days": -1}, {"days": 1 << 31}):
        with pytest.raises(kept.InvalidError):
            settings.history_limits = wrong
    set_alone(settings, "key", 1)
    settings.history_limits = {"changes": 0}
    assert settings.history().changes == ()


@pytest.mark.parametrize("limit", ["changes", "changesPerKey", "days", "bytes"])
def test_with_a_limit_of_0_no_past_revision_reads_as_the_present(settings: kept.Store, limit: str) -> None:
    set_alone(settings, "key", 1)
    settings.history_limits = {limit: 0}
    set_alone(settings, "key", 2)
    set_alone(settings, "key", 3)
    history = settings.history()
    assert (history.changes, history.complete_after) == ((), 3)
    for revision in range(3):
        with pytest.raises(kept.AbsentError, match="use 3 or a later revision"):
            settings.snapshot(at=revision)
    with settings.snapshot(at=3) as snapshot:
        assert snapshot["key"] == 3


def test_a_store_in_memory_has_none() -> None:
    with kept.open("memory:") as settings, pytest.raises(kept.UnsupportedError):
        settings.history()


@pytest.mark.parametrize("revision", [-1, 2**64 + 2, "2", 1.5])
def test_a_number_that_is_no_revision_is_refused(settings: kept.Store, revision: Any) -> None:
    settings["a"] = 1
    with pytest.raises(kept.InvalidError, match="revision"):
        settings.undo(revision)
    with pytest.raises(kept.InvalidError, match="revision"):
        settings.snapshot(at=revision)
    assert settings["a"] == 1
