"""Vendor defaults and locks of an administrator, beside the same on dconf: equal answers of `gsettings`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

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
