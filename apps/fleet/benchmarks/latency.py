"""From a document in etcd to the callback of a program on another machine, compared with `etcdctl watch`: latency.py
KEPT_FLEET [--rounds 200]. Another machine is another folder, with a `kept-fleet follow` and a program of its own.

Prints a table. KEPT_LIBRARY names the library, and PYTHONPATH has the package `kept`.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from etcds import Etcd

IDENTIFIER = "com.example.player"
KEY = f"/kept/{IDENTIFIER}/managed"
MANY = 1000
#: The program on the other machine. All processes read the same clock.
PROGRAM = """
import kept, sys, time
with kept.open(sys.argv[1] + "/store", managed=sys.argv[1] + "/managed.json") as settings:
    values = {}
    def heard(notice):
        now = time.monotonic_ns()
        values.update((change.key, change.new) for change in notice.changes)
        if "number" in values and sum(value == values["number"] for value in values.values()) > expected[0]:
            print(values["number"], now, flush=True)
    expected = [0]
    with settings.observe(prefix="", callback=heard):
        print("ready", flush=True)
        for line in sys.stdin:
            expected[0] = int(line)
            print("ready", flush=True)
"""


class Times:
    """When a process had a number."""

    def __init__(self, lines: IO[str], parse: Callable[[str], tuple[str, int] | None]) -> None:
        self._arrived: queue.Queue[tuple[str, int]] = queue.Queue()
        threading.Thread(target=self._read, args=(lines, parse), daemon=True).start()

    def _read(self, lines: IO[str], parse: Callable[[str], tuple[str, int] | None]) -> None:
        for line in lines:
            if found := parse(line):
                self._arrived.put(found)

    def wait(self, text: str) -> int:
        while True:
            found, at = self._arrived.get(timeout=60)
            if found == text:
                return at


def of_program(line: str) -> tuple[str, int]:
    word, _, at = line.strip().partition(" ")
    return word, int(at or 0)


def of_etcdctl(line: str) -> tuple[str, int] | None:
    now = time.monotonic_ns()
    return (str(json.loads(line)["values"]["number"]), now) if line.startswith("{") else None


def document(number: int, count: int) -> str:
    return json.dumps({"values": {"number": number, **{f"key.{each}": number for each in range(count)}}})


@contextmanager
def running(*command: str, log: Path) -> Iterator[subprocess.Popen[str]]:
    with log.open("ab") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=os.environ
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Putting:
    """Puts documents by a connection that stays: no program has to start."""

    def __init__(self, etcd: Etcd) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", etcd.members[0].port)

    def __call__(self, text: str) -> None:
        key, value = (base64.b64encode(each.encode()).decode() for each in (KEY, text))
        self._connection.request("POST", "/v3/kv/put", json.dumps({"key": key, "value": value}))
        response = self._connection.getresponse()
        said = response.read()
        if response.status != 200:
            raise RuntimeError(f"etcd refuses the put: {said.decode()}")


def quantile(times: list[int], part: float) -> float:
    """In milliseconds."""
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept_fleet")
    parser.add_argument("--rounds", type=int, default=200)
    asked = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        etcd = Etcd(folder)
        try:
            measure(asked, etcd, folder)
        finally:
            etcd.kill()


def measure(asked: argparse.Namespace, etcd: Etcd, folder: Path) -> None:
    url, machine, log = etcd.members[0].url, folder / "machine", folder / "log"
    machine.mkdir()
    os.environ["ETCDCTL_API"] = "3"
    put = Putting(etcd)
    put(document(0, 0))
    follow = [asked.kept_fleet, "follow", IDENTIFIER, "--etcd", url, "--folder", str(machine), "--host", "web1"]
    with running(*follow, log=log), running("etcdctl", "--endpoints", url, "watch", KEY, log=log) as watching:
        while not (machine / "managed.json").exists():
            time.sleep(0.02)
        with running(sys.executable, "-c", PROGRAM, str(machine), log=log) as program:
            assert watching.stdout and program.stdout and program.stdin
            watched, called = Times(watching.stdout, of_etcdctl), Times(program.stdout, of_program)
            called.wait("ready")
            file = folder / "published.json"

            def publish(text: str) -> None:
                file.write_text(text)
                command = [asked.kept_fleet, "publish", IDENTIFIER, "--etcd", url, "--managed", str(file), "--quiet"]
                subprocess.run([*command, "--undeclared"], check=True, env=os.environ)

            numbers = iter(range(1, 1_000_000))

            def rounds(send: Callable[[str], None], count: int, keys: int) -> tuple[list[int], list[int]]:
                print(keys, file=program.stdin, flush=True)
                called.wait("ready")
                callbacks, watches = [], []
                for index in range(count + 5):
                    text = document(number := next(numbers), keys)
                    time.sleep(random.uniform(0.05, 0.15))
                    start = time.monotonic_ns()
                    send(text)
                    times = called.wait(str(number)) - start, watched.wait(str(number)) - start
                    # The first ones warm up.
                    if index >= 5:
                        callbacks.append(times[0])
                        watches.append(times[1])
                return callbacks, watches

            print(f"{datetime.now(UTC):%Y-%m-%d %H:%M}, load {os.getloadavg()[0]:.1f}, {asked.rounds} rounds")
            print("| | callback: p50 / p99 | etcdctl watch: p50 / p99 | ratio of p50 |\n|---|---|---|---|")
            series: list[tuple[str, Callable[[str], None], int, int]] = [
                ("from a put", put, asked.rounds, 0),
                ("from the start of `kept-fleet publish`", publish, asked.rounds // 4, 0),
                (f"from a put of {MANY:,} keys to all of them", put, asked.rounds // 4, MANY),
            ]
            for title, send, count, keys in series:
                callbacks, watches = rounds(send, count, keys)
                cells = [f"{quantile(each, 0.5):.1f} / {quantile(each, 0.99):.1f} ms" for each in (callbacks, watches)]
                ratio = quantile(callbacks, 0.5) / quantile(watches, 0.5)
                print(f"| {title} | {cells[0]} | {cells[1]} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
