"""Machines that follow a real etcd: the program named by KEPT_FLEET, and etcd of Debian's etcd-server."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

IDENTIFIER = "com.example.player"
# Far longer than anything takes on a busy machine; a test that waits for it has failed.
PATIENCE = float(os.environ.get("KEPT_PATIENCE", "120"))


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Waits until something is so."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"after {PATIENCE:.0f} seconds not so: {what}")
        time.sleep(0.02)


def free_ports(count: int) -> list[int]:
    """Ports that no other program listens at."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


def run(arguments: list[str], input: str = "", environment: dict[str, str] | None = None) -> Done:
    done = subprocess.run(
        arguments, input=input, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment
    )
    return Done(done.returncode, done.stdout, done.stderr)


@dataclass
class Member:
    """One etcd, in a folder of its own."""

    folder: Path
    client: int
    peer: int
    cluster: str
    options: list[str] = field(default_factory=list)
    secure: bool = False
    process: subprocess.Popen[bytes] | None = None
    is_stopped: bool = False

    @property
    def name(self) -> str:
        return f"m{self.peer}"

    @property
    def url(self) -> str:
        return f"{'https' if self.secure else 'http'}://127.0.0.1:{self.client}"

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["etcd", "--name", self.name, "--data-dir", str(self.folder / "data"), "--listen-client-urls", self.url]
                + ["--advertise-client-urls", self.url, "--listen-peer-urls", f"http://127.0.0.1:{self.peer}"]
                + ["--initial-advertise-peer-urls", f"http://127.0.0.1:{self.peer}", "--initial-cluster", self.cluster]
                + ["--heartbeat-interval", "50", "--election-timeout", "1000", *self.options],
                stdout=log,
                stderr=log,
            )

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Etcd:
    """An etcd of one member or several."""

    def __init__(self, folder: Path, count: int, options: list[str], secure: bool = False) -> None:
        ports = free_ports(2 * count)
        cluster = ",".join(f"m{peer}=http://127.0.0.1:{peer}" for peer in ports[count:])
        self.members = []
        for client, peer in zip(ports[:count], ports[count:], strict=True):
            (folder / str(peer)).mkdir(parents=True)
            self.members.append(Member(folder / str(peer), client, peer, cluster, options, secure))
        #: The options of etcdctl, without the members.
        self.credentials: list[str] = []
        self.start()

    @property
    def urls(self) -> list[str]:
        return [member.url for member in self.members]

    def start(self) -> None:
        for member in self.members:
            member.start()

    def wait_until_ready(self) -> None:
        wait_for(lambda: self.ctl("get", "x").status == 0, "etcd answers")

    def kill(self) -> None:
        for member in self.members:
            member.kill()

    def wipe(self) -> None:
        self.kill()
        for member in self.members:
            shutil.rmtree(member.folder / "data")

    def restore(self, snapshot: Path) -> None:
        """Goes on with a snapshot, as the same cluster."""
        self.wipe()
        for member in self.members:
            done = self.ctl(
                *[
                    "snapshot",
                    "restore",
                    str(snapshot),
                    "--data-dir",
                    str(member.folder / "data"),
                    "--name",
                    member.name,
                ],
                *["--initial-cluster", member.cluster],
                *["--initial-advertise-peer-urls", f"http://127.0.0.1:{member.peer}"],
            )
            assert done.status == 0, done.err
        self.start()
        self.wait_until_ready()

    def ctl(self, *arguments: str, input: str = "") -> Done:
        command = ["etcdctl", "--endpoints", ",".join(self.urls), *self.credentials, *arguments]
        return run(command, input, os.environ | {"ETCDCTL_API": "3"})

    def call(self, path: str, **body: Any) -> dict[str, Any]:
        """Calls the first member by its gateway, which takes what `etcdctl` does not."""
        request = urllib.request.Request(f"{self.urls[0]}/v3/{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request) as response:
            found: dict[str, Any] = json.loads(response.read())
        return found

    def put(self, key: str, value: str) -> None:
        done = self.ctl("put", key, input=value)
        assert done.status == 0, done.err

    def delete(self, key: str) -> None:
        assert self.ctl("del", key).status == 0

    def get(self, key: str) -> str:
        done = self.ctl("get", key, "--print-value-only")
        assert done.status == 0, done.err
        return done.out.removesuffix("\n")

    def revision(self, of: str = "") -> int:
        """The revision of the last change of a key, or of anything."""
        found = json.loads(self.ctl("get", of or "x", "-w", "json").out)
        return int(found["kvs"][0]["mod_revision"] if of else found["header"]["revision"])

    def compact(self) -> None:
        assert self.ctl("compact", str(self.revision())).status == 0


@pytest.fixture
def start_etcd(tmp_path: Path) -> Iterator[Callable[..., Etcd]]:
    """Starts etcd with a number of members and further options."""
    started: list[Etcd] = []

    def start(count: int = 1, *options: str, secure: bool = False) -> Etcd:
        etcd = Etcd(tmp_path / f"etcd{len(started)}", count, list(options), secure)
        started.append(etcd)
        return etcd

    yield start
    for etcd in started:
        etcd.kill()


@pytest.fixture
def etcd(start_etcd: Callable[..., Etcd]) -> Etcd:
    etcd = start_etcd()
    etcd.wait_until_ready()
    return etcd


def program() -> str:
    name = os.environ.get("KEPT_FLEET")
    if not name:
        pytest.fail("KEPT_FLEET must name the program, such as build/bin/kept-fleet")
    return name


@dataclass
class Machine:
    """A machine that follows: its folder, and the process if it runs."""

    folder: Path
    host: str
    etcd: list[str]
    more: list[str]
    process: subprocess.Popen[bytes] | None = None

    @property
    def status_file(self) -> Path:
        return self.folder.with_suffix(".json")

    @property
    def managed(self) -> Path:
        return self.folder / "managed.json"

    @property
    def system(self) -> Path:
        return self.folder / "system.json"

    @property
    def log(self) -> str:
        log = self.folder.with_suffix(".log")
        return log.read_text() if log.exists() else ""

    def start(self, environment: dict[str, str] | None = None) -> None:
        with self.folder.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(
                [program(), "follow", IDENTIFIER, "--folder", str(self.folder), "--host", self.host]
                + ["--status-file", str(self.status_file), "--check-every", "2", "--report-within", "0"]
                + ["--timeout", "2", *[word for url in self.etcd for word in ("--etcd", url)], *self.more],
                stdout=log,
                stderr=log,
                env=os.environ | (environment or {}),
            )

    def kill(self) -> None:
        if self.process is not None:
            ended = self.process.poll()
            self.process.kill()
            self.process.wait()
            self.process = None
            assert ended in (None, 0), f"it ended by itself, with {ended}: {self.log}"

    def status(self) -> dict[str, Any]:
        if self.process is None or not self.status_file.exists():
            return {"connected": False}
        status: dict[str, Any] = json.loads(self.status_file.read_text())
        return status if status["process"] == self.process.pid else {"connected": False}

    def wait_until_connected(self) -> None:
        wait_for(lambda: bool(self.status()["connected"]), f"{self.host} is connected: {self.log}")

    def wait_until(self, path: Path, text: str | None) -> None:
        def is_so() -> bool:
            return (path.read_text() if path.exists() else None) == text

        wait_for(is_so, f"{path} is {text!r}: {self.log}")


@dataclass
class SyncMachine:
    """A machine of a user: the store, and the process that keeps it the same if it runs."""

    folder: Path
    host: str
    etcd: list[str]
    prefix: str
    more: list[str]
    process: subprocess.Popen[bytes] | None = None

    @property
    def store(self) -> Path:
        return self.folder / "store.kept"

    @property
    def status_file(self) -> Path:
        return self.folder / "status.json"

    @property
    def log(self) -> str:
        log = self.folder / "log"
        return log.read_text() if log.exists() else ""

    def command(self) -> list[str]:
        return (
            [program(), "sync", IDENTIFIER, "--prefix", self.prefix, "--store", str(self.store)]
            + ["--state", str(self.folder / "state"), "--host", self.host, "--status-file", str(self.status_file)]
            + ["--check-every", "2", "--report-within", "0", "--timeout", "2"]
            + [*[word for url in self.etcd for word in ("--etcd", url)], *self.more]
        )

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)

    def kill(self) -> None:
        if self.process is not None:
            ended = self.process.poll()
            self.process.kill()
            self.process.wait()
            self.process = None
            assert ended in (None, 0), f"it ended by itself, with {ended}: {self.log}"

    def status(self) -> dict[str, Any]:
        if self.process is None or not self.status_file.exists():
            return {"connected": False}
        status: dict[str, Any] = json.loads(self.status_file.read_text())
        return status if status["process"] == self.process.pid else {"connected": False}

    def set(self, key: str, value: str) -> None:
        done = kept("set", str(self.store), key, "-", input=value)
        assert done.status == 0, done.err

    def reset(self, key: str) -> None:
        done = kept("reset", str(self.store), key)
        assert done.status == 0, done.err

    def transaction(self, values: dict[str, str]) -> None:
        lines = [json.dumps({"set": key, "value": json.loads(value)}) for key, value in values.items()]
        done = kept("transaction", str(self.store), input="\n".join(lines))
        assert done.status == 0, done.err

    def declare(self, schema: str) -> None:
        """Declares keys; secrets among them are stored as they are."""
        if "secret" in schema:
            assert kept("secrets", str(self.store), "init", "--plain").status == 0
        done = kept("declare", str(self.store), "-", input=schema)
        assert done.status == 0, done.err

    def get(self, key: str) -> str:
        """The value as JSON; empty if there is none."""
        done = kept("get", str(self.store), key, "--json", "--reveal")
        return done.out.removesuffix("\n") if done.status == 0 else ""

    def values(self) -> dict[str, str]:
        done = kept("list", str(self.store), "--json", "--reveal")
        assert done.status == 0, done.err
        return {key: json.dumps(one["value"]) for key, one in json.loads(done.out).items()}

    def history(self, *keys: str) -> list[dict[str, Any]]:
        done = kept("log", str(self.store), *keys, "--json")
        return [json.loads(line) for line in done.out.splitlines()]


def kept(*arguments: str, input: str = "") -> Done:
    return run([os.environ["KEPT_COMMAND"], *arguments], input)


def lose_declarations(store: Path, *keys: str) -> None:
    """Leaves what a salvage leaves that could not read the declarations of keys."""
    for key in keys:
        kept("undeclare", str(store), key)
    export = {"kept": 1, "values": {}, "declarations": {key: {"lost": True} for key in keys}}
    assert kept("import", str(store), "-", "--declarations", input=json.dumps(export)).status == 0


def wait_until_same(etcd: Etcd, prefix: str, *machines: SyncMachine) -> None:
    """Waits until machines have nothing to send, and have the values that etcd has."""

    def is_so() -> bool:
        found = json.loads(etcd.ctl("get", "--prefix", f"{prefix}/{IDENTIFIER}/user/", "-w", "json").out)
        start = len(f"{prefix}/{IDENTIFIER}/user/")
        values = {
            base64.b64decode(one["key"]).decode()[start:]: json.dumps(json.loads(base64.b64decode(one["value"])))
            for one in found.get("kvs", [])
        }
        values.pop("", None)
        return all(
            one.status()["connected"] and one.status().get("pending") == 0 and one.values() == values
            for one in machines
        )

    wait_for(is_so, "all are the same: " + "".join(one.log for one in machines))


StartSync = Callable[..., SyncMachine]


@pytest.fixture
def start_sync(tmp_path: Path) -> Iterator[StartSync]:
    """Starts to keep the settings of a user the same with some members of etcd, with further options."""
    machines: list[SyncMachine] = []

    def start(etcd: Etcd, *more: str, host: str = "one", wait: bool = True, start: bool = True) -> SyncMachine:
        machine = SyncMachine(tmp_path / host, host, etcd.urls, "/kept-users/anna", list(more))
        machine.folder.mkdir(exist_ok=True)
        machines.append(machine)
        if start:
            machine.start()
        if start and wait:
            wait_for(lambda: bool(machine.status()["connected"]), f"{host} is connected: {machine.log}")
        return machine

    yield start
    for machine in machines:
        machine.kill()


StartMachine = Callable[..., Machine]


@pytest.fixture
def start_machine(tmp_path: Path) -> Iterator[StartMachine]:
    """Starts to follow some members of etcd, with further options."""
    machines: list[Machine] = []

    def start(etcd: Etcd | list[str], *more: str, host: str = "web1", wait: bool = True) -> Machine:
        urls = etcd.urls if isinstance(etcd, Etcd) else etcd
        machine = Machine(tmp_path / host, host, urls, list(more))
        machine.folder.mkdir(exist_ok=True)
        machines.append(machine)
        machine.start()
        if wait:
            machine.wait_until_connected()
        return machine

    yield start
    for machine in machines:
        machine.kill()


@pytest.fixture
def machine(etcd: Etcd, start_machine: StartMachine) -> Machine:
    """A machine that follows an empty etcd."""
    return start_machine(etcd)


Fleet = Callable[..., Done]


@pytest.fixture
def fleet(etcd: Etcd) -> Fleet:
    """Runs the command with the etcd of the test."""

    def call(command: str, *arguments: str, input: str = "") -> Done:
        members = [word for url in etcd.urls for word in ("--etcd", url)]
        return run([program(), command, IDENTIFIER, *arguments, *members], input)

    return call


def key(document: str, prefix: str = "/kept") -> str:
    return f"{prefix}/{IDENTIFIER}/{document}"


def reports(etcd: Etcd, prefix: str = "/kept") -> list[dict[str, Any]]:
    """What machines have reported, by their hosts."""
    found = json.loads(etcd.ctl("get", "--prefix", key("status/", prefix), "-w", "json").out).get("kvs", [])
    values = [json.loads(base64.b64decode(one["value"])) for one in found]
    return sorted((value for value in values if isinstance(value, dict)), key=lambda one: str(one.get("host")))


def report(etcd: Etcd, host: str = "web1", prefix: str = "/kept") -> dict[str, Any]:
    """What a machine has reported; empty if it has not."""
    return next((one for one in reports(etcd, prefix) if one.get("host") == host), {})


def wait_for_refusal(etcd: Etcd, document: str, word: str, host: str = "web1", prefix: str = "/kept") -> None:
    """Waits until a machine has reported that it refuses a document, with a word of the reason."""

    def is_so() -> bool:
        refused = report(etcd, host, prefix).get("refused", [])
        return any(one["document"] == document and word in one["reason"] for one in refused)

    wait_for(is_so, f"{host} refuses {document} because of {word}")


VOLUME_30 = '{"values": {"audio.volume": 30}}'
VOLUME_40 = '{"values": {"audio.volume": 40}, "locked": ["audio.theme"]}'
SCHEMA = """{"type": "object", "properties": {
  "audio.volume": {"type": "integer", "minimum": 0, "maximum": 100},
  "audio.theme": {"type": "string", "enum": ["dark", "light"]},
  "token": {"type": "string", "secret": true}
}}"""
