"""How `async for` over changes ends, and what a task that is cancelled has not taken."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import random
import resource
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import kept
from kept import _changes
from kept._c import observation
from loops import SECONDS, collect, run, subscriptions, until_it_waits


def descriptors() -> int:
    """How many descriptors this process has of those that wake event loops."""
    links = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            links.append(os.readlink(f"/proc/self/fd/{number}"))
    return links.count("anon_inode:[eventfd]")


@contextmanager
def nothing_left_over() -> Iterator[None]:
    """Asserts that subscriptions and descriptors are as many after the block as before it."""
    gc.collect()
    before = subscriptions(), descriptors()
    yield
    gc.collect()
    assert (subscriptions(), descriptors()) == before


@contextmanager
def few_descriptors(spare: int) -> Iterator[None]:
    """Lets this process open so many files, and no more."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 10, limits[1]))
    opened: list[int] = []
    try:
        with suppress(OSError):
            while True:
                opened.append(os.open("/dev/null", os.O_RDONLY))
        for _ in range(spare):
            os.close(opened.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for number in opened:
            os.close(number)


# --- the end


def test_closing_the_store_ends_all_iterations_waiting_or_not(location: Path) -> None:
    async def scenario() -> None:
        settings = kept.open(location)
        waiting = [settings.changes("a"), settings.changes(prefix="")]
        idle = settings.changes("a")
        tasks = [asyncio.create_task(collect(changes)) for changes in waiting]
        for changes in waiting:
            await until_it_waits(changes)
        settings.close()
        assert await asyncio.gather(*tasks) == [[], []]
        for changes in [*waiting, idle, idle]:
            with pytest.raises(StopAsyncIteration):
                await anext(changes)

    with nothing_left_over():
        run(scenario())


def test_another_thread_may_close_the_store_while_many_wait(location: Path) -> None:
    async def scenario() -> None:
        for _ in range(50):
            settings = kept.open(location)
            tasks = [asyncio.create_task(collect(settings.changes("a"))) for _ in range(5)]
            closing = asyncio.get_running_loop().run_in_executor(None, settings.close)
            settings_are_gone = await asyncio.gather(*tasks, closing, return_exceptions=True)
            # A late subscriber gets ClosedError.
            assert all(isinstance(end, (list, kept.ClosedError, type(None))) for end in settings_are_gone)

    run(scenario())


class Closing:
    """A callback that closes its store."""

    def __init__(self, settings: kept.Store) -> None:
        self.settings, self.released = settings, threading.Event()
        weakref.finalize(self, self.released.set)

    def __call__(self, change: object) -> None:
        self.settings.close()


def test_a_callback_may_close_the_store_that_a_task_waits_for(location: Path) -> None:
    async def scenario() -> threading.Event:
        settings = kept.open(location)
        changes = settings.changes("b")
        task = asyncio.create_task(collect(changes))
        await until_it_waits(changes)
        closing = Closing(settings)
        settings.observe("a", closing)
        settings["a"] = 1
        assert await task == []
        return closing.released

    with nothing_left_over():
        # The callback's own release comes when it has returned, on the library's thread.
        assert run(scenario()).wait(SECONDS)


def test_aclose_ends_waiting_tasks(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("a", initial=True)
        assert (await anext(changes)).origin is kept.Origin.INITIAL
        tasks = [asyncio.create_task(collect(changes)) for _ in range(3)]
        await until_it_waits(changes, 3)
        await changes.aclose()
        await changes.aclose()
        assert await asyncio.gather(*tasks) == [[], [], []]
        settings["a"] = 1
        with pytest.raises(StopAsyncIteration):
            await anext(changes)

    with nothing_left_over():
        run(scenario())


def test_aclose_drops_changes_that_were_not_taken(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("a", initial=True)
        settings["a"] = 1
        await changes.aclose()
        assert await collect(changes) == []

    run(scenario())


def test_the_end_of_an_async_with_block_ends_it(settings: kept.Store) -> None:
    async def scenario() -> None:
        before = subscriptions()
        with pytest.raises(ZeroDivisionError):
            async with settings.changes("a") as changes:
                settings["a"] = 1
                async for _ in changes:
                    assert subscriptions() == before + 1
                    1 / 0
        assert subscriptions() == before
        assert await collect(changes) == []

    run(scenario())


def test_leaving_the_loop_drops_it_with_its_pending_changes(settings: kept.Store) -> None:
    async def scenario() -> None:
        for number in range(20):
            async for _ in settings.changes("a", initial=True):
                settings["a"] = number
                break

    with nothing_left_over():
        run(scenario())


def test_dropping_it_from_a_cycle_ends_it(settings: kept.Store) -> None:
    class Player:
        def __init__(self) -> None:
            self.changes, self.itself = settings.changes("a"), self

    with nothing_left_over():
        for _ in range(20):
            Player()


def test_it_keeps_its_store_open_and_dropping_it_closes_the_store(location: Path) -> None:
    async def scenario() -> None:
        changes = kept.open(location).changes("a")
        gc.collect()
        with kept.open(location) as other:
            other["a"] = 1
            assert (await anext(changes)).origin is kept.Origin.PROCESS

    with nothing_left_over():
        run(scenario())


def test_a_loop_that_ends_while_a_task_waits_leaks_nothing(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("a")
        asyncio.create_task(collect(changes))
        await until_it_waits(changes)

    with nothing_left_over():
        run(scenario())


def test_a_loop_that_is_closed_over_a_waiting_task_leaks_nothing(settings: kept.Store) -> None:
    def scenario() -> None:
        loop, messages = asyncio.new_event_loop(), []
        loop.set_exception_handler(lambda _, context: messages.append(context["message"]))
        changes = settings.changes("a")
        task = loop.create_task(collect(changes))
        loop.run_until_complete(until_it_waits(changes))
        loop.close()
        del task, changes
        gc.collect()
        assert messages == ["Task was destroyed but it is pending!"]

    with nothing_left_over():
        scenario()


def test_without_a_free_descriptor_it_raises_and_leaks_nothing(settings: kept.Store) -> None:
    settings["a"] = 1
    settings.observe("b", print).cancel()
    with nothing_left_over():
        for spare in (0, 1):
            with few_descriptors(spare), pytest.raises(kept.FailedError):
                settings.changes("a")


@pytest.mark.parametrize("ends_before", [False, True])
def test_every_notice_is_freed_once(settings: kept.Store, monkeypatch: pytest.MonkeyPatch, ends_before: bool) -> None:
    taken: list[int | None] = []
    freed: list[int | None] = []
    take, free = observation.kept_subscription_take, observation.kept_notice_free

    def take_and_note(subscription: Any, notice: Any, error: Any) -> Any:
        result = take(subscription, notice, error)
        if address := ctypes.cast(notice, ctypes.POINTER(ctypes.c_void_p))[0]:
            taken.append(address)
            if ends_before:
                raise KeyboardInterrupt  # after C has handed it over
        return result

    def free_and_note(notice: Any) -> None:
        if address := ctypes.cast(notice, ctypes.c_void_p).value:
            freed.append(address)
        free(notice)

    monkeypatch.setattr(observation, "kept_subscription_take", take_and_note)
    monkeypatch.setattr(observation, "kept_notice_free", free_and_note)

    async def scenario() -> None:
        changes = settings.changes(prefix="")
        for number in range(3):
            settings["a"] = number
            if ends_before:
                break
            await anext(changes)
        if ends_before:
            with pytest.raises(KeyboardInterrupt):
                changes._take()
        await changes.aclose()

    run(scenario())
    assert taken and freed == taken


# --- being cancelled


def test_a_task_that_is_cancelled_has_taken_nothing(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("a")
        task = asyncio.ensure_future(anext(changes))
        await until_it_waits(changes)
        settings["a"] = 1
        # It is due to be woken, and cancelled before it runs.
        task.cancel()
        assert (await anext(changes)).new == 1
        assert task.cancelled()

    run(scenario())


def test_an_interrupt_is_raised_where_the_change_is_awaited(
    settings: kept.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    async def scenario() -> None:
        changes = settings.changes("a")
        with monkeypatch.context() as patch:
            patch.setattr(_changes, "subjects", interrupted)
            settings["a"] = 1
            try:
                await anext(changes)
            except KeyboardInterrupt:
                settings["a"] = 2
            else:
                raise AssertionError("the interrupt was lost")
        assert [(await anext(changes)).new for _ in range(2)] == [1, 2]

    run(scenario())


@contextmanager
def writing(settings: kept.Store, count: int) -> Iterator[None]:
    """A thread that sets "n" to 1, 2, … count."""

    def write() -> None:
        for number in range(1, count + 1):
            settings["n"] = number

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        thread.join(SECONDS)


def test_cancelling_at_any_time_loses_nothing(settings: kept.Store) -> None:
    seed, count = random.randrange(2**32), 3000
    print("seed", seed)
    chance = random.Random(seed)

    async def scenario() -> tuple[list[Any], int]:
        changes, cancelled = settings.changes("n"), 0
        received: list[Any] = []
        with writing(settings, count):
            while not received or received[-1] != count:
                task = asyncio.ensure_future(anext(changes))
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
                task.cancel()
                try:
                    received.append((await task).new)
                except asyncio.CancelledError:
                    cancelled += 1
        return received, cancelled

    received, cancelled = run(scenario())
    assert received == list(range(1, count + 1))
    assert cancelled > 100


def test_a_time_out_at_any_time_loses_nothing(settings: kept.Store) -> None:
    seed, count = random.randrange(2**32), 3000
    print("seed", seed)
    chance = random.Random(seed)

    async def scenario() -> list[Any]:
        changes = settings.changes("n")
        received: list[Any] = []
        with writing(settings, count):
            while not received or received[-1] != count:
                try:
                    received.append((await asyncio.wait_for(anext(changes), chance.random() * 1e-4)).new)
                except TimeoutError:
                    pass
        return received

    assert run(scenario()) == list(range(1, count + 1))


def test_ending_at_any_time_while_changes_pour_in(settings: kept.Store) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)

    async def scenario() -> None:
        for _ in range(1000):
            changes = settings.changes(kept.Key("n", int), initial=chance.random() < 0.5)
            task = asyncio.create_task(collect(changes))
            for _ in range(chance.randrange(5)):
                await asyncio.sleep(0)
            if chance.random() < 0.5:
                await changes.aclose()
                numbers = [change.new or 0 for change in await task]
                assert numbers == sorted(numbers)
            else:
                task.cancel()
                await asyncio.wait([task])

    settings["n"] = 0
    with nothing_left_over(), writing(settings, 10_000):
        run(scenario())
