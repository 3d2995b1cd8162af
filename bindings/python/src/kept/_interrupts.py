"""Exceptions that leave a callback of C: Ctrl-C may come when a callback begins, before its `try`.

ctypes passes such an exception to `sys.unraisablehook` and drops it. C then reads an undefined result, often that of
the callback before. So no result of a callback is trusted: calls without callbacks are used if there are any
(`kept_list_json`, `kept_subscription_take`), a migration's step confirms that it is done (`KEPT_MIGRATE_CONFIRMED`),
and an exception in a callback is kept here and raised when the call of C has returned.
"""

from __future__ import annotations

import sys
import threading

from ._reports import has_left
from ._typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from sys import UnraisableHookArgs
    from typing import Any

T = TypeVar("T")


class CallbackErrors:
    """The exceptions of the callbacks of one C call."""

    def __init__(self, *callbacks: Callable[..., Any]) -> None:
        self._callbacks = callbacks
        self._thread = threading.get_ident()
        self._before: Callable[[UnraisableHookArgs], Any] = sys.unraisablehook
        self.raised: BaseException | None = None
        """The first exception, which the caller gets. A callback that catches one puts it here."""
        self.shown: BaseException | None = None
        """An exception that is left to `sys.unraisablehook`."""

    def during(self, function: Callable[..., T], *arguments: Any) -> T:
        """Makes the call, and raises the first exception of its callbacks, whatever the call returns.

        The hook belongs to the process, so it is replaced only on the main thread, which runs the signal handlers.
        Between the end of the call and the restoring of the hook, Python checks for no signals."""
        hook, self._before = self._catch, sys.unraisablehook
        try:
            if threading.main_thread().ident == self._thread:
                sys.unraisablehook = hook
            return function(*arguments)
        finally:
            if sys.unraisablehook is hook:
                sys.unraisablehook = self._before
            if self.raised is not None:
                raise self.raised from None

    def _catch(self, unraisable: UnraisableHookArgs) -> None:
        raised = unraisable.exc_value
        if raised is None or raised is self.shown or not self._is_of_callback(unraisable):
            self._before(unraisable)
        elif self.raised is None:
            self.raised = raised

    def _is_of_callback(self, unraisable: UnraisableHookArgs) -> bool:
        if threading.get_ident() != self._thread:
            return False
        return any(has_left(each, unraisable) for each in self._callbacks)
