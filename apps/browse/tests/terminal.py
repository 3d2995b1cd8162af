"""Runs `kept browse` in terminals: a pseudo-terminal for tests that read its bytes, and tmux for its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEADLINE = 60.0
"""The time limit for reaching a state, in seconds. Starting takes several on a busy machine."""

PROGRAM = [sys.executable, "-m", "kept_browse"]

_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")


def environment(**changes: str | None) -> dict[str, str]:
    """The environment of a program under test, with UTF-8 and colours. None removes a variable."""
    without = ("NO_COLOR", "LANG", "LC_CTYPE", "COLUMNS", "LINES", "TMUX", "KEPT_STORE")
    base = {name: value for name, value in os.environ.items() if name not in without}
    wanted: dict[str, str | None] = {**base, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **changes}
    return {name: value for name, value in wanted.items() if value is not None}


def _plain(output: bytes | bytearray) -> str:
    return _ESCAPES.sub(b"", bytes(output)).decode("utf-8", "replace")


def wait_for(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    """Waits until a condition holds. `what` returns the message for a failure."""
    until = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(what())
        time.sleep(0.02)


class Terminal:
    """The program on a pseudo-terminal, which is its controlling terminal."""

    def __init__(
        self,
        *arguments: str | Path,
        variables: Mapping[str, str | None] | None = None,
        size: tuple[int, int] = (100, 30),
        ignores_hangup: bool = False,
        program: list[str] = PROGRAM,
    ) -> None:
        self._master, terminal = pty.openpty()
        self.resize(*size)
        self.modes = termios.tcgetattr(terminal)
        """The modes of the terminal before the program started."""
        command = ["setsid", "--ctty", *program, *map(str, arguments)]
        if ignores_hangup:
            command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *command]
        self.process = subprocess.Popen(
            command,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment(**(variables or {})),
        )
        # Kept open so that its modes can be read after the program has ended.
        self._terminal = terminal
        self._output = bytearray()
        self._typed = 0
        self._received = threading.Condition()
        self._is_reading = threading.Event()
        self._is_reading.set()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.hang_up()
        self.close_terminal()

    def _read(self) -> None:
        while True:
            try:
                if not self._is_reading.wait(0.1) and self._master >= 0:
                    continue
                if not select.select([self._master], [], [], 0.1)[0]:
                    continue
                data = os.read(self._master, 65536)
            except (OSError, ValueError):
                return
            with self._received:
                self._output += data
                self._received.notify_all()

    # --- the program's output

    @property
    def output(self) -> bytes:
        """All bytes written so far."""
        with self._received:
            return bytes(self._output)

    @property
    def text(self) -> str:
        """The output without escape sequences. A text that was drawn in one piece is contiguous."""
        return _plain(self.output)

    def wait(self, text: str) -> None:
        """Waits until the program has written a text after the last typed keys."""
        until = time.monotonic() + DEADLINE
        with self._received:
            while text not in (seen := _plain(self._output[self._typed :])):
                self._received.wait(0.5)
                if time.monotonic() > until:
                    raise AssertionError(f"{text!r} was not written, but:\n{seen[-2000:]}")

    def end(self, seconds: float = DEADLINE) -> int:
        """Waits until the program has ended. Returns its exit status."""
        return self.process.wait(seconds)

    # --- the program's input

    def type(self, keys: str | bytes) -> None:
        """Types keys."""
        self._typed = len(self.output)
        os.write(self._master, keys.encode() if isinstance(keys, str) else keys)

    def resize(self, columns: int, lines: int) -> None:
        """Gives the terminal another size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def send(self, number: signal.Signals) -> None:
        """Sends a signal."""
        self.process.send_signal(number)

    def close_terminal(self) -> None:
        """Closes the tests' own descriptor of the terminal."""
        if self._terminal >= 0:
            os.close(self._terminal)
            self._terminal = -1

    def pause(self) -> None:
        """Stops reading the program's output, like a connection that hangs."""
        self._is_reading.clear()

    def fill(self, draw: Callable[[int], None]) -> bool:
        """Makes the program draw until it blocks on the terminal. Returns whether it does."""
        until = time.monotonic() + DEADLINE
        number, idle = 0, 0
        while time.monotonic() < until and idle < 20:
            number += 1
            draw(number)
            time.sleep(0.05)
            waits = select.select([], [self._terminal], [], 0)[1] == []
            idle = idle + 1 if waits else 0
        return idle >= 20

    def hang_up(self) -> None:
        """Closes the terminal."""
        if self._master >= 0:
            master, self._master = self._master, -1
            os.close(master)
            self._reader.join(5)

    @property
    def modes_now(self) -> list[object]:
        return termios.tcgetattr(self._terminal)


class Tmux:
    """A shell in its own tmux server, where the program is started as a user would start it."""

    def __init__(self, size: tuple[int, int] = (80, 24)) -> None:
        # The path of a socket has to be short.
        self._folder = TemporaryDirectory(prefix="kept-")
        self._variables = environment(TMUX_TMPDIR=self._folder.name, HISTFILE="/dev/null")
        width, height = map(str, size)
        self.tmux("new-session", "-d", "-x", width, "-y", height, "bash --norc --noprofile")

    def __enter__(self) -> Tmux:
        self.type("PS1='$ '; clear; printf '%s\\n' started")
        self.press("Enter")
        self.wait("started\n$")
        return self

    def __exit__(self, *_: object) -> None:
        self.tmux("kill-server")
        self._folder.cleanup()

    def tmux(self, *arguments: str) -> str:
        """Runs a tmux command. Returns its output."""
        command = ["tmux", "-L", "kept", "-f", "/dev/null", *arguments]
        done = subprocess.run(command, env=self._variables, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout

    @property
    def screen(self) -> str:
        """The text on the screen."""
        return self.tmux("capture-pane", "-p")

    def wait(self, text: str) -> None:
        """Waits until the screen shows a text."""
        wait_for(lambda: text in self.screen, lambda: f"{text!r} is not on the screen:\n{self.screen}")

    def wait_without(self, text: str) -> None:
        """Waits until the screen no longer shows a text."""
        wait_for(lambda: text not in self.screen, lambda: f"{text!r} is still on the screen:\n{self.screen}")

    def press(self, *keys: str) -> None:
        """Presses keys, by tmux's names."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Types text."""
        self.tmux("send-keys", "-l", text)

    def resize(self, columns: int, lines: int) -> None:
        """Gives the terminal another size."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def start(self, *arguments: str | Path) -> None:
        """Starts the program from the shell, which prints its exit status afterwards."""
        self.type(f"clear; {shlex.join([*PROGRAM, *map(str, arguments)])}; echo status=$?")
        self.press("Enter")
