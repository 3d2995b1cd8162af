"""The plug-in `KeptKeys` of Swift packages: a target needs its file of declarations, and no generated file."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import swift_programs

PATH = os.environ["PATH"].split(":")
COMMAND = Path(os.environ.get("KEPT_COMMAND", swift_programs.ROOT / "build/bin/kept")).absolute()

MAIN = """\
import Kept

let store = try Store.open("memory:")
try PlayerSchema.declare(in: store)
let chosen: Keys.Theme = .light
try store.set(chosen, for: .theme)
print(store[.volume])
"""


def build(folders: list[str], volume: int = 50, choice: str = "light") -> subprocess.CompletedProcess[str]:
    """Builds a program with a default volume and a choice, with folders in PATH."""
    keys: dict[str, Any] = {
        "volume": {"type": "integer", "default": volume},
        "theme": {"type": "string", "enum": ["dark", choice]},
    }
    files = {"main.swift": MAIN, "player.schema.json": json.dumps({"properties": keys})}
    return swift_programs.build("plugin", {"GeneratedInBuild": files}, PATH=":".join(folders))


def test_each_build_generates_what_has_changed() -> None:
    folders = [str(COMMAND.parent), *PATH]
    for volume in (50, 60):
        done = build(folders, volume)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "unhandled" not in done.stdout + done.stderr
        program = swift_programs.ROOT / ".build/debug/GeneratedInBuild"
        environment = os.environ | {"LLVM_PROFILE_FILE": os.devnull}
        assert subprocess.run([program], env=environment, capture_output=True, text=True).stdout == f"{volume}\n"
    done = build(folders, choice="bright")
    assert done.returncode != 0 and "'Keys.Theme' has no member 'light'" in done.stdout + done.stderr


def test_a_missing_command_is_reported() -> None:
    done = build([folder for folder in PATH if not Path(folder, "kept").exists()])
    assert done.returncode != 0 and "the command kept is not in PATH; install it" in done.stdout + done.stderr
