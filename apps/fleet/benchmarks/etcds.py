"""An etcd of one member or several with gRPC proxies before it, and what its processes use."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 120.0


def wait_for(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"after {PATIENCE:.0f} seconds not so: {what}")
        time.sleep(0.02)


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


@dataclass
class Running:
    """A process that serves at a port."""

    command: list[str]
    port: int
    log: Path
    process: subprocess.Popen[bytes] | None = None
    _cpu_before: float = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)

    def kill(self) -> None:
        if self.process:
            self._cpu_before = self.cpu
            self.process.kill()
            self.process.wait()
            self.process = None

    def _proc(self, name: str) -> str:
        assert self.process
        return Path(f"/proc/{self.process.pid}/{name}").read_text()

    @property
    def cpu(self) -> float:
        """Seconds of processors so far, with those before a restart."""
        if not self.process:
            return self._cpu_before
        fields = self._proc("stat").rpartition(")")[2].split()
        return self._cpu_before + (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self, line: str = "VmRSS") -> float:
        """Resident MB now, or with VmHWM at most so far."""
        if not self.process:
            return 0
        return next(int(each.split()[1]) for each in self._proc("status").splitlines() if each.startswith(line)) / 1000


class Etcd:
    """Members, and proxies before them."""

    def __init__(self, folder: Path, members: int = 1, proxies: int = 0, options: tuple[str, ...] = ()) -> None:
        ports = free_ports(2 * members + proxies)
        clients, peers, proxy_ports = ports[:members], ports[members : 2 * members], ports[2 * members :]
        cluster = ",".join(f"m{peer}=http://127.0.0.1:{peer}" for peer in peers)
        self.members = [
            Running(
                ["etcd", "--name", f"m{peer}", "--data-dir", str(folder / f"data{peer}"), "--initial-cluster", cluster]
                + ["--listen-client-urls", f"http://127.0.0.1:{client}"]
                + ["--advertise-client-urls", f"http://127.0.0.1:{client}"]
                + ["--listen-peer-urls", f"http://127.0.0.1:{peer}"]
                + ["--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", *options],
                client,
                folder / f"log{peer}",
            )
            for client, peer in zip(clients, peers, strict=True)
        ]
        endpoints = ",".join(member.url for member in self.members)
        self.proxies = [
            Running(
                ["etcd", "grpc-proxy", "start", "--endpoints", endpoints, "--listen-addr", f"127.0.0.1:{port}"],
                port,
                folder / f"log{port}",
            )
            for port in proxy_ports
        ]
        for member in self.members:
            member.start()
        wait_for(self._answers, "etcd answers")
        for proxy in self.proxies:
            proxy.start()
            wait_for(partial(self._answers, proxy.url), "the proxy answers")

    def _answers(self, at: str = "") -> bool:
        return self.ctl("get", "x", at=at).returncode == 0

    @property
    def urls(self) -> list[str]:
        """Where clients connect."""
        return [each.url for each in self.proxies or self.members]

    def ctl(self, *arguments: str, at: str = "") -> subprocess.CompletedProcess[str]:
        endpoints = at or ",".join(member.url for member in self.members)
        command = ["etcdctl", "--endpoints", endpoints, *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"ETCDCTL_API": "3"})

    def sizes(self) -> tuple[float, float]:
        """MB of the first member's database: of the file, and of its used part."""
        found: Any = json.loads(self.ctl("endpoint", "status", "-w", "json", at=self.members[0].url).stdout)
        status = found[0]["Status"]
        return status["dbSize"] / 1e6, status["dbSizeInUse"] / 1e6

    def compact(self) -> None:
        found: Any = json.loads(self.ctl("get", "x", "-w", "json").stdout)
        self.ctl("compact", str(found["header"]["revision"]))

    def kill(self) -> None:
        for each in self.proxies + self.members:
            each.kill()
