"""Checks one round: pure functions from its records to the faults that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from etcd_log import EtcdLog
from path import walk
from records import OUTSIDE, Event, Machine, Round, Row, Stamp, State, Write, host_of, number_of


@dataclass(frozen=True)
class Fault:
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.what}"


def check(round: Round) -> list[Fault]:
    """All faults of a round; none means that it is as it must be."""
    log = EtcdLog(round)
    return [Fault(rule, what) for rule, find in RULES.items() for what in find(round, log)]


# --- all are equal in the end


def unequal(round: Round, log: EtcdLog) -> Iterator[str]:
    if log.state_at_end() != dict(round.after):
        yield f"etcd has {difference(log.state_at_end(), round.after)} without a change that says so"
    for machine in round.machines:
        if dict(machine.after) != dict(round.after):
            yield f"{machine.host} differs from etcd: {difference(machine.after, round.after)}"
    for event in round.at_rest:
        yield f"{event.key} became {event.value} in etcd, at {event.revision}, although all was quiet"


def difference(left: State, right: State) -> str:
    keys = sorted(key for key in left.keys() | right.keys() if left.get(key) != right.get(key))
    return ", ".join(f"{key} is {left.get(key)} and {right.get(key)}" for key in keys[:5])


# --- nothing is lost


def lost(round: Round, log: EtcdLog) -> Iterator[str]:
    for write in round.outside:
        for key, value in write.changes.items():
            if write.acknowledged and value is not None and log.position(key, value) is None:
                yield f"{value}, which etcdctl has put to {key}, never was in etcd"
    for machine in round.machines:
        yield from not_in_history(machine)


def not_in_history(machine: Machine) -> Iterator[str]:
    """Every acknowledged write is in the history, or a later one of the program is, or they are folded to nothing."""
    for key in sorted({key for write in machine.writes for key in write.changes}):
        rows = [row for row in machine.rows if row.key == key and not row.is_from_fleet]
        folded = set(are_folded_to_nothing(key, machine))
        for write in machine.writes:
            value = write.changes.get(key)
            # A removal may be of an absent key, and change nothing.
            if not write.acknowledged or value is None or write.number in folded:
                continue
            if not any(is_at_least(row, write) for row in rows):
                yield f"{machine.host} has acknowledged {value} for {key}, and its history has no trace of it"


def is_at_least(row: Row, write: Write) -> bool:
    if write.revision is not None and row.revision < write.revision:
        return False
    return row.new is None or number_of(row.new) >= write.number


def are_folded_to_nothing(key: str, machine: Machine) -> Iterator[int]:
    """The numbers of writes to a key that was absent, and was removed again before the history was written.

    The history has no change for them, and names their revisions as missing.
    """
    rows = [row for row in machine.rows if row.key == key]
    writes = [one for one in machine.revisions() if key in one[0].changes]
    for write, first, last in writes:
        for missing in machine.missing:
            if missing < first or last is not None and missing > last:
                continue
            before = [machine.before.get(key), *(row.new for row in rows if row.revision < missing)][-1]
            end = min((row.revision for row in rows if row.revision >= missing), default=None)
            if before is None and any(
                later.number > write.number and later.changes[key] is None and (end is None or earliest < end)
                for later, earliest, _ in writes
            ):
                yield write.number
                break


def paths(round: Round, log: EtcdLog) -> Iterator[str]:
    for machine in round.machines:
        keys = {row.key for row in machine.rows} | machine.before.keys() | machine.after.keys() | log.keys()
        for key in sorted(keys):
            rows = [row for row in machine.rows if row.key == key]
            fault = walk(machine, key, rows, log, round.local_wins)
            if fault is not None:
                yield f"{machine.host}, {key}: {fault}; {surroundings(key, rows, log)}"


def lost_to_itself(round: Round, log: EtcdLog) -> Iterator[str]:
    """A machine's change is lost only because another's has won, for its key or for one that was changed with it."""
    for machine in round.machines:
        conflicts = list(local_losses(machine))
        for row in conflicts:
            # A row may have taken up later ones with the same tag, so that its revision is a later one.
            others = [other for other in conflicts if other.tag == row.tag and other.revision >= row.revision]
            if not any(other.new is None or host_of(other.new) != machine.host for other in others):
                yield f"{row.old} of {machine.host} was lost for {row.key}, at {row.revision}, to no other machine"


def local_losses(machine: Machine) -> Iterator[Row]:
    """The rows where a change of the machine itself was replaced by a conflict."""
    last: dict[str, Row] = {}
    for row in machine.rows:
        before = last.get(row.key)
        if row.is_conflict and before is not None and not before.is_from_fleet:
            yield row
        last[row.key] = row


def surroundings(key: str, rows: list[Row], log: EtcdLog) -> str:
    history = ", ".join(f"{row.revision} {row.old} → {row.new} ({row.tag})" for row in rows[-8:])
    events = ", ".join(f"{event.revision} {event.value} ({event.host})" for event in log.events(key)[-8:])
    return f"its history: {history}; etcd: {events}"


# --- nothing twice, nothing out of order


def order_in_etcd(round: Round, log: EtcdLog) -> Iterator[str]:
    """The changes of each machine come once, in its order, and from itself."""
    writes = {machine.host: machine.writes for machine in round.machines} | {OUTSIDE: round.outside}
    last: dict[tuple[str, str], int] = {}
    for event in round.events:
        host = OUTSIDE if event.host is None else event.host
        if host not in writes:
            yield f"{event.revision} of etcd names {host} as its writer, which is not a machine"
        elif event.value is None:
            if not any(event.key in write.changes and write.changes[event.key] is None for write in writes[host]):
                yield f"{host} has removed {event.key} from etcd, at {event.revision}, and no program had removed it"
        elif host_of(event.value) != host:
            yield f"{host} has put {event.value} to {event.key}, at {event.revision}: that is another's value"
        else:
            number = number_of(event.value)
            if last.get((host, event.key), -1) >= number:
                yield f"{event.value} for {event.key} came to etcd twice or late, at {event.revision}"
            last[host, event.key] = number
            if not any(write.number == number and event.key in write.changes for write in writes[host]):
                yield f"{event.value} for {event.key} is in etcd, and no program has written it"


def order_of_notices(round: Round, log: EtcdLog) -> Iterator[str]:
    """What an observer sees of a key are changes of etcd in etcd's order, and local ones in between."""
    for machine in round.machines:
        last: dict[str, int] = {}
        revision = 0
        for notice in machine.notices:
            if notice.first <= revision:
                yield f"an observer on {machine.host} was told of revision {notice.first} after {revision}"
            revision = notice.last
            for key, value in notice.changes.items():
                position = None if value is None else log.position(key, value)
                if position is None:
                    if value is not None and host_of(value) != machine.host:
                        yield f"an observer on {machine.host} saw {value} for {key}, which never was in etcd"
                    continue
                # Equal if a local change was lost: the value before it is back.
                if position < last.get(key, 0):
                    yield f"an observer on {machine.host} saw {value} for {key} after a later change"
                last[key] = position


def mixed_revisions(round: Round, log: EtcdLog) -> Iterator[str]:
    """A snapshot has the state of etcd at one revision, and local changes that etcd does not have yet."""
    for machine in round.machines:
        for snapshot in machine.snapshots:
            newest = max((revision for key, revision in of_others(machine, snapshot.values, log)), default=0)
            for key, value in snapshot.values.items():
                if value is None or log.position(key, value) is None:
                    continue
                replaced = log.replaced_at(key, value)
                if replaced is not None and replaced <= newest:
                    yield (
                        f"{machine.host}, at its revision {snapshot.revision}, had {value} for {key}, which etcd had"
                        f" replaced at {replaced}, next to a change of etcd's revision {newest}"
                    )
                    break


def of_others(machine: Machine, values: State, log: EtcdLog) -> Iterator[tuple[str, int]]:
    for key, value in values.items():
        if value is not None and host_of(value) != machine.host:
            revision = log.revision(key, value)
            if revision is not None:
                yield key, revision


# --- nothing in part


def torn(round: Round, log: EtcdLog) -> Iterator[str]:
    for revision, state in log.states():
        yield from torn_in(state, round, f"etcd, at {revision}")
    for machine in round.machines:
        for snapshot in machine.snapshots:
            yield from torn_in(snapshot.values, round, f"a snapshot of {machine.host} at {snapshot.revision}")
        view = dict(machine.before)
        for notice in machine.notices:
            view |= notice.changes
            yield from torn_in(view, round, f"the notices of {machine.host} up to {notice.last}")


def torn_in(state: State, round: Round, where: str) -> Iterator[str]:
    for group in round.groups:
        values = [state.get(key) for key in group]
        if len(set(values)) > 1:
            yield f"{where}: {', '.join(f'{key} is {value}' for key, value in zip(group, values))}"


def torn_in_etcd(round: Round, log: EtcdLog) -> Iterator[str]:
    """What a machine has written together comes to etcd together."""
    for machine in round.machines:
        writes = {write.number: write for write in machine.writes}
        for (revision, events), (_, state) in zip(log.by_revision(), log.states(), strict=True):
            for event in events:
                if event.value is None or host_of(event.value) != machine.host:
                    continue
                write = writes.get(number_of(event.value))
                for key in write.changes if write else ():
                    assert write is not None
                    if not is_with(key, write, machine, events, state) and not is_excused(key, write, machine):
                        yield f"{event.value} came to etcd at {revision} for {event.key}, and not for {key}"


def is_with(key: str, write: Write, machine: Machine, events: Iterable[Event], state: State) -> bool:
    """Whether a transaction of etcd has a key as a write has left it, or as a later one of the machine has."""
    if write.changes[key] is None and (state.get(key) is None or key in write.absent or not write.acknowledged):
        return True
    return any(
        event.value is None or number_of(event.value) >= write.number
        for event in events
        if event.key == key and event.host == machine.host
    )


def is_excused(key: str, write: Write, machine: Machine) -> bool:
    """Whether a key need not come with its write: it was written anew, and that was lost, or is the same in etcd."""
    later = [other for other in machine.writes if other.number > write.number and key in other.changes]
    lost: list[Stamp] = [row.old for row in machine.rows if row.key == key and row.is_conflict]
    return any(other.changes[key] is None or other.changes[key] in lost for other in later)


RULES: dict[str, Callable[[Round, EtcdLog], Iterable[str]]] = {
    "unequal": unequal,
    "lost": lost,
    "path": paths,
    "lost to itself": lost_to_itself,
    "order in etcd": order_in_etcd,
    "order of notices": order_of_notices,
    "mixed revisions": mixed_revisions,
    "torn": torn,
    "torn in etcd": torn_in_etcd,
}
