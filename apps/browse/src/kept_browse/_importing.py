"""Imports a file by running `kept import`, so that formats are detected and read in the same way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import kept

from ._pending import reset_of
from ._undoing import NOT_KNOWN, finality, obstacle, sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._session import Session

FORMATS = ("kept", "json", "nested-json", "plist", "toml", "yaml", "env", "ini", "dconf")
"""The formats of `kept import --format`."""


class NotImported(Exception):
    """The command refused a file, or is not installed."""


@dataclass(frozen=True)
class Chosen:
    """The user's choices for an import."""

    path: str
    format: str | None
    """None to let the command detect it."""
    declarations: bool
    replace: bool
    passphrase: str | None = field(default=None, repr=False, compare=False)
    """The one of an export with encrypted secrets."""


class Copied:
    """A copy of a file, so that the import reads the same contents as the dry run."""

    def __init__(self, path: str) -> None:
        """Raises an `OSError` if there is nothing to copy."""
        self._folder = TemporaryDirectory(prefix="kept-")  # which only this user can read
        # The name helps to detect the format.
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
    """The command's report."""

    format: str
    report: kept.ImportReport
    final: str | None = None
    """A sentence if the import cannot be undone, with the reason."""
    file: Copied | None = None
    """The file of a dry run, until it is removed; None after an import."""

    @property
    def keys(self) -> list[str]:
        """The keys whose values are changed or removed."""
        return [*(change.key for change in self.report.changed), *self.report.removed]


def try_file(session: Session, chosen: Chosen, progress: Callable[[int, int], object]) -> Imported:
    """Copies a file and reports what importing it would do. Any thread."""
    try:
        file = Copied(chosen.path)
    except (OSError, ValueError) as error:
        import_file(session, chosen, None, progress)  # whose message is better
        raise NotImported(f"{chosen.path} cannot be copied for the import: {error}") from error
    try:
        return replace(import_file(session, chosen, file, progress), file=file)
    except BaseException:
        file.remove()
        raise


def import_shown(session: Session, chosen: Chosen, shown: Imported, progress: Callable[[int, int], object]) -> Imported:
    """Imports the file of a dry run. If other programs have changed the values that it reported, returns another dry
    run instead. Any thread."""
    now = import_file(session, chosen, shown.file, progress)
    report = replace(now.report, revision=shown.report.revision, unchanged=shown.report.unchanged)
    settings = session.settings
    if report != shown.report or any(settings.revision(key) > report.revision for key in shown.keys):
        return replace(now, file=shown.file)
    return import_file(session, chosen, shown.file, progress, dry_run=False)


def import_file(
    session: Session,
    chosen: Chosen,
    file: Copied | None,
    progress: Callable[[int, int], object],
    *,
    dry_run: bool = True,
) -> Imported:
    """Runs the command on the copy of the file, or on the file itself without a copy, and ends it if `progress` raises.
    Any thread."""
    command = os.environ.get("KEPT_COMMAND") or shutil.which("kept")
    if command is None:
        raise NotImported("files are imported by the kept command, which is not installed; install the package kept")
    if kept.place(session.location).folder is None:
        raise NotImported(f"{session.location} exists only in this process; the kept command cannot import into it")
    if moved := session.moved():
        # The command would import into the store that is at the location now.
        raise NotImported(
            f"{moved}, so nothing was imported; go back to the list, and open the store again with Ctrl+R"
        )
    words = [command, "import", "--json", f"--store={session.location}"]
    words += [f"--format={chosen.format}"] if chosen.format else []
    words += [f"--managed={session.layers.managed}"] if session.layers.managed else []
    words += [] if session.layers.has_standard else ["--no-layers"]
    words += [f"--passphrase-file={session.layers.passphrase_file}"] if session.layers.passphrase_file else []
    words += ["--declarations"] * chosen.declarations + ["--replace"] * chosen.replace + ["--dry-run"] * dry_run
    try:
        path = os.fsencode(file.path if file else Path(chosen.path).absolute())
        process = subprocess.Popen(
            [*words, b"--", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except (OSError, ValueError) as error:
        raise NotImported(f"the kept command cannot be started: {error}") from error
    out, err = _output(process, chosen.passphrase or "", progress)
    if moved := session.moved():
        what = "the values may be from" if dry_run else "the file may have been imported into"
        raise NotImported(
            f"{moved} while the command ran: {what} another store; go back to the list, and open it again with Ctrl+R"
        )
    try:
        report: dict[str, Any] = json.loads(out)
    except ValueError:
        lines = [line for line in err.decode("utf-8", "replace").splitlines() if "; --format chooses" not in line]
        sentence = " ".join(lines).removeprefix("kept: ") or f"the kept command ended with status {process.returncode}"
        if file:
            sentence = sentence.replace(str(file.path), str(Path(chosen.path).absolute()))
        raise NotImported(sentence) from None
    found = _report_of(report)
    return Imported(report["format"], found, _finality(session.settings, found, dry_run))


def _finality(settings: kept.Store, report: kept.ImportReport, dry_run: bool) -> str | None:
    """A sentence if an import cannot be undone, with the reason, or if that is not known."""
    if not (report.changed or report.removed):
        return None
    try:
        if not dry_run:
            why = obstacle(settings, report.revision)
            return sentence([why] if why else [])
        keys = [*(change.key for change in report.changed), *report.removed]
        return finality(settings, [reset_of(settings.explain(key)) for key in keys])
    except kept.KeptError:
        return None if dry_run else NOT_KNOWN  # the store cannot be reached, which is reported elsewhere


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


def _output(process: subprocess.Popen[bytes], line: str, progress: Callable[[int, int], object]) -> tuple[bytes, bytes]:
    """The command's output. A file is imported in one commit, so the command may be ended at any time."""
    given: bytes | None = f"{line}\n".encode("utf-8", "surrogatepass")
    with process:
        while True:
            try:
                return process.communicate(given, timeout=0.1)
            except subprocess.TimeoutExpired:
                given = None  # it is being written
                try:
                    progress(0, 0)
                except BaseException:
                    process.kill()
                    raise
