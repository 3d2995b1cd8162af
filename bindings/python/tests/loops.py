"""Running the scenarios of asyncio: bounded, and without a sleep."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import kept
from kept import _observation

T = TypeVar("T")
SECONDS = 60  # how long a test waits before it fails; no test passes by waiting


def run(scenario: Coroutine[Any, Any, T]) -> T:
    """Runs a scenario in a loop of its own, which complains of everything that is left over."""

    async def bounded() -> T:
        async with asyncio.timeout(SECONDS):
            return await scenario

    return asyncio.run(bounded(), debug=True)


async def until_it_waits(changes: kept.Changes[Any], tasks: int = 1) -> None:
    """Returns when so many tasks wait for a change."""
    while len(changes._waiters) < tasks:
        await asyncio.sleep(0)


async def collect(changes: kept.Changes[T]) -> list[T]:
    """All that come until the end."""
    return [change async for change in changes]


def subscriptions() -> int:
    """How many subscriptions the library has not released."""
    return len(_observation._deliveries)
