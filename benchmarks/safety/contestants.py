"""Who is put to the test: the program that drives each store, and the surroundings that it wants."""

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
class Contestant:
    name: str
    command: tuple[str, ...]
    driven: str
    """How, in a word or two."""


@dataclass(frozen=True)
class Place:
    """Where one store is: `files` is all that it keeps."""

    contestant: Contestant
    files: Path
    environment: dict[str, str]

    def open(self) -> Program:
        return Program([*self.contestant.command, str(self.files)], self.environment)

    def empty(self) -> None:
        rmtree(self.files)
        self.files.mkdir()

    def service(self) -> int:
        """The process that writes for GSettings; it is started when something is sent to it, or here."""
        self._call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.StartServiceByName", WRITER, "0")
        ask = "org.freedesktop.DBus.GetConnectionUnixProcessID"
        answer = self._call("org.freedesktop.DBus", "/", ask, WRITER)
        return int(answer.removeprefix("(uint32 ").removesuffix(",)"))

    def settle(self) -> None:
        """Lets the service finish what it was sent by a program that was killed since."""
        if self.contestant.name == "GSettings":
            time.sleep(0.05)
            # It answers in turn, be it that it cannot.
            self._call(WRITER, "/ca/desrt/dconf/Writer/user", "ca.desrt.dconf.Writer.Init")

    def _call(self, destination: str, path: str, method: str, *arguments: str) -> str:
        """Calls a method on the session's bus."""
        gdbus = ["gdbus", "call", "--session", "--dest", destination, "--object-path", path, "--method", method]
        called = subprocess.run([*gdbus, *arguments], capture_output=True, text=True, env=self.environment)
        return called.stdout.strip()


@contextmanager
def place(contestant: Contestant, folder: Path) -> Iterator[Place]:
    """The store's surroundings, for as long as its programs run; what it keeps is in `folder/files`."""
    files, runtime = folder / "files", folder / "runtime"
    files.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "XDG_CONFIG_HOME": str(files)}
    if contestant.name != "GSettings":
        yield Place(contestant, files, environment)
        return
    runtime.mkdir(mode=0o700, exist_ok=True)
    environment |= {"XDG_RUNTIME_DIR": str(runtime), "GSETTINGS_BACKEND": "dconf"}
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as bus:
        assert bus.stdout
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()
        try:
            yield Place(contestant, files, environment)
        finally:
            bus.terminate()


def contestants(user_defaults: Path) -> list[Contestant]:
    """All of them; `user_defaults` is the program of swift/Sources/survivor."""
    driven = {
        "Kept": "as it comes",
        "SQLite": "WAL, synchronous NORMAL",
        "LMDB": "py-lmdb, sync=False",
        "GSettings": "dconf in a session bus of its own",
        "shelve": f"on {shelve_module()}, sync() after each set",
        "JSON file": "read, changed, os.replace",
        "diskcache": "as it comes",
    }
    survivor = str(HERE / "survivor.py")
    found = [Contestant(name, (sys.executable, survivor, name), how) for name, how in driven.items()]
    foundation = Contestant("UserDefaults", (str(user_defaults), "--synchronize"), "synchronize() after each set")
    return [*found[:4], foundation, *found[4:]]


def compile_schema(folder: Path, names: list[str]) -> None:
    """What GSettings must know of its keys beforehand."""
    keys = "".join(f"<key name='{name}' type='s'><default>''</default></key>" for name in names)
    schema = f"<schemalist><schema id='{SCHEMA}' path='/org/example/survivor/'>{keys}</schema></schemalist>"
    folder.mkdir()
    (folder / f"{SCHEMA}.gschema.xml").write_text(schema)
    subprocess.run(["glib-compile-schemas", "--strict", folder], check=True)


def shelve_module() -> str:
    """Which of Python's databases a new shelf is kept in: that depends on how Python was built."""
    with tempfile.TemporaryDirectory() as folder:
        shelve.open(f"{folder}/values").close()
        return dbm.whichdb(f"{folder}/values") or "a database that Python does not know"
