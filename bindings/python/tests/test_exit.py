"""The end of Python: it ends quietly with subscriptions and threads alive, and nothing is called afterwards."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import kept


def run(program: str, location: Path) -> str:
    """Runs a program that opens `location` as `settings`; returns what it printed. It must end well and in silence."""
    begin = f"""
        import atexit, os, sys, threading
        import kept
        settings = kept.open({str(location)!r})
    """
    result = subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(begin) + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_an_open_store_is_closed(location: Path) -> None:
    run('settings["a"] = 1', location)
    with kept.open(location) as settings:
        assert settings["a"] == 1


def test_subscriptions_that_are_alive_end_before_python_does(location: Path) -> None:
    printed = run(
        """
        heard = threading.Event()

        @settings.observe(prefix="")
        def show(notice):
            heard.set()

        # Runs after Kept's own end, since it was registered before: what is written here is not told any more.
        settings["a"] = 1
        heard.wait(30)
        print("heard")
        """,
        location,
    )
    assert printed == "heard\n"


def test_a_callback_that_runs_is_waited_for(location: Path) -> None:
    printed = run(
        """
        begun, may_end = threading.Event(), threading.Event()

        @settings.observe("a")
        def slow(change):
            begun.set()
            may_end.wait(30)
            print("the callback has ended", flush=True)

        settings["a"] = 1
        begun.wait(30)
        # Registered last, so called first: then Kept closes the store while the callback still runs.
        atexit.register(may_end.set)
        """,
        location,
    )
    assert printed == "the callback has ended\n"


def test_after_the_end_stores_are_closed_and_no_other_opens(location: Path) -> None:
    printed = run(
        """
        # A second import of atexit's order: registered before kept was imported would run after it, as this does.
        def late():
            for use in (lambda: settings["a"], lambda: kept.open("memory:"), lambda: settings.observe("a", print)):
                try:
                    use()
                except kept.ClosedError as error:
                    print(type(error).__name__)

        import kept._exit
        atexit.unregister(kept._exit._end)
        atexit.register(late)
        atexit.register(kept._exit._end)
        """,
        location,
    )
    assert printed == "ClosedError\n" * 3


@pytest.mark.parametrize("round", range(5))
def test_daemon_threads_that_go_on_do_no_harm(location: Path, round: int) -> None:
    printed = run(
        """
        running = threading.Barrier(5)

        def work(number):
            running.wait(30)
            own = kept.open("memory:")
            try:
                while True:
                    with settings.observe(prefix="", callback=lambda notice: notice.changes, initial=True):
                        settings[str(number)] = own[str(number)] = os.urandom(8)
                        list(settings)
                        kept.open("memory:").observe("a", print)
            except kept.ClosedError:
                pass

        for number in range(4):
            threading.Thread(target=work, args=(number,), daemon=True).start()
        running.wait(30)
        for index in range(50):
            settings["main"] = index
        print("ended")
        """,
        location,
    )
    assert printed == "ended\n"
