"""Prints the changes of a store made by any process, until the key "quit" is set.

    watch_changes.py LOCATION

Prints a line for each change: its key, old and new value, and its latency. For the latency, a writer sets a key to the
current time in the same transaction (here "written", but any date in a notice is used):

    with settings.transaction() as t:
        t["volume"], t["written"] = 70, datetime.now(timezone.utc)
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta

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
            age = latency(notice, datetime.now(UTC))
            for change in notice.changes:
                print(f"{change.key}: {shown(change.old)} → {shown(change.new)}  latency {age}", flush=True)
            if any(change.key == "quit" for change in notice.changes):
                break


if __name__ == "__main__":
    with kept.open(sys.argv[1]) as settings:
        asyncio.run(watch(settings))
