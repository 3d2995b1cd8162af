"""Values that say which write they come from, and the keys that have them."""

from __future__ import annotations

from random import Random
from typing import Any

from records import Stamp

GROUPS = (("group.a", "group.b", "group.c"), ("pair.left", "pair.right"))
SHARED = tuple(f"shared.{number}" for number in range(6))


def own(host: str) -> tuple[str, ...]:
    """Keys that one machine alone writes."""
    return tuple(f"own.{host}.{number}" for number in range(4))


def value_of(stamp: str, random: Random) -> Any:
    """A value with a stamp: the stamp itself, or an object that has it among other things."""
    if random.random() < 0.7:
        return stamp
    filling = random.choice([None, True, 0.1, -5, "ä\n\u2028" * random.randrange(200), [1, {"b": 2, "a": []}]])
    return {"z": filling, "at": stamp, "a": random.randrange(10**12)}


def stamp_of(value: Any) -> Stamp:
    """The stamp of a value, or the text in its place, which the checker reports."""
    found = value.get("at") if isinstance(value, dict) else value
    return found if found is None or isinstance(found, str) and ":" in found else f"?:0 {value!r}"


def changes(host: str, number: int, random: Random) -> dict[str, Stamp]:
    """What a write changes: one key, or several, and then groups as a whole."""
    stamp: Stamp = f"{host}:{number}"
    kind = random.random()
    keys: list[str] = []
    if kind < 0.3:
        keys += random.choice(GROUPS)
    if kind < 0.15 or kind >= 0.3:
        keys += random.sample(SHARED + own(host), 1 if kind > 0.6 else random.randint(2, 5))
    # A write removes all its keys, or some, or none; a group is never in part.
    removed = random.random()
    found: dict[str, Stamp] = dict.fromkeys(keys, None if removed < 0.12 else stamp)
    if removed > 0.9:
        for key in keys:
            if key in SHARED and random.random() < 0.5:
                found[key] = None
    return found
