"""The end of Python: it ends quietly with subscriptions and threads alive, and nothing is called afterwards."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import kept


def run(program: str, location: Path, before: str = "") -> str:
    """Runs a program that opens `location` as `settings`; returns what it printed. It must end well and in silence.

    `before` runs before kept is imported. What it registers with atexit is called after Kept's own end.
    """
    opening = f"import kept\nsettings = kept.open({str(location)!r})"
    parts = ["import atexit, os, sys, threading", before, opening, program]
    result = subprocess.run(
        [sys.executable, "-X", "dev", "-c", "\n".join(map(textwrap.dedent, parts))],
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
        settings["a"] = 1
        """,
        location,
        before="""
        @atexit.register
        def late():
            uses = [
                lambda: settings["a"],
                lambda: list(settings),
                lambda: settings.observe("a", print),
                lambda: kept.open("memory:"),
            ]
            for use in uses:
                try:
                    use()
                except kept.ClosedError as error:
                    print(type(error).__name__)
        """,
    )
    assert printed == "ClosedError\n" * 4


def test_a_forked_child_leaves_the_parent_s_store_alone(location: Path) -> None:
    run(
        """
        settings["a"] = 1
        child = os.fork()
        if child == 0:
            settings.close()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        settings["b"] = 2
        assert dict(settings) == {"a": 1, "b": 2}
        """,
        location,
        # Python 3.12 warns of forks in a program with threads.
        before='import warnings; warnings.filterwarnings("ignore", "This process", DeprecationWarning)',
    )
    with kept.open(location) as settings:
        assert dict(settings) == {"a": 1, "b": 2}


@pytest.mark.parametrize("round", range(5))
def test_daemon_threads_that_go_on_do_no_harm(location: Path, round: int) -> None:
    printed = run(
        """
        running = threading.Barrier(5)

        def work(number):
            own = kept.open("memory:")
            running.wait(30)
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
