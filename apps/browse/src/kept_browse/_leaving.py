"""Leaving a screen while a call for it waits."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec

from textual.css.query import NoMatches

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")


def until_left(call: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, Coroutine[Any, Any, None]]:
    """Ends a call whose screen was left. The widgets are removed first, and a worker may still run briefly."""

    @functools.wraps(call)
    async def wrapper(*arguments: P.args, **named: P.kwargs) -> None:
        try:
            await call(*arguments, **named)
        except NoMatches:
            return

    return wrapper
