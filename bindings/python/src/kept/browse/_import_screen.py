"""The screen that imports a file: first a dry run, whose report is shown, then the import itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Input, Select, Static

import kept

from ._check import Check
from ._entry import Line
from ._places import path_of
from ._text import SECRET, count_text, one_line, value_text
from ._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._app import Browser
    from ._session import Session

FORMATS = ("kept", "json", "nested_json", "property_list", "env", "ini", "dconf")
SUFFIXES = {".plist": "property_list", ".env": "env", ".ini": "ini", ".dconf": "dconf"}
READ = 1 << 20
"""Bytes of a file that are looked at for its format."""

MOST = 1000
"""Lines of a report that are shown of each kind."""


class ImportScreen(Screen[None]):
    """Imports a file."""

    CSS = """
    ImportScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    ImportScreen Horizontal { height: 3; }
    ImportScreen #path { width: 1fr; }
    ImportScreen Select { width: 26; }
    ImportScreen Check { width: auto; border: none; height: 1; margin: 1 1 0 0; }
    ImportScreen > VerticalScroll { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "try", "Dry run", priority=True),
        Binding("ctrl+s", "import", "Import", priority=True),
        Binding("f1", "app.help", "Help"),
        Binding("escape", "app.leave", "Back"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._tried: tuple[str, str, bool, bool] | None = None
        """What the report on the screen is about. Only that is imported."""

    def compose(self) -> ComposeResult:
        yield Static(f"Import into {one_line(self._session.location)}", id="title", markup=False)
        with Horizontal():
            yield Line(placeholder="the path of a file; Enter shows what it would change", id="path")
            yield Select([(name, name) for name in FORMATS], prompt="format by name", id="format")
        with Horizontal():
            yield Check("declarations too", id="declarations")
            yield Check("remove keys that it does not have", id="replace")
        with VerticalScroll():
            yield Static("Nothing is changed by a dry run.", id="report", markup=False)
        yield Footer()

    @property
    def _browser(self) -> Browser:
        return cast("Browser", self.app)

    @property
    def _chosen(self) -> tuple[str, str, bool, bool]:
        path = str(path_of(self.query_one("#path", Input).value))
        chosen = self.query_one("#format", Select).value
        format = chosen if isinstance(chosen, str) else format_of(path)
        flags = [self.query_one(name, Check).value for name in ("#declarations", "#replace")]
        return path, format, flags[0], flags[1]

    def on_input_submitted(self) -> None:
        self.action_try()

    def action_try(self) -> None:
        """Shows what the import would change."""
        chosen = self._chosen
        self._browser.push_screen(
            Work("Reading the file", self._call(chosen, dry_run=True)), lambda result: self._show(result, chosen)
        )

    def action_import(self) -> None:
        """Imports what the dry run on the screen was about."""
        if self._tried is None or self._tried != self._chosen:
            self._browser.tell("first press Ctrl+R, and read what would change")
        elif self._browser.may_write():
            call = self._call(self._tried, dry_run=False)
            self._browser.push_screen(Work("Importing", call), lambda result: self._show(result, None))

    def _call(
        self, chosen: tuple[str, str, bool, bool], dry_run: bool
    ) -> Callable[[Callable[[int, int], object]], kept.ImportReport]:
        path, format, declarations, replace = chosen

        def call(progress: Callable[[int, int], object]) -> kept.ImportReport:
            return self._session.settings.import_file(
                path,
                format=cast("Any", format),
                declarations=declarations,
                replace=replace,
                dry_run=dry_run,
                progress=progress,
            )

        return call

    def _show(self, result: kept.ImportReport | Exception | None, tried: tuple[str, str, bool, bool] | None) -> None:
        self._tried = None
        if isinstance(result, kept.ImportReport):
            self._tried = tried
            if tried is None and not (result.changed or result.removed):
                head = "Imported; no value had to be changed."
            elif tried is None:
                keys = [*(change.key for change in result.changed), *result.removed]
                self._session.committed(result.revision, keys)
                head = f"Imported as revision {result.revision}; u on the list of keys undoes it."
            else:
                head = f"A dry run of format {tried[1]}. Ctrl+S imports."
                if result.refused:
                    self._tried = None
                    head = f"A dry run of format {tried[1]}. It cannot be imported before what is refused is mended."
            text = "\n".join([head, *report_lines(result)])
        else:
            text = one_line(str(result))
        self.query_one("#report", Static).update(text)


def format_of(path: str) -> str:
    """The format of a file, by its name; for JSON as `kept import` finds it, by what it holds."""
    if suffix := SUFFIXES.get(Path(path).suffix, ""):
        return suffix
    if Path(path).name == ".env":
        return "env"
    try:
        with open(path, "rb") as file:
            text = file.read(READ)
    except (OSError, ValueError):
        return "kept"  # the import says what is wrong
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return "kept" if b'"kept"' in text[:200] else "json"  # too long, or wrong
    if not isinstance(root, dict) or root.keys() >= {"kept", "values"}:
        return "kept"
    # A date and its like are objects with one member that begins with a dollar sign.
    nested = any(isinstance(value, dict) and not any(name[:1] == "$" for name in value) for value in root.values())
    return "nested_json" if nested else "json"


def report_lines(report: kept.ImportReport) -> list[str]:
    """A report as lines: what changes, what is refused, and what was left out."""
    lines = [
        f"{count_text(len(report.changed), 'key')} changed, {len(report.removed):,} removed,"
        f" {len(report.declared):,} declared, {report.unchanged:,} unchanged, {len(report.refused):,} refused"
    ]
    lines += _some([f"! {one_line(refusal.key)}: {one_line(refusal.reason)}" for refusal in report.refused])
    lines += _some([f"! {one_line(lost.place)}: {one_line(lost.reason)}" for lost in report.not_carried])
    lines += _some([_change(change) for change in report.changed])
    lines += _some([f"- {one_line(key)}" for key in report.removed])
    return lines + _some([f"= {one_line(key)} (declaration)" for key in report.declared])


def _some(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST else [*lines[:MOST], f"  and {len(lines) - MOST:,} more"]


def _change(change: kept.ImportChange) -> str:
    if change.secret:
        return f"~ {one_line(change.key)}  {SECRET}"
    if change.old is None:
        return f"+ {one_line(change.key)}  {value_text(change.new)}"
    return f"~ {one_line(change.key)}  {value_text(change.old)} -> {value_text(change.new)}"
