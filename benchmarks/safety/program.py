"""A program that works with a store: it is told what to do line by line, and killed (survivor.py says the lines)."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

from survivor import WIDTH

PATIENCE = 30.0
"""Seconds after which a program is said to hang."""


class Program:
    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.told: list[str] = []
        """What the store told its program: failures and warnings."""
        self.hung = False
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            errors="surrogateescape",
        )
        self.patience = threading.Timer(PATIENCE, self._lose_patience)
        self.patience.start()
        self.opened = next(self._lines(), "") == "opened"

    def __enter__(self) -> Program:
        return self

    def __exit__(self, _type: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None) -> None:
        self.end()

    def _lose_patience(self) -> None:
        self.hung = True
        self.kill()

    def _lines(self) -> Iterator[str]:
        """What it says of its work, until it is done or ends."""
        assert self.process.stdout
        for line in self.process.stdout:
            if line == "done\n":
                return
            if line.startswith(("failed ", "warned ")):
                self.told.append(line.strip())
            if not line.startswith("warned "):
                yield line.rstrip("\n")

    def order(self, *words: object) -> None:
        assert self.process.stdin
        try:
            print(*words, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # It has ended; there will be no answer.

    def set(self, first: int, count: int, width: int = WIDTH, pause: int = 0) -> Iterator[int]:
        """The numbers that were set, each as soon as it is acknowledged."""
        self.order("set", first, count, width, pause)
        return (int(line) for line in self._lines() if line.isdecimal())

    def get(self, count: int) -> list[str | None]:
        """What the store has under each name; None where it said that there is nothing, or failed."""
        self.order("get", count)
        found = [line[2:] if line.startswith("= ") else None for line in self._lines()]
        return found + [None] * (count - len(found))

    def kill(self) -> None:
        self.process.kill()

    def end(self) -> None:
        """Lets it close its store and end."""
        assert self.process.stdin
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        for _ in self._lines():
            pass
        self.process.wait()
        self.patience.cancel()

    @property
    def crashed(self) -> bool:
        """Whether it ended by a signal; of one that was killed this is no wonder."""
        return (self.process.returncode or 0) < 0
