"""The values that a store has read, which it keeps until something in it changes.

Invariant: a value that is remembered at a generation was read between two reads of the store's generation that both
gave that even number. Generations never repeat, so a value that is found under the current one is current. Where layers
can change, the same holds for the pair of the generation and the count of layer changes.

A check compares the library's words with copies of them. It makes no int, which halves its time. A store has one word,
or a tuple of two if its layers can change: `==` compares both in the same way, and one never equals the other.
"""

from __future__ import annotations

from ctypes import c_uint64

from ._key import Key
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Final, TypeAlias

Word: TypeAlias = "memoryview[int]"
"""64 bits, here or in the library. Equal to another word with the same number; `[()]` is the number."""

Words: TypeAlias = "Word | tuple[Word, Word]"
"""A generation, or a generation and the count of layer changes."""


def word_at(word: c_uint64) -> Word:
    """A view of the word at this place."""
    return memoryview(word).cast("B").cast("Q", ())


Numbers: TypeAlias = "tuple[int, ...]"
"""The numbers of `Words` at one time."""

Memory: TypeAlias = "tuple[Any, ...]"
"""Copies of `Words`, and a dict of the values that were read then, by a key's name or by the identity of a `kept.Key`.
It is one tuple, so that a reader always gets values that belong to these words."""

UNKNOWN: Final = word_at(c_uint64(1))
"""The generation of settings that remember nothing: always odd."""

NOTHING: Final[Memory] = (word_at(c_uint64(2**64 - 1)), {})
"""The memory to begin with. No generation has this number."""

_KEYS = 4096
_LENGTH = 4096


def numbers_of(words: Words) -> Numbers:
    """The numbers that the words have now."""
    return tuple(word[()] for word in words) if isinstance(words, tuple) else (words[()],)


def numbers_in(memory: Memory) -> Numbers:
    """The numbers from when its values were read."""
    return numbers_of(memory[0])


def memory_at(numbers: Numbers) -> Memory:
    """An empty memory for values that are read now, with these numbers."""
    words = tuple(word_at(c_uint64(number)) for number in numbers)
    return (words if len(words) > 1 else words[0], {})


def remember(values: dict[Any, Any], key: str | Key[Any], value: Any) -> None:
    """Adds a value, unless it is long or the caller could change it. There are at most 4096."""
    # The caller may change lists, dicts and dataclasses: each read makes new ones. All other values are immutable.
    if isinstance(value, (list, dict)) or hasattr(value, "__dataclass_fields__"):
        return
    if isinstance(value, (str, bytes)) and len(value) > _LENGTH:
        return
    if len(values) >= _KEYS:
        values.clear()
    values[key._identity if isinstance(key, Key) else key] = value
