"""A storm: programs of GSettings, Python and Swift write and observe the same keys, and are killed with SIGKILL.

KEPT_STORM_SEED chooses another storm than the usual one. The programs keep logs: see storm_writer.c for their lines.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pytest
from storm_check import GSETTINGS, INITIAL, KEYS, PYTHON, SHARED, SWIFT, Event, Storm, find_problems, number_of, values

import kept

SEED = int(os.environ.get("KEPT_STORM_SEED", "20"))
SECONDS = 60
PREFIX = "org.example.storm."


# ----------------------------------------------------------------------------------------------------------------
# The program in Python: test_storm.py NAME NEXT SEED LOG
# ----------------------------------------------------------------------------------------------------------------


def write_and_observe(name: str, next_number: int, seed: int, log: BinaryIO) -> None:
    chance = random.Random(seed)

    def note(verb: str, key: str, value: object) -> None:
        log.write(f"{verb} {key} {value}\n".encode())

    def receive(notice: kept.Notice) -> None:
        for change in notice.changes:
            note("saw", change.key.removeprefix(PREFIX), change.new)

    ending = threading.Event()

    def end_after_a_line() -> None:
        sys.stdin.readline()
        ending.set()

    threading.Thread(target=end_after_a_line, daemon=True).start()
    with kept.open("gsettings", tag=name) as settings, settings.observe(prefix=PREFIX, callback=receive, initial=True):
        while not ending.wait(chance.uniform(0.001, 0.025)):
            value = f"{name}:{next_number}"
            next_number += 1
            shared = chance.choice(SHARED) if chance.random() < 1 / 3 else None
            for key in filter(None, (name, shared)):
                note("try", key, value)

            def write(transaction: kept.Transaction, value: str = value, shared: str | None = shared) -> None:
                for key in filter(None, (name, shared)):
                    transaction[PREFIX + key] = value

            settings.run_transaction(write)
            for key in filter(None, (name, shared)):
                note("ack", key, value)
        note("stopped", "", "")
        sys.stdin.read()


# ----------------------------------------------------------------------------------------------------------------
# Programs, their logs, and their deaths
# ----------------------------------------------------------------------------------------------------------------


@dataclass
class Program:
    """A program that is started again after it was killed."""

    name: str
    command: list[str]
    folder: Path
    environment: dict[str, str]
    # The command `kept watch` has no name, number, seed and log, and prints what it sees.
    prints: bool = False
    fault: str | None = None
    process: subprocess.Popen[bytes] | None = None
    logs: list[Path] = field(default_factory=list)

    def start(self, seed: int) -> None:
        log = self.folder / f"{self.name}.{len(self.logs)}"
        arguments = [] if self.prints else [self.name, str(self.next_number()), str(seed), str(log)]
        arguments += [self.fault] if self.fault else []
        self.logs.append(log)
        with log.open("ab") as output, (self.folder / f"{self.name}.errors").open("ab") as errors:
            self.process = subprocess.Popen(
                [*self.command, *arguments],
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=errors,
                bufsize=0,
            )

    def next_number(self) -> int:
        tried = [number_of(event.value) for log in self.logs for event in events_of(log) if event.verb == "try"]
        return max(tried, default=0) + 1

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()

    def tell_to_stop(self) -> None:
        if not self.prints:
            assert self.process is not None and self.process.stdin is not None
            self.process.stdin.write(b"\n")

    def has_begun(self) -> bool:
        return len(events_of(self.logs[-1])) > 0

    def has_stopped(self) -> bool:
        return self.prints or any(event.verb == "stopped" for event in events_of(self.logs[-1]))


class SwiftWriter:
    """Runs `kept set`, one process after another. The command is the program in Swift."""

    def __init__(self, name: str, kept_command: Path, environment: dict[str, str], seed: int) -> None:
        self.name = name
        self.events: list[Event] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.errors: list[str] = []
        self._command = str(kept_command)
        self._environment = environment
        self._chance = random.Random(seed)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._ending.wait(self._chance.uniform(0.001, 0.025)):
            number += 1
            value = f"{self.name}:{number}"
            keys = [self.name, *([self._chance.choice(SHARED)] if self._chance.random() < 1 / 3 else [])]
            self.events += [Event("try", key, value) for key in keys]
            words = [f"{PREFIX}{key}={value}" for key in keys]
            self.process = subprocess.Popen(
                [self._command, "set", "gsettings", "--string", *words],
                env=self._environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            _, errors = self.process.communicate()
            if self.process.returncode == 0:
                self.events += [Event("ack", key, value) for key in keys]
            elif self.process.returncode > 0:
                self.errors.append(errors.decode())

    def kill(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()

    def stop(self) -> None:
        self._ending.set()
        self._thread.join()


def events_of(log: Path) -> list[Event]:
    """The lines of a log; the last of a killed program may be cut."""
    events = []
    for line in log.read_text().split("\n")[:-1]:
        if line.startswith("{"):
            change = json.loads(line)
            events.append(Event("saw", change["key"].removeprefix(PREFIX), change["new"]))
        else:
            verb, key, value = line.split(" ")
            events.append(Event(verb, key, value))
    return events


# ----------------------------------------------------------------------------------------------------------------
# The storm
# ----------------------------------------------------------------------------------------------------------------


def last_seen(events: list[Event]) -> dict[str, str]:
    return {event.key: event.value for event in events if event.verb == "saw"}


def wait_until(what: str, condition: Callable[[], object], seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds} seconds {what}")
        time.sleep(0.02)


@pytest.fixture
def environment(build: Path, tmp_path: Path) -> dict[str, str]:
    schemas = tmp_path / "data/glib-2.0/schemas"
    schemas.mkdir(parents=True)
    keys = "".join(f"<key name='{key}' type='s'><default>''</default></key>" for key in KEYS)
    schema = f"<schemalist><schema id='org.example.storm' path='/org/example/storm/'>{keys}</schema></schemalist>"
    (schemas / "org.example.storm.gschema.xml").write_text(schema)
    subprocess.run(["glib-compile-schemas", "--strict", schemas], check=True)
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "GSETTINGS_BACKEND": "kept",
        "GIO_EXTRA_MODULES": str(build / "lib/gio"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_DIRS": str(tmp_path / "data"),
    }


def programs_in(build: Path, folder: Path, environment: dict[str, str], faults: dict[str, str]) -> list[Program]:
    writer = str(build / "bindings/gsettings/tests/gsettings_storm_writer")
    watch = [str(build / "bin/kept"), "watch", "gsettings", PREFIX, "--json", "--initial"]
    return [
        *(Program(name, [writer], folder, environment, fault=faults.get(name)) for name in GSETTINGS),
        *(Program(name, [sys.executable, __file__], folder, environment) for name in PYTHON),
        *(Program(f"watch-{name}", watch, folder, environment, prints=True) for name in SWIFT),
    ]


def values_in_store(environment: dict[str, str]) -> dict[str, str]:
    script = f"import json, kept; print(json.dumps(dict(kept.open('gsettings').snapshot('{PREFIX}').items())))"
    printed = subprocess.check_output([sys.executable, "-c", script], env=environment)
    return {key.removeprefix(PREFIX): value for key, value in json.loads(printed).items()}


def wait_for_the_last(program: Program, final: dict[str, str], seconds: float) -> str | None:
    what = f"{program.name} has last seen other values than the store has"
    try:
        wait_until(what, lambda: last_seen(events_of(program.logs[-1])) == final, seconds)
    except TimeoutError as error:
        return f"{error}: {last_seen(events_of(program.logs[-1]))}, {final}"
    return None


def run_storm(
    build: Path, folder: Path, environment: dict[str, str], kills: int, faults: dict[str, str] | None = None
) -> Storm:
    chance = random.Random(SEED)
    command = build / "bin/kept"
    run = [str(command), "set", "gsettings", "--string", *(f"{PREFIX}{key}={INITIAL}" for key in KEYS)]
    subprocess.run(run, env=environment, check=True)
    programs = programs_in(build, folder, environment, faults or {})
    writers: list[SwiftWriter] = []
    try:
        for program in programs:
            program.start(chance.getrandbits(32))
        writers = [SwiftWriter(name, command, environment, chance.getrandbits(32)) for name in SWIFT]
        mortal: list[Program | SwiftWriter] = [*(program for program in programs if program.fault is None), *writers]
        for _ in range(kills):
            victim = chance.choice(mortal)
            time.sleep(chance.uniform(0.05, 0.25))
            victim.kill()
            if isinstance(victim, Program):
                victim.start(chance.getrandbits(32))
        for program in programs:
            wait_until(f"{program.name} has seen nothing", program.has_begun)
        for writer in writers:
            writer.stop()
        for program in programs:
            program.tell_to_stop()
        for program in programs:
            wait_until(f"{program.name} still writes", program.has_stopped)
        final = values_in_store(environment)
        late = [wait_for_the_last(program, final, 1 if faults else SECONDS) for program in programs]
    finally:
        for writer in writers:
            writer.stop()
        for program in programs:
            program.kill()
    logs = [events_of(log) for program in programs for log in program.logs]
    errors = [*filter(None, late), *(error for writer in writers for error in writer.errors)]
    errors += [file.read_text() for file in folder.glob("*.errors") if file.read_text()]
    return Storm([*logs, *(writer.events for writer in writers)], final, errors)


def test_nothing_acknowledged_is_lost_and_signals_are_in_order(
    build: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    storm = run_storm(build, tmp_path, environment, kills=60)
    assert find_problems(storm) == []
    for key in KEYS:
        assert len(set(values(storm, "ack", key))) > 20, f"{key} was hardly ever set"
        assert len(set(values(storm, "saw", key))) > 20, f"{key} was hardly ever seen"
    doctor = subprocess.run(
        [build / "bin/kept", "doctor", "gsettings"], env=environment, capture_output=True, text=True
    )
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


@pytest.mark.parametrize(("fault", "complaint"), [("lose", "it is lost"), ("reorder", "seen in another order")])
def test_the_check_finds(fault: str, complaint: str, build: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    storm = run_storm(build, tmp_path, environment, kills=15, faults={"g3": fault})
    assert complaint in "\n".join(find_problems(storm))


if __name__ == "__main__":
    with open(sys.argv[4], "ab", buffering=0) as log_file:
        write_and_observe(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), log_file)
