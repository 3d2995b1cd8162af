"""What verifying a store has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._key import decoded_value
from ._refusal import Known


@dataclass(frozen=True)
class Damage:
    """Something that cannot be read."""

    key: str | None
    """The key, if it is a value or a declaration; None for damage to the files."""
    reason: str


@dataclass(frozen=True)
class Verification:
    """What `Store.verify` has found. In Swift: `Verification`."""

    revision: int
    """The store's revision when its keys were read."""
    values: int
    """How many values can be read."""
    declarations: int
    """How many declarations can be read."""
    misfits: tuple[str, ...]
    """The keys whose value does not fit their declaration; they read as absent."""
    damage: tuple[Damage, ...]
    sound: bool
    """Whether nothing is damaged."""


def verification_of(text: bytes) -> Verification:
    """The object that C has written."""
    # It has no values.
    members: Any = decoded_value(text, "a verification", Known(False))
    return Verification(
        revision=members["revision"],
        values=members["values"],
        declarations=members["declarations"],
        misfits=tuple(members["misfits"]),
        damage=tuple(Damage(damage.get("key"), damage["reason"]) for damage in members["damage"]),
        sound=members["sound"],
    )
