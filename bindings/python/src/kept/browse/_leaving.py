"""Leaving a screen while something is read for it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec

from textual.css.query import NoMatches

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

P = ParamSpec("P")


def until_left(call: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, Coroutine[Any, Any, None]]:
    """Ends a worker whose screen is left. Its parts are removed first, and the worker may go on for a moment."""

    @functools.wraps(call)
    async def wrapper(*arguments: P.args, **named: P.kwargs) -> None:
        try:
            await call(*arguments, **named)
        except NoMatches:
            return

    return wrapper
