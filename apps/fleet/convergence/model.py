"""A fleet in memory, with faults that can be planted: what the checker has to find, without processes, and at once.

It is not a second kept-fleet, and only as clever as the checker's rules need.
"""

from __future__ import annotations

from random import Random

from records import Event, Machine, Notice, Round, Row, Snapshot, Stamp, Write

GROUPS = (("g.a", "g.b", "g.c"),)
SHARED = ("s.0", "s.1", "s.2")

#: What can be planted, and the rules that must find it: one of them is enough.
FAULTS: dict[str, set[str]] = {
    "drop a download": {"unequal", "mixed revisions", "path"},
    "drop an upload": {"unequal", "path"},
    "apply twice": {"path", "order of notices", "unequal"},
    "echo": {"order in etcd"},
    "resurrect": {"order in etcd"},
    "do not compare": {"path"},
    "split an upload": {"torn", "torn in etcd"},
    "split a download": {"torn", "mixed revisions"},
    "no conflict tag": {"path"},
    "wrong winner": {"path"},
    "lose alone": {"torn", "torn in etcd"},
    "lose to itself": {"lost to itself"},
    "forget a write": {"lost", "path", "unequal"},
}


class ModelEtcd:
    def __init__(self) -> None:
        self.revision = 0
        self.table: dict[str, tuple[Stamp, int, str | None]] = {}
        self.events: list[Event] = []
        self.last: dict[str | None, int] = {}

    def revision_of(self, key: str) -> int:
        value, revision, _ = self.table.get(key, (None, 0, None))
        return 0 if value is None else revision

    def change(self, changes: dict[str, Stamp], host: str | None, compared: dict[str, int]) -> bool:
        if any(self.revision_of(key) != revision for key, revision in compared.items()):
            return False
        self.revision += 1
        self.last[host] = self.revision
        for key, value in sorted(changes.items()):
            if value is None and self.table.get(key, (None,))[0] is None:
                continue
            self.table[key] = (value, self.revision, host)
            self.events.append(Event(self.revision, key, value, host))
        return True

    def values(self) -> dict[str, str]:
        return {key: value for key, (value, _, _) in self.table.items() if value is not None}


class ModelMachine:
    def __init__(self, host: str, etcd: ModelEtcd, random: Random, fault: str | None) -> None:
        self.host, self.etcd, self.random, self.fault = host, etcd, random, fault
        self.store: dict[str, Stamp] = {}
        self.revision = 0
        self.number = 0
        self.agreed: dict[str, tuple[int, Stamp]] = {}
        self.unanswered: dict[str, Stamp] = {}
        self.heard = 0
        self.joined: list[set[str]] = []
        self.old: dict[str, Stamp] = {}
        self.writes: list[Write] = []
        self.rows: list[Row] = []
        self.notices: list[Notice] = []
        self.snapshots: list[Snapshot] = []

    def commit(self, changes: dict[str, Stamp], tag: str) -> None:
        changes = {key: value for key, value in changes.items() if self.store.get(key) != value}
        if not changes:
            return
        self.revision += 1
        for key, value in changes.items():
            self.rows.append(Row(self.revision, key, self.store.get(key), value, tag))
            self.store[key] = value
        self.notices.append(Notice(self.revision, self.revision, changes))
        self.snapshots.append(Snapshot(self.revision, dict(self.store)))

    def write(self) -> None:
        self.number += 1
        stamp = f"{self.host}:{self.number}"
        keys = [self.random.choice([*SHARED, f"o.{self.host}"])]
        if self.random.random() < 0.4:
            keys += self.random.choice(GROUPS)
        value = None if self.random.random() < 0.2 else stamp
        changes: dict[str, Stamp] = dict.fromkeys(keys, value)
        if not self.strikes("forget a write"):
            self.commit(changes, "writer")
        self.joined.append(set(changes))
        self.writes.append(Write(self.number, changes, True, self.revision))

    def strikes(self, fault: str) -> bool:
        return self.fault == fault and self.random.random() < 0.3

    def dirty(self) -> set[str]:
        keys = self.store.keys() | self.agreed.keys()
        return {key for key in keys if self.store.get(key) != self.agreed.get(key, (0, None))[1]}

    def together(self, keys: set[str], dirty: set[str]) -> set[str]:
        found = set(keys)
        while more := [joined for joined in self.joined if joined & found and joined - found]:
            for joined in more:
                found |= joined
        return found & dirty

    def hear(self) -> None:
        """Finds out whether etcd has taken what it has not answered."""
        revision = self.etcd.last.get(self.host, 0)
        if self.unanswered and revision > self.heard and self.fault != "lose to itself":
            self.agreed |= {key: (0 if value is None else revision, value) for key, value in self.unanswered.items()}
        self.unanswered, self.heard = {}, revision

    def down(self) -> None:
        self.hear()
        dirty = self.dirty()
        changed = set()
        for key, (value, _, _) in self.etcd.table.items():
            if self.etcd.revision_of(key) == self.agreed.get(key, (0, None))[0]:
                continue
            if self.strikes("drop a download"):
                self.agreed[key] = (self.etcd.revision_of(key), self.store.get(key))
            else:
                changed.add(key)
                if value is None and self.store.get(key) and self.strikes("resurrect"):
                    self.etcd.change({key: self.store[key]}, self.host, {})
        lost = {key for key in changed & dirty if self.store.get(key) != self.etcd.table[key][0]}
        if self.fault != "lose alone":
            lost = self.together(lost, dirty)
        self.apply(changed | lost, bool(lost), {self.etcd.table[key][2] or "unknown" for key in changed})

    def apply(self, keys: set[str], is_conflict: bool, hosts: set[str]) -> None:
        changes = {key: self.etcd.table.get(key, (None,))[0] for key in sorted(keys)}
        if self.strikes("wrong winner"):
            hosts = {f"{host}0" for host in hosts}
        tag = f"fleet:{','.join(sorted(hosts))}"
        if is_conflict and not self.strikes("no conflict tag"):
            tag += ":conflict"
        if self.strikes("split a download") and len(changes) > 1:
            first = next(iter(changes))
            self.commit({first: changes[first]}, tag)
        self.commit(changes, tag)
        if self.strikes("apply twice"):
            self.commit(self.old, tag)
        self.old = {key: value for key, value in changes.items() if value is not None} or self.old
        for key, value in changes.items():
            self.agreed[key] = (self.etcd.revision_of(key), value)
        if changes and self.strikes("echo"):
            self.etcd.change(changes, self.host, {})

    def up(self) -> None:
        self.hear()
        dirty = self.dirty()
        if not dirty:
            return
        changes = {key: self.store.get(key) for key in sorted(dirty)}
        if self.strikes("drop an upload"):
            dropped = self.random.choice(sorted(changes))
            self.agreed[dropped] = (self.agreed.get(dropped, (0, None))[0], changes.pop(dropped))
        compared = {key: self.agreed.get(key, (0, None))[0] for key in changes}
        if self.strikes("do not compare"):
            compared = {}
        if self.strikes("split an upload") and len(changes) > 1:
            first = next(iter(changes))
            if not self.etcd.change({first: changes[first]}, self.host, {first: compared.get(first, 0)}):
                return
            self.note_sent({first: changes.pop(first)})
        if not self.etcd.change(changes, self.host, compared):
            return
        if self.random.random() < 0.2:
            self.unanswered = changes
        else:
            self.note_sent(changes)

    def note_sent(self, changes: dict[str, Stamp]) -> None:
        self.heard = self.etcd.revision
        self.agreed |= {key: (self.etcd.revision_of(key), value) for key, value in changes.items()}

    def record(self) -> Machine:
        after = {key: value for key, value in self.store.items() if value is not None}
        return Machine(self.host, {}, after, self.writes, self.rows, self.notices, self.snapshots)


def run_model(seed: int, fault: str | None = None, steps: int = 150) -> Round:
    """One round of three machines."""
    random = Random(seed)
    etcd = ModelEtcd()
    machines = [ModelMachine(f"web{number}", etcd, random, fault) for number in range(3)]
    outside = []
    for step in range(steps):
        machine = random.choice(machines)
        random.choice([machine.write, machine.write, machine.down, machine.up])()
        if random.random() < 0.05:
            stamp = f"outside:{step}"
            etcd.change({random.choice(SHARED): stamp}, None, {})
            outside.append(Write(step, {etcd.events[-1].key: stamp}, True))
    for machine in machines * 4:
        machine.down()
        machine.up()
    records = [machine.record() for machine in machines]
    return Round({}, etcd.values(), etcd.events, records, GROUPS, outside)
