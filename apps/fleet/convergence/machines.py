"""One machine: its store, kept-fleet, a program that writes and one that watches."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from cluster import url
from network import Network
from records import Machine, Notice, Row, Snapshot, State, Write

import kept
from values import stamp_of

HERE = Path(__file__).parent
IDENTIFIER = "com.example.player"
PREFIX = "/kept"
USER = f"{PREFIX}/{IDENTIFIER}/user/"
NANOSECONDS = 10**9


class LogFile:
    """A file of JSON lines that another process writes; each call returns the lines since the last one."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset = path, 0

    def new_lines(self) -> Iterator[dict[str, Any]]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        # The last line may be half of one.
        text = text[: text.rfind(b"\n") + 1]
        self._offset += len(text)
        yield from map(json.loads, text.splitlines())


class LiveMachine:
    """A machine with its processes."""

    def __init__(
        self, folder: Path, host: str, network: Network, members: int, program: str, clock: Path | None
    ) -> None:
        self.host, self.folder = host, folder / host
        self.folder.mkdir()
        self._prefix = network.prefix(host)
        endpoints = [url(network.endpoint(host, member)) for member in range(members)]
        self._sync_command = [
            *(*self._prefix, program, "sync", IDENTIFIER, "--prefix", PREFIX, "--host", host),
            *("--store", str(self.store_path), "--state", str(self.folder / "state")),
            *("--status-file", str(self.folder / "status.json"), "--check-every", "2", "--timeout", "2"),
            *("--report-within", "0", *[word for one in endpoints for word in ("--etcd", one)]),
        ]
        self.clock = self.folder / "clock"
        self.set_clock(0)
        self._environment = dict(os.environ)
        if clock is not None:
            self._environment |= {"LD_PRELOAD": str(clock), "FLEET_CLOCK": str(self.clock)}
        self.sync: subprocess.Popen[bytes] | None = None
        self._observer: subprocess.Popen[bytes] | None = None
        self._writer: subprocess.Popen[str] | None = None
        self._order: str | None = None
        self.store = kept.open(self.store_path)
        self.store.history_limits = {"changesPerKey": 10_000, "changes": 30_000, "days": 36_500, "bytes": 1 << 28}
        self._write_lines = LogFile(self.folder / "writes.log")
        self._observer_lines = LogFile(self.folder / "notices.log")
        self._last_number = 0
        self.before: State = {}
        self._before_revision = self.store.revision()
        self._writes: dict[int, Write] = {}
        self._reads: list[Snapshot] = []
        self._notices: list[Notice] = []
        self._snapshots: list[Snapshot] = []
        self.seen_revision = 0

    @property
    def store_path(self) -> Path:
        return self.folder / "settings.kept"

    # --- its processes

    def start(self) -> None:
        self.start_sync()
        self.start_writer()
        self.start_observer()

    def start_sync(self) -> None:
        if self.sync is None:
            with (self.folder / "sync.log").open("ab") as log:
                self.sync = subprocess.Popen(self._sync_command, stdout=log, stderr=log, env=self._environment)

    def start_observer(self) -> None:
        if self._observer is None:
            self._observer = self._start("observer.py", "notices.log")

    def _start(self, program: str, log: str, *words: str, **pipes: Any) -> subprocess.Popen[Any]:
        with (self.folder / "programs.log").open("ab") as errors:
            return subprocess.Popen(
                [*self._prefix, sys.executable, str(HERE / program), str(self.store_path), *words]
                + [str(self.folder / log)],
                stderr=errors,
                env=self._environment,
                **pipes,
            )

    def start_writer(self) -> None:
        if self._writer is None:
            self._read_writes()
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self._writer = self._start("writer.py", "writes.log", self.host, str(self._last_number), **pipes)
            if self._order is not None:
                self._tell(self._order)

    def go(self, seed: str, pause: float) -> None:
        """Lets the writer write, also one that is started later, until `rest`."""
        self._order = f"go {seed} {pause}"
        self._tell(self._order)

    def tell_to_rest(self) -> None:
        self._order = None
        self._tell("rest")

    def wait_until_resting(self) -> None:
        """Waits for the last write, which needs the store: kept-fleet may not be stopped."""
        if self._writer is not None and self._writer.stdout is not None:
            answer = self._writer.stdout.readline()
            if answer != "resting\n":
                raise RuntimeError(f"the writer of {self.host} has ended: see {self.folder}/programs.log")

    def _tell(self, line: str) -> None:
        pipe: IO[str] | None = self._writer.stdin if self._writer else None
        if pipe is not None:
            pipe.write(line + "\n")
            pipe.flush()

    def kill_sync(self) -> None:
        kill(self.sync)
        self.sync = None

    def kill_writer(self) -> None:
        kill(self._writer)
        self._writer = None

    def kill(self) -> None:
        self.kill_sync()
        self.kill_writer()
        kill(self._observer)
        self._observer = None

    def signal_sync(self, number: signal.Signals) -> None:
        if self.sync is not None:
            self.sync.send_signal(number)

    def forget(self) -> None:
        """Makes it a new machine for kept-fleet, which must not run."""
        shutil.rmtree(self.folder / "state", ignore_errors=True)

    def set_clock(self, seconds: float) -> None:
        with self.clock.open("r+b" if self.clock.exists() else "xb") as file:
            file.write(int(seconds * NANOSECONDS).to_bytes(8, sys.byteorder, signed=True))

    def ended(self) -> str | None:
        """A process that has ended by itself, which none may."""
        processes = {"kept-fleet": self.sync, "the writer": self._writer, "the observer": self._observer}
        for name, process in processes.items():
            if process is not None and process.poll() is not None:
                return f"{name} of {self.host} has ended by itself, with {process.returncode}"
        return None

    # --- what it knows

    def status(self) -> dict[str, Any]:
        """What kept-fleet says; empty if it does not run."""
        try:
            status: dict[str, Any] = json.loads((self.folder / "status.json").read_text())
        except FileNotFoundError:
            return {}
        return status if self.sync is not None and status["process"] == self.sync.pid else {}

    def values(self) -> dict[str, Any]:
        with self.store.snapshot() as snapshot:
            return dict(snapshot)

    def disquiet(self, values: dict[str, Any], revision: int) -> str | None:
        """Why it is not quiet yet, for what etcd has; None if it is."""
        status = self.status()
        if not status.get("connected"):
            return f"{self.host} is not connected"
        if status.get("pending") != 0:
            return f"{status.get('pending')} keys of {self.host} wait"
        if status.get("revision", 0) < revision:
            return f"{self.host} has revision {status.get('revision')} of {revision}"
        if self.values() != values:
            return f"{self.host} differs from etcd"
        self._read_observer()
        if self.seen_revision < self.store.revision():
            return f"the observer of {self.host} has seen {self.seen_revision} of {self.store.revision()}"
        return None

    # --- its records

    def _read_writes(self) -> None:
        for line in self._write_lines.new_lines():
            number = self._last_number = line["n"]
            if "changes" in line:
                self._writes[number] = Write(number, line["changes"], False)
                continue
            changes, revision = self._writes[number].changes, line["revision"]
            self._writes[number] = Write(number, changes, True, revision, line["absent"])
            if line["read"]:
                self._reads.append(Snapshot(revision, line["read"]))

    def _read_observer(self) -> None:
        for line in self._observer_lines.new_lines():
            if "snapshot" in line:
                self._snapshots.append(Snapshot(line["snapshot"], line["values"]))
                continue
            self.seen_revision = max(self.seen_revision, line["last"])
            # The first is the present state, of an observer that begins.
            if line["origin"] != "INITIAL" and line["changes"]:
                self._notices.append(Notice(line["first"], line["last"], line["changes"]))

    def record(self) -> Machine:
        """What has happened since the last call."""
        self._read_writes()
        self._read_observer()
        after = {key: stamp_of(value) for key, value in self.values().items()}
        history = self.store.history()
        if history.complete_after > self._before_revision:
            raise RuntimeError(f"the history of {self.host} does not go back to the beginning of the round")
        rows = [
            Row(row.revision, row.key, stamp_of(row.old), stamp_of(row.new), row.tag)
            for row in reversed(history.changes)
            if row.revision > self._before_revision
        ]
        missing = [revision for one in history.missing for revision in one if revision > self._before_revision]
        snapshots = self._snapshots + self._reads
        writes = list(self._writes.values())
        machine = Machine(self.host, self.before, after, writes, rows, self._notices, snapshots, missing)
        self.before, self._before_revision = after, self.store.revision()
        self._writes, self._reads, self._notices, self._snapshots = {}, [], [], []
        return machine


def kill(process: subprocess.Popen[Any] | None) -> None:
    if process is not None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
