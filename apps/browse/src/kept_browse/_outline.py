"""The tree of keys by their dot-separated parts, open or closed. It is derived from the sorted keys."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Branch:
    """The keys that begin with the same parts."""

    prefix: str
    """The parts, with a dot at the end."""
    depth: int
    count: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    """A key."""

    key: str
    depth: int
    label: str
    """The key without the prefix of its branch."""


Item = str | Branch | Leaf
"""A line of the list: a key of the flat list, or a branch or a leaf of the tree."""


def identity(item: Item) -> tuple[str, str]:
    """What identifies an item when the list is rebuilt: whether it is a branch, and its prefix or key."""
    if isinstance(item, Branch):
        return "branch", item.prefix
    return "key", item.key if isinstance(item, Leaf) else item


def branches_above(item: Item) -> list[str]:
    """The prefixes of the branches that may contain an item."""
    kind, name = identity(item)
    own = len(name) - 1 if kind == "branch" else len(name)
    return [name[: place + 1] for place, character in enumerate(name[:own]) if character == "."]


def parent(items: Sequence[Item], place: int) -> int:
    """The place of the branch that contains an item of the tree, or the item's own place at the top level."""
    depth = _depth(items[place])
    return next((above for above in range(place, -1, -1) if _depth(items[above]) < depth), place)


def _depth(item: Item) -> int:
    return 0 if isinstance(item, str) else item.depth


def outline(keys: list[str], is_open: set[str] | None) -> list[Branch | Leaf]:
    """The tree of sorted keys. A branch is open if its prefix is in `is_open`, or if that is None.

    A branch with one key is shown as that key's leaf, so no line of the tree only leads to another one.
    """
    found: list[Branch | Leaf] = []
    _add(keys, 0, len(keys), "", 0, is_open, found)
    return found


def _add(
    keys: list[str], start: int, end: int, prefix: str, depth: int, is_open: set[str] | None, found: list[Branch | Leaf]
) -> None:
    index = start
    while index < end:
        key = keys[index]
        dot = key.find(".", len(prefix))
        # The keys of a branch are contiguous; "/" is the character after the dot.
        after = index + 1 if dot < 0 else bisect_left(keys, key[:dot] + "/", index, end)
        if after - index == 1:
            found.append(Leaf(key, depth, key[len(prefix) :]))
        else:
            branch = key[: dot + 1]
            opened = is_open is None or branch in is_open
            found.append(Branch(branch, depth, after - index, opened))
            if opened:
                # Keys may have hundreds of dots; Python's stack has no room for thousands.
                _add(keys, index, after, branch, depth + 1, is_open if depth < 200 else set(), found)
        index = after
