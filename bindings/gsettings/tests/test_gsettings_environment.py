"""Whose settings a program uses: without HOME, and with other rights than its caller."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

NOBODY = 65534
DUMP = "[com/example/player]\nvolume=7\n"
# A user database of its own, in a mount namespace.
WITH_USERS = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"']


def has_users(users: Path) -> bool:
    return subprocess.run([*WITH_USERS, users, "true"], capture_output=True).returncode == 0


def which(name: str) -> Path:
    path = shutil.which(name)
    assert path is not None
    return Path(path)


def open_to_others(path: Path) -> None:
    """Lets other users reach a folder of a test."""
    for folder in (path, *path.parents):
        if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & 0o077 == 0:
            folder.chmod(0o755)


def without_home(build: Path) -> dict[str, str]:
    environment = os.environ | {"GIO_EXTRA_MODULES": str(build / "lib/gio"), "GSETTINGS_BACKEND": "kept"}
    return {name: text for name, text in environment.items() if name not in {"HOME", "XDG_CONFIG_HOME"}}


def test_settings_are_kept_without_home(schemas: Path, build: Path, tmp_path: Path) -> None:
    home, users = tmp_path / "home", tmp_path / "passwd"
    home.mkdir()
    users.write_text(f"someone:x:{os.geteuid()}:0::{home}:/bin/sh\n")
    if not has_users(users):
        pytest.skip("this user may not mount a file")
    environment = without_home(build) | {"XDG_DATA_DIRS": str(schemas), "LC_ALL": "C.UTF-8"}
    for command in (
        ["set", "org.gnome.desktop.sound", "theme-name", "mine"],
        ["get", "org.gnome.desktop.sound", "theme-name"],
    ):
        done = subprocess.run(
            [*WITH_USERS, users, "gsettings", *command], env=environment, capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "'mine'\n"
    assert (home / ".config/kept/gsettings.kept/values").exists()


class Program:
    """A program of another user's that runs with his rights, in a mount namespace with his entry in passwd."""

    def __init__(self, source: Path, folder: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root can make a program of another user's")
        self.home, self.callers, self.path = folder / "home", folder / "callers", folder / source.name
        self.users, self.probe = folder / "passwd", folder / "id"
        open_to_others(folder)
        for path in (self.home, self.callers):
            path.mkdir()
            os.chown(path, NOBODY, NOBODY)
        self.users.write_text(f"someone:x:{NOBODY}:{NOBODY}::{self.home}:/bin/sh\n")
        for original, copy in ((source, self.path), (which("id"), self.probe)):
            shutil.copy(original, copy)
            os.chown(copy, NOBODY, NOBODY)
            copy.chmod(0o4755)
        if subprocess.run([self.probe, "-u"], capture_output=True, text=True, check=True).stdout != f"{NOBODY}\n":
            pytest.skip("programs get no other rights from their files here")
        if not has_users(self.users):
            pytest.skip("this user may not mount a file")
        (self.callers / "managed.json").write_text('{"lockedPrefixes": [""]}')

    def __call__(self, *words: str, below: Sequence[str] = (), **environment: str) -> str:
        """Runs it for a caller who would like to choose its settings, and returns what it prints."""
        chosen = {
            "HOME": str(self.callers),
            "XDG_CONFIG_HOME": str(self.callers),
            "KEPT_GSETTINGS_STORE": str(self.callers / "store"),
            "KEPT_GSETTINGS_MANAGED": str(self.callers / "managed.json"),
            "KEPT_GSETTINGS_SYSTEM": str(self.callers / "system.json"),
        }
        done = subprocess.run(
            [*WITH_USERS, self.users, *below, self.path, *words],
            env=os.environ | chosen | environment,
            input=DUMP,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(path.name for path in self.callers.iterdir()) == ["managed.json"]
        return done.stdout


def test_a_set_user_id_program_does_not_obey_its_caller(schemas: Path, build: Path, tmp_path: Path) -> None:
    program = Program(which("gsettings"), tmp_path)
    # Such a program takes modules from the folder of the system alone, and libraries and schemas likewise.
    found = subprocess.run(["pkg-config", "--variable=giomoduledir", "gio-2.0"], capture_output=True, text=True)
    below = [
        "sh",
        "-c",
        'mount --bind "$0" "$1" && mount --bind "$2" /usr/share/glib-2.0/schemas && shift 2 && exec "$@"',
    ]
    places = [str(build / "lib/gio"), found.stdout.strip(), str(schemas / "glib-2.0/schemas")]
    sound = ("org.gnome.desktop.sound", "theme-name")
    program("set", *sound, "mine", below=[*below, *places], GSETTINGS_BACKEND="kept", LC_ALL="C.UTF-8")
    assert program("get", *sound, below=[*below, *places], GSETTINGS_BACKEND="kept", LC_ALL="C.UTF-8") == "'mine'\n"
    assert (program.home / ".config/kept/gsettings.kept/values").stat().st_uid == NOBODY


def test_a_set_user_id_command_does_not_obey_its_caller(build: Path, tmp_path: Path) -> None:
    program = Program(build / "bin/kept-gsettings", tmp_path)
    program("import", "-")
    assert (program.home / ".config/kept/gsettings.kept/values").stat().st_uid == NOBODY
    # The caller's own words count.
    chosen = program.home / "chosen"
    program("import", "-", f"--store={chosen}")
    assert (chosen / "values").exists()
