"""The screen that imports a file: first a dry run, whose report is shown, then the import itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Input, Select, Static

import kept

from ._check import Check
from ._entry import Line
from ._importing import FORMATS, Chosen, Imported, import_file
from ._places import path_of
from ._text import SECRET, count_text, one_line, value_text
from ._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._app import Browser
    from ._session import Session

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
        self._tried: Chosen | None = None
        """What the report on the screen is about. Only that is imported."""

    def compose(self) -> ComposeResult:
        yield Static(f"Import into {one_line(self._session.location)}", id="title", markup=False)
        with Horizontal():
            yield Line(placeholder="the path of a file; Enter shows what it would change", id="path")
            yield Select([(name, name) for name in FORMATS], prompt="format: found", id="format")
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
    def _chosen(self) -> Chosen:
        format = self.query_one("#format", Select).value
        return Chosen(
            str(path_of(self.query_one("#path", Input).value)),
            format if isinstance(format, str) else None,
            self.query_one("#declarations", Check).value,
            self.query_one("#replace", Check).value,
        )

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

    def _call(self, chosen: Chosen, dry_run: bool) -> Callable[[Callable[[int, int], object]], Imported]:
        return lambda progress: import_file(self._session, chosen, dry_run, progress)

    def _show(self, result: Imported | Exception | None, tried: Chosen | None) -> None:
        self._tried = None
        if isinstance(result, Imported):
            self._tried, report = tried, result.report
            if tried is None and not (report.changed or report.removed):
                head = "Imported; no value had to be changed."
            elif tried is None:
                keys = [*(change.key for change in report.changed), *report.removed]
                self._session.committed(report.revision, keys)
                head = f"Imported as revision {report.revision}; u on the list of keys undoes it."
            else:
                head = f"A dry run of format {result.format}. Ctrl+S imports."
                if report.refused:
                    self._tried = None
                    head = (
                        f"A dry run of format {result.format}. It cannot be imported before what is refused is mended."
                    )
            text = "\n".join([head, *report_lines(report)])
        else:
            text = one_line(str(result))
        self.query_one("#report", Static).update(text)


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
