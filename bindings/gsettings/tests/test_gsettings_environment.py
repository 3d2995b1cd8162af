"""Whose settings a program uses: without HOME, and with other rights than its caller."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NOBODY = 65534
KEY = "com.example.player.volume"
DUMP = "[com/example/player]\nvolume=7\n"
# A user database of its own, in a mount namespace.
WITH_USERS = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"']


def has_users(users: Path) -> bool:
    return subprocess.run([*WITH_USERS, users, "true"], capture_output=True).returncode == 0


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
    assert (home / ".config/kept/gsettings.kept/values.sqlite").exists()


def test_a_set_user_id_program_does_not_obey_its_caller(build: Path, tmp_path: Path) -> None:
    """kept-gsettings finds the store as the module does."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a program of another user's")
    home, users, program, callers = (tmp_path / name for name in ("home", "passwd", "kept-gsettings", "callers"))
    probe = tmp_path / "id"
    open_to_others(tmp_path)
    for folder in (home, callers):
        folder.mkdir()
        os.chown(folder, NOBODY, NOBODY)
    users.write_text(f"someone:x:{NOBODY}:{NOBODY}::{home}:/bin/sh\n")
    for source, copy in ((build / "bin/kept-gsettings", program), (shutil.which("id"), probe)):
        assert source is not None
        shutil.copy(source, copy)
        os.chown(copy, NOBODY, NOBODY)
        copy.chmod(0o4755)
    if subprocess.run([probe, "-u"], capture_output=True, text=True, check=True).stdout != f"{NOBODY}\n":
        pytest.skip("programs get no other rights from their files here")
    if not has_users(users):
        pytest.skip("this user may not mount a file")
    (callers / "managed.json").write_text(f'{{"locked": ["{KEY}"]}}')
    environment = without_home(build) | {
        "HOME": str(callers),
        "XDG_CONFIG_HOME": str(callers),
        "KEPT_GSETTINGS_STORE": str(callers / "store"),
        "KEPT_GSETTINGS_MANAGED": str(callers / "managed.json"),
        "KEPT_GSETTINGS_SYSTEM": str(callers / "system.json"),
    }
    done = subprocess.run(
        [*WITH_USERS, users, program, "import", "-"], env=environment, input=DUMP, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in callers.iterdir()) == ["managed.json"]
    assert (home / ".config/kept/gsettings.kept/values.sqlite").stat().st_uid == NOBODY
    # The caller's own words count.
    chosen = home / "chosen"
    done = subprocess.run(
        [*WITH_USERS, users, program, "import", "-", f"--store={chosen}"],
        env=environment,
        input=DUMP,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (chosen / "values.sqlite").exists()
