"""A program of one machine that watches: python observer.py STORE LOG. It logs every notice, and takes snapshots."""

from __future__ import annotations

import json
import os
import sys
import threading

import kept
from values import stamp_of


def main(location: str, path: str) -> None:
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    has_changed = threading.Event()

    def note(**line: object) -> None:
        os.write(log, json.dumps(line).encode() + b"\n")

    def take(notice: kept.Notice) -> None:
        values = {change.key: stamp_of(change.new) for change in notice.changes}
        first, last = notice.revisions
        note(first=first, last=last, tag=notice.tag, origin=notice.origin.name, changes=values)
        has_changed.set()

    store = kept.open(location)
    store.observe(prefix="", callback=take, initial=True)
    while os.getppid() != 1:
        has_changed.wait(1)
        has_changed.clear()
        with store.snapshot() as snapshot:
            note(snapshot=snapshot.revision(), values={key: stamp_of(value) for key, value in snapshot.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
