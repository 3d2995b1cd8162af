"""Follows one key of one machine through its history, and looks for a way through etcd's changes that explains it.

A place is how far in etcd's changes of the key the machine was. Several are possible at a time: a removal has no stamp,
and nothing says when a machine has sent its own change. If no place is left, no run of a right program has done it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from etcd_log import EtcdLog
from records import Event, Machine, Row, Stamp, host_of, number_of

Places = set[int]
# So many hosts are in a tag at most; any more are left out.
HOSTS_IN_A_TAG = 5


def walk(machine: Machine, key: str, rows: list[Row], log: EtcdLog, local_wins: bool) -> str | None:
    """Returns the mistake, or None."""
    events = log.events(key)
    value = machine.before.get(key)
    if value != events[0].value:
        return f"it began with {value}, and etcd with {events[0].value}"
    places = same(events, {0}, value) - too_late(events, machine.host, -1)
    is_pending = False
    for index, row in enumerate(rows):
        if row.old != value:
            return f"{value} became {row.old} without a trace in the history, before revision {row.revision}"
        # The history does not list changes after which the key is absent again.
        highest = written(machine, key, rows, index)
        before = highest if row.is_from_fleet or row.new is None else min(highest, number_of(row.new) - 1)
        if is_torn(machine, key, rows[index - 1].revision if index else 0, row.revision):
            places = set(range(min(places), len(events)))
            # The value before the row need not be what etcd's replaced.
            is_pending = is_pending and row.is_conflict
        places = same(events, places, value) - too_late(events, machine.host, before)
        if row.is_from_fleet:
            if value is None:
                # It may have been set, sent and removed again.
                run = Run(machine, key, oldest(rows, index), highest)
                places = sent(events, places, run, local_wins)
                is_pending = is_pending or run.has_removed
            after, fault = from_fleet(row, events, places, is_pending, machine.host)
            # A value that comes back because a change next to it was lost is not the winner.
            if fault is None and not after & places:
                fault = unknown_winner(row, [events[place] for place in after], log.compacted)
            if fault is not None:
                return fault
            places = after
        elif row.new is not None and host_of(row.new) != machine.host:
            return f"{row.new} came at revision {row.revision} without the fleet's tag"
        else:
            run = Run(machine, key, oldest(rows, index), newest(rows, index))
            places = sent(events, places, run, local_wins)
        value, is_pending = row.new, not row.is_from_fleet
        places = same(events, places, value) - too_late(events, machine.host, highest)
        if not places:
            return f"{row.new} came at revision {row.revision} before this machine had written what it replaced"
    if value != machine.after.get(key):
        return f"{value} became {machine.after.get(key)} without a trace in the history, at the end"
    if len(events) - 1 not in same(events, places, value):
        return f"etcd ended with {events[-1].value}, to which there is no way: a change was written over unseen"
    return None


def is_torn(machine: Machine, key: str, after: int, to: int) -> bool:
    """Whether a row may have folded what came from etcd, too.

    The history keeps commits apart that also have other keys. Once it has done so 64 times in one second, it does
    not any more, and then folds the commits of others as well.
    """
    folded = {
        frozenset(write.changes.keys() - set(write.absent))
        for write in machine.writes
        if key in write.changes and write.revision is not None and after < write.revision <= to
    }
    return len(folded) > 1 and to - 1 in machine.missing


def from_fleet(row: Row, events: list[Event], places: Places, is_pending: bool, host: str) -> tuple[Places, str | None]:
    """The places after a change that came from etcd."""
    if is_pending and not row.is_conflict:
        # It may only replace a local change that etcd has had.
        places = {place for place in places if events[place].value == row.old}
        if not places:
            return places, f"{row.old} was replaced at revision {row.revision}, and is in etcd or a conflict nowhere"
    # The value before a change that was lost comes back.
    before = places if is_pending and row.is_conflict else set()
    after = {
        place
        for place, event in enumerate(events)
        if event.value == row.new and (place > min(places) or place in before)
    }
    # What it has sent is not news, unless a later change of its own was lost. But etcd may take late what the machine
    # has given up and replaced.
    if row.new is not None and host_of(row.new) == host and not after & before:
        return after, f"its own {row.new} came back at revision {row.revision}"
    if after:
        return after, None
    if row.new is None or any(event.value == row.new for event in events):
        return after, f"{row.new} came twice or late, at revision {row.revision}"
    return after, f"{row.new} came at revision {row.revision}, and never was in etcd"


def unknown_winner(row: Row, came: list[Event], compacted: int) -> str | None:
    """Whether the tag names the machine whose change has come."""
    if len(row.winners) >= HOSTS_IN_A_TAG:
        return None
    for event in came:
        # Who has removed a key is not in the key, and who has changed it may have been compacted away.
        is_unknown = event.host is None or event.value is None or event.revision <= compacted
        if event.host in row.winners or is_unknown and "unknown" in row.winners:
            return None
    hosts = sorted({event.host or "unknown" for event in came})
    return f"the tag {row.tag} at revision {row.revision} does not name {' or '.join(hosts)}"


@dataclass(frozen=True)
class Run:
    """What a machine's programs may have written while a row of its history was made."""

    machine: Machine
    key: str
    after: int
    to: int | None
    """None if that is not known."""

    def has(self, event: Event) -> bool:
        """Whether a change of etcd may come from it."""
        if event.host != self.machine.host:
            return False
        return event.value is None or self.to is None or number_of(event.value) <= self.to

    @property
    def has_removed(self) -> bool:
        """Whether the key was absent in between, which a row need not show."""
        return any(
            write.number > self.after
            and (self.to is None or write.number <= self.to)
            and write.changes[self.key] is None
            for write in self.machine.writes
            if self.key in write.changes
        )


def oldest(rows: list[Row], index: int) -> int:
    """The number of the last write that came before a row, as far as the history tells."""
    numbers = [number_of(row.new) for row in rows[:index] if row.new is not None and not row.is_from_fleet]
    return max(numbers, default=-1)


def written(machine: Machine, key: str, rows: list[Row], index: int) -> int:
    """The highest number that can have been written when a row was made, also of what the history does not list."""
    highest, later = machine.written(key, rows[index].revision), newest(rows, index)
    return highest if later is None else min(highest, later)


def too_late(events: list[Event], host: str, number: int) -> Places:
    """The places that come after a change of a machine that it has not made yet."""
    for place, event in enumerate(events):
        if event.host == host and event.value is not None and number_of(event.value) > number:
            return set(range(place, len(events)))
    return set()


def newest(rows: list[Row], index: int) -> int | None:
    """The highest number that a program can have written when a row was; None if that is not known."""
    for row in rows[index:]:
        if row.new is not None and not row.is_from_fleet:
            return number_of(row.new)
    return None


def sent(events: list[Event], places: Iterable[int], run: Run, local_wins: bool) -> Places:
    """Adds the places to which a machine comes if etcd takes its own changes, or has made the same."""
    found = set(places)
    unseen = list(found)
    has_removed = run.has_removed
    while unseen:
        place = unseen.pop()
        for later in range(place + 1, len(events)):
            # etcd takes a change if the key is as the machine has seen it. With --conflicts local, the machine sees any
            # later change, and does not take it over.
            is_sent = run.has(events[later]) and (later == place + 1 or local_wins)
            is_same = has_removed and events[later].value is None
            if later not in found and (is_sent or is_same):
                found.add(later)
                unseen.append(later)
    return found


def same(events: list[Event], places: Iterable[int], value: Stamp) -> Places:
    """Adds the later places where a key is absent, too: going on to one changes nothing in the store."""
    found = set(places)
    if value is not None or not found:
        return found
    return found | {place for place, event in enumerate(events) if place > min(found) and event.value is None}
