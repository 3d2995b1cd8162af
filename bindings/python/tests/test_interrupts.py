"""Ctrl-C inside a callback: it reaches the caller, and the request is done wholly or not at all."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kept
from interrupting import Interrupt, alarms, interrupted
from kept import _exit, _observation, _reports

KEYS = ["a", "b", "c"]


class Attempt:
    """One call, with a store of its own, and what must be true whatever came of it."""

    def __init__(self, store: kept.Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.received: list[Any] = []
        store.update({key: 1 for key in KEYS})

    def call(self) -> Any:
        """The interrupted call."""
        raise NotImplementedError

    def is_done(self, result: Any) -> bool:
        """Whether it was done: an assertion fails where it was done by half. `result` is what came out."""
        raise NotImplementedError


class Listing(Attempt):
    def call(self) -> Any:
        return list(self.store.keys())

    def is_done(self, result: Any) -> bool:
        assert result == KEYS or isinstance(result, Interrupt)
        return bool(result == KEYS)


class MigratingOnce(Attempt):
    def call(self) -> Any:
        return self.store.migrate([kept.Migration(1, "first", self.first), kept.Migration(2, "second", self.second)])

    @staticmethod
    def first(transaction: kept.Transaction) -> None:
        transaction["first"] = True

    @staticmethod
    def second(transaction: kept.Transaction) -> None:
        transaction["second"] = True

    def is_done(self, result: Any) -> bool:
        state = self.store.schema_version, "first" in self.store, "second" in self.store
        assert state in ((0, False, False), (2, True, True))
        return state[0] == 2


class Exporting(Attempt):
    def call(self) -> Any:
        self.store.export_file(self.folder / "export", progress=lambda *far: self.received.append(far))

    def is_done(self, result: Any) -> bool:
        path = self.folder / "export"
        try:
            if not path.exists():
                return False
            assert path.read_text("utf-8") == self.store.export()
            return True
        finally:
            path.unlink(missing_ok=True)


class Importing(Attempt):
    def call(self) -> Any:
        def receive(done: int, total: int) -> None:
            pass

        return self.store.import_text('{"a":2,"b":2,"d":2}', format="json", progress=receive)

    def is_done(self, result: Any) -> bool:
        assert dict(self.store) in ({"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 1, "d": 2})
        return "d" in self.store


class Observing(Attempt):
    def call(self) -> Any:
        return self.store.observe(prefix="", callback=self.receive, initial=True)

    def receive(self, notice: kept.Notice) -> None:
        self.received.append([change.key for change in notice.changes])

    def is_done(self, result: Any) -> bool:
        assert isinstance(result, (Interrupt, kept.Subscription))
        # Without a token there is no subscription, unless the interrupt came with the token on its way.
        assert self.received == [KEYS] or not _observation._deliveries
        self.store.close()
        return isinstance(result, kept.Subscription)


class Opening(Attempt):
    """The callback is the one for reports: the file of a layer is not JSON."""

    def __init__(self, store: kept.Store, folder: Path) -> None:
        super().__init__(store, folder)
        self.file = folder / "system.json"
        self.file.write_text("{")

    def call(self) -> Any:
        return kept.open("memory:", system=self.file)

    def is_done(self, result: Any) -> bool:
        assert isinstance(result, (Interrupt, kept.Store))
        if isinstance(result, Interrupt):
            # One that was open and dropped is closed on another thread.
            until = time.monotonic() + 60
            while list(_exit._gate.handles.values()) != [self.store._handle]:
                assert time.monotonic() < until
                time.sleep(0.001)
            return False
        result.close()
        return True


class Reporting(Attempt):
    """A set of a deprecated key, which is reported."""

    def __init__(self, store: kept.Store, folder: Path) -> None:
        super().__init__(store, folder)
        store.declare(kept.Key("old", int, deprecated=True))

    def call(self) -> Any:
        self.store["old"] = 1

    def is_done(self, result: Any) -> bool:
        return "old" in self.store


class Closing(Attempt):
    """Of a store that is dropped then."""

    def __init__(self, store: kept.Store, folder: Path) -> None:
        super().__init__(store, folder)
        self.other: kept.Store | None = kept.open("memory:")

    def call(self) -> Any:
        assert self.other is not None
        self.other.close()

    def is_done(self, result: Any) -> bool:
        self.other = None
        assert list(_exit._gate.handles.values()) == [self.store._handle]
        return result is None


class Taking(Attempt):
    """A task's next change. It may be taken when the interrupt comes, as an item of a queue; it is never lost before
    `__anext__` has it."""

    def call(self) -> Any:
        self.changes = self.store.changes("a", initial=True)
        self.store["a"] = 2
        for _ in range(2):
            self.received.append(_next_of(self.changes).revision)
        return self.received

    def is_done(self, result: Any) -> bool:
        if not hasattr(self, "changes"):
            return False
        self.store["a"] = 3
        rest: list[int] = []
        while len(rest) < 4 and (not rest or rest[-1] < self.store.revision()):
            rest.append(_next_of(self.changes).revision)
        _at_once(self.changes.aclose())
        # The last two, or all since the interrupt; the interrupt itself may lose one.
        assert len(self.received) + len(rest) >= (3 if result == self.received else 2)
        assert rest[-1] == self.store.revision()
        return bool(result == self.received)


def _next_of(changes: kept.Changes[Any]) -> Any:
    return _at_once(changes.__anext__())


def _at_once(coroutine: Any) -> Any:
    """What a coroutine returns that has no need to wait, but lets others have their turn."""
    try:
        while coroutine.send(None) is None:
            pass
    except StopIteration as end:
        return end.value
    finally:
        coroutine.close()
    raise AssertionError("it waits")


# A coroutine may be interrupted before it begins.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")

KINDS = [Listing, MigratingOnce, Exporting, Importing, Observing, Opening, Reporting, Closing, Taking]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """Checks that no call is left running, and that no hook for unraisable exceptions is left installed."""
    # A store of an earlier test may be in a cycle of references, and closed on another thread.
    gc.collect()
    until = time.monotonic() + 60
    while _exit._gate.handles:
        assert time.monotonic() < until
        time.sleep(0.001)
    before = sys.unraisablehook
    yield
    assert sys.unraisablehook is before
    assert not _exit._gate.calls


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupt_at_any_bytecode_reaches_the_caller(kind: type[Attempt], tmp_path: Path) -> None:
    number, done = 0, []
    while True:
        number += 1
        with kept.open("memory:") as store:
            attempt = kind(store, tmp_path)
            was_raised, result = interrupted(attempt.call, number)
            assert isinstance(result, Interrupt) == was_raised, f"at bytecode {number}: {result!r}"
            done.append(attempt.is_done(result))
        if not was_raised:
            break
    assert done[-1] and not all(done) and number > 50


# Not while a report is logged: Python's own logging would be left with its lock taken.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (Opening, Reporting)])
def test_real_signals_reach_the_caller(kind: type[Attempt], tmp_path: Path) -> None:
    with kept.open("memory:") as store:
        # Once without: an import at its first use could be interrupted, too.
        attempt = kind(store, tmp_path)
        assert attempt.is_done(attempt.call())
    with alarms() as interrupted_after:
        for round in range(150):
            with kept.open("memory:") as store:
                attempt = kind(store, tmp_path)
                was_raised, result = interrupted_after(attempt.call, 1e-6 + 4e-6 * round)
                assert isinstance(result, Interrupt) == was_raised
                attempt.is_done(result)


def _many(store: kept.Store) -> None:
    with store.transaction() as transaction:
        transaction.update({f"key.{number:05}": number for number in range(5000)})


@pytest.mark.parametrize("call", [lambda s: list(s), lambda s: len(s), lambda s: list(s.keys("key."))])
def test_an_interrupted_listing_is_complete_or_raises(call: Callable[[kept.Store], Any]) -> None:
    with kept.open("memory:") as store, alarms() as interrupted_after:
        _many(store)
        whole = call(store)
        for round in range(50):
            _, result = interrupted_after(lambda: call(store), 1e-4 * (round + 1))
            assert result == whole or isinstance(result, Interrupt)


def test_a_second_interrupt_while_the_first_is_noted_does_no_harm(settings: kept.Store) -> None:
    """The exception leaves the callback between noting the first one and answering."""
    settings["a"] = 1

    class Twice(Exception):
        def __str__(self) -> str:
            raise Interrupt

    def step(transaction: kept.Transaction) -> None:
        transaction["a"] = 2
        raise Twice

    with pytest.raises(BaseException) as failure:
        settings.migrate([kept.Migration(1, "twice", step)])
    assert isinstance(failure.value, Interrupt)
    assert settings.schema_version == 0 and settings["a"] == 1


def test_an_interrupt_in_an_initial_callback_reaches_the_caller(settings: kept.Store) -> None:
    settings["a"] = 1

    def receive(change: kept.Change[Any]) -> None:
        raise Interrupt

    with pytest.raises(Interrupt):
        settings.observe("a", receive, initial=True)
    assert not _observation._deliveries
    settings["a"] = 2


def test_a_signal_that_waits_for_a_call_that_reports_reaches_the_caller(
    location: Path, settings: kept.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its handler is run as the report begins, since no bytecode is run before."""
    shown: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)
    hook = sys.unraisablehook
    settings.declare(kept.Key("old", int, deprecated=True))
    program = """
import fcntl, sys
with open(sys.argv[1] + "/pulse", "r+b", 0) as pulse:
    # The write lock: the holder with the number 1 has its byte, and is the owner.
    fcntl.lockf(pulse, fcntl.LOCK_EX, 1, (1 << 40) + 2)
    pulse.seek(384)
    pulse.write((1).to_bytes(8, sys.byteorder))
    print(flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", program, str(location)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as other, alarms() as interrupted_after:
        assert other.stdin and other.stdout and other.stdout.readline()
        timer = threading.Timer(0.5, other.stdin.close)
        timer.start()
        was_raised, result = interrupted_after(lambda: settings.__setitem__("old", 1), 0.1)
        timer.join()
    assert was_raised and isinstance(result, Interrupt)
    assert settings["old"] == 1 and not shown and sys.unraisablehook is hook


def test_an_exception_of_a_log_handler_is_shown_once_and_the_call_returns(
    settings: kept.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it sets a deprecated key, too, so that a report comes inside a report."""
    shown: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: shown.append(unraisable.exc_value))
    hook = sys.unraisablehook
    settings.declare(kept.Key("old", int, deprecated=True), kept.Key("older", int, deprecated=True))

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            assert sys.unraisablehook is hook
            settings["older"] = 2
            raise ValueError(record.getMessage())

    handler = Handler()
    log = logging.getLogger("kept")
    log.addHandler(handler)
    try:
        settings["old"] = 1
    finally:
        log.removeHandler(handler)
    assert [type(each) for each in shown] == [ValueError, ValueError]
    assert settings["old"] == 1 and settings["older"] == 2 and sys.unraisablehook is hook and not _reports._hooks
