"""Problems that no call can return, such as a layer's file that is broken or a value in it that does not fit: they are
logged.

Any C call may report, and few do, so calls do not prepare for a Ctrl-C at the beginning of a report, before its `try`.
The callback prepares itself: when ctypes makes its two arguments, it calls built-in functions that replace
`sys.unraisablehook`. Python runs no signal handlers in between, since it runs no bytecode.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from ctypes import CFUNCTYPE, POINTER, c_void_p, cast
from itertools import count, repeat

from ._c import store
from ._c.status import error_of, interrupts, kept_error
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from logging import Logger
    from sys import UnraisableHookArgs
    from typing import Any

# The context that C passes back is a number, which identifies the location of a store.
_locations: dict[int, str] = {}
_numbers = count(1)


def log() -> Logger | None:
    """The package's logger, which is silent unless the program configures logging. None if the program has not imported
    `logging`."""
    if "logging" not in sys.modules:
        return None
    import logging

    found = logging.getLogger("kept")
    if not found.handlers:
        found.addHandler(logging.NullHandler())
    return found


def reporting(location: str) -> int:
    """A context for the reports of a store that will be opened."""
    number = next(_numbers)
    _locations[number] = location
    return number


def forget(number: int) -> None:
    """Frees a context. No report uses it any more."""
    _locations.pop(number, None)


def _warn(number: int, pointer: Any) -> None:
    if (logger := log()) is None:
        return
    error = error_of(pointer[0], None)
    location = _locations.get(number, "a store")
    # For handlers that want more than the sentence.
    logger.warning("%s: %s", location, error, extra={"kept_error": error, "kept_report": number})


# The earlier values of sys.unraisablehook: one for each report that has begun and not restored it.
_hooks: list[Callable[[UnraisableHookArgs], Any]] = []


def report(context: c_void_p, pointer: Any) -> None:
    """Called by C."""
    try:
        # As in `_catch`. These statements make no call, so no signal handler runs.
        if sys.unraisablehook is _catch:
            sys.unraisablehook = _hooks[-1]
        del _hooks[-1]
        _warn(context.value or 0, pointer)
    except Exception:
        # ctypes passes it to sys.unraisablehook.
        raise
    except BaseException as interrupt:
        if sys._getframe().f_back is None:
            # A thread of the library, where no call can raise it. In `interrupts`, it would be raised by a call of a
            # later thread with the same number.
            raise
        interrupts[get_ident()] = interrupt


def _catch(unraisable: UnraisableHookArgs) -> None:
    """The hook between the making of a report's arguments and its `try`. An exception that leaves the report there is
    raised by the C call that has reported."""
    if not has_left(report, unraisable) or _is_past_its_beginning(unraisable):
        (_hooks[0] if _hooks else sys.__unraisablehook__)(unraisable)
        return
    if sys.unraisablehook is _catch:
        sys.unraisablehook = _hooks[-1]
    del _hooks[-1]
    if sys._getframe().f_back is None or unraisable.exc_value is None:
        sys.unraisablehook(unraisable)
    else:
        interrupts[get_ident()] = unraisable.exc_value


def has_left(callback: Callable[..., Any], unraisable: UnraisableHookArgs) -> bool:
    """Whether ctypes reports this exception because it left this callback."""
    # From Python 3.13 on only the sentence names the function.
    there, sentence = unraisable.object, unraisable.err_msg or ""
    return callback is there or (there is None and repr(callback) in sentence)


def _is_past_its_beginning(unraisable: UnraisableHookArgs) -> bool:
    """Whether a report has raised this after it restored the hook: then it is another report, on another thread."""
    trace = unraisable.exc_traceback
    if trace is None or trace.tb_frame.f_code is not report.__code__:
        return False
    return trace.tb_lineno != report.__code__.co_firstlineno


# Two built-in functions without arguments that return None, as an `__init__` must: the next step of an endless map.
_save_hook = map(_hooks.append, map(getattr, repeat(sys), repeat("unraisablehook"))).__next__
_put_hook = map(setattr, repeat(sys), repeat("unraisablehook"), repeat(_catch)).__next__

# ctypes makes an argument of such a class by calling it.
_Context = type("_Context", (c_void_p,), {"__init__": staticmethod(_save_hook)})
_Error = type("_Error", (POINTER(kept_error),), {"_type_": kept_error, "__init__": staticmethod(_put_hook)})

# Lives as long as the module, so C never holds a callback that was collected.
c_report = cast(CFUNCTYPE(None, _Context, _Error)(report), store.kept_report_callback)
