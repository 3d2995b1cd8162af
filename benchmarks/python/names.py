"""The names that every engine is asked for, and the order in which it is asked. All were read before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from typing import TypeVar

T = TypeVar("T")

NAMES = [f"section-{index // 10:03}.setting-{index:06}" for index in range(100)]


def walk(ring: Sequence[T], steps: int) -> Iterable[T]:
    """Around the ring, so many steps."""
    return islice(cycle(ring), steps)
