"""Importing a file by the command `kept import`, so that formats are found and read here as they are there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kept

from ._places import folder_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._session import Session

FORMATS = ("kept", "json", "nested-json", "plist", "toml", "yaml", "env", "ini", "dconf")
"""What `kept import --format` takes."""


class NotImported(Exception):
    """The command has refused a file, or there is no command."""


@dataclass(frozen=True)
class Chosen:
    """What a person has chosen to import."""

    path: str
    format: str | None
    """None if the command finds it."""
    declarations: bool
    replace: bool


@dataclass(frozen=True)
class Imported:
    """What the command reports."""

    format: str
    report: kept.ImportReport


def import_file(session: Session, chosen: Chosen, dry_run: bool, progress: Callable[[int, int], object]) -> Imported:
    """Runs the command, and ends it if `progress` raises. Any thread."""
    command = os.environ.get("KEPT_COMMAND") or shutil.which("kept")
    if command is None:
        raise NotImported("files are imported by the command kept, which is not installed; install the package kept")
    if folder_of(session.location) is None:
        raise NotImported(f"{session.location} is only in this process; the command kept cannot import into it")
    words = [command, "import", "--json", f"--store={session.location}"]
    words += [f"--format={chosen.format}"] if chosen.format else []
    words += [f"--managed={session.layers.managed}"] if session.layers.managed else []
    words += [] if session.layers.has_standard else ["--no-layers"]
    words += ["--declarations"] * chosen.declarations + ["--replace"] * chosen.replace + ["--dry-run"] * dry_run
    try:
        path = os.fsencode(Path(chosen.path).absolute())
        process = subprocess.Popen(
            [*words, b"--", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except (OSError, ValueError) as error:
        raise NotImported(f"the command kept cannot import it: {error}") from error
    out, err = _output(process, progress)
    try:
        report: dict[str, Any] = json.loads(out)
    except ValueError:
        lines = [line for line in err.decode("utf-8", "replace").splitlines() if "; --format chooses" not in line]
        sentence = " ".join(lines).removeprefix("kept: ") or f"the command kept ended with status {process.returncode}"
        raise NotImported(sentence) from None
    return Imported(report["format"], _report_of(report))


def _report_of(members: dict[str, Any]) -> kept.ImportReport:
    return kept.ImportReport(
        revision=members["revision"],
        changed=tuple(
            kept.ImportChange(change["key"], change.get("old"), change.get("new"), "secret" in change)
            for change in members["changed"]
        ),
        removed=tuple(members["removed"]),
        declared=tuple(members["declared"]),
        unchanged=members["unchanged"],
        refused=tuple(kept.ImportRefusal(**refusal) for refusal in members["refused"]),
        not_carried=tuple(kept.NotCarried(**lost) for lost in members["notCarried"]),
    )


def _output(process: subprocess.Popen[bytes], progress: Callable[[int, int], object]) -> tuple[bytes, bytes]:
    """What the command has printed. A file is imported in one commit, so the command may be ended at any time."""
    with process:
        while True:
            try:
                return process.communicate(timeout=0.1)
            except subprocess.TimeoutExpired:
                try:
                    progress(0, 0)
                except BaseException:
                    process.kill()
                    raise
