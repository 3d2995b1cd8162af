"""Hearing of changes: who is called, and for how long."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable
from ctypes import POINTER, byref
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ._c import observation
from ._c.status import kept_error
from ._errors import ClosedError, KeptError
from ._exit import calling_back
from ._key import Key
from ._notices import subjects
from ._reports import log

if TYPE_CHECKING:
    from ._store import Store



class Subscription:
    """A callback that is called until `cancel`, the end of a `with` block, or the end of the store.

    It keeps its store open; dropping it does not end it. Calling it calls the callback, so that a decorated function
    stays one. When it ends, or when its last call returns, it lets go of the callback and of the store; calling it is
    a `ClosedError` then. In C: `kept_subscription`. In Swift: `Subscription`.
    """

    def __init__(self, callback: Callable[[Any], Any]) -> None:
        self._callback: Callable[[Any], Any] | None = callback
        self._pointer: observation.SubscriptionPointer = POINTER(observation.kept_subscription)()
        functools.update_wrapper(self, callback, updated=())

    def cancel(self) -> None:
        """Ends the subscription. When it returns no further call begins; one that runs is waited for, unless this is
        called from inside it. Any thread; the second time does nothing. In C: `kept_unobserve`."""
        observation.kept_unobserve(self._pointer)

    def __call__(self, subject: Any) -> Any:
        callback = self._callback
        if callback is None:
            raise ClosedError("the subscription has ended and holds no callback; call the function itself")
        return callback(subject)

    def _let_go(self) -> None:
        """It has ended: what the callback holds is not held by its token."""
        self._callback = None
        self.__dict__.pop("__wrapped__", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


@dataclass(frozen=True)
class Delivery:
    """What C needs while a subscription lives: it is in `_deliveries` until C releases it."""

    store: Store
    callback: Callable[[Any], Any]
    key: str | Key[Any] | None
    """None for a prefix."""
    is_polled: bool = False
    """Called only when it asks. Then a failure, such as Ctrl-C, is given to the callback, which passes it on."""
    token: weakref.ref[Subscription] | None = None
    """What holds the callback, too, until it ends."""


# The context that C passes back is the delivery's number here.
_deliveries: dict[int, Delivery] = {}
_numbers = itertools.count(1)


def _deliver(number: int, pointer: observation.NoticePointer) -> None:
    delivery = _deliveries[number]
    try:
        for subject in subjects(pointer, delivery.key):
            delivery.callback(subject)
    except BaseException as error:
        if delivery.is_polled:
            delivery.callback(error)
            return
        # Without a handler of the program's own the log is silent, and the error is shown once.
        log().exception("a callback failed: %s", error)
        # Here ctypes hands it to sys.unraisablehook. It never reaches C.
        raise


def _release(number: int) -> None:
    delivery = _deliveries.pop(number, None)
    if delivery and delivery.token and (token := delivery.token()):
        token._let_go()


# Made once, and alive for as long as the module: C never holds a callback that could be collected.
_c_deliver = observation.kept_notice_callback(_deliver)
_c_release = observation.kept_release(_release)


def begin(delivery: Delivery, encoded: bytes, initial: bool, subscription: observation.SubscriptionPointer) -> None:
    """Subscribes to a key or a prefix. `subscription` is filled in before the first call."""
    number = next(_numbers)
    flags = observation.KEPT_OBSERVE_PREFIX if delivery.key is None else observation.KEPT_OBSERVE_KEY
    flags |= observation.KEPT_OBSERVE_INITIAL if initial else 0
    flags |= observation.KEPT_OBSERVE_POLLED if delivery.is_polled else 0
    pointer, error = byref(subscription), kept_error()
    _deliveries[number] = delivery
    try:
        with calling_back():
            handle = delivery.store._handle
            observation.kept_observe(handle, encoded, flags, _c_deliver, number, _c_release, pointer, error)
    except KeptError:
        # It was refused, and C releases only what it has accepted.
        _deliveries.pop(number, None)
        raise


def subscribe(
    store: Store, callback: Callable[[Any], Any], key: str | Key[Any] | None, encoded: bytes, initial: bool
) -> Subscription:
    """Subscribes a callback to a key, or where it is None to the prefix `encoded`."""
    subscription = Subscription(callback)
    begin(Delivery(store, callback, key, token=weakref.ref(subscription)), encoded, initial, subscription._pointer)
    return subscription
