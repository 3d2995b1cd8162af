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
from ._importing import FORMATS, Chosen, Copied, Imported, import_file, try_file
from ._places import path_of
from ._text import SECRET, count_text, one_line, value_text
from ._work import Work

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._app import Browser
    from ._session import Session

FIRST = "first press Ctrl+R, and read what would change"

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
        self._reported: Chosen | None = None
        """What the report on the screen is about."""
        self._tried: Copied | None = None
        """The file that was tried, if it can be imported. Only that is imported."""
        self._why_not = FIRST
        """Why nothing can be imported, as long as nothing can be."""

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

    def on_input_changed(self) -> None:
        self._forget()

    def on_select_changed(self) -> None:
        self._forget()

    def on_checkbox_changed(self) -> None:
        self._forget()

    def _forget(self) -> None:
        """Removes a report that is about something else than what is chosen now."""
        if self._reported is not None and self._reported != self._chosen:
            self._clear(FIRST)
            self._reported = None
            self.query_one("#report", Static).update("Ctrl+R shows what this would change.")

    def _clear(self, why_not: str) -> None:
        """Lets nothing be imported, and says why not if that is asked for."""
        if self._tried is not None:
            self._tried.remove()
        self._tried, self._why_not = None, why_not

    def on_unmount(self) -> None:
        self._clear(FIRST)

    def action_try(self) -> None:
        """Shows what the import would change."""
        chosen = self._chosen
        work = Work("Reading the file", lambda progress: try_file(self._session, chosen, progress))
        self._browser.push_screen(work, lambda result: self._show(result, chosen, is_done=False))

    def action_import(self) -> None:
        """Imports the file that the dry run on the screen has read, as it was then."""
        chosen, file = self._reported, self._tried
        if chosen is None or file is None:
            self._browser.tell(self._why_not)
        elif self._browser.may_write():
            work = Work("Importing", lambda progress: import_file(self._session, chosen, file, progress, dry_run=False))
            self._browser.push_screen(work, lambda result: self._show(result, chosen, is_done=True))

    def _show(self, result: Imported | Exception | None, chosen: Chosen, *, is_done: bool) -> None:
        self._clear(FIRST if is_done else "the dry run has failed; mend that, and press Ctrl+R again")
        self._reported = chosen
        if isinstance(result, Imported):
            self._tried, report = result.file, result.report
            final = result.final and f". {result.final}"
            if is_done and not (report.changed or report.removed):
                head = "Imported; no value had to be changed."
            elif is_done:
                keys = [*(change.key for change in report.changed), *report.removed]
                self._session.committed(report.revision, keys)
                head = f"Imported as revision {report.revision}{final or '; u on the list of keys undoes it.'}"
            else:
                head = f"A dry run of format {result.format}. Ctrl+S imports{final or '.'}"
                if report.refused:
                    self._clear("it has values that are refused; mend them, and press Ctrl+R again")
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
