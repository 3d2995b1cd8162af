"""What no call can return: a layer's file that is broken, a value in a layer that does not fit. It goes to the log."""

from __future__ import annotations

import itertools
import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from ._c import store
from ._c.status import error_of, interrupts

if TYPE_CHECKING:
    from logging import Logger

# The context that C passes back is a number here; what it stands for is the location of a store.
_locations: dict[int, str] = {}
_numbers = itertools.count(1)


def log() -> Logger:
    """The package's, which is silent unless the program says where its log goes. Most programs never need it."""
    import logging

    found = logging.getLogger("kept")
    if not found.handlers:
        found.addHandler(logging.NullHandler())
    return found


def reporting(location: str) -> int:
    """A context for the reports of a store about to be opened."""
    number = next(_numbers)
    _locations[number] = location
    return number


def forget(number: int) -> None:
    """Nothing comes for a context any more."""
    _locations.pop(number, None)


def report(number: int, pointer: Any) -> None:
    """What C calls."""
    try:
        error = error_of(pointer[0], None)
        location = _locations.get(number, "a store")
        # For handlers that want more than the sentence.
        log().warning("%s: %s", location, error, extra={"kept_error": error, "kept_report": number})
    except Exception:
        # Here ctypes hands it to sys.unraisablehook.
        raise
    except BaseException as interrupt:
        if sys._getframe().f_back is None:
            # The library's own thread, and no call that could raise it. Left there, it would be raised by a call of
            # a later thread with the same number.
            raise
        interrupts[get_ident()] = interrupt


# Made once, and alive for as long as the module: C never holds a callback that could be collected.
c_report = store.kept_report_callback(report)
