"""Forks: parent and child go on with the stores that were open, whatever other threads were doing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import kept

fork = multiprocessing.get_context("fork")
SECONDS = 60
# Python 3.12 warns of forks in a program with threads; here they are the subject of the test.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")

inherited: kept.Store
PARENT = kept.Key("parent", int)


def write(number: int) -> int:
    inherited[f"pool.{number}"] = number
    inherited.update_value("count", lambda count: count + 1, default=0)
    return inherited[PARENT] + inherited[kept.Key(f"pool.{number}", int)]


def in_child(work: Callable[[], object]) -> None:
    """Runs `work` in a child, which ends as Python programs end."""
    child = fork.Process(target=work)
    child.start()
    child.join(SECONDS)
    assert child.exitcode == 0


@contextmanager
def writing(settings: kept.Store, threads: int = 3) -> Iterator[None]:
    """Threads that write all the time."""
    stop = threading.Event()

    def work(name: str) -> None:
        number = 0
        while not stop.is_set():
            settings[name] = number
            assert settings[name] == number
            number += 1

    running = [threading.Thread(target=work, args=(f"thread.{number}",)) for number in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in running:
            thread.join(SECONDS)
            assert not thread.is_alive()


def test_a_pool_uses_a_store_that_it_inherited(settings: kept.Store) -> None:
    global inherited
    inherited = settings
    settings["parent"] = 1000
    with fork.Pool(4) as pool:
        assert pool.map(write, range(100)) == [1000 + number for number in range(100)]
    assert settings["count"] == 100
    assert len(settings.keys("pool.")) == 100


def test_pools_are_made_while_threads_write_and_observe(settings: kept.Store) -> None:
    global inherited
    inherited = settings
    settings["parent"] = 1000
    with settings.observe(prefix="", callback=lambda notice: notice.changes), writing(settings):
        for _ in range(10):
            with fork.Pool(2) as pool:
                assert pool.map(write, range(10)) == [1000 + number for number in range(10)]
    assert settings["count"] == 100


def test_a_child_that_closes_or_ends_leaves_the_parent_s_store_alone(settings: kept.Store) -> None:
    settings["a"] = 1
    in_child(settings.close)
    settings["b"] = 2
    in_child(lambda: None)
    settings["c"] = 3
    assert dict(settings) == {"a": 1, "b": 2, "c": 3}


def test_a_transaction_belongs_to_the_parent(settings: kept.Store) -> None:
    transaction = settings.transaction()
    transaction["a"] = 1

    def commit() -> None:
        with pytest.raises(kept.ForkedError):
            transaction.commit()

    in_child(commit)
    transaction.commit()
    assert settings["a"] == 1


def test_a_subscription_belongs_to_the_parent(settings: kept.Store) -> None:
    received: list[str] = []
    came = threading.Event()

    def receive(notice: kept.Notice) -> None:
        received.extend(change.key for change in notice.changes)
        if received[-1] == "parent":
            came.set()

    subscription = settings.observe(prefix="", callback=receive)

    def change() -> None:
        settings["child"] = 1
        subscription.cancel()
        again = threading.Event()
        settings.observe("here", lambda change: again.set())
        settings["here"] = 1
        assert again.wait(SECONDS)
        assert received == [], "the child's subscription is the parent's, which is notified of the child"

    in_child(change)
    settings["parent"] = 1
    assert came.wait(SECONDS)
    assert received == ["child", "here", "parent"]


def test_a_program_that_forks_ends_in_both(location: Path) -> None:
    program = """
import kept, os, sys
settings = kept.open(sys.argv[1])
settings.observe(prefix="", callback=print)
child = os.fork()
settings["child" if child == 0 else "parent"] = os.getpid()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program, location], timeout=SECONDS)
    assert ended.returncode == 0
    with kept.open(location) as settings:
        assert set(settings) == {"child", "parent"}


def test_a_child_does_not_wait_for_an_import_in_a_thread_of_its_parent() -> None:
    program = """
import kept, os, sys, threading, time
from importlib.machinery import PathFinder
settings = kept.open("memory:")
class Slow:
    def find_spec(self, name, path, target=None):
        if name != "kept._snapshot":
            return None
        spec = PathFinder.find_spec(name, path, target)
        run = spec.loader.exec_module
        def run_slowly(module):
            reached.set()
            time.sleep(0.2)
            run(module)
        spec.loader.exec_module = run_slowly
        return spec
reached = threading.Event()
sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=lambda: settings.snapshot().close())
thread.start()
assert reached.wait(60)
child = os.fork()
settings.snapshot().close()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    ended = subprocess.Popen([sys.executable, "-W", "ignore", "-c", program], process_group=0, stderr=subprocess.PIPE)
    try:
        assert ended.communicate(timeout=SECONDS)[1] == b"" and ended.returncode == 0
    except subprocess.TimeoutExpired:
        os.killpg(ended.pid, signal.SIGKILL)
        raise


def test_programs_are_started_while_threads_write(location: Path, settings: kept.Store) -> None:
    program = "import kept, sys; kept.open(sys.argv[1])[sys.argv[2]] = 1"
    arguments = [sys.executable, "-c", program, str(location)]
    with writing(settings):
        assert subprocess.run([*arguments, "subprocess"], timeout=SECONDS).returncode == 0
        # A function to be called before exec makes it a real fork.
        assert subprocess.run([*arguments, "fork"], timeout=SECONDS, preexec_fn=int).returncode == 0
        child = os.posix_spawn(sys.executable, [*arguments, "spawn"], os.environ)
        assert os.waitpid(child, 0)[1] == 0
    assert settings["subprocess"] == settings["fork"] == settings["spawn"] == 1
