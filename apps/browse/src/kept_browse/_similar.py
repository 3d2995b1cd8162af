"""Suggests a key for a mistyped one, as the command `kept` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to a mistyped one; None if none is close. Takes a second for a million names."""
    most = max(1, len(name) // 4)
    best: str | None = None
    least = most + 1
    for candidate in known:
        if abs(len(candidate) - len(name)) > most:
            continue
        if _is_swapped(name, candidate):
            return candidate
        found = _distance(name, candidate, least)
        if found < least:
            best, least = candidate, found
    return best


def _is_swapped(a: str, b: str) -> bool:
    """Whether two characters have changed places, which is one mistake."""
    if len(a) != len(b):
        return False
    different = [place for place, (one, other) in enumerate(zip(a, b, strict=True)) if one != other]
    if len(different) != 2:
        return False
    first, second = different
    return a[first] == b[second] and a[second] == b[first]


def _distance(a: str, b: str, enough: int) -> int:
    """The number of characters to insert, remove or replace, but at most `enough`."""
    start, end = 0, min(len(a), len(b))
    while start < end and a[start] == b[start]:
        start += 1
    behind = 0
    while behind < end - start and a[-1 - behind] == b[-1 - behind]:
        behind += 1
    a, b = a[start : len(a) - behind], b[start : len(b) - behind]
    row = list(range(len(b) + 1))
    for number, character in enumerate(a, 1):
        diagonal, row[0] = row[0], number
        for place, other in enumerate(b, 1):
            above = row[place]
            row[place] = min(above + 1, row[place - 1] + 1, diagonal + (character != other))
            diagonal = above
        if min(row) >= enough:
            return enough
    return min(row[-1], enough)
