"""Prints what changes in a store as it changes, whichever process does it, until somebody sets the key "quit".

    watch_changes.py LOCATION

A line for each change: its key, old and new value, and how long it took to come here. For that a writer sets in the
same transaction a key to the time (here "written", but any date in a notice will do):

    with settings.transaction() as t:
        t["volume"], t["written"] = 70, datetime.now(timezone.utc)
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import datetime, timedelta, timezone

import kept


def shown(value: kept.JSON) -> str:
    return json.dumps(value, default=str)


def latency(notice: kept.Notice, arrived: datetime) -> str:
    """The age of the newest date in a notice, in microseconds."""
    dates = [change.new for change in notice.changes if isinstance(change.new, datetime)]
    return f"{(arrived - max(dates)) / timedelta(microseconds=1):.0f} µs" if dates else "unknown"


async def watch(settings: kept.Store) -> None:
    async with settings.changes(prefix="") as notices:
        print("watching", flush=True)
        async for notice in notices:
            age = latency(notice, datetime.now(timezone.utc))
            for change in notice.changes:
                print(f"{change.key}: {shown(change.old)} → {shown(change.new)}  latency {age}", flush=True)
            if any(change.key == "quit" for change in notice.changes):
                break


if __name__ == "__main__":
    with kept.open(sys.argv[1]) as settings:
        asyncio.run(watch(settings))
