"""Hearing of changes: what a callback receives, and how long it is called."""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Callable
from ctypes import POINTER, byref
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from ._c import notices, observation
from ._c.status import kept_error
from ._errors import KeptError
from ._exit import calling_back
from ._json import JSON, decode
from ._key import Key

if TYPE_CHECKING:
    from ._store import Store

T = TypeVar("T")

log = logging.getLogger("kept")
# Without a handler of the program's own, an error is shown once, by sys.unraisablehook.
log.addHandler(logging.NullHandler())


class Origin(Enum):
    """Who made a change. In C: `KEPT_ORIGIN_…`. In Swift: `Notice.Origin`."""

    STORE = notices.KEPT_ORIGIN_STORE
    """The store that the subscription was made on."""
    PROCESS = notices.KEPT_ORIGIN_PROCESS
    """Another handle in this process."""
    OTHER = notices.KEPT_ORIGIN_OTHER
    """Another process."""
    INITIAL = notices.KEPT_ORIGIN_INITIAL
    """Nobody now: the value at the time of subscribing."""


@dataclass(frozen=True, repr=False)
class Change(Generic[T]):
    """One key's old and new value in one commit. In Swift: `Change`."""

    key: str
    revision: int
    """The revision of the store that the change belongs to."""
    origin: Origin
    _old: JSON
    _new: JSON
    _declared: Key[T] | None = None

    @property
    def old(self) -> T | None:
        """The value before, or the key's default, or None. `WrongTypeError` if it is not of the key's type."""
        return self._typed(self._old)

    @property
    def new(self) -> T | None:
        """The value after, or when it was removed the key's default, or None. `WrongTypeError` as `old`."""
        return self._typed(self._new)

    def __repr__(self) -> str:
        return f"Change({self.key!r}, {self._old!r} → {self._new!r}, revision={self.revision}, {self.origin})"

    def _typed(self, value: Any) -> T | None:
        if self._declared is None:
            return value  # type: ignore[no-any-return]
        if value is None:
            return self._declared.default if self._declared.has_default else None
        return self._declared._from_json(value)


@dataclass(frozen=True)
class Notice:
    """One commit as a subscription to a prefix hears of it. In C: `kept_notice`. In Swift: `Notice`."""

    revision: int
    """The revision of the store that the notice leads up to."""
    origin: Origin
    changes: tuple[Change[JSON], ...]


class Subscription:
    """A callback that is called until `cancel`, the end of a `with` block, or the end of the store.

    It keeps its store open; dropping it does not end it. Calling it calls the callback, so that a decorated function
    stays one. In C: `kept_subscription`. In Swift: `Subscription`.
    """

    def __init__(self, callback: Callable[[Any], Any]) -> None:
        self._callback = callback
        self._pointer: observation.SubscriptionPointer = POINTER(observation.kept_subscription)()
        functools.update_wrapper(self, callback, updated=())

    def cancel(self) -> None:
        """Ends the subscription. When it returns no further call begins; one that runs is waited for, unless this is
        called from inside it. Any thread; the second time does nothing. In C: `kept_unobserve`."""
        observation.kept_unobserve(self._pointer)

    def __call__(self, subject: Any) -> Any:
        return self._callback(subject)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


@dataclass(frozen=True)
class _Delivery:
    """What C needs while a subscription lives: a delivery is in `_deliveries` until C releases it."""

    store: Store
    callback: Callable[[Any], Any]
    key: str | Key[Any] | None


# The context that C passes back is the delivery's number here.
_deliveries: dict[int, _Delivery] = {}
_numbers = itertools.count(1)


def _deliver(number: int, pointer: observation.NoticePointer) -> None:
    try:
        delivery = _deliveries[number]
        notice = _notice(pointer, delivery.key if isinstance(delivery.key, Key) else None)
        if delivery.key is None:
            delivery.callback(notice)
        else:
            for change in notice.changes:
                delivery.callback(change)
    except BaseException as error:
        log.exception("a callback failed: %s", error)
        # Here ctypes hands it to sys.unraisablehook. It never reaches C.
        raise


def _release(number: int) -> None:
    _deliveries.pop(number, None)


# Made once, and alive for as long as the module: C never holds a callback that could be collected.
_c_deliver = observation.kept_notice_callback(_deliver)
_c_release = observation.kept_release(_release)


def _notice(pointer: observation.NoticePointer, declared: Key[Any] | None) -> Notice:
    revision, origin = notices.kept_notice_revision(pointer), Origin(notices.kept_notice_origin(pointer))

    def change(index: int) -> Change[Any]:
        key = notices.kept_notice_key(pointer, index).decode("utf-8")
        texts = notices.kept_notice_old_json(pointer, index), notices.kept_notice_new_json(pointer, index)
        old, new = (None if text is None else decode(text, key) for text in texts)
        return Change(key, revision, origin, old, new, declared)

    return Notice(revision, origin, tuple(map(change, range(notices.kept_notice_count(pointer)))))


def subscribe(
    store: Store, callback: Callable[[Any], Any], key: str | Key[Any] | None, encoded: bytes, initial: bool
) -> Subscription:
    """Subscribes to a key, or where it is None to the prefix `encoded`."""
    subscription, number = Subscription(callback), next(_numbers)
    flags = observation.KEPT_OBSERVE_PREFIX if key is None else observation.KEPT_OBSERVE_KEY
    flags |= observation.KEPT_OBSERVE_INITIAL if initial else 0
    pointer, error = byref(subscription._pointer), kept_error()
    _deliveries[number] = _Delivery(store, callback, key)
    try:
        with calling_back():
            observation.kept_observe(store._handle, encoded, flags, _c_deliver, number, _c_release, pointer, error)
    except KeptError:
        # It was refused, and C releases only what it has accepted.
        _deliveries.pop(number, None)
        raise
    return subscription
