"""A program that works with a store: it reads commands line by line, and is killed (survivor.py lists them)."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from io import TextIOWrapper

from survivor import WIDTH

PATIENCE = 60.0
"""Seconds after which a program is considered to hang."""


class Program:
    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.reports: list[str] = []
        """The store's reports to its program: failures and warnings."""
        self.hung = False
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null, env=environment)
        assert self.process.stdin and self.process.stdout
        self.orders = TextIOWrapper(self.process.stdin)
        # Damage can put any characters into texts, including other line ends and invalid UTF-8.
        self.answers = TextIOWrapper(self.process.stdout, errors="surrogateescape", newline="\n")
        self.patience = threading.Timer(PATIENCE, self._lose_patience)
        self.patience.start()
        self.opened = next(self._lines(), "") == "opened"

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _lose_patience(self) -> None:
        self.hung = True
        self.kill()

    def _lines(self) -> Iterator[str]:
        """Its output for a command, until it is done or ends."""
        for line in self.answers:
            if line == "done\n":
                return
            if line.startswith(("failed ", "warned ")):
                self.reports.append(line.strip())
            if not line.startswith("warned "):
                yield line.rstrip("\n")

    def order(self, *words: object) -> None:
        try:
            print(*words, file=self.orders, flush=True)
        except BrokenPipeError:
            pass  # It has ended and will not reply.

    def set(self, first: int, count: int, width: int = WIDTH, pause: int = 0) -> Iterator[int]:
        """The numbers that were set, each as soon as it is acknowledged."""
        self.order("set", first, count, width, pause)
        return (int(line) for line in self._lines() if line.isdecimal())

    def get(self, count: int) -> list[str | None]:
        """The value of the store under each name; None if it reported no value, or failed."""
        self.order("get", count)
        found = [line[2:] if line.startswith("= ") else None for line in self._lines()]
        return found + [None] * (count - len(found))

    def kill(self) -> None:
        self.process.kill()

    def end(self) -> None:
        """Lets it close its store and exit."""
        try:
            self.orders.close()
        except BrokenPipeError:
            pass
        for _ in self._lines():
            pass
        self.answers.close()
        self.process.wait()
        self.patience.cancel()

    @property
    def crashed(self) -> bool:
        """Whether it ended by a signal, which is expected of one that was killed."""
        return (self.process.returncode or 0) < 0
