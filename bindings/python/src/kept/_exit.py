"""The end of the interpreter: nothing is called in it any more once it begins to go.

A thread of the library that called into a finished interpreter would be ended by it, in the middle of library code. So
all stores are closed while Python still runs, and what might call back or open another store is refused from then on,
also to daemon threads, which run longer than everything else.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from ._c.store import StorePointer, kept_close
from ._errors import ClosedError
from ._interrupts import Heard

T = TypeVar("T")


class _Gate:
    """Knows the calls that may call back, each by the thread that makes it, and holds the stores that are open.

    It has no lock, which Ctrl-C could leave taken: a call is entered before it looks whether Python ends, and who ends
    it says so before looking for calls."""

    def __init__(self) -> None:
        self.calls: dict[object, int] = {}
        self.closing = False
        # Something is put here whenever a call ends while Python does.
        self.ended: SimpleQueue[None] = SimpleQueue()
        # By number and not by store: a handle outlives its Python object, and closing twice is fine.
        self.handles: dict[int, StorePointer] = {}


_gate = _Gate()


def calling_back(function: Callable[..., T], *arguments: Any, heard: Heard | None = None) -> T:
    """Makes a call during which the library may call Python or make a store, and raises what the callbacks of `heard`
    have raised. `ClosedError` once Python ends."""
    gate = _gate  # a callback that forks finds another one in the child when it returns
    token = object()
    try:
        gate.calls[token] = threading.get_ident()
        if gate.closing:
            raise ClosedError("Python is about to end, and Kept has closed its stores")
        return function(*arguments) if heard is None else heard.during(function, *arguments)
    finally:
        gate.calls.pop(token, None)
        if gate.closing:
            gate.ended.put(None)


def opened(handle: StorePointer) -> None:
    """Remembers an open store. Called inside `calling_back`; the handle's `id` is the number for `close`."""
    _gate.handles[id(handle)] = handle


def close(number: int) -> None:
    """Closes a store. The second time does nothing."""
    if handle := _gate.handles.pop(number, None):
        kept_close(handle)


def _end() -> None:
    _gate.closing = True
    # Closing before waiting: a callback that is running may itself wait for something that only the end will bring.
    for number in list(_gate.handles):
        close(number)
    # This thread is in no call: what it seems to be in was left by an interrupt.
    thread = threading.get_ident()
    while any(each != thread for each in list(_gate.calls.values())):
        _gate.ended.get()
    # A call that was under way may have opened one more.
    for number in list(_gate.handles):
        close(number)


def _forget_threads() -> None:
    """In a forked child: the other threads are gone with the calls they were in, and perhaps with the lock. The stores
    go on; to close one here leaves the parent's open."""
    global _gate
    handles = _gate.handles
    _gate = _Gate()
    _gate.handles = handles


atexit.register(_end)
os.register_at_fork(after_in_child=_forget_threads)
