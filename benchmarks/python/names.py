"""The names that every engine is asked for, and what is set: the same for each of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, cycle

Value = int | str

NAMES = [f"section-{index // 1000:03}.setting-{index:06}" for index in range(1000)]
"""Stores are filled in this order."""
SHUFFLED = random.Random(8).sample(NAMES, len(NAMES))
"""And asked for in this one."""


def values(example: Value) -> Iterator[Value]:
    """As the example, without end. Beside a ring of the names, no name gets what it has already."""
    if isinstance(example, int):
        return count(example)
    # Made before, as they are not what is measured; one fewer than the names.
    return cycle([f"{number:0{len(example)}}" for number in range(len(NAMES) - 1)])
