"""Notices and their changes, as observers receive them: copied out of the library during the callback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._c import notices
from ._c.observation import NoticePointer
from ._key import Key, decoded_value
from ._layers import Layer, layer_of_number
from ._refusal import Known
from ._timestamps import Timestamp
from ._types import JSON

if TYPE_CHECKING:
    from ._refusal import TypedKey

T = TypeVar("T")


class Origin(Enum):
    """The source of a change. In C: `KEPT_ORIGIN_…`. In Swift: `Notice.Origin`."""

    STORE = notices.KEPT_ORIGIN_STORE
    """The store that the subscription was made on."""
    PROCESS = notices.KEPT_ORIGIN_PROCESS
    """Another handle in this process."""
    OTHER = notices.KEPT_ORIGIN_OTHER
    """Another process."""
    INITIAL = notices.KEPT_ORIGIN_INITIAL
    """The subscription itself: this is the value at the time of subscribing."""
    SEVERAL = notices.KEPT_ORIGIN_SEVERAL
    """Several of the others: the observer was too slow to receive each notice, so they were merged."""
    LAYER = notices.KEPT_ORIGIN_LAYER
    """A layer, without a write to the store: a layer's file has changed, or the program has registered defaults."""


@dataclass(frozen=True)
class _Common:
    """The common part of a notice and each of its changes."""

    revisions: tuple[int, int]
    """The first and the last of the revisions that it covers."""
    origin: Origin
    tag: str | None
    """The tag of all its transactions; None if they have different tags, or none."""
    time_ns: int
    """When the last of its transactions was committed, by the wall clock, in nanoseconds since 1970 as `time.time_ns()`
    counts. Order by `revision`, not by time: a clock may be set back. Where no such time is known, this is when the
    values were read or the change was noticed: for `Origin.INITIAL` and `Origin.LAYER`, if `may_have_missed`, and in
    stores without a journal, which are "memory:" and "dir:". In C: `kept_notice_time`. In Swift: `Notice.time`."""
    may_have_missed: bool
    """Whether changes in between may be missing, because the store does not know them any more. It was read again, and
    the values are current."""

    @property
    def revision(self) -> int:
        """The last of its revisions."""
        return self.revisions[1]

    @property
    def time(self) -> datetime:
        """`time_ns` as a date in UTC, a `kept.datetime_ns` if a `datetime` would lose digits."""
        return Timestamp(*divmod(self.time_ns, 1_000_000_000)).to_datetime()


@dataclass(frozen=True, repr=False)
class Change(_Common, Generic[T]):
    """One key's old and new value in one notice. In Swift: `Change`."""

    key: str
    _old: JSON
    _new: JSON
    layer: Layer | None = None
    """The layer of the new value; None if there is no value. A change may be a change of the layer alone."""
    secret: bool = False
    """Whether the key is declared secret: `old` and `new` must not be written to a log or a screen."""
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
        values = "secret" if self.secret else f"{self._old!r} → {self._new!r}"
        return f"Change({self.key!r}, {values}, revision={self.revision}, {self.origin})"

    def _typed(self, value: Any) -> T | None:
        if self._declared is None:
            return value  # type: ignore[no-any-return]
        if value is None:
            return self._declared.default if self._declared.has_default else None
        return self._declared._from_json(value, self)

    def _is_secret(self, key: str | TypedKey) -> bool:
        return self.secret


@dataclass(frozen=True)
class Notice(_Common):
    """One or more whole transactions, as a subscription to a prefix receives them. A transaction of this process has
    its own notice; those of other processes may be merged. In C: `kept_notice`. In Swift: `Notice`."""

    changes: tuple[Change[JSON], ...]
    """One change for each key. It may be empty for `Origin.LAYER`: then keys were locked or unlocked, perhaps some that
    begin with the prefix."""


def subjects(pointer: NoticePointer, key: str | Key[Any] | None) -> Sequence[Notice | Change[Any]]:
    """The items that a subscription passes on: for a `key` the changes of a notice, for a prefix (`key` is None) the
    notice."""
    tag = notices.kept_notice_tag(pointer)
    common = (
        (notices.kept_notice_first_revision(pointer), notices.kept_notice_revision(pointer)),
        Origin(notices.kept_notice_origin(pointer)),
        None if tag is None else tag.decode("utf-8"),
        notices.kept_notice_time(pointer),
        notices.kept_notice_may_have_missed(pointer),
    )
    declared = key if isinstance(key, Key) else None

    def change(index: int) -> Change[Any]:
        name = notices.kept_notice_key(pointer, index).decode("utf-8")
        texts = notices.kept_notice_old_json(pointer, index), notices.kept_notice_new_json(pointer, index)
        there = notices.kept_notice_old(pointer, index), notices.kept_notice_new(pointer, index)
        if any(text is None and value for text, value in zip(texts, there, strict=True)):
            raise MemoryError("not enough memory for a value in a notice; the next notice has the current one")
        secret = notices.kept_notice_secret(pointer, index) or (declared is not None and declared._is_secret(declared))
        old, new = (None if text is None else decoded_value(text, name, Known(secret)) for text in texts)
        layer = layer_of_number(notices.kept_notice_layer(pointer, index))
        return Change(*common, name, old, new, layer, secret, declared)

    changes = tuple(map(change, range(notices.kept_notice_count(pointer))))
    return (Notice(*common, changes),) if key is None else changes
