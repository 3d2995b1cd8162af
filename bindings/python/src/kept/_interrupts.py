"""Exceptions that leave a callback of C: Ctrl-C may come as a callback begins, before any `try` of its own.

ctypes shows such an exception to `sys.unraisablehook` and drops it, and what C reads as the answer is whatever its
place held, often that of the call before. So no answer of a callback is believed. What can be asked for is asked for
(`kept_list_json`, `kept_subscription_take`), a migration's step confirms that it is done (`KEPT_MIGRATE_CONFIRMED`),
and what a callback raises is kept here, and raised when the call of C has returned.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

T = TypeVar("T")


class Heard:
    """What the callbacks of one call of C have raised."""

    def __init__(self, *callbacks: Callable[..., Any]) -> None:
        self._callbacks = callbacks
        self._thread = threading.get_ident()
        self._before: Callable[[UnraisableHookArgs], Any] = sys.unraisablehook
        self.raised: BaseException | None = None
        """The first exception that the caller is to get; a callback that catches one puts it here."""
        self.shown: BaseException | None = None
        """One that is left to `sys.unraisablehook`."""

    def during(self, function: Callable[..., T], *arguments: Any) -> T:
        """Makes the call, and raises what was heard, whatever came of the call.

        The hook is the process's, so it is exchanged only on the main thread, the one that runs the handlers of
        signals. Between the call's end and the hook's return to its place nothing looks for signals."""
        hook, self._before = self._hear, sys.unraisablehook
        try:
            if threading.main_thread().ident == self._thread:
                sys.unraisablehook = hook
            return function(*arguments)
        finally:
            if sys.unraisablehook is hook:
                sys.unraisablehook = self._before
            if self.raised is not None:
                raise self.raised from None

    def _hear(self, unraisable: UnraisableHookArgs) -> None:
        raised = unraisable.exc_value
        if raised is None or raised is self.shown or not self._is_of_callback(unraisable):
            self._before(unraisable)
        elif self.raised is None:
            self.raised = raised

    def _is_of_callback(self, unraisable: UnraisableHookArgs) -> bool:
        if threading.get_ident() != self._thread:
            return False
        return any(has_left(each, unraisable) for each in self._callbacks)


def has_left(callback: Callable[..., Any], unraisable: UnraisableHookArgs) -> bool:
    """Whether an exception is one that ctypes shows because it left this callback."""
    # From Python 3.13 on only the sentence names the function.
    there, sentence = unraisable.object, unraisable.err_msg or ""
    return callback is there or (there is None and repr(callback) in sentence)
