"""What a store has read, kept for as long as nothing in it changes.

Invariant: what is remembered at a generation was read between two looks at the store's generation that both gave that
even number. So whoever looks, and finds a value there, has one that was current at that look; a number never returns.
Where layers can change, the same holds for the pair of that number and the count of their changes.
"""

from __future__ import annotations

from ctypes import c_uint64
from datetime import datetime
from enum import Enum
from types import NoneType
from typing import Any, Final, TypeAlias

from ._dates import datetime_ns
from ._key import Key


def word_at(word: c_uint64) -> memoryview[int]:
    """The word that stands there, to be looked at with `[0]`, which is quicker than `.value`."""
    return memoryview(word).cast("B").cast("Q")


Moment: TypeAlias = tuple[int] | tuple[int, int]
"""A generation; where layers can change, with their count."""

Memory: TypeAlias = dict[int, Any]
"""Values by their key's name, or by the identity of a `kept.Key`; those by the one generation at which they hold, or by
that and then by the one count."""

UNKNOWN: Final = word_at(c_uint64(1))
"""The generation of settings that remember nothing: odd for ever."""

# Lists, dicts and dataclasses are the caller's to change: they are made anew for each read.
_SHAREABLE = frozenset({NoneType, bool, int, float, str, bytes, datetime, datetime_ns})
_KEYS = 4096
_LENGTH = 4096


def remember(memory: Memory, moment: Moment, key: str | Key[Any], value: Any) -> None:
    """Keeps a value, unless it is long or the caller could change it. There are never more than 4096."""
    if not (type(value) in _SHAREABLE or isinstance(value, Enum)):
        return
    if isinstance(value, (str, bytes)) and len(value) > _LENGTH:
        return
    values: dict[Any, Any] | None = memory
    for number in moment:
        values = None if values is None else values.get(number)
    if values is None or len(values) >= _KEYS:
        values = {}
        memory.clear()
        memory[moment[0]] = values if len(moment) == 1 else {moment[1]: values}
    values[key._identity if isinstance(key, Key) else key] = value
