"""Several members: one that dies, is silent, or is cut off from the others is left for another."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from conftest import VOLUME_30, VOLUME_40, Etcd, Machine, StartMachine, free_ports, key, wait_for


def three(start_etcd: Callable[..., Etcd]) -> Etcd:
    etcd = start_etcd(3)
    etcd.wait_until_ready()
    return etcd


def member_of(machine: Machine, etcd: Etcd) -> int:
    return etcd.urls.index(machine.status()["etcd"])


def test_a_member_that_is_killed_is_left_for_another(
    start_etcd: Callable[..., Etcd], start_machine: StartMachine
) -> None:
    etcd = three(start_etcd)
    machine = start_machine(etcd)
    for text in [VOLUME_30, VOLUME_40, VOLUME_30]:
        killed = etcd.members[member_of(machine, etcd)]
        killed.kill()

        def is_put(text: str = text) -> bool:
            return etcd.ctl("put", key("managed"), text).status == 0

        wait_for(is_put, "the others have a leader")
        machine.wait_until(machine.managed, text)
        killed.start()
        wait_for(lambda: etcd.ctl("endpoint", "health").status == 0, "all members are well")


def test_a_member_that_is_silent_is_left_for_another(
    start_etcd: Callable[..., Etcd], start_machine: StartMachine
) -> None:
    etcd = three(start_etcd)
    machine = start_machine(etcd)
    silent = etcd.members[member_of(machine, etcd)]
    silent.send(signal.SIGSTOP)
    wait_for(lambda: etcd.ctl("put", key("managed"), VOLUME_30).status == 0, "the others have a leader")
    machine.wait_until(machine.managed, VOLUME_30)
    silent.send(signal.SIGCONT)


def test_a_member_without_the_others_is_not_trusted(
    start_etcd: Callable[..., Etcd], start_machine: StartMachine
) -> None:
    etcd = three(start_etcd)
    # It knows one member alone, which goes on answering that it is alive.
    alone = etcd.members[0]
    machine = start_machine([alone.url])
    for member in etcd.members[1:]:
        member.kill()
    wait_for(lambda: not machine.status()["connected"], "a member without the others is noticed")
    for member in etcd.members[1:]:
        member.start()
    etcd.wait_until_ready()
    etcd.put(key("managed"), VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_40)


def test_a_proxy_that_gives_no_proof_is_followed(etcd: Etcd, start_machine: StartMachine, tmp_path: Path) -> None:
    port = free_ports(1)[0]
    url = f"http://127.0.0.1:{port}"
    with (tmp_path / "proxy.log").open("wb") as log:
        proxy = subprocess.Popen(
            ["etcd", "grpc-proxy", "start", "--endpoints", etcd.urls[0], "--listen-addr", f"127.0.0.1:{port}"],
            stdout=log,
            stderr=log,
        )
    try:
        machine = start_machine([url])
        # A proof is due each second, and a comparison every two.
        heard: set[str] = set()

        def has_compared_often() -> bool:
            heard.add(machine.status()["heard"])
            return len(heard) > 5

        wait_for(has_compared_often, "it has compared often")
        assert machine.status()["connections"] == 1, machine.log
        etcd.put(key("managed"), VOLUME_30)
        machine.wait_until(machine.managed, VOLUME_30)
        # It goes on serving its clients.
        etcd.kill()
        wait_for(lambda: not machine.status()["connected"], "a proxy without etcd is noticed")
    finally:
        proxy.kill()
        proxy.wait()
