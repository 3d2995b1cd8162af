"""Observation by callbacks: which callback is called, and until when."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

from ._c import notices, observation
from ._c.status import kept_error
from ._c.store import StorePointer
from ._errors import ClosedError, FailedError
from ._exit import calling_back, expect_callbacks
from ._interrupts import CallbackErrors
from ._key import Key
from ._notices import subjects
from ._reports import log


class Subscription:
    """A callback that is called until `cancel`, the end of a `with` block, or the end of the store.

    It keeps its store open; dropping it does not end it. Calling it calls the callback, so a decorated function can
    still be called. When it ends, or when its last call returns, it releases the callback and the store; calling it is
    a `ClosedError` then. In C: `kept_subscription`. In Swift: `Subscription`.
    """

    def __init__(self, delivery: Delivery) -> None:
        # A weak reference: when C releases the delivery, this object keeps neither the callback nor the store alive.
        self._delivery = weakref.ref(delivery)
        self._pointer: observation.SubscriptionPointer = POINTER(observation.kept_subscription)()
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(delivery.callback, name):
                setattr(self, name, getattr(delivery.callback, name))

    def cancel(self) -> None:
        """Ends the subscription. No call begins after it returns. It waits for a running call, unless it is called from
        inside that call, and raises an interrupt only after the wait. Any thread; the second time does nothing.
        In C: `kept_unobserve`."""
        observation.kept_unobserve(self._pointer)

    def __call__(self, subject: Any) -> Any:
        delivery = self._delivery()
        if delivery is None or delivery.callback is None:
            raise ClosedError("the subscription has ended and no longer holds its callback; call the function directly")
        return delivery.callback(subject)

    @property
    def __wrapped__(self) -> Callable[[Any], Any]:
        delivery = self._delivery()
        if delivery is None or delivery.callback is None:
            raise AttributeError("__wrapped__")
        return delivery.callback

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


class Observable(Protocol):
    """A store that can be observed. It stays open while an observer holds it."""

    _handle: StorePointer

    @property
    def _is_open(self) -> bool:
        """Whether it has not been closed."""

    def close(self) -> None:
        """Closes it, which ends its observers."""


class Beginning(CallbackErrors):
    """The C call that subscribes, during which an initial notice is delivered."""

    def __init__(self) -> None:
        super().__init__(_deliver)
        self.is_done = False
        """Whether the initial notice was delivered to the callback."""


@dataclass(frozen=True)
class Delivery:
    """The objects that C needs during a subscription. They are in `_deliveries` until C releases them."""

    store: Observable
    callback: Callable[[Any], Any] | None
    """None if notices are not delivered but taken by `kept_subscription_take`."""
    key: str | Key[Any] | None
    """None for a prefix."""
    beginning: Beginning = field(default_factory=Beginning)


# The context that C passes back is the delivery's number here.
_deliveries: dict[int, Delivery] = {}
_numbers = itertools.count(1)


def _deliver(number: int, pointer: observation.NoticePointer) -> None:
    delivery, beginning = _deliveries[number], None
    try:
        if notices.kept_notice_origin(pointer) == notices.KEPT_ORIGIN_INITIAL:
            beginning = delivery.beginning
        delivered = subjects(pointer, delivery.key)
        if delivery.callback is not None:
            _pass_on(delivery.callback, delivered, beginning)
    except BaseException as error:
        if beginning is None or error is beginning.shown:
            # ctypes passes it to sys.unraisablehook. It never reaches C.
            raise
        # An interrupt on the thread that subscribes: the caller gets it.
        beginning.raised = error


def _pass_on(callback: Callable[[Any], Any], delivered: Sequence[Any], beginning: Beginning | None) -> None:
    try:
        for subject in delivered:
            callback(subject)
    except BaseException as error:
        if beginning is not None:
            if not isinstance(error, Exception):
                raise
            beginning.shown = error
            beginning.is_done = True
        # Unless the program has a handler, the log is silent, and the error is shown once.
        if logger := log():
            logger.exception("a callback failed: %s", error)
        raise
    if beginning is not None:
        beginning.is_done = True


# Lives as long as the module, so C never holds a callback that was collected.
_c_deliver = observation.kept_notice_callback(_deliver)
# A built-in method: an interrupt could end a Python function before it has done anything.
_c_release = observation.kept_release(_deliveries.__delitem__)


def begin(delivery: Delivery, encoded: bytes, initial: bool, subscription: observation.SubscriptionPointer) -> None:
    """Subscribes to a key or a prefix. `subscription` is filled in before the first call."""
    number, beginning, is_called = next(_numbers), delivery.beginning, delivery.callback is not None
    flags = observation.KEPT_OBSERVE_PREFIX if delivery.key is None else observation.KEPT_OBSERVE_KEY
    flags |= observation.KEPT_OBSERVE_INITIAL if initial else 0
    flags |= 0 if is_called else observation.KEPT_OBSERVE_POLLED
    c_deliver = _c_deliver if is_called else observation.kept_notice_callback()
    if is_called:
        expect_callbacks()
    try:
        _deliveries[number] = delivery
        calling_back(
            *(observation.kept_observe, delivery.store._handle, encoded, flags, c_deliver, number, _c_release),
            *(byref(subscription), kept_error()),
            errors=beginning,
        )
        if initial and is_called and not beginning.is_done and delivery.store._is_open:
            raise FailedError("observe() was interrupted before the initial notice was delivered; observe again")
    except BaseException:
        # C has refused it, or the caller will not get the subscription. C releases only what it has accepted.
        if subscription:
            observation.kept_unobserve(subscription)
        else:
            _deliveries.pop(number, None)
        raise


def subscribe(
    store: Observable, callback: Callable[[Any], Any], key: str | Key[Any] | None, encoded: bytes, initial: bool
) -> Subscription:
    """Subscribes a callback to a key, or to the prefix `encoded` if `key` is None."""
    delivery = Delivery(store, callback, key)
    subscription = Subscription(delivery)
    begin(delivery, encoded, initial, subscription._pointer)
    return subscription
