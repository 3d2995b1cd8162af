"""The terminal driver, which ends the program when the terminal is lost or a signal arrives."""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import time
from codecs import getincrementaldecoder
from concurrent.futures import wait
from typing import IO, TYPE_CHECKING, Any, cast

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from textual.app import App
    from textual.message import Message
    from textual.message_pump import MessagePump

EXIT_TIMEOUT = 4
"""How long an orderly exit may take after a signal, in seconds. Then the system ends the program."""

LONGEST_KEY = 1.0
"""How long a key waits for the previous key or paste to take effect, in seconds."""


class Terminal(LinuxDriver):
    """Drives the terminal like Textual's driver, but survives bytes that are not UTF-8, ends the program when the
    terminal is lost, and restores the terminal after a signal that ends the program."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._file = cast("Any", _Output(cast("IO[str]", self._file)))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Ignored signals stay ignored, for nohup.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._receive)

    def _receive(self, number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        self._end(number)
        # A thread that waits for a lock or for a blocked terminal must not keep the program alive.
        signal.alarm(EXIT_TIMEOUT)

    def _end(self, number: int) -> None:
        if not self._loop.is_closed():  # otherwise it has ended already
            self._loop.call_soon_threadsafe(self._app.exit, 128 + number)

    def _sigcont_application(self, *_: object) -> None:
        # After a plain SIGSTOP, Textual would start a second input thread, and would redraw only changes.
        if self._must_signal_resume:
            super()._sigcont_application()
        self._loop.call_soon_threadsafe(self._app.refresh)

    def run_input_thread(self) -> None:
        """Reads keys until the program ends or the terminal is lost."""
        parser = KeysAndPastes(self._debug)
        # Bytes that are not UTF-8 are refused in a paste, and become replacement characters when typed.
        decode = getincrementaldecoder("utf-8")("surrogateescape").decode
        while not self.exit_event.is_set():
            if select.select([self.fileno], [], [], 0.1)[0]:
                try:
                    data = os.read(self.fileno, 4096)
                except OSError:
                    data = b""
                if not data:
                    self._end(signal.SIGHUP)
                    return
                for message in parser.feed(decode(data)):
                    self._pass_on(message)
            for message in parser.tick():
                self._pass_on(message)

    def _pass_on(self, message: Message) -> None:
        self.process_message(message)
        if isinstance(message, Key | Paste):
            settled = asyncio.run_coroutine_threadsafe(self._settle(), self._loop)
            until = time.monotonic() + LONGEST_KEY
            while not self.exit_event.is_set() and not settled.done() and time.monotonic() < until:
                wait([settled], timeout=0.05)
            settled.cancel()

    async def _settle(self) -> None:
        """Waits until a key or a paste has taken effect, so that a key typed ahead goes to the new focus."""
        await _emptied(self._app)
        for node in (self._app.focused or self._app.screen).ancestors_with_self:
            await _emptied(node)
        # The screen may be a new one, and its focus change is queued in the app.
        await _emptied(self._app.screen)
        await _emptied(self._app)


class KeysAndPastes(XTermParser):
    """Reads keys, the mouse and pasted text. Textual's own parser takes an escape character in pasted text for the
    start of a key, and drops NUL."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        """The text pasted so far; None outside a paste."""
        self._end = ""
        """The last characters, which may begin the mark for the start or end of a paste."""

    def feed(self, data: str) -> Iterable[Message]:
        while data:
            mark = BRACKETED_PASTE_START if self._pasted is None else BRACKETED_PASTE_END
            seen = self._end + data
            place = seen.find(mark)
            size = len(data) if place < 0 else place + len(mark) - len(self._end)
            part, data = data[:size], data[size:]
            self._end = seen[1 - len(mark) :] if place < 0 else ""
            if self._pasted is not None:
                self._pasted.append(part)
                if place >= 0:
                    text = "".join(self._pasted).removesuffix(mark)
                    self._pasted = None
                    for _ in super().feed(mark):
                        pass  # to Textual, the paste was empty
                    yield Paste(text)
                continue
            yield from super().feed(_NOT_UTF8.sub("\ufffd", part))
            if place >= 0:
                self._pasted = []

    def tick(self) -> Iterable[Message]:
        for message in super().tick():
            self._end = ""  # it was a key
            yield message


_NOT_UTF8 = re.compile("[\udc80-\udcff]")


async def _emptied(node: MessagePump) -> None:
    """Waits until a node has handled the messages that it has now."""
    emptied = asyncio.Event()
    if node.call_later(emptied.set):
        await emptied.wait()


class _Output:
    """Writes to a terminal that may be lost. Then the output is lost, too."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError:
            pass

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError:
            pass

    def fileno(self) -> int:
        return self._file.fileno()
