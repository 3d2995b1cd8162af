"""Every notice is a union of whole consecutive transactions, in order, and the last one ends in the final state.

Writers in several processes, and one in this one, commit transactions that are known afterwards by their revisions.
Observers receive them at the same time: callbacks and tasks, here and in other processes, of a key, a prefix and
everything.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import kept
from loops import SECONDS, run

spawn = multiprocessing.get_context("spawn")

KEYS = [f"{group}.{number}" for group in "ab" for number in range(4)]
Edits = dict[str, Any]
"""What a transaction does: a key's new value, or None where it is removed."""


class Scope(NamedTuple):
    """What an observer listens to."""

    text: str
    is_prefix: bool

    def contains(self, key: str) -> bool:
        return key.startswith(self.text) if self.is_prefix else key == self.text


class Received(NamedTuple):
    """A notice, or the change of a key, as it is compared."""

    first: int
    last: int
    origin: kept.Origin
    tag: str | None
    changes: dict[str, tuple[Any, Any]]


SCOPES = [Scope("", True), Scope("a.", True), Scope("b.1", False)]


def as_received(subject: kept.Notice | kept.Change[Any]) -> Received:
    changes = subject.changes if isinstance(subject, kept.Notice) else (subject,)
    assert not subject.may_have_missed
    values = {change.key: (change.old, change.new) for change in changes}
    return Received(*subject.revisions, subject.origin, subject.tag, values)


def is_last(notice: Received) -> bool:
    return any(new == "the end" for _, new in notice.changes.values())


# --- who writes


def commit(settings: kept.Store, edits: Edits, tag: str | None) -> int:
    """Nothing is read, so there is no conflict."""
    transaction = settings.transaction(tag=tag)
    for key, value in edits.items():
        if value is not None:
            transaction[key] = value
        else:
            transaction[key] = 0
            del transaction[key]
    return transaction.commit()


def write(settings: kept.Store, name: str, seed: int, count: int) -> dict[int, tuple[str, Edits]]:
    """Commits so many transactions; what each revision is."""
    chance = random.Random(seed)
    written = {}
    for number in range(count):
        keys = chance.sample(KEYS, chance.randint(1, 4))
        edits: Edits = {key: None if chance.random() < 0.2 else f"{name} {number}" for key in keys}
        edits[f"writer.{name}"] = number  # so that each changes something
        written[commit(settings, edits, name)] = (name, edits)
    return written


def writer(location: Path, name: str, seed: int, count: int, connection: Any) -> None:
    with kept.open(location) as settings:
        connection.recv()
        connection.send(write(settings, name, seed, count))


# --- who listens


async def listen(settings: kept.Store, ready: Callable[[], Any]) -> list[list[Received]]:
    """One task for each scope, until the end."""

    async def receive(changes: kept.Changes[Any]) -> list[Received]:
        received: list[Received] = []
        async for subject in changes:
            received.append(as_received(subject))
            if is_last(received[-1]):
                break
        return received

    subjects: Iterable[kept.Changes[Any]] = [
        settings.changes(prefix=scope.text) if scope.is_prefix else settings.changes(scope.text) for scope in SCOPES
    ]
    ready()
    return await asyncio.gather(*map(receive, subjects))


def listener(location: Path, connection: Any) -> None:
    with kept.open(location) as settings:
        connection.send(run(listen(settings, lambda: connection.send("ready"))))


class Callbacks:
    """One callback for each scope."""

    def __init__(self, settings: kept.Store) -> None:
        self.received: list[list[Received]] = [[] for _ in SCOPES]
        self.ended = [threading.Event() for _ in SCOPES]
        for number, scope in enumerate(SCOPES):
            if scope.is_prefix:
                settings.observe(prefix=scope.text, callback=self.into(number))
            else:
                settings.observe(scope.text, self.into(number))

    def into(self, number: int) -> Callable[[Any], None]:
        def receive(subject: Any) -> None:
            self.received[number].append(as_received(subject))
            if is_last(self.received[number][-1]):
                self.ended[number].set()

        return receive

    def all(self) -> list[list[Received]]:
        assert all(ended.wait(SECONDS) for ended in self.ended)
        return self.received


# --- what must have been received


def differences(before: Edits, after: Edits) -> dict[str, tuple[Any, Any]]:
    keys = before.keys() | after.keys()
    return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}


def check(received: list[Received], scope: Scope, written: dict[int, tuple[str, Edits]], here: str) -> None:
    """Follows the transactions from notice to notice."""
    state: Edits = {}
    revision = 0

    def advance(to: int) -> set[str]:
        """Brings `state` to a revision; who changed something in the scope."""
        nonlocal revision, state
        authors = set()
        for revision in range(revision + 1, to + 1):  # noqa: B020
            author, edits = written[revision]
            after = state | {key: value for key, value in edits.items() if scope.contains(key)}
            after = {key: value for key, value in after.items() if value is not None}
            authors |= {author} if after != state else set()
            state = after
        return authors

    for notice in received:
        assert revision < notice.first <= notice.last
        before = state
        advance(notice.first - 1)
        assert state == before, f"nothing was delivered of a change before revision {notice.first}"
        authors = advance(notice.last)
        assert notice.changes == differences(before, state), f"revisions {notice.first} to {notice.last}"
        if notice.first == notice.last:
            assert {notice.tag} == authors
        if here in authors:
            assert authors == {here} and notice.first == notice.last, "one of this process is a notice of its own"
        assert (notice.origin is kept.Origin.OTHER) == (here not in authors)
    assert revision == max(written)
    assert all(value == "the end" for value in state.values())


@pytest.mark.parametrize("count", [1000])
def test_order_and_completeness(location: Path, settings: kept.Store, count: int) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    pipes = [spawn.Pipe() for _ in range(5)]
    names = ["one", "two", "three"]
    writers = [
        spawn.Process(target=writer, args=(location, name, seed + number, count, pipes[number][1]))
        for number, name in enumerate(names)
    ]
    listeners = [spawn.Process(target=listener, args=(location, pipe[1])) for pipe in pipes[3:]]
    for process in writers + listeners:
        process.start()
    assert [pipe[0].recv() for pipe in pipes[3:]] == ["ready", "ready"]
    callbacks = Callbacks(settings)
    tasks_received: list[list[Received]] = []
    ready = threading.Event()
    loop = threading.Thread(target=lambda: tasks_received.extend(run(listen(settings, ready.set))))
    loop.start()
    assert ready.wait(SECONDS)

    for pipe in pipes[:3]:
        pipe[0].send("go")
    written = write(settings, "here", seed, count)
    for pipe in pipes[:3]:
        written |= pipe[0].recv()
    assert sorted(written) == list(range(1, 4 * count + 1))
    end: Edits = {key: "the end" for key in settings}
    end |= {key: "the end" for key in KEYS}
    written[commit(settings, end, "here")] = ("here", end)

    others = [pipe[0].recv() for pipe in pipes[3:]]
    loop.join(SECONDS)
    for process in writers + listeners:
        process.join(SECONDS)
        assert process.exitcode == 0
    for group, here in [(callbacks.all(), "here"), (tasks_received, "here"), (others[0], "-"), (others[1], "-")]:
        assert len(group) == len(SCOPES)
        for received, scope in zip(group, SCOPES):
            check(received, scope, written, here)
            print(
                here,
                scope,
                "notices:",
                len(received),
                "merged:",
                sum(notice.first < notice.last for notice in received),
            )
