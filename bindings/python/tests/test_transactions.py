"""Transactions: all or nothing, and retries after a conflicting commit."""

from __future__ import annotations

import gc
import weakref
from random import Random
from typing import Any

import pytest

import kept

VOLUME = kept.Key("audio.volume", int, default=50)


def test_each_key_has_its_last_edit_whatever_the_order(settings: kept.Store) -> None:
    random = Random(1)
    settings.declare({"bounded": {"type": "integer", "minimum": 0}})
    expected: dict[str, Any] = {}
    for number in range(300):
        with settings.transaction() as transaction:
            for edit in range(random.randint(1, 6)):
                key, value = random.choice(["a", "b", "c", "bounded"]), 6 * number + edit
                if random.random() < 0.2:
                    transaction.pop(key, None)
                    expected.pop(key, None)
                    continue
                kinds: list[Any] = (
                    [value] if key == "bounded" else [value, value + 2**63, str(value), [value], value / 2]
                )
                transaction[key] = expected[key] = random.choice(kinds)
        assert dict(settings) == expected


def test_an_exception_rolls_it_back(settings: kept.Store) -> None:
    settings["a"] = 1
    with pytest.raises(ZeroDivisionError), settings.transaction() as transaction:
        transaction["a"] = 2
        del transaction["a"]
        1 / 0
    assert settings["a"] == 1 and settings.revision("a") == 1


def test_a_refused_value_rolls_it_back(settings: kept.Store) -> None:
    with pytest.raises(kept.InvalidError), settings.transaction() as transaction:
        transaction["a"] = 1
        transaction["b"] = object()  # type: ignore[call-overload]
    assert len(settings) == 0


def test_a_transaction_that_its_block_has_ended_stays_ended(settings: kept.Store) -> None:
    with settings.transaction() as transaction:
        transaction["a"] = 1
        transaction.rollback()
    assert "a" not in settings
    with settings.transaction() as transaction:
        transaction["a"] = 1
        transaction.commit()
    assert settings["a"] == 1


def test_a_dropped_transaction_is_rolled_back(settings: kept.Store) -> None:
    transaction = settings.transaction()
    transaction["a"] = 1
    gone = weakref.ref(transaction)
    del transaction
    gc.collect()
    assert gone() is None
    assert "a" not in settings


def test_run_transaction_retries_after_a_conflict(settings: kept.Store) -> None:
    settings["a"] = 1
    attempts: list[int] = []

    def body(transaction: kept.Transaction) -> str:
        attempts.append(settings["a"])  # type: ignore[arg-type]
        transaction["b"] = transaction["a"]
        if len(attempts) < 3:
            settings["a"] = 10 + len(attempts)
        return "done"

    assert settings.run_transaction(body) == "done"
    assert attempts == [1, 11, 12] and settings["b"] == 12


def test_run_transaction_gives_up_after_many_conflicts(location: Any) -> None:
    with kept.open(location, busy_timeout=0.05) as settings:
        settings["a"] = 0

        def body(transaction: kept.Transaction) -> None:
            transaction["b"] = transaction["a"]
            settings.update_value("a", lambda value: value + 1)

        with pytest.raises(kept.ConflictError):
            settings.run_transaction(body)
        assert "b" not in settings and settings["a"] != 0


def test_run_transaction_does_not_retry_a_stale_expectation(settings: kept.Store) -> None:
    settings["a"] = 1
    settings["a"] = 2
    attempts = []

    def body(transaction: kept.Transaction) -> None:
        attempts.append(1)
        transaction.set("a", 3, if_revision=1)

    with pytest.raises(kept.ConflictError):
        settings.run_transaction(body)
    assert len(attempts) == 2 and settings["a"] == 2


def test_run_transaction_rolls_back_on_an_exception(settings: kept.Store) -> None:
    def body(transaction: kept.Transaction) -> None:
        transaction["a"] = 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        settings.run_transaction(body)
    assert "a" not in settings


def test_update_value_is_one_step(settings: kept.Store) -> None:
    calls: list[int] = []

    def louder(volume: int) -> int:
        calls.append(volume)
        if len(calls) == 1:
            settings[VOLUME] = 80  # a conflicting write between the read and the write
        return volume + 1

    assert settings.update_value(VOLUME, louder) == 81 == settings[VOLUME]
    assert calls == [50, 80]


def test_update_value_needs_a_value_or_a_default(settings: kept.Store) -> None:
    with pytest.raises(kept.AbsentError):
        settings.update_value("n", lambda value: value + 1)
    assert settings.update_value("n", lambda value: value + 1, default=0) == 1
    assert settings.update_value("n", lambda value: value + 1, default=0) == 2
    with pytest.raises(kept.InvalidError, match="use del"):
        settings.update_value("n", lambda value: None)
    assert settings["n"] == 2


def test_a_transaction_is_a_mapping_too(settings: kept.Store) -> None:
    settings.update(a=1, b=2)
    with settings.transaction() as transaction:
        assert transaction.pop("a") == 1
        assert transaction.setdefault("c", 3) == 3
        assert transaction.update_value("b", lambda value: value + 1) == 3
        assert transaction == {"b": 3, "c": 3}
    assert dict(settings) == {"b": 3, "c": 3}


def test_a_transaction_in_a_closed_store_is_closed(settings: kept.Store) -> None:
    transaction = settings.transaction()
    settings.close()
    with pytest.raises(kept.ClosedError):
        transaction["a"] = 1
    transaction.rollback()
