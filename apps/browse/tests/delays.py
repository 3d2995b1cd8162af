"""Delays messages, timers, threads and notices at random, as a busy machine does."""

from __future__ import annotations

import asyncio
import random
import time
from asyncio import BaseEventLoop
from collections.abc import Callable
from typing import Any

import pytest
from textual.events import Callback
from textual.message import Message
from textual.message_pump import MessagePump
from textual.timer import Timer

from kept._changes import Changes


def begin(seed: str) -> None:
    """Delays them until the process ends."""
    chance = random.Random(seed)
    dispatch, tick, submit, wait = (
        MessagePump._dispatch_message, Timer._tick, BaseEventLoop.run_in_executor, Changes._readable
    )  # fmt: skip

    def seconds(often: float) -> float:
        if chance.random() > often:
            return 0.0
        return chance.uniform(0, 0.06) if chance.random() < 0.95 else 0.3

    async def dispatch_late(pump: MessagePump, message: Message) -> None:
        # The tests learn from callbacks that the messages before them are handled.
        if not isinstance(message, Callback) and (delay := seconds(0.1)):
            await asyncio.sleep(delay)
        await dispatch(pump, message)

    async def tick_late(timer: Timer, **arguments: Any) -> None:
        await asyncio.sleep(seconds(0.4))
        await tick(timer, **arguments)

    def submit_late(loop: BaseEventLoop, executor: Any, call: Callable[..., Any], *arguments: Any) -> Any:
        def late() -> Any:
            time.sleep(seconds(0.6))
            try:
                return call(*arguments)
            finally:
                time.sleep(seconds(0.6))

        return submit(loop, executor, late)

    async def wait_longer(changes: Changes[Any]) -> None:
        await wait(changes)
        await asyncio.sleep(seconds(0.6))

    patch = pytest.MonkeyPatch()
    patch.setattr(MessagePump, "_dispatch_message", dispatch_late)
    patch.setattr(Timer, "_tick", tick_late)
    patch.setattr(BaseEventLoop, "run_in_executor", submit_late)
    patch.setattr(Changes, "_readable", wait_longer)
