"""A program of one machine that writes: python writer.py STORE HOST NUMBER LOG.

It reads `go SEED PAUSE` and `rest`, and answers the latter. Each write is in the log before it begins and after it is
done, so that a kill loses nothing of it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from random import Random

from records import State

import kept
from values import GROUPS, changes, stamp_of, value_of


class Writer:
    def __init__(self, store: str, host: str, number: int, log: str) -> None:
        # A program that was stopped may hold the store for as long as it is.
        self._store = kept.open(store, tag="writer", busy_timeout=120)
        self._host, self._number = host, number
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._rests = threading.Event()

    def obey(self) -> None:
        thread: threading.Thread | None = None
        for line in sys.stdin:
            word, *words = line.split()
            if word == "go":
                self._rests.clear()
                thread = threading.Thread(target=self._write, args=[Random(words[0]), float(words[1])])
                thread.start()
            elif word == "rest":
                self._rests.set()
                if thread is not None:
                    thread.join()
                print("resting", flush=True)
        self._rests.set()

    def _write(self, random: Random, pause: float) -> None:
        while not self._rests.wait(random.expovariate(1 / pause)):
            # Some writes follow each other at once.
            for _ in range(random.choice([1, 1, 1, 2, 8])):
                self._number += 1
                self._write_one(changes(self._host, self._number, random), random)

    def _write_one(self, changed: State, random: Random) -> None:
        self._note(n=self._number, changes=changed)
        values = {key: value and value_of(value, random) for key, value in changed.items()}
        revision: int | None = None
        read: State = {}
        absent: list[str] = []
        if len(values) == 1 and random.random() < 0.5:
            ((key, value),) = values.items()
            if value is None:
                self._store.reset(key)
            else:
                self._store[key] = value
        else:
            revision, read, absent = self._write_together(values)
        self._note(n=self._number, done=True, revision=revision, read=read, absent=absent)

    def _write_together(self, values: State) -> tuple[int, State, list[str]]:
        while True:
            transaction = self._store.transaction()
            try:
                # What it reads is checked by the commit.
                keys = [key for group in GROUPS if group[0] in values for key in group]
                read = {key: stamp_of(transaction.get(key)) for key in keys}
                absent = [key for key, value in values.items() if value is None and key not in transaction]
                for key, value in values.items():
                    if value is None:
                        transaction.reset(key)
                    else:
                        transaction[key] = value
                return transaction.commit(), read, absent
            except kept.ConflictError:
                transaction.rollback()
                time.sleep(0.001)

    def _note(self, **line: object) -> None:
        os.write(self._log, json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    location, name, first, path = sys.argv[1:]
    Writer(location, name, int(first), path).obey()
