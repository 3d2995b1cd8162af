"""The store that the tests use, and the process that changes it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import kept

SECRET_TEXT = "hunter2-never-shown"
HOSTILE = "[red]odd[/red]"
"""Markup of Rich and Textual, which must be shown unchanged."""
CONTROL = "ring\x07\x1b[31mred\u202ekcab\u200e"
"""Characters that would act on a terminal."""

DECLARATIONS: dict[str, dict[str, Any]] = {
    "audio.volume": {
        "type": "integer", "minimum": 0, "maximum": 100, "default": 50, "summary": "How loud it is",
        "description": "For every speaker.",
    },
    "audio.balance": {"type": "number", "minimum": -1, "maximum": 1, "default": 0.0},
    "audio.muted": {"type": "boolean", "default": False, "summary": "Whether nothing is heard"},
    "audio.step": {"type": "integer", "minimum": 1, "maximum": 50, "multipleOf": 5, "default": 5},
    "net.certificate": {"type": "bytes"},
    "net.since": {"type": "date"},
    "net.token": {"type": "string", "secret": True, "summary": "What the service asks for"},
    "ui.columns": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "default": []},
    "ui.font": {"type": "string", "default": "Sans"},
    "ui.theme": {"type": "string", "enum": ["light", "dark", "[red]odd[/red]"], "default": "light"},
    "ui.title": {"type": "string", "pattern": "^[A-Z]", "summary": f"A name, {HOSTILE}"},
    "ui.window": {"type": "object", "properties": {"width": {"type": "integer"}}},
}  # fmt: skip

VALUES: dict[str, Any] = {
    "audio.volume": 30,
    "net.certificate": b"\x00\xff\x1c",
    "net.since": datetime(2026, 11, 20, 23, 44, 1, tzinfo=UTC),
    "net.token": SECRET_TEXT,
    "ui.columns": ["name", "size"],
    "ui.font": "Mono",
    "ui.theme": "dark",
    "ui.window": {"width": 800},
    "misc.note": "not declared",
    "misc.hostile": f"{HOSTILE}[/]",
    "misc.control": CONTROL,
    "misc.wide": "設定の値",
    "misc.right": "שלום עולם",
    HOSTILE: 1,
    f"key {CONTROL}": 2,
    "設定.名前": "名",
    "הגדרה": "ערך",
}


def fill(location: Path) -> None:
    """Creates the store with declared keys of every type, some of them hard to display."""
    with kept.open(location, tag=f"filled {HOSTILE}") as settings:
        settings.keep_secrets_plain()
        settings.declare(DECLARATIONS)
        with settings.transaction() as transaction:
            for key, value in VALUES.items():
                transaction[key] = value


def write_file(path: Path, values: dict[str, Any], locked: list[str] | None = None) -> Path:
    """Replaces an administrator's file in one step, as tools do, so that no reader sees half of it."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps({"values": values, **({"locked": locked} if locked else {})}))
    new.replace(path)
    return path


class Writer:
    """Another process, which changes the test's store."""

    def __init__(self) -> None:
        program = Path(__file__).with_name("writer.py")
        self._process = subprocess.Popen(
            [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def open(self, location: Path | None) -> None:
        """Opens a store instead of the previous one."""
        self._ask({"open": None if location is None else str(location)})

    def run(self, code: str) -> None:
        """Executes Python in that process. `settings` is the store."""
        self._ask({"run": code})

    def set(self, key: str, value: Any) -> None:
        self.run(f"settings[{key!r}] = {value!r}")

    def settle(self) -> None:
        """Separates earlier and later writes into two changes of the history."""
        self.run("settings.history()")

    def reset(self, key: str) -> None:
        self.run(f"settings.reset({key!r})")

    def declare(self, declarations: dict[str, Any]) -> None:
        self.run(f"settings.declare({declarations!r})")

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def _ask(self, request: dict[str, Any]) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        problem = json.loads(self._process.stdout.readline())
        assert problem is None, problem
