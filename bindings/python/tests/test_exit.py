"""The end of Python: it ends quietly with subscriptions and threads alive, and nothing is called afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import kept


def run(program: str, location: Path, before: str = "", options: str = "") -> str:
    """Runs a program that opens `location` as `settings`; returns what it printed. It must end well and in silence.

    `before` runs before kept is imported. What it registers with atexit is called after Kept's own end.
    """
    opening = f"import kept\nsettings = kept.open({str(location)!r}{options})"
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


def test_subscriptions_end_before_python_does(location: Path) -> None:
    printed = run(
        """
        delivered = threading.Event()

        @settings.observe(prefix="")
        def show(notice):
            delivered.set()

        settings["a"] = 1
        delivered.wait(30)
        print("delivered")
        """,
        location,
    )
    assert printed == "delivered\n"


def test_the_end_waits_for_a_running_callback(location: Path) -> None:
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


def test_after_the_end_stores_are_closed_and_none_can_be_opened(location: Path) -> None:
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


BLOCKED = {
    "an observer": """
        begun = threading.Event()

        @settings.observe("a")
        def blocked(change):
            begun.set()
            threading.Event().wait()

        settings["a"] = 1
        begun.wait(30)
        """,
    "an initial notice": """
        def blocked(change):
            begun.set()
            threading.Event().wait()

        begun = threading.Event()
        observing = lambda: settings.observe("a", blocked, initial=True)
        threading.Thread(target=observing, daemon=True).start()
        begun.wait(30)
        """,
    "an export": """
        def blocked(done, total):
            begun.set()
            threading.Event().wait()

        settings["a"] = 1
        begun = threading.Event()
        threading.Thread(target=lambda: settings.export(progress=blocked), daemon=True).start()
        begun.wait(30)
        """,
    "a migration": """
        def blocked(transaction):
            begun.set()
            threading.Event().wait()

        settings["a"] = 1
        begun = threading.Event()
        step = kept.Migration(1, "a step", blocked)
        threading.Thread(target=lambda: settings.migrate([step]), daemon=True).start()
        begun.wait(30)
        """,
}


@pytest.mark.parametrize("program", BLOCKED.values(), ids=BLOCKED)
def test_ctrl_c_ends_a_program_whose_end_waits_for_a_callback(location: Path, program: str) -> None:
    # A test that runs in the background of a shell inherits that Ctrl-C is ignored.
    opening = (
        "import kept, signal, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"settings = kept.open({str(location)!r})\n"
    )
    ends = "\nprint('it ends', flush=True)\n"
    process = subprocess.Popen(
        [sys.executable, "-c", opening + textwrap.dedent(program) + ends],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None and process.stdout.readline() == "it ends\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in errors
    with kept.open(location) as settings:
        settings["b"] = 2


@pytest.mark.parametrize("how", ["settings.close()", "settings = None"])
def test_the_end_waits_for_a_store_that_another_thread_closes(location: Path, how: str) -> None:
    printed = run(
        f"""
        inside, may_end, begun = threading.Event(), threading.Event(), threading.Event()

        @settings.observe("a")
        def save(change):
            inside.set()
            may_end.wait()
            print("callback ends", flush=True)

        def close():
            global settings
            begun.set()
            {how}

        settings["a"] = 1
        inside.wait()
        threading.Thread(target=close, daemon=True).start()
        begun.wait()
        # Called before Kept's own end, which waits for the callback.
        atexit.register(may_end.set)
        """,
        location,
    )
    assert printed == "callback ends\n"


def test_the_other_stores_of_a_program_with_a_blocked_callback_are_closed(location: Path) -> None:
    printed = run(
        """
        begun, may_end = threading.Event(), threading.Event()

        @settings.observe("a")
        def blocked(change):
            begun.set()
            may_end.wait(30)

        settings["a"] = 1
        begun.wait(30)
        other = kept.open("memory:")
        atexit.register(may_end.set)
        """,
        location,
        before="""
        @atexit.register
        def late():
            try:
                other["a"]
            except kept.ClosedError:
                print("closed")
        """,
    )
    assert printed == "closed\n"


def test_a_store_that_is_dropped_does_not_wait_for_the_log(tmp_path: Path) -> None:
    """The collector may run while its thread holds what a handler of the log waits for."""
    layer = tmp_path / "managed.json"
    layer.write_text('{"values": {"a": 1}}')
    layer.chmod(0o600)
    run(
        f"""
        import gc, logging, time
        lock, inside = threading.Lock(), threading.Event()

        class Handler(logging.Handler):
            def emit(self, record):
                inside.set()
                with lock:
                    pass

        logging.getLogger("kept").addHandler(Handler())
        layered = kept.open("memory:", managed={str(layer)!r})
        layered.me = layered
        handle = layered._handle
        with lock:
            del layered
            with open({str(layer)!r} + "~", "w") as file:
                file.write("{{")
            os.chmod(file.name, 0o600)
            os.rename(file.name, {str(layer)!r})
            assert inside.wait(30)
            gc.collect()
        until = time.monotonic() + 30
        while id(handle) in kept._exit._gate.handles:
            assert time.monotonic() < until
            time.sleep(0.01)
        """,
        tmp_path / "other",
    )


def test_what_a_log_handler_raises_on_another_thread_stays_there(tmp_path: Path) -> None:
    layer = tmp_path / "managed.json"
    layer.write_text('{"values": {"a": 1}}')
    layer.chmod(0o600)
    printed = run(
        f"""
        import logging
        shown = threading.Event()

        class Handler(logging.Handler):
            def emit(self, record):
                raise SystemExit(77)

        def show(unraisable):
            print(repr(unraisable.exc_value))
            shown.set()

        sys.unraisablehook = show
        logging.getLogger("kept").addHandler(Handler())
        layered = kept.open("memory:", managed={str(layer)!r})
        with open({str(layer)!r} + "~", "w") as file:
            file.write("{{")
        os.chmod(file.name, 0o600)
        os.rename(file.name, {str(layer)!r})
        assert shown.wait(30)
        assert not kept._c.status.interrupts
        layered.close()
        """,
        tmp_path / "other",
    )
    assert printed == "SystemExit(77)\n"


def test_what_a_log_handler_raises_while_a_store_closes_keeps_no_other_open(tmp_path: Path) -> None:
    printed = run(
        """
        import logging, shutil

        class Refusing(logging.Handler):
            def emit(self, record):
                print("it raises", flush=True)
                sys.exit(3)

        # A store with a layer that is dropped is closed by the closing thread, which cannot sync a removed folder.
        other = kept.open(location + "-other")
        settings["a"] = other["a"] = 1
        shutil.rmtree(location)
        logging.getLogger("kept").addHandler(Refusing())
        settings = None
        """,
        tmp_path / "store",
        before=f"location = {str(tmp_path / 'store')!r}",
        options=", system=location + '/system.json'",
    )
    assert printed == "it raises\n"
    with kept.open(tmp_path / "store-other") as other:
        assert other["a"] == 1
