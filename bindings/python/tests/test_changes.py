"""`async for change in settings.changes(...)`: what it yields, in which order, and how fast."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from pathlib import Path
from typing import Any

import pytest

import kept
from loops import SECONDS, run, subscriptions, until_it_waits

spawn = multiprocessing.get_context("spawn")
VOLUME = kept.Key("audio.volume", int, default=50)


def test_a_key_yields_its_changes(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes(VOLUME)
        settings["other"] = 1
        settings[VOLUME] = 70
        settings[VOLUME] = 70
        del settings[VOLUME]
        first, second = await anext(changes), await anext(changes)
        assert (first.key, first.old, first.new, first.revisions) == ("audio.volume", 50, 70, (2, 2))
        assert (second.old, second.new, second.revision) == (70, 50, 3)
        assert first.origin is kept.Origin.STORE and not first.may_have_missed

    run(scenario())


def test_a_name_yields_json_and_a_prefix_yields_notices(settings: kept.Store) -> None:
    async def scenario() -> None:
        by_name, by_prefix = settings.changes("a.1"), settings.changes(prefix="a.")
        settings.update({"a.1": [1, b"x"], "b": 2, "a.2": 3})
        change, notice = await anext(by_name), await anext(by_prefix)
        assert (change.old, change.new) == (None, [1, b"x"])
        assert notice.revisions == (1, 1)
        assert [(change.key, change.new) for change in notice.changes] == [("a.1", [1, b"x"]), ("a.2", 3)]

    run(scenario())


def test_a_waiting_task_receives_a_change(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes(VOLUME)
        task = asyncio.ensure_future(anext(changes))
        await until_it_waits(changes)
        settings[VOLUME] = 1
        assert (await task).new == 1
        assert changes._waiters == []

    run(scenario())


def test_initial_yields_the_present_value_first(settings: kept.Store) -> None:
    async def scenario() -> None:
        settings.update({"a.1": 1, "b": 2})
        changes, absent = settings.changes("a.1", initial=True), settings.changes(VOLUME, initial=True)
        notices = settings.changes(prefix="", initial=True)
        settings["a.1"] = 3
        first = await anext(changes)
        assert (first.old, first.new, first.origin, first.revisions) == (None, 1, kept.Origin.INITIAL, (1, 1))
        second = await anext(changes)
        assert (second.old, second.new, second.origin) == (1, 3, kept.Origin.STORE)
        assert (await anext(absent)).new == 50
        assert [change.key for change in (await anext(notices)).changes] == ["a.1", "b"]
        assert [change.key for change in (await anext(notices)).changes] == ["a.1"]

    run(scenario())


def test_it_can_be_made_without_a_loop_and_misses_nothing(settings: kept.Store) -> None:
    changes = settings.changes(VOLUME)
    settings[VOLUME] = 1
    assert run(changes.__anext__()).new == 1
    settings[VOLUME] = 2
    # Another loop goes on where the first has ended.
    assert run(changes.__anext__()).new == 2


def test_a_change_to_another_type_is_delivered_and_its_value_raises(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes(VOLUME)
        settings["audio.volume"] = "loud"
        settings["audio.volume"] = 10
        change = await anext(changes)
        assert change.old == 50
        with pytest.raises(kept.WrongTypeError):
            change.new
        assert (await anext(changes)).new == 10

    run(scenario())


def write(location: Path, tag: str | None, count: int) -> None:
    with kept.open(location, tag=tag) as settings:
        for number in range(count):
            settings["n"] = number


def test_a_change_of_another_process_has_its_tag(location: Path, settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("n")
        writer = spawn.Process(target=write, args=(location, "a writer", 1))
        writer.start()
        change = await anext(changes)
        assert (change.new, change.origin, change.tag) == (0, kept.Origin.OTHER, "a writer")
        await asyncio.to_thread(writer.join, SECONDS)

    run(scenario())


def test_a_slow_task_finds_the_commits_of_another_process_merged(location: Path, settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("n", initial=True)
        writer = spawn.Process(target=write, args=(location, None, 500))
        writer.start()
        await asyncio.to_thread(writer.join, SECONDS)
        assert (await anext(changes)).origin is kept.Origin.INITIAL
        received = [await anext(changes)]
        while received[-1].new != 499:
            received.append(await anext(changes))
        # No change was taken while the process ran: only changes found after its end may be a separate notice.
        assert len(received) <= 2 and received[0].old is None
        assert received[0].revisions[0] == 1 and received[-1].revisions[1] == 500

    run(scenario())


def test_a_slow_task_takes_no_more_memory_than_the_library_s_limit(location: Path) -> None:
    async def scenario() -> None:
        limit, commits = 4096, 5000
        with kept.open(location, tag="this") as settings, kept.open(location, tag="that") as other:
            changes = settings.changes("n")
            for number in range(commits):
                (settings, other)[number % 2]["n"] = number
            assert not changes._taken
            received = [await anext(changes)]
            while received[-1].new != commits - 1:
                received.append(await anext(changes))
            assert len(received) <= limit
            assert [change.old for change in received[1:]] == [change.new for change in received[:-1]]
            assert received[0].revisions[0] == 1 and received[-1].revisions[1] == commits
            merged = [change for change in received if change.revisions[0] < change.revisions[1]]
            assert {(change.origin, change.tag) for change in merged} == {(kept.Origin.SEVERAL, None)}

    run(scenario())


def test_other_tasks_run_while_changes_pour_in(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes, turns = settings.changes("n"), 0
        for number in range(100):
            settings["n"] = number

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        for number in range(100):
            assert (await anext(changes)).new == number
        assert turns >= 100
        task.cancel()

    run(scenario())


def test_a_hundred_subscriptions_at_once(settings: kept.Store) -> None:
    async def scenario() -> None:
        subscriptions = [settings.changes(VOLUME) if number % 2 else settings.changes("n") for number in range(100)]

        async def sum_of(changes: kept.Changes[Any]) -> int:
            return sum([(await anext(changes)).new for _ in range(20)])

        tasks = [asyncio.create_task(sum_of(changes)) for changes in subscriptions]
        for changes in subscriptions:
            await until_it_waits(changes)

        def write() -> None:
            for number in range(1, 21):
                settings.update({"audio.volume": number, "n": number})

        await asyncio.to_thread(write)
        assert await asyncio.gather(*tasks) == [sum(range(1, 21))] * 100

    run(scenario())


def test_each_change_goes_to_one_of_the_tasks_that_share_a_subscription(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("n")
        tasks = [asyncio.ensure_future(anext(changes)) for _ in range(10)]
        await until_it_waits(changes, 10)
        for number in range(10):
            settings["n"] = str(number)
        assert {(await task).new for task in tasks} == set("0123456789")

    run(scenario())


def test_another_loop_is_refused_while_one_waits(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("n")
        task = asyncio.ensure_future(anext(changes))
        await until_it_waits(changes)
        with pytest.raises(RuntimeError, match="another event loop is waiting"):
            await asyncio.to_thread(asyncio.run, changes.__anext__())
        settings["n"] = 1
        assert (await task).new == 1

    run(scenario())


def test_loops_in_two_threads_receive_changes_independently(settings: kept.Store) -> None:
    received: list[list[Any]] = [[], []]
    ready = threading.Barrier(3)

    def listen(number: int) -> None:
        async def scenario() -> None:
            async with settings.changes("n") as changes:
                ready.wait(SECONDS)
                async for change in changes:
                    received[number].append(change.new)
                    if change.new == 999:
                        break

        run(scenario())

    threads = [threading.Thread(target=listen, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    ready.wait(SECONDS)
    for number in range(1000):
        settings["n"] = number
    for thread in threads:
        thread.join(SECONDS)
    assert received == [list(range(1000))] * 2


def test_a_memory_store_can_be_observed() -> None:
    async def scenario() -> None:
        with kept.open("memory:") as settings:
            changes = settings.changes(VOLUME)
            task = asyncio.ensure_future(anext(changes))
            await until_it_waits(changes)
            settings[VOLUME] = 5
            assert (await task).new == 5

    run(scenario())


@pytest.mark.parametrize(
    "subject",
    [{}, {"key": "a", "prefix": "a"}, {"key": ""}, {"key": "a\0"}, {"key": 5}, {"prefix": "a\0"}, {"prefix": 5}],
)
def test_an_invalid_key_or_prefix_is_refused(settings: kept.Store, subject: dict[str, Any]) -> None:
    before = subscriptions()
    with pytest.raises(kept.InvalidError):
        settings.changes(**subject)
    assert subscriptions() == before


def test_a_closed_store_has_no_changes(settings: kept.Store) -> None:
    settings.close()
    before = subscriptions()
    with pytest.raises(kept.ClosedError):
        settings.changes("a")
    assert subscriptions() == before


def test_flushing_does_not_block_the_loop(settings: kept.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        settings["a"] = 1
        await settings.aflush()
        begun, may_end = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def slow(store: kept.Store) -> None:
            loop.call_soon_threadsafe(begun.set)
            assert may_end.wait(SECONDS)

        monkeypatch.setattr(kept.Store, "flush", slow)
        task = asyncio.create_task(settings.aflush())
        await begun.wait()
        may_end.set()
        await task
        monkeypatch.undo()
        settings.close()
        with pytest.raises(kept.ClosedError):
            await settings.aflush()

    run(scenario())
