"""The end of the interpreter: nothing is called in it any more once it begins to go.

A thread of the library that called into a finished interpreter would be ended by it, in the middle of library code. So
all stores are closed while Python still runs, and what might call back or open another store is refused from then on,
also to daemon threads, which run longer than everything else.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ._c.store import StorePointer, kept_close
from ._errors import ClosedError


class _Gate:
    """Counts the calls that may call back, and holds the stores that are open."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.calls = 0
        self.closing = False
        # By number and not by store: a handle outlives its Python object, and closing twice is fine.
        self.handles: dict[int, StorePointer] = {}


_gate = _Gate()


@contextmanager
def calling_back() -> Iterator[None]:
    """Surrounds a call during which the library may call Python or make a store. `ClosedError` once Python ends."""
    gate = _gate  # a callback that forks finds another one in the child when it returns
    with gate.changed:
        if gate.closing:
            raise ClosedError("Python is about to end, and Kept has closed its stores")
        gate.calls += 1
    try:
        yield
    finally:
        with gate.changed:
            gate.calls -= 1
            gate.changed.notify_all()


def opened(handle: StorePointer) -> int:
    """Remembers an open store. Called inside `calling_back`; the number is for `close`."""
    number = id(handle)
    _gate.handles[number] = handle
    return number


def close(number: int) -> None:
    """Closes a store. The second time does nothing."""
    if handle := _gate.handles.pop(number, None):
        kept_close(handle)


def _end() -> None:
    with _gate.changed:
        _gate.closing = True
    # Closing before waiting: a callback that is running may itself wait for something that only the end will bring.
    for number in list(_gate.handles):
        close(number)
    with _gate.changed:
        _gate.changed.wait_for(lambda: _gate.calls == 0)
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
