"""What a store has read, kept for as long as nothing in it changes.

Invariant: what is remembered at a generation was read between two looks at the store's generation that both gave that
even number. So whoever looks, and finds a value there, has one that was current at that look; a number never returns.
Where layers can change, the same holds for the pair of that number and the count of their changes.

A look compares the word with a copy of it from then: that makes no int, and so takes half the time.
"""

from __future__ import annotations

from ctypes import c_uint64
from datetime import datetime
from enum import Enum
from types import NoneType
from typing import Any, Final, TypeAlias

from ._dates import datetime_ns
from ._key import Key
from ._timestamps import Timestamp

Word: TypeAlias = "memoryview[int]"
"""64 bits, here or in the library. Equal to another that is the same number; `[()]` is the number."""


def word_at(word: c_uint64) -> Word:
    """The word that stands there."""
    return memoryview(word).cast("B").cast("Q", ())


Moment: TypeAlias = tuple[int, ...]
"""A generation and, where layers can change, their count."""

Memory: TypeAlias = tuple[Any, ...]
"""Words that hold a moment, and a dict of what was read at it, by a key's name or by the identity of a `kept.Key`. It
is one thing, so that whoever takes it has values that belong to the moment."""

UNKNOWN: Final = word_at(c_uint64(1))
"""The generation of settings that remember nothing: odd for ever."""

NOTHING: Final[Memory] = (word_at(c_uint64(2**64 - 1)), {})
"""What is remembered at first: of no moment."""

# Lists, dicts and dataclasses are the caller's to change: they are made anew for each read.
_SHAREABLE = frozenset({NoneType, bool, int, float, str, bytes, datetime, datetime_ns, Timestamp})
_KEYS = 4096
_LENGTH = 4096


def moment_of(memory: Memory) -> Moment:
    """When its values were read."""
    return tuple(word[()] for word in memory[:-1])


def remembering(memory: Memory, moment: Moment, key: str | Key[Any], value: Any) -> Memory:
    """The memory with a value, unless that is long or the caller could change it. There are never more than 4096."""
    if not (type(value) in _SHAREABLE or isinstance(value, Enum)):
        return memory
    if isinstance(value, (str, bytes)) and len(value) > _LENGTH:
        return memory
    if moment_of(memory) != moment or len(memory[-1]) >= _KEYS:
        memory = (*(word_at(c_uint64(number)) for number in moment), {})
    memory[-1][key._identity if isinstance(key, Key) else key] = value
    return memory
