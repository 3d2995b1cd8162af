"""`kept browse` in real terminals: tmux keys, sizes, signals, lost terminals, locales and missing colours."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kept
from terminal import PROGRAM, Terminal, Tmux, wait_for

MAIN_SCREEN = b"\x1b[?1049l"
"""The sequence that restores the previous contents of the terminal."""

ESCAPE = "\x1b[27u"
"""The key as modern terminals send it, which later input cannot turn into another key."""


@pytest.fixture
def filled(location: Path) -> Path:
    """A store with a declared key and forty others."""
    with kept.open(location) as settings:
        settings.declare(
            {
                "audio.volume": {"type": "integer", "minimum": 0, "maximum": 100, "default": 30, "summary": "How loud"},
                "ui.title": {"type": "string", "default": "einfach schön"},
                "ui.visible": {"type": "boolean", "default": False},
            }
        )
        for number in range(40):
            settings[f"list.key{number:02}"] = f"value {number}"
    return location


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    with Tmux() as terminal:
        yield terminal


def read(location: Path, key: str) -> str:
    """A value as read by another process."""
    program = "import kept, sys\nwith kept.open(sys.argv[1]) as settings: print(settings.get(sys.argv[2]))"
    done = subprocess.run([sys.executable, "-c", program, str(location), key], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- in tmux


def test_a_user_searches_edits_undoes_and_quits(tmux: Tmux, filled: Path) -> None:
    tmux.start(filled)
    tmux.wait("43 keys")
    tmux.wait("READ-ONLY")
    tmux.press("/")
    tmux.type("volume")
    tmux.wait("1 of 43 keys")
    tmux.press("Enter", "Enter")
    tmux.wait("Declaration")
    tmux.press("q")
    tmux.wait("1 of 43 keys")
    tmux.press("w")
    tmux.wait("WRITING")
    tmux.press("e")
    tmux.wait("Add to pending")
    tmux.press("BSpace", "BSpace")
    tmux.type("74")
    tmux.wait("74")
    tmux.press("Enter")
    tmux.wait("u in the list undoes it")
    assert read(filled, "audio.volume") == "74"
    tmux.press("u")
    tmux.wait("Undid revision")
    assert read(filled, "audio.volume") == "30"
    tmux.press("q")
    tmux.wait("status=0")
    # The terminal is restored: the main screen is back, and typed letters are echoed.
    assert "keys" not in tmux.screen
    tmux.type("echo again")
    tmux.wait("$ echo again")
    assert tmux.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"


def test_another_size_is_drawn_at_once(tmux: Tmux, filled: Path) -> None:
    tmux.start(filled)
    tmux.wait("43 keys")
    assert "list.key39" not in tmux.screen
    tmux.resize(200, 50)
    tmux.wait("list.key39")
    wait_for(lambda: len(tmux.screen.splitlines()[0]) == 199, lambda: tmux.screen)
    tmux.resize(40, 10)
    tmux.wait_without("list.key20")
    wait_for(lambda: len(tmux.screen.splitlines()[0]) == 39, lambda: tmux.screen)
    tmux.press("G")
    tmux.wait("ui.visible")
    tmux.press("/")
    tmux.type("key07")
    tmux.wait("1 of 43 keys")
    tmux.resize(80, 24)
    tmux.wait("list.key07")
    tmux.resize(3, 2)
    tmux.resize(80, 24)
    tmux.wait("1 of 43 keys")


def test_it_is_suspended_and_resumed(tmux: Tmux, filled: Path) -> None:
    tmux.start(filled)
    tmux.wait("43 keys")
    tmux.press("C-z")
    tmux.wait("Stopped")
    tmux.type("clear; stty -a | grep -o ' echo '; echo shown")
    tmux.press("Enter")
    tmux.wait("\nshown")
    assert " echo\nshown" in tmux.screen
    with kept.open(filled) as settings:
        settings["audio.while"] = "it slept"
    tmux.type("fg")
    tmux.press("Enter")
    tmux.wait("it slept")
    tmux.press("/")
    tmux.type("key07")
    tmux.wait("1 of 44 keys")
    tmux.press("C-q")
    tmux.wait_without("44 keys")
    tmux.type("echo status=$?")
    tmux.press("Enter")
    tmux.wait("status=0")


# --- ends


def begun(terminal: Terminal) -> None:
    """Waits for the first screen."""
    terminal.wait("43 keys")
    terminal.wait("value 7")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_and_restores_the_terminal(filled: Path, number: signal.Signals) -> None:
    with Terminal(filled) as terminal:
        begun(terminal)
        terminal.send(number)
        assert terminal.end() == 128 + number
        assert terminal.modes_now == terminal.modes
        wait_for(lambda: MAIN_SCREEN in terminal.output, lambda: repr(terminal.output[-500:]))
        assert "Traceback" not in terminal.text


BEFORE = "program._textual = interrupt"
AFTER = """
run = Browser.run
Browser.run = lambda app: (run(app), interrupt())[0]
"""
OPENING = """
compose = Select.compose
Select.compose = lambda parent: (parent.app.exit(130), compose(parent))[1]
"""


@pytest.mark.parametrize(
    ("patch", "keys", "status"),
    [(BEFORE, "", -signal.SIGINT), (OPENING, "i", 130), (AFTER, "q", 0)],
    ids=["before the first screen", "while a screen opens", "after the last screen"],
)
def test_a_signal_at_any_time_writes_no_traceback(filled: Path, patch: str, keys: str, status: int) -> None:
    code = f"""
import os, signal, sys
import kept_browse.__main__ as program
from kept_browse._app import Browser
from textual.widgets import Select
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
{patch}
sys.exit(program.main())
"""
    with Terminal(filled, program=[sys.executable, "-c", code]) as terminal:
        if keys:
            begun(terminal)
            terminal.type(keys)
        assert terminal.end() == status
        assert terminal.modes_now == terminal.modes
        assert "Traceback" not in terminal.text


@pytest.mark.parametrize("ignores_hangup", [False, True])
def test_a_lost_terminal_ends_it(filled: Path, ignores_hangup: bool) -> None:
    with Terminal(filled, ignores_hangup=ignores_hangup) as terminal:
        begun(terminal)
        terminal.close_terminal()
        terminal.hang_up()
        assert terminal.end() == 128 + signal.SIGHUP
        assert "Traceback" not in terminal.text


def test_a_signal_ends_it_when_the_terminal_is_blocked(filled: Path) -> None:
    with Terminal(filled) as terminal:
        begun(terminal)
        terminal.pause()
        # Redraw until the terminal is full and writing to it blocks.
        blocked = terminal.fill(lambda number: terminal.resize(100 + number % 50, 30))
        assert blocked
        terminal.send(signal.SIGTERM)
        assert terminal.end() in (128 + signal.SIGTERM, -signal.SIGALRM)


def test_ctrl_c_and_ctrl_q_do_not_lose_pending_changes(filled: Path) -> None:
    with Terminal(filled) as terminal:
        begun(terminal)
        terminal.type("/volume\r")
        terminal.wait("1 of 43 keys")
        terminal.type("we")
        terminal.wait("Add to pending")
        terminal.type("\x7f\x7f55\x07")
        terminal.wait("1 pending change")
        terminal.type("\x03")
        terminal.wait("to quit the app")
        terminal.type("\x11")
        terminal.wait("Press y to confirm")
        terminal.type("n")
        terminal.wait("1 pending change")
        terminal.type("\x11")
        terminal.wait("Press y to confirm")
        terminal.type("y")
        assert terminal.end() == 0
    assert read(filled, "audio.volume") == "30"


def test_it_goes_on_after_it_was_stopped(filled: Path) -> None:
    with Terminal(filled) as terminal:
        begun(terminal)
        for _ in range(3):
            terminal.type("")
            terminal.send(signal.SIGSTOP)
            terminal.send(signal.SIGCONT)
            terminal.wait("value 7")
        terminal.type("/volume")
        terminal.wait("1 of 43 keys")
        terminal.type("\x11")
        assert terminal.end() == 0
        assert terminal.modes_now == terminal.modes


# --- terminals that show less


@pytest.mark.parametrize(
    ("locale", "options"),
    [("C", []), ("POSIX", []), ("en_US.ISO-8859-1", []), ("xx_XX.KOI8-R", []), ("C.UTF-8", ["--ascii"])],
)
def test_only_ascii_is_written_without_utf8(filled: Path, locale: str, options: list[str]) -> None:
    with Terminal(filled, *options, variables={"LC_ALL": locale}) as terminal:
        begun(terminal)
        for keys, sign in (
            ("/@mod", "@modified:"),
            ("\x15title", "1 of 43 keys"),
            ("\r\r", "einfach sch?n"),
            ("we", "Add to pending"),
            (ESCAPE, "Layers"),
            (ESCAPE, "1 of 43 keys"),
            ("t", "ui"),
            ("?", "read-only"),
            ("q", "43 keys"),
            ("i", "Import into"),
            (ESCAPE, "43 keys"),
            ("x", "Export"),
        ):
            terminal.type(keys)
            terminal.wait(sign)
            assert terminal.output.isascii(), terminal.output
        terminal.type("\x11")
        assert terminal.end() == 0
        assert terminal.output.isascii()


def test_bytes_that_are_not_utf8_do_not_end_it(filled: Path) -> None:
    with Terminal(filled) as terminal:
        begun(terminal)
        terminal.type(b"/\xff\xfe\xc3")
        terminal.wait("0 of 43 keys")
        terminal.type(b"\x15volume")
        terminal.wait("1 of 43 keys")
        terminal.type(b"\x1b[\xff\x1b]\x80\x07")
        terminal.type(b"\r\x11")
        assert terminal.end() == 0
        assert "Traceback" not in terminal.text


def test_random_bytes_do_not_end_it_with_a_traceback(filled: Path) -> None:
    with Terminal(filled, "--read-only") as terminal:
        begun(terminal)
        # Without Ctrl+Q and q, which end it, and without Ctrl+Z.
        mixed = bytes((number * 167 + 13) % 256 for number in range(512))
        terminal.type(bytes(byte for byte in mixed if byte not in b"\x11\x1aq"))
        terminal.type(b"\x1b\\\x1b\x1b")
        terminal.type(b"\x11")
        assert terminal.end() == 0
        assert "Traceback" not in terminal.text


def test_no_color_leaves_colours_out_and_marks_in(filled: Path) -> None:
    with Terminal(filled, variables={"NO_COLOR": "1"}) as terminal:
        begun(terminal)
        terminal.wait(" * list.key07")
        for keys, sign in (
            ("\r", "Layers"),
            ("we", "Add to pending"),
            (ESCAPE, "Layers"),
            ("3", "No changes are recorded"),
        ):
            terminal.type(keys)
            terminal.wait(sign)
        terminal.type("\x11")
        assert terminal.end() == 0
        for parameters in re.findall(rb"\x1b\[([0-9;]*)m", terminal.output):
            for number in parameters.split(b";"):
                assert not 30 <= int(number or 0) <= 48, parameters
                assert not 90 <= int(number or 0) <= 107, parameters


@pytest.mark.parametrize("kind", ["linux", "vt100", "xterm", None])
def test_other_terminals_work_too(filled: Path, kind: str | None) -> None:
    with Terminal(filled, variables={"TERM": kind}) as terminal:
        begun(terminal)
        terminal.type("q")
        assert terminal.end() == 0
        assert terminal.modes_now == terminal.modes


def test_a_dumb_terminal_gets_a_sentence(filled: Path) -> None:
    with Terminal(filled, variables={"TERM": "dumb"}) as terminal:
        assert terminal.end() == 4
        wait_for(lambda: "kept list" in terminal.text, lambda: terminal.text)
        assert b"\x1b" not in terminal.output


def test_without_a_terminal_it_says_so(filled: Path) -> None:
    done = subprocess.run([*PROGRAM, str(filled)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 4
    assert done.stderr.startswith("kept browse: it needs a terminal")
    assert os.linesep not in done.stderr.strip()


# --- widths

WRITINGS = [
    "plain",
    "設定の値",
    "e\u0301",
    "😀",
    "❤\ufe0f",
    "⚠\ufe0f",
    "1\ufe0f\u20e3",
    "👍🏽",
    "👩🏽\u200d💻",
    "👨\u200d👩\u200d👧",
    "🏳\ufe0f\u200d🌈",
    "🇩🇪",
    "😀\ufe0e",
    "\u200d",
    "🏽",
]
"""Texts, including some whose width differs between terminals."""

ASKING = """
import os, re, sys, termios, tty
from kept_browse._text import fitted
mode = termios.tcgetattr(0)
tty.setraw(0)
found = []
for text in {texts!r}:
    for width in (12, 5):
        os.write(1, b"\\r\\x1b[K" + fitted(text * 2, width).encode() + b"\\x1b[6n")
        answer = b""
        while not answer.endswith(b"R"):
            answer += os.read(0, 1)
        if int(re.search(rb";(\\d+)R", answer)[1]) != width + 1:
            found.append((ascii(text), width, answer))
termios.tcsetattr(0, termios.TCSADRAIN, mode)
os.write(1, b"\\r\\x1b[K")
print("wrong:", found)
"""


def test_a_column_has_its_width_in_a_terminal(tmux: Tmux, tmp_path: Path) -> None:
    """Queries the terminal for the position of its cursor."""
    program = tmp_path / "asking.py"
    program.write_text(ASKING.format(texts=WRITINGS))
    tmux.type(f"clear; {sys.executable} {program}")
    tmux.press("Enter")
    tmux.wait("wrong:")
    assert "wrong: []" in tmux.screen
