"""Revisions, compare-and-set, and writes that survive power loss."""

from __future__ import annotations

from typing import Any

import pytest

import kept

VOLUME = kept.Key("audio.volume", int, default=50)


def test_the_revision_counts_the_commits_that_change_something(settings: kept.Store) -> None:
    assert settings.revision("a") == 0
    settings["a"] = 1
    settings["b"] = 1
    settings["a"] = 1
    assert (settings.revision("a"), settings.revision("b")) == (1, 2)
    settings["a"] = 2
    assert settings.revision("a") == 3
    del settings["a"]
    assert settings.revision("a") == 0


def test_a_write_with_the_current_revision_is_done(settings: kept.Store) -> None:
    first = settings.set(VOLUME, 60, if_revision=0)
    second = settings.set(VOLUME, 70, if_revision=first)
    assert (first, second) == (1, 2) and settings[VOLUME] == 70
    assert settings.set(VOLUME, 70, if_revision=second) == second


@pytest.mark.parametrize("expected", [0, 1, 3, 2**64 - 1])
def test_a_write_with_another_revision_is_a_conflict(settings: kept.Store, expected: int) -> None:
    settings["a"] = 1
    settings["a"] = 2
    with pytest.raises(kept.ConflictError) as caught:
        settings.set("a", 3, if_revision=expected)
    assert caught.value.key == "a"
    assert settings["a"] == 2


@pytest.mark.parametrize("expected", [-1, 2**64])
def test_an_invalid_revision_is_refused(settings: kept.Store, expected: int) -> None:
    with pytest.raises(kept.OutOfRangeError, match="revisions are 0 to 2"):
        settings.set("a", 1, if_revision=expected)


def test_an_expectation_holds_in_a_transaction(settings: kept.Store) -> None:
    settings["a"] = 1
    with settings.transaction() as transaction:
        transaction.set("a", 2, if_revision=1)
        transaction.set("b", 2, if_revision=0)
        transaction.set("c", 3)
    assert dict(settings) == {"a": 2, "b": 2, "c": 3}
    with pytest.raises(kept.ConflictError), settings.transaction() as transaction:
        transaction.set("a", 3, if_revision=1)
    assert settings["a"] == 2


def test_durable_writes_are_done(settings: kept.Store) -> None:
    settings.set("a", 1, durable=True)
    assert settings.set("a", 2, if_revision=1, durable=True) == 2
    settings.flush()
    assert settings["a"] == 2


@pytest.mark.parametrize("value", [None, object(), 2**64])
def test_a_refused_value_is_refused_with_conditions_too(settings: kept.Store, value: Any) -> None:
    for conditions in ({"if_revision": 0}, {"durable": True}):
        with pytest.raises(kept.InvalidError):
            settings.set("a", value, **conditions)
    assert "a" not in settings
