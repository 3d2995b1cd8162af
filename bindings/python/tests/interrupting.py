"""Interrupts for tests: an exception out of any bytecode of Python, as a signal's handler raises them."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import kept

_PACKAGE = os.path.dirname(kept.__file__)
_TESTS = os.path.dirname(__file__)

# Python looks for signals as a function begins, after calls and in loops, and not at each bytecode. These rely on
# that where they put things back; so they are interrupted as they begin, and by real signals.
_SAFE = {"calling_back", "during", "report"}


class Interrupt(KeyboardInterrupt):
    """The exception that is raised."""


def interrupted(call: Callable[[], Any], number: int) -> tuple[bool, Any]:
    """Makes a call that is interrupted at the bytecode with that number, of those that the package and the tests run
    in it; entering a function counts as one. Whether it was, and what came out: a result or an exception."""
    left = number
    was_raised = False

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left, was_raised
        code = frame.f_code
        if os.path.dirname(code.co_filename) not in (_PACKAGE, _TESTS) or code is calling.__code__:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = code.co_name not in _SAFE, False
        if event in ("call", "opcode"):
            left -= 1
            if left == 0:
                was_raised = True
                raise Interrupt
        return trace

    def calling() -> Iterator[Any]:
        # What a tracer raises inside `except` stays the exception that is being handled; so it ends with the generator.
        yield call()

    try:
        sys.settrace(trace)
        result: Any = next(calling())
        sys.settrace(None)
    except BaseException as raised:
        sys.settrace(None)
        # Its frames would keep alive what the call has left.
        result = raised.with_traceback(None)
    return was_raised, result


@contextmanager
def alarms() -> Iterator[Callable[[Callable[[], Any], float], tuple[bool, Any]]]:
    """Gives a function that makes a call and interrupts it by a real signal after so many seconds; it returns as
    `interrupted` does."""
    is_armed = was_raised = False

    def raise_once(_: int, __: FrameType | None) -> None:
        nonlocal is_armed, was_raised
        if is_armed:
            is_armed, was_raised = False, True
            raise Interrupt

    def interrupted_after(call: Callable[[], Any], seconds: float) -> tuple[bool, Any]:
        nonlocal is_armed, was_raised
        was_raised = False
        # An exception raised inside a callback of the collector, such as hypothesis has, goes nowhere.
        gc.disable()
        try:
            is_armed = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            result: Any = call()
            is_armed = False
        except BaseException as raised:
            is_armed = False
            result = raised.with_traceback(None)
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        return was_raised, result

    before = signal.signal(signal.SIGALRM, raise_once)
    try:
        yield interrupted_after
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
