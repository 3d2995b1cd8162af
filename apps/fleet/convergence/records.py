"""What the checker reads: one round, as etcd, the machines and their programs have recorded it.

Every write has a stamp, HOST:NUMBER, which is in each value that it sets. Numbers of a host rise, so a stamp is never
written twice, and says which write a value comes from. Here a value is its stamp, and None is an absent key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Stamp = str | None
State = Mapping[str, Stamp]
"""Keys with their stamps; absent keys are left out."""

# Writes that went to etcd past kept-fleet, and so without a record of their writer.
OUTSIDE = "outside"


def host_of(stamp: str) -> str:
    return stamp.partition(":")[0]


def number_of(stamp: str) -> int:
    return int(stamp.partition(":")[2])


@dataclass(frozen=True)
class Event:
    """A change of one key in etcd."""

    revision: int
    key: str
    value: Stamp
    host: str | None
    """The host in the record of the last writer, if the same transaction has put it."""


@dataclass(frozen=True)
class Write:
    """A write of a program: all its keys in one transaction."""

    number: int
    changes: State
    acknowledged: bool
    """False if the program was killed before the call returned: the write may have happened."""
    revision: int | None = None
    """The store's revision after it, where the call tells it."""
    absent: Sequence[str] = ()
    """Keys that it has removed, and that were absent already."""


@dataclass(frozen=True)
class Row:
    """A change in the history of a store.

    What one program does within a second may be one row, and none if it ends where it began.
    """

    revision: int
    key: str
    old: Stamp
    new: Stamp
    tag: str | None

    @property
    def is_from_fleet(self) -> bool:
        return self.tag is not None and self.tag.startswith("fleet:")

    @property
    def is_conflict(self) -> bool:
        return self.is_from_fleet and (self.tag or "").endswith(":conflict")

    @property
    def winners(self) -> set[str]:
        return set((self.tag or "").removeprefix("fleet:").removesuffix(":conflict").split(","))


@dataclass(frozen=True)
class Notice:
    """What an observer was told: one commit, or several that were merged."""

    first: int
    last: int
    changes: State


@dataclass(frozen=True)
class Snapshot:
    """What a program has read at one revision of a store."""

    revision: int
    values: State


@dataclass(frozen=True)
class Machine:
    """A machine in one round."""

    host: str
    before: State
    after: State
    writes: Sequence[Write] = ()
    rows: Sequence[Row] = ()
    """The oldest first."""
    notices: Sequence[Notice] = ()
    snapshots: Sequence[Snapshot] = ()
    missing: Sequence[int] = ()
    """The revisions that the history has as parts of later changes, or not at all."""

    def written(self, key: str, revision: int) -> int:
        """The highest number that its program can have written to a key up to a revision; -1 if it has not."""
        numbers = (write.number for write, first, _ in self.revisions() if key in write.changes and first <= revision)
        return max(numbers, default=-1)

    def revisions(self) -> Iterator[tuple[Write, int, int | None]]:
        """The writes with the first and the last revision that each may have; None for a last one that is not known."""
        last: list[int | None] = [None]
        for write in reversed(self.writes):
            last.append(last[-1] if write.revision is None else write.revision)
        known = 0
        for write, most in zip(self.writes, reversed(last[1:]), strict=True):
            known = known if write.revision is None else write.revision
            yield write, known + 1 if write.revision is None else known, most


@dataclass(frozen=True)
class Round:
    """All of one round. It begins and ends when the fleet is quiet."""

    before: State
    """etcd's keys."""
    after: State
    events: Sequence[Event]
    machines: Sequence[Machine]
    groups: Sequence[Sequence[str]] = ()
    """Keys that every write sets or removes together."""
    outside: Sequence[Write] = ()
    compacted: int = 0
    """Up to this revision, a machine may not have been able to read who wrote what."""
    local_wins: bool = False
    """Whether the machines run with --conflicts local."""
    at_rest: Sequence[Event] = field(default=())
    """What changed in etcd after the fleet was quiet, and before a program wrote again."""


def load(path: Path) -> Round:
    """A round that a run has saved."""
    saved = json.loads(path.read_text())
    saved.pop("faults", None)
    machines = [
        Machine(
            **machine
            | {
                "writes": [Write(**write) for write in machine["writes"]],
                "rows": [Row(**row) for row in machine["rows"]],
                "notices": [Notice(**notice) for notice in machine["notices"]],
                "snapshots": [Snapshot(**snapshot) for snapshot in machine["snapshots"]],
            }
        )
        for machine in saved["machines"]
    ]
    return Round(
        **saved
        | {
            "machines": machines,
            "events": [Event(**event) for event in saved["events"]],
            "outside": [Write(**write) for write in saved["outside"]],
            "at_rest": [Event(**event) for event in saved["at_rest"]],
        }
    )
