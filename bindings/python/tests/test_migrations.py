"""Migrations: which steps are run, what comes out, and the state after a failure."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import pytest

import kept

OLD = kept.Key("volume", int, default=50)
NEW = kept.Key("audio.volume", float, default=0.5)


def moved(transaction: kept.Transaction) -> None:
    transaction.rename(OLD, NEW)
    transaction.update_value("audio.volume", lambda volume: volume / 100)


STEPS = [kept.Migration(1, "volume becomes audio.volume", moved)]


@pytest.fixture
def played(settings: kept.Store) -> Iterator[kept.Store]:
    settings[OLD] = 70
    yield settings


def test_steps_run_once_after_a_backup(played: kept.Store, tmp_path: Path) -> None:
    migrated = played.migrate(STEPS)
    assert_type(migrated, kept.Migrated)
    assert migrated.outcome == "migrated" and played.schema_version == 1
    assert migrated.backup is not None and Path(migrated.backup).parent == tmp_path / "test.kept/backups"
    assert dict(played) == {"audio.volume": 0.7} and played[NEW] == 0.7
    assert played.migrate(STEPS) == kept.Migrated("nothing", None)


def test_a_new_store_gets_the_version_and_no_step(settings: kept.Store) -> None:
    assert settings.schema_version == 0
    assert settings.migrate(STEPS) == kept.Migrated("fresh", None)
    assert settings.schema_version == 1 and dict(settings) == {}


def test_without_a_backup(played: kept.Store, tmp_path: Path) -> None:
    assert played.migrate(STEPS, backup=False) == kept.Migrated("migrated", None)
    assert not (tmp_path / "test.kept/backups").exists()


def test_a_failing_step_is_named_and_changes_nothing(played: kept.Store) -> None:
    def broken(transaction: kept.Transaction) -> None:
        transaction["half done"] = True
        1 / 0

    with pytest.raises(kept.FailedError) as failure:
        played.migrate([*STEPS, kept.Migration(2, "divide by zero", broken)])
    assert 'version 2, "divide by zero"' in str(failure.value) and "ZeroDivisionError" in str(failure.value)
    assert isinstance(failure.value.__cause__, ZeroDivisionError)
    assert dict(played) == {"volume": 70} and played.schema_version == 0


def test_an_error_of_kept_in_a_step_keeps_its_class(played: kept.Store) -> None:
    def broken(transaction: kept.Transaction) -> None:
        del transaction["none"]

    with pytest.raises(kept.AbsentError) as failure:
        played.migrate([kept.Migration(1, "drop none", broken)])
    assert isinstance(failure.value.__cause__, kept.AbsentError) and "drop none" in str(failure.value)
    assert played.schema_version == 0


def test_an_interrupt_in_a_step_reaches_the_caller(played: kept.Store) -> None:
    def interrupted(transaction: kept.Transaction) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played.migrate([kept.Migration(1, "wait", interrupted)])
    assert played.schema_version == 0
    assert played.migrate(STEPS).outcome == "migrated"


def test_a_long_exception_is_cut_between_characters(played: kept.Store) -> None:
    def broken(transaction: kept.Transaction) -> None:
        raise ValueError("ä" * 1000)

    with pytest.raises(kept.FailedError, match="ValueError: ä+"):
        played.migrate([kept.Migration(1, "long", broken)])


def test_a_step_cannot_end_its_transaction_or_migrate(played: kept.Store) -> None:
    for begun in (lambda t: t.commit(), lambda t: played.migrate(STEPS), lambda t: played.restore("/dev/null")):
        with pytest.raises(kept.UnsupportedError):
            played.migrate([kept.Migration(1, "nested", begun)])

    def rolled_back(transaction: kept.Transaction) -> None:
        transaction["half done"] = True
        transaction.rollback()

    with pytest.raises(kept.UnsupportedError, match="raise an exception to undo the migration"):
        played.migrate([kept.Migration(1, "roll back", rolled_back)])
    assert played.schema_version == 0 and dict(played) == {"volume": 70}


def test_a_step_s_transaction_ends_with_the_step(played: kept.Store) -> None:
    kept_for_later: list[kept.Transaction] = []
    played.migrate([kept.Migration(1, "keep", kept_for_later.append)])
    with pytest.raises(kept.ClosedError):
        kept_for_later[0]["a"] = 1
    kept_for_later[0].rollback()


def test_a_step_is_called_again_after_a_conflict(played: kept.Store) -> None:
    runs: list[int] = []

    def slow(transaction: kept.Transaction) -> None:
        volume = transaction[OLD]
        runs.append(volume)
        if len(runs) == 1:
            played[OLD] = 20
        transaction[OLD] = volume + 1

    played.migrate([kept.Migration(1, "slow", slow)])
    assert runs == [70, 20] and played[OLD] == 21


def test_a_process_that_carries_on_reads_the_old_values(played: kept.Store, location: Path) -> None:
    met: list[Any] = []

    def meet() -> None:
        with kept.open(location) as other:
            met.append(other.migrate(STEPS, others="carry on"))
            met.append(other[OLD])

    def slow(transaction: kept.Transaction) -> None:
        moved(transaction)
        if not met:
            other = threading.Thread(target=meet)
            other.start()
            other.join()

    played.migrate([kept.Migration(1, "slow", slow)])
    assert met == [kept.Migrated("elsewhere", None), 70]


def test_invalid_migrations_are_refused(played: kept.Store) -> None:
    nothing = kept.Migration(1, "nothing", lambda t: None)
    for steps in [], [nothing, nothing], [kept.Migration(0, "zero", lambda t: None)]:
        with pytest.raises(kept.InvalidError):
            played.migrate(steps)
    for version in -1, 2**32:
        with pytest.raises(kept.OutOfRangeError):
            played.migrate([kept.Migration(version, "beyond", lambda t: None)])
    with pytest.raises(kept.InvalidError, match="others='wait' or 'carry on'"):
        played.migrate([nothing], others="hurry")  # type: ignore[arg-type]
    with pytest.raises(kept.InvalidError):
        played.migrate([nothing], later="ignore")  # type: ignore[arg-type]
    assert played.schema_version == 0


def test_renaming_takes_value_and_declaration_along(played: kept.Store) -> None:
    played.declare(OLD)
    assert played.rename(OLD, "loudness")
    assert dict(played) == {"loudness": 70} and list(played.declarations()) == ["loudness"]
    assert not played.rename(OLD, "other")
    played["a"] = 1
    with pytest.raises(kept.InvalidError):
        played.rename("a", "loudness")
    with played.transaction() as transaction:
        assert transaction.rename("a", "b")
    assert dict(played) == {"b": 1, "loudness": 70}
