"""A fleet, and rounds of it: programs write while a nemesis acts, then all has to become quiet and equal."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from threading import Event as Flag
from threading import Thread

from checker import Fault, check
from cluster import Etcd, EtcdReader, Unavailable
from machines import USER, LiveMachine
from nemeses import NEMESES, close, has_compiler
from network import Loopback, Namespaces, Network, member_node
from records import OUTSIDE, Round, Stamp, Write

from values import GROUPS, SHARED, stamp_of

MEMBERS = 3
# Far longer than anything takes on a busy machine.
PATIENCE = 120.0


@dataclass(frozen=True)
class Options:
    folder: Path
    program: str
    seed: int
    machines: int = 5
    network: str = "proxies"
    nemeses: tuple[str, ...] = tuple(NEMESES)
    seconds: float = 3.0
    """How long programs write in a round, at most."""


@dataclass(frozen=True)
class Outcome:
    number: int
    nemesis: str
    counts: str
    seconds: float
    faults: list[Fault]


class Fleet:
    """Members of etcd and machines."""

    def __init__(self, options: Options) -> None:
        self.folder = options.folder
        hosts = [f"web{number}" for number in range(1, options.machines + 1)]
        self.network: Network = (
            Namespaces(hosts, MEMBERS) if options.network == "namespaces" else Loopback(hosts, MEMBERS, self._processes)
        )
        self.etcd = Etcd(self.folder, self.network, MEMBERS)
        self.reader = EtcdReader(self.etcd, USER)
        self.compacted = 0
        self.clock = build_clock(self.folder) if has_compiler() else None
        self.machines = [
            LiveMachine(self.folder, host, self.network, MEMBERS, options.program, self.clock) for host in hosts
        ]

    def _processes(self) -> dict[int, str]:
        return {
            member.process.pid: member_node(member.number) for member in self.etcd.members if member.process is not None
        }

    def start(self) -> None:
        self.etcd.start()
        for machine in self.machines:
            machine.start()

    def close(self) -> None:
        for machine in self.machines:
            machine.kill()
            machine.store.close()
        self.etcd.kill()
        self.network.close()

    def compact(self) -> None:
        """Compacts the revisions that were read already."""
        self.reader.read()
        self.etcd.compact(self.reader.revision)
        self.compacted = self.reader.revision

    def disquiet(self) -> str | None:
        """Why the fleet is not quiet and equal yet; None if it is."""
        try:
            self.reader.read()
        except Unavailable as error:
            return str(error)
        for machine in self.machines:
            reason = machine.disquiet(self.reader.values, self.reader.changed_at)
            if reason is not None:
                return reason
        return None


def build_clock(folder: Path) -> Path:
    path = folder / "clock.so"
    source = Path(__file__).parent / "clock.c"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(path), str(source), "-ldl"], check=True)
    return path


class Outside:
    """Someone with etcdctl: puts and deletes keys without a record of the writer."""

    def __init__(self, etcd: Etcd) -> None:
        self._etcd = etcd
        self._number = 0

    @contextmanager
    def writing(self, random: Random | None) -> Iterator[list[Write]]:
        """Writes during a block, or does not; the list is complete after it."""
        writes: list[Write] = []
        if random is None:
            yield writes
            return
        ends = Flag()
        thread = Thread(target=self._write, args=[random, writes, ends])
        thread.start()
        try:
            yield writes
        finally:
            ends.set()
            thread.join()

    def _write(self, random: Random, writes: list[Write], ends: Flag) -> None:
        while not ends.wait(random.expovariate(4)):
            self._number += 1
            key, stamp = random.choice(SHARED), f"{OUTSIDE}:{self._number}"
            value: Stamp = None if random.random() < 0.2 else stamp
            is_done = True
            try:
                if value is None:
                    self._etcd.delete(USER + key)
                else:
                    self._etcd.put(USER + key, json.dumps(value))
            except Unavailable:
                is_done = False
            writes.append(Write(self._number, {key: value}, is_done))


class Runner:
    def __init__(self, options: Options) -> None:
        self._options = options
        self.fleet = Fleet(options)
        self._outside = Outside(self.fleet.etcd)
        self._before: dict[str, Stamp] = {}

    def start(self) -> None:
        self.fleet.start()
        fault = self._become_quiet()
        if fault is not None:
            raise RuntimeError(f"the fleet did not start: {fault}")
        self._collect([], 0)

    def close(self) -> None:
        self.fleet.close()

    def run(self, number: int) -> Outcome:
        """Runs one round, and leaves the fleet quiet."""
        begin = time.monotonic()
        random = Random(f"{self._options.seed}/{number}")
        fault = self._forget(random) if random.random() < 0.15 else None
        fault = fault or self._become_quiet()
        # A history joins commits that a program makes within a second: no change may begin in the round before.
        Flag().wait(1.1)
        at_rest = len(self.fleet.reader.events)
        said, writes = self._write(random, number)
        fault = fault or self._become_quiet()
        round = self._collect(writes, at_rest)
        faults = [Fault("quiet", fault)] if fault else []
        faults += check(round)
        if faults:
            self._save(number, round, faults)
        return Outcome(number, said, counts(round), time.monotonic() - begin, faults)

    def _forget(self, random: Random) -> str | None:
        """Makes one machine a new one, while nothing is written."""
        machine = random.choice(self.fleet.machines)
        machine.kill_sync()
        machine.forget()
        machine.start_sync()
        return self._become_quiet()

    def _write(self, random: Random, number: int) -> tuple[str, list[Write]]:
        """Lets programs write while a nemesis acts."""
        name = random.choice(self._options.nemeses)
        for machine in self.fleet.machines:
            machine.go(f"{self._options.seed}/{number}/{machine.host}", random.choice([0.003, 0.01, 0.05, 0.2, 1.0]))
        nemesis = NEMESES[name](self.fleet, random)
        said: list[str] = []
        end = time.monotonic() + random.uniform(0.3, 1) * self._options.seconds
        pause = Flag()
        is_alone = random.random() < 0.7
        with self._outside.writing(None if is_alone else Random(f"{self._options.seed}/{number}")) as writes:
            try:
                while time.monotonic() < end:
                    pause.wait(random.uniform(0.02, 0.3))
                    what = next(nemesis, None)
                    if what and what not in said:
                        said.append(what)
            finally:
                # They write on while all is healed, or do not.
                ends_early = random.random() < 0.5
                if ends_early:
                    self._tell_to_rest()
                close(nemesis)
                if not ends_early:
                    self._tell_to_rest()
                for machine in self.fleet.machines:
                    machine.wait_until_resting()
        return "; ".join(said), writes

    def _tell_to_rest(self) -> None:
        for machine in self.fleet.machines:
            machine.start_writer()
            machine.tell_to_rest()

    def _become_quiet(self) -> str | None:
        """Waits until all is equal; returns the differences if that takes too long, or if a process has ended."""
        end = time.monotonic() + PATIENCE
        pause = Flag()
        while (reason := self.fleet.disquiet()) is not None:
            ended = [what for machine in self.fleet.machines if (what := machine.ended())]
            if ended:
                return ended[0]
            if time.monotonic() > end:
                return f"after {PATIENCE:.0f} seconds: {reason}"
            pause.wait(0.05)
        return None

    def _collect(self, outside: list[Write], at_rest: int) -> Round:
        reader = self.fleet.reader
        before, self._before = self._before, {key: stamp_of(value) for key, value in reader.values.items()}
        events, reader.events = reader.events, []
        return Round(
            before=before,
            after=self._before,
            events=events,
            machines=[machine.record() for machine in self.fleet.machines],
            groups=GROUPS,
            outside=outside,
            compacted=self.fleet.compacted,
            at_rest=events[:at_rest],
        )

    def _save(self, number: int, round: Round, faults: list[Fault]) -> None:
        """Keeps what `--check` reads."""
        path = self.fleet.folder / f"round-{number}.json"
        path.write_text(json.dumps(asdict(round) | {"faults": list(map(str, faults))}, indent=1))


def counts(round: Round) -> str:
    writes = sum(len(machine.writes) for machine in round.machines)
    conflicts = sum(row.is_conflict for machine in round.machines for row in machine.rows)
    snapshots = sum(len(machine.snapshots) for machine in round.machines)
    changes = f"{writes} writes, {len(round.events)} changes in etcd, {conflicts} lost to conflicts"
    return f"{changes}, {snapshots} snapshots"
