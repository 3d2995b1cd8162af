"""What benchmarks/safety says: for each test a line of JSON with a text for each contestant."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Safety:
    safety: str
    """What was tested."""
    cells: dict[str, str]
    """What became of each contestant's values; those are left out to which it does not apply."""


def read(lines: Iterable[str]) -> list[Safety]:
    return [Safety(**json.loads(line)) for line in lines]
