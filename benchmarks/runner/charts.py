"""The figures that are drawn: a few charts, each with the bars of some rows. Missing figures are left out."""

from __future__ import annotations

from dataclasses import dataclass, field

from rows import KEPT, MUTEX, Row


@dataclass(frozen=True)
class Bar:
    name: str
    role: str
    """"Kept", "rival" or "floor"."""
    value: float
    """In nanoseconds."""


@dataclass(frozen=True)
class Group:
    """The bars of one row under their own heading."""

    heading: str
    bars: list[Bar]


@dataclass(frozen=True)
class Drawn:
    """A row that a chart draws, and which of the measured floors it shows."""

    heading: str
    section: str
    row: str
    floors: tuple[str, ...] = ()

    def group(self, rows: list[Row]) -> Group | None:
        for row in rows:
            if (row.section, row.row) == (self.section, self.row):
                return Group(self.heading, _bars(row, self.floors))
        return None


@dataclass(frozen=True)
class Chart:
    name: str
    """The name of its files."""
    title: str
    drawn: list[Drawn] = field(repr=False)

    def groups(self, rows: list[Row]) -> list[Group]:
        return [group for each in self.drawn if (group := each.group(rows))]


CHARTS = [
    Chart(
        "reading",
        "Reading a value that was read before",
        [
            Drawn(
                "C · a text of 20 bytes, 1,000 keys",
                "Reading, C",
                "get 20-byte string, 1,000 keys",
                ("atomic load and hash table",),
            ),
            Drawn("Swift · a text of 20 bytes", "Reading, Swift", "get 20-byte String, store[.key]", (MUTEX,)),
            Drawn("Python · a text of 20 bytes", "Python", "get 20-byte str by kept.Key, read before", ("dict",)),
        ],
    ),
    Chart(
        "writing",
        "Writing a value, as a commit of its own",
        [
            Drawn("C · a text of 20 bytes, 1,000 keys", "Writing, C", "set 20-byte string", ("write of a page",)),
            Drawn("C · an integer, synced to the disk", "Writing, C", "set, durable", ("fdatasync of a page",)),
            Drawn("Swift · an integer", "Writing, Swift", "set Int, store[.key]"),
            Drawn("Python · an integer", "Python", "set by kept.Key"),
        ],
    ),
    Chart(
        "notification",
        "From a set to the callback in another process, median",
        [
            Drawn(
                "C · one set in 3 ms",
                "Notification of changes, C",
                "set to callback in another process, one in 3 ms, p50",
                ("bare futex", "its parts"),
            ),
            Drawn(
                "C · at full rate",
                "Notification of changes, C",
                "set to callback in another process, at full rate, p50",
                ("bare futex", "its parts"),
            ),
        ],
    ),
    Chart(
        "opening",
        "Opening a store, to the first value",
        [
            Drawn("C · 1,000 keys", "Opening and loading", "open to first value, 1,000 keys"),
            Drawn("C · 100,000 keys", "Opening and loading", "open to first value, 100,000 keys"),
            Drawn("Swift · 100,000 keys", "Opening, Swift", "open to first value in Swift, 100,000 keys"),
            Drawn("Python · 100 keys", "Python", "open to first value in Python"),
        ],
    ),
]


def _bars(row: Row, floors: tuple[str, ...]) -> list[Bar]:
    """The fastest first."""
    floor = [Bar(each.name, "floor", each.median) for each in row.measured if each.name in floors]
    rivals = [Bar(each.name, "rival", each.median) for each in row.rivals]
    return sorted([Bar(KEPT, "Kept", row.kept.median), *rivals, *floor], key=lambda bar: bar.value)
