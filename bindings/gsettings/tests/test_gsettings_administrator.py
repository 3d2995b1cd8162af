"""Vendor defaults and locks of an administrator, compared with dconf: equal answers of `gsettings`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from sides import Answer, Side, record_all, session, side_of

SOUND = "org.gnome.desktop.sound"
INTERFACE = "org.gnome.desktop.interface"
ADMINISTERED_STEPS = [
    ("set", SOUND, "theme-name", "'again'"),
    ("set", SOUND, "input-feedback-sounds", "true"),
    ("reset", SOUND, "theme-name"),
    ("set", SOUND, "event-sounds", "true"),
    ("get", SOUND, "event-sounds"),
    ("reset", SOUND, "event-sounds"),
    ("get", SOUND, "event-sounds"),
    ("set", INTERFACE, "cursor-size", "30"),
    ("get", INTERFACE, "cursor-size"),
]


def administer_dconf(folder: Path) -> dict[str, str]:
    (folder / "files/locks").mkdir(parents=True)
    (folder / "files/defaults").write_text(
        "[org/gnome/desktop/sound]\nevent-sounds=false\ntheme-name='vendor'\n"
        "[org/gnome/desktop/interface]\nclock-format='12h'\ncursor-size='no integer'\nfont-name='Vendor 9'\n"
    )
    (folder / "files/locks/locked").write_text(
        "/org/gnome/desktop/sound/theme-name\n/org/gnome/desktop/sound/input-feedback-sounds\n"
        "/org/gnome/desktop/interface/clock-format\n"
    )
    subprocess.run(["dconf", "compile", folder / "database", folder / "files"], check=True)
    (folder / "profile").write_text(f"user-db:user\nfile-db:{folder / 'database'}\n")
    return {"DCONF_PROFILE": str(folder / "profile")}


def administer_kept(folder: Path) -> dict[str, str]:
    system = {
        "org.gnome.desktop.sound.event-sounds": False,
        "org.gnome.desktop.interface.cursor-size": "no integer",
        "org.gnome.desktop.interface.font-name": "Vendor 9",
    }
    prescribed = {
        "org.gnome.desktop.sound.theme-name": "vendor",
        "org.gnome.desktop.interface.clock-format": "12h",
    }
    locked = [*prescribed, "org.gnome.desktop.sound.input-feedback-sounds"]
    (folder / "system.json").write_text(json.dumps({"values": system}))
    (folder / "managed.json").write_text(json.dumps({"values": prescribed, "locked": locked}))
    return {
        "KEPT_GSETTINGS_SYSTEM": str(folder / "system.json"),
        "KEPT_GSETTINGS_MANAGED": str(folder / "managed.json"),
    }


def answer_with_administrator(side: Side, administration: dict[str, str]) -> dict[str, Answer]:
    # The user's values are from before the administrator's.
    for key, value in (("theme-name", "mine"), ("input-feedback-sounds", "true")):
        assert side.run("set", SOUND, key, value).status == 0
    side.environment |= administration
    for schema in (SOUND, INTERFACE):
        keys = [(schema, key) for key in side.record("administered", "list-keys", schema).output.split()]
        side.record("administered", "list-recursively", schema)
        record_all(side, "administered", (("writable", *key) for key in keys))
        side.record("administered", "reset-recursively", schema)
        side.record("reset", "list-recursively", schema)
    for number, command in enumerate(ADMINISTERED_STEPS):
        side.record(f"step {number}", *command)
    return side.answers


def test_vendor_defaults_and_locks_are_as_on_dconf(schemas: Path, build: Path, tmp_path: Path) -> None:
    with session(schemas, tmp_path) as common:
        dconf = answer_with_administrator(side_of("dconf", common, build), administer_dconf(tmp_path))
        kept = answer_with_administrator(side_of("kept", common, build), administer_kept(tmp_path))
    assert kept == dconf
    refused = kept["step 0: set org.gnome.desktop.sound theme-name 'again'"]
    assert (refused.status, refused.errors) == (1, "The key is not writable\n")
    assert kept["administered: writable org.gnome.desktop.sound input-feedback-sounds"].output == "false\n"
    assert kept["step 6: get org.gnome.desktop.sound event-sounds"].output == "false\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="root becomes another user")
def test_nothing_is_locked_in_a_sandbox_without_the_administrators_files(
    schemas: Path, build: Path, tmp_path: Path
) -> None:
    # As Flatpak makes it: /etc, like every file of root, seems to belong to nobody.
    for folder in [tmp_path, schemas]:
        for parent in folder.parents:
            if "pytest-" in parent.name:
                parent.chmod(0o755)
    schemas.chmod(0o755)
    with session(schemas, tmp_path) as common:
        os.chown(tmp_path, 1000, 1000)
        side = side_of("kept", common, build)
        side.words = (
            *("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"),
            *("unshare", "--user", "--map-user=1000", "gsettings"),
        )
        steps = [("writable",), ("set", "mine"), ("get",)]
        answers = [side.run(word, SOUND, "theme-name", *value) for word, *value in steps]
    if "unshare: " in answers[0].errors:
        pytest.skip("this user may make no namespace")
    assert answers == [Answer(0, output, "") for output in ("true\n", "", "'mine'\n")]
