"""Observing changes: which notices are delivered, when it ends, and what happens when a callback fails."""

from __future__ import annotations

import gc
import logging
import queue
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest

import kept
from kept import _exit, _observation

VOLUME = kept.Key("audio.volume", int, default=50)
SECONDS = 60  # how long a test waits before it fails; no test passes by waiting


class Recorder:
    """A callback that records what it is called with."""

    def __init__(self) -> None:
        self.subjects: queue.Queue[Any] = queue.Queue()

    def __call__(self, subject: Any) -> None:
        self.subjects.put(subject)

    def next(self) -> Any:
        return self.subjects.get(timeout=SECONDS)


def everything_delivered(settings: kept.Store) -> None:
    """Returns when all commits so far are delivered: the library delivers them in order."""
    last = Recorder()
    with settings.observe("last", last):
        settings.update_value("last", lambda value: value + 1, default=0)
        last.next()


def test_an_observer_of_a_key_receives_its_changes(settings: kept.Store) -> None:
    recorder = Recorder()
    with settings.observe(VOLUME, recorder):
        settings["other"] = 1
        settings[VOLUME] = 70
        settings[VOLUME] = 70
        del settings[VOLUME]
        first, second = recorder.next(), recorder.next()
    assert (first.key, first.old, first.new, first.revision) == ("audio.volume", 50, 70, 2)
    assert (second.old, second.new, second.revision) == (70, 50, 3)
    assert first.origin is kept.Origin.STORE


def test_an_observer_by_name_receives_json(settings: kept.Store) -> None:
    recorder = Recorder()
    with settings.observe("a", recorder):
        settings["a"] = [1, b"x"]
        change = recorder.next()
    assert (change.old, change.new) == (None, [1, b"x"])
    assert repr(change) == "Change('a', None → [1, b'x'], revision=1, Origin.STORE)"


def test_observe_is_a_decorator(settings: kept.Store) -> None:
    recorder = Recorder()

    @settings.observe(VOLUME)
    def show(change: kept.Change[int]) -> None:
        """Shows the volume."""
        recorder(change.new)

    settings[VOLUME] = 70
    assert recorder.next() == 70
    assert getattr(show, "__name__") == "show"  # noqa: B009 (unknown to mypy)
    assert show.__doc__ == "Shows the volume."
    show(kept.Change((1, 1), kept.Origin.STORE, None, 0, False, "k", None, 5))
    assert recorder.next() == 5
    show.cancel()


def test_initial_values_are_delivered_on_this_thread(settings: kept.Store) -> None:
    settings.update({"a.1": 1, "b": 2})
    received: list[tuple[Any, threading.Thread]] = []
    settings.observe("a.1", lambda change: received.append((change, threading.current_thread())), initial=True)
    settings.observe(VOLUME, lambda change: received.append((change, threading.current_thread())), initial=True)
    settings.observe(
        prefix="", callback=lambda notice: received.append((notice, threading.current_thread())), initial=True
    )
    assert [thread for _, thread in received] == [threading.current_thread()] * 3
    change, absent, notice = (subject for subject, _ in received)
    assert (change.old, change.new, change.origin) == (None, 1, kept.Origin.INITIAL)
    assert absent.new == 50
    assert [change.key for change in notice.changes] == ["a.1", "b"]


def test_cancel_waits_for_a_running_callback(settings: kept.Store) -> None:
    begun, may_end, log = threading.Event(), threading.Event(), []

    def slow(change: kept.Change[Any]) -> None:
        begun.set()
        may_end.wait(SECONDS)
        log.append("callback ended")

    subscription = settings.observe("a", slow)
    settings["a"] = 1
    assert begun.wait(SECONDS)

    def cancel() -> None:
        subscription.cancel()
        log.append("cancelled")

    canceller = threading.Thread(target=cancel)
    canceller.start()
    may_end.set()
    canceller.join(SECONDS)
    assert log == ["callback ended", "cancelled"]


def test_a_callback_may_do_everything(settings: kept.Store) -> None:
    recorder = Recorder()

    def busy(change: kept.Change[Any]) -> None:
        settings["seen"] = change.new
        with settings.observe("inner", recorder):
            settings["inner"] = settings["seen"]
        settings.observe("later", recorder)
        subscription.cancel()
        recorder("cancelled")

    subscription = settings.observe("a", busy)
    settings["a"] = 1
    assert recorder.next() == "cancelled"
    settings["later"] = 2
    assert recorder.next().new == 2
    settings["a"] = 3
    everything_delivered(settings)
    assert settings["seen"] == 1


def test_a_callback_may_close_the_store(location: Path) -> None:
    recorder = Recorder()
    settings = kept.open(location)

    def close(change: object) -> None:
        settings.close()
        recorder("closed")

    settings.observe("a", close)
    settings["a"] = 1
    assert recorder.next() == "closed"
    with pytest.raises(kept.ClosedError):
        settings["a"]


def test_closing_ends_subscriptions_and_releases_callbacks(location: Path) -> None:
    settings = kept.open(location)
    recorder = Recorder()
    gone = weakref.ref(recorder)
    before = len(_observation._deliveries)
    subscriptions = [settings.observe("a", recorder), settings.observe(prefix="", callback=recorder)]
    assert len(_observation._deliveries) == before + 2
    settings.close()
    assert len(_observation._deliveries) == before
    subscriptions[0].cancel()
    del recorder, subscriptions
    gc.collect()
    assert gone() is None


def test_cancelling_releases_the_callback(settings: kept.Store) -> None:
    before = len(_observation._deliveries)
    for _ in range(100):
        settings.observe("a", Recorder()).cancel()
    assert len(_observation._deliveries) == before


def test_a_dropped_subscription_continues_and_keeps_its_store_open(location: Path) -> None:
    recorder = Recorder()
    kept.open(location).observe("a", recorder)
    gc.collect()
    with kept.open(location) as other:
        other["a"] = 1
        assert recorder.next().new == 1
    for delivery in list(_observation._deliveries.values()):
        if delivery.callback is recorder:
            delivery.store.close()


def test_the_last_subscription_of_a_dropped_store_closes_it(location: Path) -> None:
    before = set(_exit._gate.handles)
    kept.open(location).observe("a", print).cancel()
    gc.collect()
    assert set(_exit._gate.handles) == before


def test_it_may_be_cancelled_from_inside_its_last_call(location: Path) -> None:
    def once(change: object) -> None:
        subscriptions.pop().cancel()

    settings, dropped = kept.open(location), threading.Event()
    weakref.finalize(settings, dropped.set)
    subscriptions = [settings.observe("a", once)]
    del settings
    with kept.open(location) as other:
        other["a"] = 1
        # The release comes when the call has returned, on the library's thread.
        assert dropped.wait(SECONDS)


def test_an_exception_of_a_callback_is_logged_and_passed_to_the_unraisable_hook(
    settings: kept.Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Recorder()
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: recorder(unraisable.exc_value))
    with caplog.at_level(logging.ERROR, logger="kept"):
        for error in (ZeroDivisionError("oops"), SystemExit("oops"), KeyboardInterrupt("oops")):

            def failing(change: object, error: BaseException = error) -> None:
                raise error

            with settings.observe("a", failing):
                settings.update_value("a", lambda value: value + 1, default=0)
                assert recorder.next() is error
    assert [record.getMessage() for record in caplog.records] == ["a callback failed: oops"] * 3
    assert caplog.records[0].exc_info is not None


def test_a_failing_callback_is_called_again(settings: kept.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = Recorder()
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: failures(unraisable.exc_value))

    def failing(change: kept.Change[Any]) -> None:
        raise ValueError(change.new)

    with settings.observe("a", failing):
        settings["a"] = 1
        settings["a"] = 2
        assert [failures.next().args, failures.next().args] == [(1,), (2,)]


def test_a_failing_initial_callback_does_not_prevent_the_subscription(
    settings: kept.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = Recorder()
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: failures(unraisable.exc_value))

    def failing(change: kept.Change[Any]) -> None:
        raise ValueError(change.new)

    with settings.observe("a", failing, initial=True):
        assert failures.next().args == (None,)
        settings["a"] = 1
        assert failures.next().args == (1,)


def test_a_change_to_another_type_is_delivered_and_its_value_raises(settings: kept.Store) -> None:
    recorder = Recorder()
    with settings.observe(VOLUME, recorder):
        settings["audio.volume"] = "loud"
        change = recorder.next()
    assert change.old == 50
    with pytest.raises(kept.WrongTypeError):
        change.new


@pytest.mark.parametrize(
    "subject",
    [{}, {"key": "a", "prefix": "a"}, {"key": ""}, {"key": "a\0"}, {"key": 5}, {"prefix": "a\0"}, {"prefix": 5}],
)
def test_an_invalid_key_or_prefix_is_refused(settings: kept.Store, subject: dict[str, Any]) -> None:
    before = len(_observation._deliveries)
    with pytest.raises(kept.InvalidError):
        settings.observe(**subject, callback=print)
    assert len(_observation._deliveries) == before


def test_a_closed_store_cannot_be_observed_and_keeps_nothing(settings: kept.Store) -> None:
    settings.close()
    before = len(_observation._deliveries)
    with pytest.raises(kept.ClosedError):
        settings.observe("a", print)
    assert len(_observation._deliveries) == before


def test_changes_come_in_the_order_of_the_commits(settings: kept.Store) -> None:
    recorder = Recorder()

    def write() -> None:
        for _ in range(50):
            settings.update_value("n", lambda value: value + 1, default=0)

    with settings.observe("n", recorder):
        writers = [threading.Thread(target=write) for _ in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(SECONDS)
        changes = [recorder.next() for _ in range(200)]
    assert [change.new for change in changes] == list(range(1, 201))
    assert [change.revision for change in changes] == sorted(change.revision for change in changes)


class Owner:
    """Holds its own token, as an object does that observes for as long as it lives."""

    def __init__(self, settings: kept.Store) -> None:
        self.called = threading.Event()
        self.token = settings.observe("a", self.changed)

    def changed(self, change: object) -> None:
        self.called.set()


@pytest.mark.parametrize("end", ["cancelled", "closed"])
def test_its_end_releases_the_callback_though_the_token_is_held(end: str) -> None:
    settings, recorder = kept.open("memory:"), Recorder()
    released = weakref.ref(recorder)
    token = settings.observe("a", recorder)
    settings["a"] = 1
    recorder.next()
    del recorder
    gc.collect()
    assert released() is not None
    token.cancel() if end == "cancelled" else settings.close()
    assert released() is None
    with pytest.raises(kept.ClosedError):
        token(None)


def test_its_end_frees_an_owner_that_holds_its_token(settings: kept.Store) -> None:
    owner = Owner(settings)
    freed = weakref.ref(owner)
    settings["a"] = 1
    assert owner.called.wait(SECONDS)
    owner.token.cancel()
    gc.disable()  # objects in a ring would be found by the collector alone
    try:
        del owner
        assert freed() is None
    finally:
        gc.enable()


def test_its_end_inside_the_callback_releases_it_when_that_has_returned(settings: kept.Store) -> None:
    class Once:
        def __call__(self, change: object) -> None:
            tokens.pop().cancel()

    once, released = Once(), threading.Event()
    weakref.finalize(once, released.set)
    token = settings.observe("a", once)
    tokens = [token]
    del once
    settings["a"] = 1
    assert released.wait(SECONDS)
    assert token is not None


@pytest.mark.parametrize("end", ["cancelled", "closed"])
def test_its_end_keeps_no_store_though_the_token_is_held(end: str) -> None:
    settings = kept.open(f"memory:released-{end}")
    gone = weakref.ref(settings)
    settings["a"] = 1
    token = settings.observe("a", print)
    token.cancel() if end == "cancelled" else settings.close()
    del settings
    gc.collect()
    assert gone() is None
    with kept.open(f"memory:released-{end}") as again:
        assert "a" not in again
    assert token is not None
