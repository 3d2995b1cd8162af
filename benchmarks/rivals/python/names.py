"""The names and values that every engine reads and sets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, cycle

Value = int | str

NAMES = [f"section-{index // 1000:03}.setting-{index:06}" for index in range(1000)]
"""The order for filling stores."""
SHUFFLED = random.Random(8).sample(NAMES, len(NAMES))
"""The order for reading them."""


def values(example: Value) -> Iterator[Value]:
    """An endless sequence of values like the example. Cycled with the names, no name gets the value that it has."""
    if isinstance(example, int):
        return count(example)
    # Created in advance, as creating them is not measured; one fewer than the names.
    return cycle([f"{number:0{len(example)}}" for number in range(len(NAMES) - 1)])
