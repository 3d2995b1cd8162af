"""Observing changes of other processes, and the tags of writers."""

from __future__ import annotations

import multiprocessing
import sys
import time
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

import kept
from test_observation import SECONDS, VOLUME, Recorder

spawn = multiprocessing.get_context("spawn")


def write(location: Path, values: list[Any], tag: str | None, connection: Any) -> None:
    """Another process; each value is written when the one before has been received."""
    with kept.open(location, tag=tag) as settings:
        for value in values:
            connection.recv()
            settings["audio.volume"] = value


class Writer:
    """A process that writes one value after the other, on request."""

    def __init__(self, location: Path, values: list[Any], tag: str | None = None) -> None:
        self.here, there = spawn.Pipe()
        self.process = spawn.Process(target=write, args=(location, values, tag, there))

    def __enter__(self) -> Writer:
        self.process.start()
        return self

    def go_on(self) -> None:
        self.here.send("go on")

    def __exit__(self, *_: object) -> None:
        self.process.join(SECONDS)
        assert self.process.exitcode == 0


def test_changes_of_another_process_are_delivered(location: Path, settings: kept.Store) -> None:
    recorder, everything = Recorder(), Recorder()
    decorated = settings.observe(VOLUME)(recorder)
    with settings.observe(prefix="", callback=everything), Writer(location, [60, 70, 60], "player") as writer:
        for number, (old, new) in enumerate([(50, 60), (60, 70), (70, 60)], start=1):
            writer.go_on()
            change, notice = recorder.next(), everything.next()
            assert (change.old, change.new, change.revisions) == (old, new, (number, number))
            assert (change.origin, change.tag, change.may_have_missed) == (kept.Origin.OTHER, "player", False)
            assert (notice.origin, notice.tag, notice.revision) == (kept.Origin.OTHER, "player", number)
            assert [(change.key, change.new) for change in notice.changes] == [("audio.volume", new)]
    decorated.cancel()


def test_an_exception_about_a_change_of_another_process_does_not_end_the_subscription(
    location: Path, settings: kept.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = Recorder()
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: failures(unraisable.exc_value))

    def show(change: kept.Change[int]) -> None:
        raise ValueError(change.new)

    with settings.observe(VOLUME, show), Writer(location, [60, "loud", 70]) as writer:
        for expected in (ValueError(60), kept.WrongTypeError, ValueError(70)):
            writer.go_on()
            failure = failures.next()
            if isinstance(expected, ValueError):
                assert isinstance(failure, ValueError) and failure.args == expected.args
            else:
                assert isinstance(failure, expected)


def test_after_cancel_changes_of_another_process_are_not_delivered(location: Path, settings: kept.Store) -> None:
    recorder, other = Recorder(), Recorder()
    with Writer(location, [60, 70]) as writer, settings.observe(VOLUME, other):
        with settings.observe(VOLUME, recorder):
            writer.go_on()
            assert recorder.next().new == other.next().new == 60
        writer.go_on()
        assert other.next().new == 70
        assert recorder.subjects.empty()


# --- when it was


def test_a_change_has_the_time_of_its_commit(location: Path, settings: kept.Store) -> None:
    recorder, everything = Recorder(), Recorder()

    def write_here() -> None:
        settings["audio.volume"] = 70

    with (
        settings.observe(VOLUME, recorder),
        settings.observe(prefix="", callback=everything),
        Writer(location, [60]) as writer,
    ):
        for write in (writer.go_on, write_here):
            before = time.time_ns()
            write()
            change, notice = recorder.next(), everything.next()
            assert before <= change.time_ns <= time.time_ns()
            assert change.time_ns == notice.time_ns == notice.changes[0].time_ns
            assert kept.Timestamp.of(change.time) == kept.Timestamp(*divmod(change.time_ns, 10**9))
            assert change.time.tzinfo is UTC


@pytest.mark.parametrize("time_ns", [-(2**63), -1, 0, 2**63 - 1])
def test_every_time_is_a_date(time_ns: int) -> None:
    change = kept.Change[int]((1, 1), kept.Origin.STORE, None, time_ns, False, "a", None, 1)
    seconds, nanoseconds = divmod(time_ns, 10**9)
    assert change.time == kept.Timestamp(seconds, nanoseconds)


# --- what writers call themselves


def test_the_tag_is_the_transaction_s_or_the_store_s(location: Path) -> None:
    recorder = Recorder()
    with kept.open(location, tag="player") as settings, settings.observe("a", recorder):
        settings["a"] = 1
        with settings.transaction(tag="import") as transaction:
            transaction["a"] = 2
        settings.run_transaction(lambda transaction: transaction.update({"a": 3}), tag="größer")
        with settings.transaction() as transaction:
            transaction["a"] = 4
        assert [recorder.next().tag for _ in range(4)] == ["player", "import", "größer", "player"]


def test_a_change_without_a_tag_has_none(settings: kept.Store) -> None:
    recorder = Recorder()
    with settings.observe("a", recorder):
        settings["a"] = 1
        assert recorder.next().tag is None


@pytest.mark.parametrize("tag", ["a\0b", "\ud800", 5, b"bytes"])
def test_an_invalid_tag_is_refused(location: Path, settings: kept.Store, tag: Any) -> None:
    uses: list[Any] = [
        lambda: kept.open(location, tag=tag),
        lambda: settings.transaction(tag=tag),
        lambda: settings.run_transaction(print, tag=tag),
    ]
    for use in uses:
        with pytest.raises(kept.InvalidError, match="the tag"):
            use()
