"""GLib's own command `gsettings` with the settings of a user on dconf and on Kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

INSTALLED = Path("/usr/share/glib-2.0/schemas")
SECONDS = 60
DEFAULTS = {
    **dict.fromkeys(["y", "n", "q", "x", "t", "h"], "0"),
    **dict.fromkeys(["ay", "aay", "ao", "a{ss}", "a{sv}", "a{us}"], "[]"),
    **{"o": "'/'", "g": "''", "v": "<0>", "mb": "nothing", "ms": "nothing"},
    **{"(ii)": "(0, 0)", "(ssm(dd))": "('', '', nothing)", "{ss}": "{'', ''}"},
}
TYPES = "org.example.types"


@dataclass(frozen=True)
class Answer:
    status: int
    output: str
    errors: str


@dataclass
class Side:
    """A backend, with the settings of a user who has changed nothing."""

    environment: dict[str, str]
    answers: dict[str, Answer] = field(default_factory=dict)
    words: tuple[str, ...] = ("gsettings",)

    def run(self, *arguments: str) -> Answer:
        run = subprocess.run(
            [*self.words, *arguments], env=self.environment, capture_output=True, text=True, timeout=SECONDS
        )
        return Answer(run.returncode, run.stdout, run.stderr)

    def record(self, stage: str, *arguments: str) -> Answer:
        answer = self.answers[f"{stage}: {' '.join(arguments)}"] = self.run(*arguments)
        return answer


def make_schemas(data: Path) -> Path:
    """A data folder with the schemas of gsettings-desktop-schemas, and with keys of the types that these do not use."""
    folder = data / "glib-2.0/schemas"
    folder.mkdir(parents=True)
    listed = subprocess.run(["dpkg", "-L", "gsettings-desktop-schemas"], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        file = Path(line)
        if file.parent == INSTALLED and file.suffix in {".xml", ".override"}:
            shutil.copy(file, folder)
    keys = "".join(
        f"<key name='key-{number}' type='{kind}'><default>{escape(value)}</default></key>"
        for number, (kind, value) in enumerate(DEFAULTS.items())
    )
    schema = f"<schemalist><schema id='{TYPES}' path='/org/example/types/'>{keys}</schema></schemalist>"
    (folder / f"{TYPES}.gschema.xml").write_text(schema)
    subprocess.run(["glib-compile-schemas", "--strict", folder], check=True)
    return data


@contextmanager
def session(schemas: Path, home: Path) -> Iterator[dict[str, str]]:
    """The environment of a user on either backend, with a session bus for dconf's service."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_RUNTIME_DIR": str(home),
    }
    bus = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address", f"--address=unix:path={home}/bus"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert bus.stdout is not None
        address = bus.stdout.readline().strip()
        assert address, "dbus-daemon gives no address"
        yield environment | {"DBUS_SESSION_BUS_ADDRESS": address, "XDG_DATA_DIRS": str(schemas)}
    finally:
        bus.terminate()
        bus.wait(SECONDS)
        assert bus.stdout is not None
        bus.stdout.close()


def side_of(name: str, common: dict[str, str], build: Path) -> Side:
    return Side(common | {"GSETTINGS_BACKEND": name, "GIO_EXTRA_MODULES": str(build / "lib/gio")})


def record_all(side: Side, stage: str, commands: Iterable[tuple[str, ...]]) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda command: side.record(stage, *command), commands))
