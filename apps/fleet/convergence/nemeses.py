"""What happens to a fleet while its programs write.

A nemesis is a generator. It does something and yields what that was, or None, to continue after a while; it repairs
everything when it is closed.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from random import Random
from typing import TYPE_CHECKING

from cluster import Unavailable
from network import member_node

if TYPE_CHECKING:
    from machines import LiveMachine

    from rounds import Fleet

Nemesis = Iterator[str | None]

DAY = 86_400


def some(fleet: Fleet, random: Random) -> list[LiveMachine]:
    return random.sample(fleet.machines, random.randint(1, max(1, len(fleet.machines) // 2)))


def names(machines: list[LiveMachine]) -> str:
    return ", ".join(machine.host for machine in machines)


def nothing(fleet: Fleet, random: Random) -> Nemesis:
    yield "nothing"


def stop_sync(fleet: Fleet, random: Random) -> Nemesis:
    machines = some(fleet, random)
    try:
        for machine in machines:
            machine.signal_sync(signal.SIGSTOP)
        yield f"stop kept-fleet of {names(machines)}"
        while True:
            yield None
    finally:
        for machine in machines:
            machine.signal_sync(signal.SIGCONT)


def kill_sync(fleet: Fleet, random: Random) -> Nemesis:
    machines = some(fleet, random)
    try:
        yield f"kill kept-fleet of {names(machines)}"
        while True:
            machine = random.choice(machines)
            if machine.sync is None or random.random() < 0.7:
                machine.kill_sync()
            if random.random() < 0.8:
                machine.start_sync()
            yield None
    finally:
        for machine in machines:
            machine.start_sync()


def kill_member(fleet: Fleet, random: Random) -> Nemesis:
    member = random.choice(fleet.etcd.members)
    try:
        member.kill()
        yield f"kill {member_node(member.number)}"
        for _ in range(random.randrange(6)):
            yield None
    finally:
        member.start()


def stop_member(fleet: Fleet, random: Random) -> Nemesis:
    member = random.choice(fleet.etcd.members)
    try:
        member.send(signal.SIGSTOP)
        yield f"stop {member_node(member.number)}"
        while True:
            yield None
    finally:
        member.send(signal.SIGCONT)


def cut_machines(fleet: Fleet, random: Random) -> Nemesis:
    machines, how = some(fleet, random), random.choice(fleet.network.cuts)
    try:
        while True:
            for machine in machines:
                for member in fleet.etcd.members:
                    fleet.network.cut(machine.host, member_node(member.number), how)
            yield f"cut off {names(machines)} ({how})"
            for _ in range(random.randrange(3, 20)):
                yield None
            fleet.network.heal()
            for _ in range(random.randrange(1, 4)):
                yield None
    finally:
        fleet.network.heal()


def cut_some_links(fleet: Fleet, random: Random) -> Nemesis:
    how = random.choice(fleet.network.cuts)
    try:
        yield f"cut links to single members ({how})"
        while True:
            machine, member = random.choice(fleet.machines), random.choice(fleet.etcd.members)
            fleet.network.cut(machine.host, member_node(member.number), how)
            for _ in range(random.randrange(4)):
                yield None
            if random.random() < 0.3:
                fleet.network.heal()
    finally:
        fleet.network.heal()


def lose_answers(fleet: Fleet, random: Random) -> Nemesis:
    """What machines call arrives, and what etcd answers does not."""
    machines = some(fleet, random)
    try:
        yield f"lose answers to {names(machines)}"
        while True:
            how = random.choice(fleet.network.losses)
            for machine in random.sample(machines, random.randint(1, len(machines))):
                for member in fleet.etcd.members:
                    fleet.network.cut(machine.host, member_node(member.number), how)
            for _ in range(random.randrange(1, 6)):
                yield None
            fleet.network.heal()
            for _ in range(random.randrange(1, 4)):
                yield None
    finally:
        fleet.network.heal()


def cut_member(fleet: Fleet, random: Random) -> Nemesis:
    """Machines reach the member, and it does not reach the others."""
    member, how = random.choice(fleet.etcd.members), random.choice(fleet.network.cuts)
    try:
        for other in fleet.etcd.members:
            if other is not member:
                fleet.network.cut(member_node(member.number), member_node(other.number), how)
        yield f"cut {member_node(member.number)} off from the other members ({how})"
        while True:
            yield None
    finally:
        fleet.network.heal()


def compact(fleet: Fleet, random: Random) -> Nemesis:
    """Compacts behind a machine that is stopped or cut off, or behind none."""
    behind = random.choice([nothing, stop_sync, cut_machines, kill_sync])
    with_it = behind(fleet, random)
    try:
        yield f"compact; {next(with_it)}"
        while True:
            yield next(with_it, None)
            if random.random() < 0.5:
                try:
                    fleet.compact()
                except Unavailable:
                    yield "etcd did not compact"
    finally:
        close(with_it)


def kill_writers(fleet: Fleet, random: Random) -> Nemesis:
    machines = some(fleet, random)
    try:
        yield f"kill the writers of {names(machines)}"
        while True:
            machine = random.choice(machines)
            machine.kill_writer()
            yield None
            machine.start_writer()
            yield None
    finally:
        for machine in machines:
            machine.start_writer()


def restart_all(fleet: Fleet, random: Random) -> Nemesis:
    yield "kill everything"
    for _ in range(random.randrange(4)):
        yield None
    try:
        for machine in fleet.machines:
            machine.kill_sync()
            machine.kill_writer()
        fleet.etcd.kill()
        yield None
    finally:
        fleet.etcd.start()
        for machine in fleet.machines:
            machine.start_sync()
            machine.start_writer()


def step_clocks(fleet: Fleet, random: Random) -> Nemesis:
    machines = some(fleet, random)
    yield f"step the clocks of {names(machines)}"
    while fleet.clock is not None:
        # It stays so: a clock that was wrong may be put right in the next round, or made worse.
        machine = random.choice(machines)
        machine.set_clock(random.choice([0, random.uniform(-2, 2), random.uniform(-400 * DAY, 400 * DAY)]))
        yield None


def compose(*parts: Callable[[Fleet, Random], Nemesis]) -> Callable[[Fleet, Random], Nemesis]:
    """Several at the same time."""

    def together(fleet: Fleet, random: Random) -> Nemesis:
        running = [part(fleet, random) for part in parts]
        try:
            while True:
                said = [what for one in running if (what := next(one, None))]
                yield " + ".join(said) or None
        finally:
            for one in running:
                close(one)

    return together


def close(nemesis: Nemesis) -> None:
    nemesis.close()  # type: ignore[attr-defined]


NEMESES: dict[str, Callable[[Fleet, Random], Nemesis]] = {
    "nothing": nothing,
    "stop-sync": stop_sync,
    "kill-sync": kill_sync,
    "kill-member": kill_member,
    "stop-member": stop_member,
    "cut-machines": cut_machines,
    "cut-links": cut_some_links,
    "cut-member": cut_member,
    "lose-answers": lose_answers,
    "compact": compact,
    "kill-writers": kill_writers,
    "restart-all": restart_all,
    "step-clocks": step_clocks,
    "cut-and-kill": compose(cut_some_links, kill_sync),
    "cut-and-restart": compose(cut_machines, kill_member),
    "lose-and-kill": compose(lose_answers, kill_sync),
    "lose-and-restart": compose(lose_answers, kill_member),
    "kill-both": compose(kill_sync, kill_member, step_clocks),
}


def has_compiler() -> bool:
    return shutil.which("cc") is not None
