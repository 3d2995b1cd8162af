"""How machines and members of etcd reach each other, and how they are cut off: by proxies, or in network namespaces."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
from collections.abc import Callable
from functools import partial
from typing import Protocol

from proxies import Link, serve

CUTS = ("hold", "drop", "reset")
"""What a cut does with packets: deliver them later, lose them, or end the connections."""


class Network(Protocol):
    cuts: tuple[str, ...]
    losses: tuple[str, ...]
    """The cuts by which calls arrive whose answers are lost."""

    def prefix(self, node: str) -> list[str]:
        """What a command of a node begins with."""

    def client(self, member: int) -> tuple[str, int]:
        """Where a member listens for clients."""

    def peer(self, member: int) -> tuple[str, int]:
        """Where a member listens for the others."""

    def advertised(self, member: int) -> tuple[str, int]:
        """Where the others find a member."""

    def endpoint(self, machine: str, member: int) -> tuple[str, int]:
        """Where a machine finds a member."""

    def cut(self, left: str, right: str, how: str) -> None:
        """Lets nothing through between two nodes, in both directions."""

    def heal(self) -> None:
        """Lets everything through."""

    def close(self) -> None:
        """Removes all that it has made."""


def member_node(member: int) -> str:
    return f"etcd{member}"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Loopback:
    """Every machine reaches every member through a proxy of its own, and members reach each other through one, too."""

    cuts: tuple[str, ...] = CUTS
    losses: tuple[str, ...] = ("lose answers",)

    def __init__(self, machines: list[str], members: int, processes: Callable[[], dict[int, str]]) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._links: dict[frozenset[str], Link] = {}
        self._clients = [free_port() for _ in range(members)]
        self._peers = [free_port() for _ in range(members)]
        self._endpoints: dict[tuple[str, int], int] = {}
        self._advertised = []
        for member in range(members):
            name = member_node(member)
            for machine in machines:
                link = self._link(machine, name)
                self._endpoints[machine, member] = self._serve(partial(always, link), self._clients[member])
            self._advertised.append(self._serve(partial(self._source, processes, name), self._peers[member]))

    def _source(self, processes: Callable[[], dict[int, str]], name: str, port: int) -> Link:
        """The link of a member, whichever of the others has connected to it."""
        return self._link(processes().get(owner(port), "?"), name)

    def _link(self, left: str, right: str) -> Link:
        return self._links.setdefault(frozenset((left, right)), Link())

    def _serve(self, find: Callable[[int], Link], port: int) -> int:
        return asyncio.run_coroutine_threadsafe(serve(find, port), self._loop).result()

    def prefix(self, node: str) -> list[str]:
        return []

    def client(self, member: int) -> tuple[str, int]:
        return "127.0.0.1", self._clients[member]

    def peer(self, member: int) -> tuple[str, int]:
        return "127.0.0.1", self._peers[member]

    def advertised(self, member: int) -> tuple[str, int]:
        return "127.0.0.1", self._advertised[member]

    def endpoint(self, machine: str, member: int) -> tuple[str, int]:
        return "127.0.0.1", self._endpoints[machine, member]

    def cut(self, left: str, right: str, how: str) -> None:
        link = self._link(left, right)
        self._loop.call_soon_threadsafe(link.cut, how)

    def heal(self) -> None:
        for link in list(self._links.values()):
            self._loop.call_soon_threadsafe(link.heal)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)


def always(link: Link, port: int) -> Link:
    return link


def owner(port: int) -> int:
    """The process that a local end of a connection belongs to; 0 if it may not be inspected."""
    end = f"0100007F:{port:04X}"
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table]
    sockets = {f"socket:[{row[9]}]" for row in rows if row[1] == end}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            for descriptor in os.scandir(f"/proc/{process}/fd"):
                if os.readlink(descriptor.path) in sockets:
                    return int(process)
        except OSError:
            continue  # it has ended, or belongs to another user
    return 0


class Namespaces:
    """Every node has a network of its own, on one bridge. Needs the rights that `unshare --net --mount` gives."""

    cuts: tuple[str, ...] = ("hold",)
    losses: tuple[str, ...] = ("hold",)

    def __init__(self, machines: list[str], members: int) -> None:
        self._addresses: dict[str, str] = {}
        self._cuts: list[tuple[str, str]] = []
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "fleet", "type", "bridge")
        run("ip", "address", "add", "10.213.0.254/24", "dev", "fleet")
        run("ip", "link", "set", "fleet", "up")
        for number, node in enumerate([*map(member_node, range(members)), *machines], 1):
            self._add(node, number)

    def _add(self, node: str, number: int) -> None:
        address = self._addresses[node] = f"10.213.0.{number}"
        run("ip", "netns", "add", node)
        run("ip", "link", "add", f"to{number}", "type", "veth", "peer", "name", "eth0", "netns", node)
        run("ip", "link", "set", f"to{number}", "master", "fleet", "up")
        run("ip", "-n", node, "address", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", node, "link", "set", "eth0", "up")
        run("ip", "-n", node, "link", "set", "lo", "up")

    def prefix(self, node: str) -> list[str]:
        return ["ip", "netns", "exec", node]

    def client(self, member: int) -> tuple[str, int]:
        return self._addresses[member_node(member)], 2379

    def peer(self, member: int) -> tuple[str, int]:
        return self._addresses[member_node(member)], 2380

    def advertised(self, member: int) -> tuple[str, int]:
        return self.peer(member)

    def endpoint(self, machine: str, member: int) -> tuple[str, int]:
        return self.client(member)

    def cut(self, left: str, right: str, how: str) -> None:
        # Packets go to a neighbour that there is not, so that neither end gets an error.
        for here, there in [(left, right), (right, left)]:
            wrong = ("lladdr", "02:00:00:00:00:fe", "dev", "eth0", "nud", "permanent")
            run("ip", "-n", here, "neigh", "replace", self._addresses[there], *wrong)
            self._cuts.append((here, there))

    def heal(self) -> None:
        for here, there in self._cuts:
            subprocess.run(
                ["ip", "-n", here, "neigh", "del", self._addresses[there], "dev", "eth0"], check=False, stderr=-3
            )
        self._cuts = []

    def close(self) -> None:
        for node in self._addresses:
            run("ip", "netns", "del", node)
        run("ip", "link", "del", "fleet")


def run(*command: str) -> None:
    subprocess.run(command, check=True)
