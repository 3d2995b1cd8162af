"""`async for change in settings.changes(...)`: changes at the pace of a task, in any event loop.

Nothing is buffered in Python. The library queues the notices of each iterator, merges them if it must, and makes a
descriptor readable. A waiting task watches the descriptor, and then takes one notice. So a task that is cancelled while
it waits has taken nothing, a slow task gets merged changes, and the loop watches the descriptor only while tasks wait.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from ctypes import POINTER, byref, c_int
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from ._c import observation
from ._c.status import kept_error
from ._errors import ClosedError, FailedError, ForkedError
from ._key import Key
from ._notices import subjects
from ._observation import Delivery, Observable, begin

if TYPE_CHECKING:
    from asyncio import Future

N = TypeVar("N", covariant=True)

NO_NOTICE = POINTER(observation.kept_notice)()


class Changes(Generic[N]):
    """The changes of a key, or the notices of a prefix, for `async for`; made by `Store.changes`.

    It begins with the first change after it was made, waits for the next one each time, and ends when the store is
    closed. If tasks share an iterator, each change goes to one of them: a task that needs all changes needs its own.
    End it by `aclose`, by the end of an `async with` block, or by dropping it. It keeps its store open.
    In Swift: `Store.changes(of:)`.
    """

    def __init__(self, store: Observable, key: str | Key[Any] | None, encoded: bytes, initial: bool) -> None:
        """Subscribes; programs call `Store.changes`."""
        self._key = key
        # The notice of the library that is being read, and the items read from it and not returned yet. An interrupt
        # between the two leaves the notice, which is read again.
        self._notice = (POINTER(observation.kept_notice) * 1)()
        self._taken: deque[Any] = deque()
        self._pointer: observation.SubscriptionPointer = POINTER(observation.kept_subscription)()
        begin(Delivery(store, None, key), encoded, initial, self._pointer)
        self._unobserve = weakref.finalize(self, observation.kept_unobserve, self._pointer)
        self._unobserve.atexit = False  # _exit sees to that
        self._descriptor: _Descriptor | None = _Descriptor(self._pointer)
        self._process = os.getpid()
        # The waiting tasks. They belong to one loop, which watches the descriptor while there are any.
        self._waiters: list[Future[None]] = []

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> N:
        """Waits for the next one. A task that is cancelled while it waits has taken nothing."""
        from asyncio import sleep

        # Lets other tasks run, even if there is always a notice to take.
        await sleep(0)
        while not self._take():
            await self._readable()
        return self._given()

    async def aclose(self) -> None:
        """Ends the iteration, also for tasks that wait in it. The second call does nothing."""
        self._unobserve()
        self._taken.clear()
        notice = self._pointer_to_notice()
        self._notice[0] = NO_NOTICE
        observation.kept_notice_free(notice)
        self._descriptor = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _take(self) -> bool:
        """Takes one notice from the library. Returns whether there was one."""
        if os.getpid() != self._process:
            raise ForkedError("these changes belong to the parent of this process; call settings.changes() again")
        if self._taken:
            return True
        if not self._notice[0]:
            try:
                observation.kept_subscription_take(self._pointer, self._notice, kept_error())
            except ClosedError:
                self._descriptor = None
                raise StopAsyncIteration from None
            if not self._notice[0]:
                return False
        notice = self._pointer_to_notice()
        taken = deque(subjects(notice, self._key))
        # No call is between these two, so that no signal is.
        self._taken = taken
        self._notice[0] = NO_NOTICE
        observation.kept_notice_free(notice)
        return bool(taken)

    def _pointer_to_notice(self) -> observation.NoticePointer:
        """A copy: what indexing gives is a part of the array, and changes with it."""
        return type(NO_NOTICE).from_buffer_copy(self._notice)

    def _given(self) -> N:
        return self._taken.popleft()  # type: ignore[no-any-return]

    async def _readable(self) -> None:
        """Returns when there may be a notice, or when the iteration has ended."""
        # Importing kept need not import asyncio, which a program that comes here has done already.
        from asyncio import get_running_loop

        descriptor, loop = self._descriptor, get_running_loop()
        if descriptor is None:
            return
        if not self._waiters:
            loop.add_reader(descriptor, self._wake)
        elif self._waiters[0].get_loop() is not loop:
            raise RuntimeError(
                "another event loop is waiting for these changes; call settings.changes() once for each loop"
            )
        waiter = loop.create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            self._waiters.remove(waiter)
            # A loop that a child has inherited is still the parent's: both would lose the reader.
            if not self._waiters and os.getpid() == self._process:
                loop.remove_reader(descriptor)

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


class _Descriptor:
    """A descriptor that is readable when there is a notice. It is a duplicate, so that no loop watches a number that
    the library has closed; it is closed with the last reference to this object."""

    def __init__(self, subscription: observation.SubscriptionPointer) -> None:
        number = c_int()
        observation.kept_subscription_fd(subscription, byref(number), kept_error())
        try:
            self._number = os.dup(number.value)
            weakref.finalize(self, os.close, self._number).atexit = False
        except OSError as error:
            raise FailedError(f"changes() cannot duplicate a file descriptor: {error}") from None
        finally:
            # If another thread has closed the store, the number may be another file's. Then this raises a ClosedError.
            observation.kept_subscription_fd(subscription, byref(number), kept_error())

    def fileno(self) -> int:
        return self._number
