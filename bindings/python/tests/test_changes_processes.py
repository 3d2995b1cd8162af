"""`async for` over changes across processes: in children of a fork and of a spawn, and when Python ends."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import signal
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import kept
from loops import SECONDS, run, until_it_waits
from test_exit import run as run_program

fork = multiprocessing.get_context("fork")
spawn = multiprocessing.get_context("spawn")
# Python 3.12 warns of forks in a program with threads; here they are the subject of the test.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")

inherited: kept.Store


async def echo(settings: kept.Store, last: int) -> None:
    """Answers each question with the same number."""
    async with settings.changes(kept.Key("question", int), initial=True) as changes:
        async for change in changes:
            settings["answer"] = change.new
            if change.new == last:
                break


def echo_from(location: Path, last: int) -> None:
    with kept.open(location, tag="echo") as settings:
        run(echo(settings, last))


def echo_inherited(last: int) -> None:
    run(echo(inherited, last))


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_two_loops_in_two_processes_talk(location: Path, settings: kept.Store, start: str) -> None:
    async def scenario() -> None:
        rounds = 200
        answers = settings.changes("answer")
        settings["question"] = 0
        other = (
            spawn.Process(target=echo_from, args=(location, rounds))
            if start == "spawn"
            else fork.Process(target=echo_inherited, args=(rounds,))
        )
        other.start()
        for number in range(rounds + 1):
            settings["question"] = number
            # The first question may be asked before another process can read it.
            while (change := await anext(answers)).new != number:
                pass
            assert change.origin is kept.Origin.OTHER
        await asyncio.to_thread(other.join, SECONDS)
        assert other.exitcode == 0

    global inherited
    inherited = settings
    run(scenario())


def test_inherited_changes_belong_to_the_parent(settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("a", initial=True)
        assert (await anext(changes)).new is None
        task = asyncio.ensure_future(anext(changes))
        await until_it_waits(changes)

        def child() -> None:
            with pytest.raises(kept.ForkedError):
                asyncio.run(changes.__anext__())
            settings["a"] = "child"

        process = fork.Process(target=child)
        process.start()
        await asyncio.to_thread(process.join, SECONDS)
        assert process.exitcode == 0
        change = await task
        assert (change.new, change.origin) == ("child", kept.Origin.OTHER)

    run(scenario())


def test_a_child_that_collects_the_parent_s_tasks_leaves_them_alone(settings: kept.Store) -> None:
    with closing(asyncio.new_event_loop()) as loop:
        changes = settings.changes("a")
        task = loop.create_task(changes.__anext__())
        loop.run_until_complete(until_it_waits(changes))

        def child() -> None:
            nonlocal changes, task
            task.get_coro().close()
            loop.set_exception_handler(lambda _, context: None)
            del task, changes
            gc.collect()
            settings["a"] = 1

        process = fork.Process(target=child)
        process.start()
        process.join(SECONDS)
        assert process.exitcode == 0
        assert loop.run_until_complete(asyncio.wait_for(task, SECONDS)).new == 1


def test_forks_while_a_loop_receives_changes_lose_nothing(settings: kept.Store) -> None:
    count = 2000
    received: list[Any] = []
    ready = threading.Event()

    def listen() -> None:
        async def scenario() -> None:
            async with settings.changes("n") as changes:
                ready.set()
                async for change in changes:
                    received.append(change.new)
                    if change.new == count:
                        break

        run(scenario())

    listener = threading.Thread(target=listen)
    listener.start()
    assert ready.wait(SECONDS)
    children = []
    for number in range(1, count + 1):
        settings["n"] = number
        if number % 100 == 0:
            children.append(fork.Process(target=settings.__setitem__, args=(f"child.{number}", number)))
            children[-1].start()
    listener.join(SECONDS)
    for child in children:
        child.join(SECONDS)
        assert child.exitcode == 0
    assert received == list(range(1, count + 1))
    assert len(settings.keys("child.")) == len(children)


def wait(location: Path, connection: Any) -> None:
    async def scenario() -> None:
        changes = settings.changes("n")
        task = asyncio.ensure_future(anext(changes))
        await until_it_waits(changes)
        connection.send("waits")
        connection.send((await task).new)

    with kept.open(location) as settings:
        run(scenario())


def test_kill_9_of_a_waiting_process_does_not_affect_others(location: Path, settings: kept.Store) -> None:
    async def scenario() -> None:
        changes = settings.changes("n")
        pipes = [spawn.Pipe() for _ in range(3)]
        waiting = [spawn.Process(target=wait, args=(location, there)) for _, there in pipes]
        for process in waiting:
            process.start()
        assert [here.recv() for here, _ in pipes] == ["waits"] * 3
        os.kill(waiting[1].pid or 0, signal.SIGKILL)
        waiting[1].join(SECONDS)
        settings["n"] = 1
        assert [pipes[0][0].recv(), pipes[2][0].recv(), (await anext(changes)).new] == [1, 1, 1]
        for process in waiting:
            process.join(SECONDS)
        assert [process.exitcode for process in waiting] == [0, -signal.SIGKILL, 0]

    run(scenario())


# --- the end of Python

# What these programs begin with: in Python's development mode asyncio complains of steps that a busy machine delays.
PATIENT = """
import asyncio
asyncio.base_events.logger.addFilter(lambda record: not record.getMessage().startswith("Executing "))
"""


def test_a_loop_in_a_daemon_thread_ends_with_its_store(location: Path) -> None:
    printed = run_program(
        """
        waits, ended = threading.Event(), threading.Event()

        async def listen():
            async for change in settings.changes("a", initial=True):
                waits.set()
            print("the changes have ended", flush=True)
            ended.set()

        threading.Thread(target=asyncio.run, args=(listen(),), daemon=True).start()
        waits.wait(60)
        """,
        location,
        # Registered first, so called last: when Kept has closed the store.
        before=PATIENT + "atexit.register(lambda: ended.wait(60))",
    )
    assert printed == "the changes have ended\n"


def test_python_ends_while_loops_receive_changes(location: Path) -> None:
    printed = run_program(
        """
        begun = threading.Barrier(5)

        async def listen():
            async with settings.changes(prefix="", initial=True) as changes:
                begun.wait(60)
                async for notice in changes:
                    pass

        def write():
            begun.wait(60)
            try:
                while True:
                    settings["a"] = os.urandom(8)
            except kept.ClosedError:
                pass

        for number in range(3):
            threading.Thread(target=asyncio.run, args=(listen(),), daemon=True).start()
        threading.Thread(target=write, daemon=True).start()
        begun.wait(60)
        for index in range(50):
            settings["main"] = index
        print("ended")
        """,
        location,
        before=PATIENT,
    )
    assert printed == "ended\n"


def test_changes_that_outlive_the_stores_do_no_harm(location: Path) -> None:
    run_program(
        """
        sys.changes = settings.changes("a", initial=True)
        assert asyncio.run(sys.changes.__anext__()).origin is kept.Origin.INITIAL
        """,
        location,
        before=PATIENT,
    )


def test_importing_kept_does_not_import_asyncio(location: Path) -> None:
    run_program('assert "asyncio" not in sys.modules', location)
