"""The candidates: the program that drives each store, and the environment that it needs."""

from __future__ import annotations

import dbm
import os
import shelve
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from gsettings import SCHEMA
from program import Program

WRITER = "ca.desrt.dconf"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Candidate:
    name: str
    command: tuple[str, ...]
    driven: str
    """How, in a word or two; a call that is named here follows each set."""
    without_sync: tuple[str, ...] = ()
    """The program that leaves out that call."""


@dataclass(frozen=True)
class Place:
    """The place of one store: `files` is all that it keeps."""

    candidate: Candidate
    files: Path
    environment: dict[str, str]

    def open(self) -> Program:
        return Program([*self.candidate.command, str(self.files)], self.environment)

    def empty(self) -> None:
        rmtree(self.files)
        self.files.mkdir()

    def service(self) -> int:
        """The process that writes for GSettings. It starts when something is sent to it, or here."""
        self._call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.StartServiceByName", WRITER, "0")
        ask = "org.freedesktop.DBus.GetConnectionUnixProcessID"
        answer = self._call("org.freedesktop.DBus", "/", ask, WRITER)
        return int(answer.removeprefix("(uint32 ").removesuffix(",)"))

    def settle(self) -> None:
        """Lets the service finish what a program has sent that was killed since."""
        if self.candidate.name == "GSettings":
            time.sleep(0.05)
            # It replies in order, even if with an error.
            self._call(WRITER, "/ca/desrt/dconf/Writer/user", "ca.desrt.dconf.Writer.Init")

    def _call(self, destination: str, path: str, method: str, *arguments: str) -> str:
        """Calls a method on the session's bus."""
        gdbus = ["gdbus", "call", "--session", "--dest", destination, "--object-path", path, "--method", method]
        called = subprocess.run([*gdbus, *arguments], capture_output=True, text=True, env=self.environment)
        return called.stdout.strip()


@contextmanager
def place(candidate: Candidate, folder: Path) -> Iterator[Place]:
    """The store's environment while its programs run; its data is in `folder/files`."""
    files, runtime = folder / "files", folder / "runtime"
    files.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "XDG_CONFIG_HOME": str(files)}
    if candidate.name != "GSettings":
        yield Place(candidate, files, environment)
        return
    runtime.mkdir(mode=0o700, exist_ok=True)
    environment |= {"XDG_RUNTIME_DIR": str(runtime), "GSETTINGS_BACKEND": "dconf"}
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as bus:
        assert bus.stdout
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()
        try:
            yield Place(candidate, files, environment)
        finally:
            bus.terminate()


def candidates(user_defaults: Path) -> list[Candidate]:
    """All of them; `user_defaults` is the program of swift/Sources/survivor."""
    defaults, shelf_without = str(user_defaults), _survivor("shelve without sync()")
    return [
        Candidate("Kept", _survivor("Kept"), "as it comes"),
        Candidate("SQLite", _survivor("SQLite"), "WAL, synchronous NORMAL"),
        Candidate("LMDB", _survivor("LMDB"), "py-lmdb, sync=False"),
        Candidate("GSettings", _survivor("GSettings"), "dconf in a session bus of its own"),
        Candidate("UserDefaults", (defaults, "--synchronize"), "synchronize()", (defaults,)),
        Candidate("shelve", _survivor("shelve"), f"on {shelve_module()}, sync()", shelf_without),
        Candidate("JSON file", _survivor("JSON file"), "read, changed, os.replace"),
        Candidate("diskcache", _survivor("diskcache"), "as it comes"),
    ]


def _survivor(store: str) -> tuple[str, ...]:
    return sys.executable, str(HERE / "survivor.py"), store


def compile_schema(folder: Path, names: list[str]) -> None:
    """The schema that GSettings needs in advance."""
    keys = "".join(f"<key name='{name}' type='s'><default>''</default></key>" for name in names)
    schema = f"<schemalist><schema id='{SCHEMA}' path='/org/example/survivor/'>{keys}</schema></schemalist>"
    folder.mkdir()
    (folder / f"{SCHEMA}.gschema.xml").write_text(schema)
    subprocess.run(["glib-compile-schemas", "--strict", folder], check=True)


def shelve_module() -> str:
    """The database of a new shelf, which depends on how Python was built."""
    with tempfile.TemporaryDirectory() as folder:
        shelve.open(f"{folder}/values").close()
        return dbm.whichdb(f"{folder}/values") or "a database that Python does not know"
