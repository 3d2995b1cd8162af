"""The orders of memory on which processes and threads rely, tried under the model of ARMv8.

Each program is a case where they would see something wrong, so it must be impossible. An order is `needed` if the
case becomes possible without it while all others stay: the tests check that of each order. Some orders can replace each
other; then none of them is marked. Without any order each case is possible.

What the kernel copies (`pread`, `pwrite`) is plain: no order is expected of a system call, except where a comment says
so.

.venv/bin/python -m pytest Tests/robustness/models
"""

from __future__ import annotations

from dataclasses import replace

import atomics
import pytest
from arm import Order, is_possible
from atomics import ACQUIRE_FENCE, FENCE, acquire, copied, exchange, load, needed, program, store, subtract, written

A, L = Order.ACQUIRE, Order.RELEASE

JOURNAL = {
    "a published frame is not yet written": program(
        writer=[written("journal", 1), needed(exchange("published", 0, 1), L)],
        reader=[needed(load("published", 1)), copied("journal", 0)],
    ),
    "a frame of the writer before is not yet written": program(
        owner=7,
        first=[written("journal", 1), needed(exchange("owner", 7, 0), L)],
        second=[exchange("owner", 0, 8), exchange("published", 0, 1)],
        reader=[needed(load("published", 1)), copied("journal", 0)],
    ),
    "frames are said to be synced, and a later sync does not include them": program(
        syncer=[written("disk", 1), needed(exchange("synced", 0, 1), L)],
        other=[needed(load("synced", 1)), copied("disk", 0)],
    ),
    "a checkpoint is announced, and its name still leads to the one before": program(
        maker=[written("name", 1), needed(exchange("checkpoint", 0, 1), L)],
        reader=[needed(load("checkpoint", 1)), copied("name", 0)],
    ),
}

LOCK = {
    "the holder before has written, and the next one does not see it": program(
        owner=7,
        first=[written("journal", 1), needed(exchange("owner", 7, 0), L)],
        second=[needed(exchange("owner", 0, 8), A), copied("journal", 0)],
    ),
    "the holder before sees what the next one writes": program(
        owner=7,
        first=[copied("journal", 1), needed(exchange("owner", 7, 0), L)],
        second=[needed(exchange("owner", 0, 8), A), written("journal", 1)],
    ),
    "two processes take the lock": program(
        one=[exchange("owner", 0, 7)],
        other=[exchange("owner", 0, 8)],
    ),
    "two processes take the lock of one that has ended": program(
        owner=6,
        one=[load("owner", 6), exchange("owner", 6, 7)],
        other=[load("owner", 6), exchange("owner", 6, 8)],
    ),
    # `byte` is the kernel's lock: that it is unlocked is seen after all that its process has done.
    "a process has ended, and what it has written is not seen": program(
        owner=7,
        ended=[written("journal", 1), needed(store("byte", 1))],
        taker=[load("owner", 7), needed(load("byte", 1)), exchange("owner", 7, 8), copied("journal", 0)],
    ),
    # The same for a lock that is seen.
    "a process has set the pulse up and holds it, and one that joins it does not see the words": program(
        recoverer=[store("published", 1), needed(store("byte", 1))],
        joiner=[needed(load("byte", 1)), load("published", 0)],
    ),
    "a writer waits, and is not woken": program(
        owner=7,
        holder=[needed(exchange("owner", 7, 0), L), needed(load("waiting", 0))],
        waiter=[needed(store("waiting", 1)), needed(load("owner", 7))],
    ),
}

SLEEP = {
    "frames are published, and neither the sleeper sees them nor the writer the sleeper": program(
        sleeper=[needed(store("sleeping", 1)), needed(load("published", 0))],
        writer=[exchange("published", 0, 1), store("echo", 1), needed(load("sleeping", 0))],
    ),
    # A thread that finds `dirty` 0 sleeps without bound.
    "a sleeper was woken because `dirty` is set, and finds it 0": program(
        writer=[store("dirty", 1), exchange("wake", 0, 1)],
        sleeper=[needed(load("wake", 1)), load("dirty", 0)],
    ),
    # The kernel's side of a futex: each has a barrier between its write and its read.
    "a sleeper has found `dirty` 0, and is not woken by what sets it": program(
        writer=[store("dirty", 1), exchange("wake", 0, 1), needed(FENCE), copied("queue", 0)],
        sleeper=[load("wake", 0), load("dirty", 0), exchange("queue", 0, 1), needed(FENCE), copied("wake", 0)],
    ),
    "`dirty` was cleared, and the next writer finds it set": program(
        owner=7,
        dirty=1,
        syncer=[store("dirty", 0), exchange("owner", 7, 0)],
        writer=[exchange("owner", 0, 8), load("dirty", 1)],
    ),
}

INDEX = {
    "a part of a change is seen": program(
        changer=[exchange("sequence", 0, 1), needed(FENCE), written("slot", 1), exchange("sequence", 1, 2)],
        reader=[acquire("sequence", 0), copied("slot", 1), needed(ACQUIRE_FENCE), copied("sequence", 0)],
    ),
    "a part of a change is not seen afterwards": program(
        changer=[exchange("sequence", 0, 1), FENCE, written("slot", 1), needed(exchange("sequence", 1, 2), L)],
        reader=[needed(acquire("sequence", 2)), copied("slot", 0), ACQUIRE_FENCE, copied("sequence", 2)],
    ),
    "a slot is older than the generation for which it is read": program(
        sequence=1,
        changer=[written("slot", 1), exchange("sequence", 1, 2), needed(store("open", 2))],
        reader=[needed(acquire("open", 2)), copied("slot", 0)],
    ),
    "an array of slots is published, and not initialized": program(
        changer=[written("array", 1), needed(store("table", 1))],
        reader=[needed(acquire("table", 1)), copied("array", 0)],
    ),
    "the slots of another store are read, and the handle seems to be open": program(
        closer=[store("handle", 1), store("open", 1), exchange("sequence", 0, 1), FENCE, written("slot", 1)],
        reader=[acquire("handle", 0), copied("slot", 1), needed(ACQUIRE_FENCE), copied("handle", 0)],
    ),
    "a reader passes the gate, and is not counted": program(
        reader=[needed(exchange("stripe", 0, 1), L), needed(load("open", 0))],
        changer=[needed(store("open", 1)), needed(load("stripe", 0))],
    ),
    "a reader has left the gate, and sees the change": program(
        stripe=1,
        reader=[copied("entry", 1), needed(subtract("stripe", 1, 0))],
        changer=[needed(load("stripe", 0)), written("entry", 1)],
    ),
    "a reader has left the gate before another, and sees the change": program(
        stripe=2,
        reader=[copied("entry", 1), needed(subtract("stripe", 2, 1))],
        other=[subtract("stripe", 1, 0)],
        changer=[needed(load("stripe", 0)), written("entry", 1)],
    ),
    "a reader passes the gate after a change, and does not see it": program(
        sequence=1,
        changer=[written("entry", 1), exchange("sequence", 1, 2), needed(store("open", 2))],
        reader=[exchange("stripe", 0, 1), needed(load("open", 2)), copied("entry", 0)],
    ),
    "an object is released while it is pinned": program(
        owner=1,
        reader=[needed(exchange("stripe", 0, 1), L), needed(load("owner", 1))],
        closer=[needed(exchange("owner", 1, 0), L), needed(load("stripe", 0))],
    ),
}

PROGRAMS = JOURNAL | LOCK | SLEEP | INDEX


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_impossible(name: str) -> None:
    assert not is_possible(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_possible_without_any_order(name: str) -> None:
    assert is_possible(atomics.disordered(PROGRAMS[name]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_exactly_the_marked_orders_are_needed(name: str) -> None:
    for missing, is_needed, left in atomics.weakened(PROGRAMS[name]):
        assert is_possible(left) == is_needed, missing


def test_loads_that_only_acquire_would_miss_sleepers() -> None:
    complete = next(iter(SLEEP.values()))
    for name, accesses in complete.threads.items():
        left = [acquire(each.word, 0) if each.write is None else each for each in accesses]
        assert is_possible(replace(complete, threads={**complete.threads, name: left}))
