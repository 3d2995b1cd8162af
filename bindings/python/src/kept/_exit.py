"""The end of the interpreter: no callback runs once it begins to shut down.

If a thread of the library called into a finished interpreter, Python would end the thread in the middle of library
code. So all stores are closed while Python still runs. From then on, calls that may call back or open a store are
refused, also on daemon threads, which outlive everything else.

Closing waits for running callbacks, and a callback may wait for anything. So if callbacks are possible, stores are
closed on the closing thread. At the end, Ctrl-C can then end the wait of the main thread, which runs no signal handlers
inside C. When a store is dropped, the garbage collector may be running on any thread, which may hold what the callback
waits for.
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
from _queue import SimpleQueue  # queue would import threading

from ._c.store import kept_close
from ._errors import ClosedError
from ._typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._c.store import StorePointer
    from ._interrupts import CallbackErrors

T = TypeVar("T")


class _Gate:
    """Knows the calls that may call back, each by the thread that makes it, and holds the stores that are open.

    It has no lock, which Ctrl-C could leave locked. A call is registered before it checks whether Python ends, and the
    end sets `closing` before it looks for calls."""

    def __init__(self) -> None:
        self.calls: dict[object, int] = {}
        self.closing = False
        # Receives an item for each call that returns after `closing` was set.
        self.ended: SimpleQueue[None] = SimpleQueue()
        # By number and not by store: a handle outlives its Python object, and may be closed twice.
        self.handles: dict[int, StorePointer] = {}
        # The queue of the closing thread; None if there is no such thread.
        self.closing_thread: SimpleQueue[Callable[[], object]] | None = None


_gate = _Gate()


def calling_back(function: Callable[..., T], *arguments: Any, errors: CallbackErrors | None = None) -> T:
    """Makes a call during which the library may call back or open a store, and raises what the callbacks of `errors`
    have raised. `ClosedError` once Python ends."""
    gate = _gate  # if a callback forks, the child has another one
    token = object()
    try:
        gate.calls[token] = _thread.get_ident()
        if gate.closing:
            raise ClosedError("Python is shutting down, and Kept has closed its stores")
        return function(*arguments) if errors is None else errors.during(function, *arguments)
    finally:
        gate.calls.pop(token, None)
        if gate.closing:
            gate.ended.put(None)


def opened(handle: StorePointer) -> None:
    """Remembers an open store. Called inside `calling_back`; the handle's `id` is the number for `close`."""
    _gate.handles[id(handle)] = handle


def close(number: int) -> None:
    """Closes a store. A second call waits for the first, and does nothing."""
    if handle := _gate.handles.get(number):
        # It stays here until it is closed: the end of Python waits for it.
        kept_close(handle)
        _gate.handles.pop(number, None)


def expect_callbacks() -> None:
    """Called before the first callback on the library's thread is possible. Starts the closing thread, since Python
    3.12 starts no threads at its end."""
    # Here, since a thread of the library that imported it first would count as the main one.
    import threading  # noqa: F401

    if _gate.closing_thread is None:
        queue: SimpleQueue[Callable[[], object]] = SimpleQueue()
        try:
            _thread.start_new_thread(_run, (queue,))
        except RuntimeError:
            return  # no more threads: closing waits on the calling thread
        # Two threads that come here at once start two closing threads, and one is never used.
        _gate.closing_thread = queue


def later(action: Callable[[], object]) -> None:
    """Runs an action that may wait on the closing thread, or here if there is none."""
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
            import threading

            # A handler of the log may have raised it. The thread must go on with the queue.
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), None)))


def _close_for_good(number: int) -> None:
    """Closes a store at the end, and waits. After Ctrl-C, the closing thread finishes it."""
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
    # Close before waiting: a running callback may itself wait for something that closing causes.
    for number in list(_gate.handles):
        _close_for_good(number)
    # This thread is in no call. If it is registered, an interrupt has left the entry.
    thread = _thread.get_ident()
    while any(each != thread for each in list(_gate.calls.values())):
        _gate.ended.get()
    # A call that was running may have opened another store.
    for number in list(_gate.handles):
        _close_for_good(number)


def _forget_threads() -> None:
    """In a forked child, the other threads and their calls are gone. The stores stay usable; closing one here does not
    close the parent's."""
    global _gate
    handles = _gate.handles
    _gate = _Gate()
    _gate.handles = handles


atexit.register(_end)
os.register_at_fork(after_in_child=_forget_threads)
