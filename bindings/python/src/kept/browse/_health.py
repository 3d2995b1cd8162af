"""What is wrong with a store: what `kept doctor` would say of its contents."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import kept

if TYPE_CHECKING:
    from collections.abc import Callable

Severity = Literal["note", "attention", "damage"]
"""As in the output of `kept doctor --json`."""


@dataclass(frozen=True)
class Finding:
    """Something about a store that is not as it should be."""

    severity: Severity
    what: str


class Reports(logging.Handler):
    """Collects what the library reports beside its calls, such as an administrator's file that cannot be read."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.sentences: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        # Called on any thread. Appending is atomic.
        self.sentences.append(record.getMessage())

    def __enter__(self) -> Reports:
        logging.getLogger("kept").addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("kept").removeHandler(self)


def examine(settings: kept.Store, progress: Callable[[int, int], object] | None = None) -> list[Finding]:
    """Reads everything, and says what wants attention; nothing if all is well. It takes a second for a million keys.
    An exception of `progress` ends it. Any thread."""
    found = settings.verify(progress=progress)
    findings = [
        Finding("damage", f'"{damage.key}" cannot be read: {damage.reason}' if damage.key else damage.reason)
        for damage in found.damage
    ]
    findings += [
        Finding("attention", f'"{key}" has a stored value that does not fit its declaration') for key in found.misfits
    ]
    if folder := settings.salvaged:
        findings.append(
            Finding(
                "attention", f"the store was damaged and salvaged; values may be missing, and {folder} has the rest"
            )
        )
    return findings
