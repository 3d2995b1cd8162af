"""etcd of three members, and what it has had at every revision."""

from __future__ import annotations

import base64
import http.client
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from network import Network, member_node
from records import Event

from values import stamp_of


class Member:
    """One etcd, in a folder of its own."""

    def __init__(self, number: int, folder: Path, network: Network, members: int) -> None:
        self.number, self._folder = number, folder / member_node(number)
        self._folder.mkdir()
        client, peer = url(network.client(number)), url(network.peer(number))
        cluster = ",".join(f"{member_node(one)}={url(network.advertised(one))}" for one in range(members))
        self._command = [
            *network.prefix(member_node(number)),
            *("etcd", "--name", member_node(number), "--data-dir", str(self._folder / "data")),
            *("--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer),
            *("--initial-advertise-peer-urls", url(network.advertised(number)), "--initial-cluster", cluster),
            *("--heartbeat-interval", "50", "--election-timeout", "500"),
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self.process is None:
            with (self._folder / "log").open("ab") as log:
                self.process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def send(self, number: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(number)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def url(address: tuple[str, int]) -> str:
    return f"http://{address[0]}:{address[1]}"


class Unavailable(Exception):
    """No member has answered; whether a change was made is not known."""


class Etcd:
    """A client of the members' JSON gateway, past all proxies."""

    def __init__(self, folder: Path, network: Network, members: int) -> None:
        self.members = [Member(number, folder, network, members) for number in range(members)]
        self._addresses = [network.client(number) for number in range(members)]

    def start(self) -> None:
        for member in self.members:
            member.start()

    def kill(self) -> None:
        for member in self.members:
            member.kill()

    def call(self, path: str, **body: Any) -> dict[str, Any]:
        """Calls one member after the other, until one answers."""
        return self._call(path, body, lambda error: True)

    def change(self, path: str, **body: Any) -> None:
        """As `call`, but does not repeat what a member may have done."""
        self._call(path, body, lambda error: isinstance(error, ConnectionRefusedError))

    def _call(self, path: str, body: dict[str, Any], repeats: Callable[[object], bool]) -> dict[str, Any]:
        error: object = "no member"
        for host, port in self._addresses:
            connection = http.client.HTTPConnection(host, port, timeout=3)
            try:
                connection.request("POST", f"/v3/{path}", json.dumps(body))
                response = connection.getresponse()
                answer: dict[str, Any] = json.loads(response.read())
                if response.status == 200:
                    return answer
                error = answer
            except (OSError, http.client.HTTPException, ValueError) as caught:
                error = caught
            finally:
                connection.close()
            if not repeats(error):
                break
        raise Unavailable(f"{path}: {error}")

    def put(self, key: str, value: str) -> None:
        self.change("kv/put", key=encoded(key), value=encoded(value))

    def delete(self, key: str) -> None:
        self.change("kv/deleterange", key=encoded(key))

    def compact(self, revision: int) -> None:
        self.call("kv/compaction", revision=str(revision))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class EtcdReader:
    """Reads a prefix at every revision: the values that etcd had, whatever a watch would have reported."""

    BATCH = 50

    def __init__(self, etcd: Etcd, prefix: str) -> None:
        self._etcd, self._prefix = etcd, prefix
        self._range = {"key": encoded(prefix), "range_end": encoded(prefix[:-1] + chr(ord(prefix[-1]) + 1))}
        self.revision = 0
        self.values: dict[str, Any] = {}
        self.events: list[Event] = []
        self.changed_at = 0

    def read(self) -> None:
        """Reads up to now."""
        present = int(self._etcd.call("kv/range", **self._range, count_only=True)["header"]["revision"])
        while self.revision < present:
            batch = range(self.revision + 1, min(self.revision + self.BATCH, present) + 1)
            ranges = [{"request_range": self._range | {"revision": str(revision)}} for revision in batch]
            answer = self._etcd.call("kv/txn", success=ranges)
            for revision, one in zip(batch, answer["responses"], strict=True):
                self.events += self._take(revision, one["response_range"].get("kvs", []))
                self.revision = revision

    def _take(self, revision: int, items: list[dict[str, str]]) -> Iterator[Event]:
        values: dict[str, Any] = {}
        changed: list[str] = []
        host = None
        for item in items:
            name = base64.b64decode(item["key"]).decode().removeprefix(self._prefix)
            value = json.loads(base64.b64decode(item["value"]))
            is_changed = int(item["mod_revision"]) == revision
            if name:
                values[name] = value
                changed += [name] if is_changed else []
            elif is_changed:
                host = value["host"]
        changed += self.values.keys() - values.keys()
        if changed:
            self.changed_at = revision
        self.values = values
        for name in sorted(changed):
            yield Event(revision, name, stamp_of(values.get(name)), host)
