"""The end of the interpreter: nothing is called in it any more once it begins to go.

A thread of the library that called into a finished interpreter would be ended by it, in the middle of library code. So
all stores are closed while Python still runs, and what might call back or open another store is refused from then on,
also to daemon threads, which run longer than everything else.

Closing waits for a callback that runs, and a callback may wait for anything. So where something can call back, stores
are closed on a thread of their own: at the end, so that Ctrl-C ends the waiting of the main thread, which runs no
handler of a signal inside C; and when a store is dropped, since the collector runs at any allocation of any thread,
which may hold what the callback waits for.
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
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
        # What the closing thread is to do; None: there is no such thread.
        self.closing_thread: SimpleQueue[Callable[[], object]] | None = None


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
    """Closes a store. The second time waits for the first, and does nothing."""
    if handle := _gate.handles.get(number):
        # Remembered until it is closed: the end of Python waits for it.
        kept_close(handle)
        _gate.handles.pop(number, None)


def expect_callbacks() -> None:
    """Called before something can call back on the library's thread. Starts the closing thread: at its end Python
    starts no other (3.12)."""
    if _gate.closing_thread is None:
        queue: SimpleQueue[Callable[[], object]] = SimpleQueue()
        try:
            _thread.start_new_thread(_run, (queue,))
        except RuntimeError:
            return  # no more threads: then closing waits where it is called
        # Two threads that come here at once have two closing threads, of which one has nothing to do.
        _gate.closing_thread = queue


def later(action: Callable[[], object]) -> None:
    """Lets the closing thread do something that may wait, or does it now where there is none."""
    if _gate.closing_thread is None:
        action()
    else:
        _gate.closing_thread.put(action)


def _run(queue: SimpleQueue[Callable[[], object]]) -> None:
    while True:
        action = queue.get()
        try:
            action()
        except BaseException:
            # A handler of the log may have raised it. No other thread would go on with what is due.
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), None)))


def _close_for_good(number: int) -> None:
    """Closes a store at the end. Ctrl-C leaves it to the closing thread."""
    done: SimpleQueue[None] = SimpleQueue()

    def action() -> None:
        try:
            close(number)
        finally:
            done.put(None)

    later(action)
    done.get()


def _end() -> None:
    _gate.closing = True
    # Closing before waiting: a callback that is running may itself wait for something that only the end will bring.
    for number in list(_gate.handles):
        _close_for_good(number)
    # This thread is in no call: what it seems to be in was left by an interrupt.
    thread = threading.get_ident()
    while any(each != thread for each in list(_gate.calls.values())):
        _gate.ended.get()
    # A call that was under way may have opened one more.
    for number in list(_gate.handles):
        _close_for_good(number)


def _forget_threads() -> None:
    """In a forked child: the other threads are gone with the calls they were in, and perhaps with the lock. The stores
    go on; to close one here leaves the parent's open."""
    global _gate
    handles = _gate.handles
    _gate = _Gate()
    _gate.handles = handles


atexit.register(_end)
os.register_at_fork(after_in_child=_forget_threads)
