"""Importing a file by the command `kept import`, so that formats are found and read here as they are there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import kept

from ._pending import reset_of
from ._places import folder_of
from ._undoing import finality, obstacle, sentence

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


class Copied:
    """A copy of a file, which is imported as it was when it was tried."""

    def __init__(self, path: str) -> None:
        """Raises an `OSError` if there is nothing to copy."""
        self._folder = TemporaryDirectory(prefix="kept-")  # which only this user can read
        # Formats are found by the name, too.
        self.path = Path(self._folder.name) / Path(path).name
        try:
            shutil.copyfile(path, self.path)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        self._folder.cleanup()


@dataclass(frozen=True)
class Imported:
    """What the command reports."""

    format: str
    report: kept.ImportReport
    final: str | None = None
    """That the import cannot be undone, and why."""
    file: Copied | None = None
    """What was tried, until it is removed."""


def try_file(session: Session, chosen: Chosen, progress: Callable[[int, int], object]) -> Imported:
    """Reports what importing a file would do, and copies the file for that. Any thread."""
    try:
        file = Copied(chosen.path)
    except (OSError, ValueError) as error:
        import_file(session, chosen, None, progress)  # whose sentence is the better one
        raise NotImported(f"{chosen.path} cannot be copied to be imported: {error}") from error
    try:
        return replace(import_file(session, chosen, file, progress), file=file)
    except BaseException:
        file.remove()
        raise


def import_file(
    session: Session,
    chosen: Chosen,
    file: Copied | None,
    progress: Callable[[int, int], object],
    *,
    dry_run: bool = True,
) -> Imported:
    """Runs the command, with the copy of a file if there is one, and ends it if `progress` raises. Any thread."""
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
        path = os.fsencode(file.path if file else Path(chosen.path).absolute())
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
        if file:
            sentence = sentence.replace(str(file.path), str(Path(chosen.path).absolute()))
        raise NotImported(sentence) from None
    found = _report_of(report)
    return Imported(report["format"], found, _finality(session.settings, found, dry_run))


def _finality(settings: kept.Store, report: kept.ImportReport, dry_run: bool) -> str | None:
    """That an import cannot be undone, and why."""
    if not (report.changed or report.removed):
        return None
    try:
        if not dry_run:
            why = obstacle(settings, report.revision)
            return sentence([why] if why else [])
        keys = [*(change.key for change in report.changed), *report.removed]
        return finality(settings, [reset_of(settings.explain(key)) for key in keys])
    except kept.KeptError:
        return None  # the store cannot be reached, which is said elsewhere


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
