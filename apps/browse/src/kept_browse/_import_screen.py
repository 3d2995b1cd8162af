"""The screen that imports a file: first a dry run with a report, then the import itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Select, Static

import kept

from ._ask import ask_passphrase
from ._check import Check
from ._entry import PathLine
from ._importing import FORMATS, Chosen, Imported, import_shown, try_file
from ._passphrase import needs_passphrase
from ._places import path_of
from ._text import SECRET, count_text, one_line, value_text
from ._window import foot, window_of
from ._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._session import Session
    from ._window import Window

FIRST = "press Ctrl+R first to see the changes"

T = TypeVar("T")

MOST = 1000
"""The number of lines of each kind that a report shows."""


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
        Binding("escape", "app.leave", "Back"),
        Binding("f1", "app.help", "Help"),
        Binding("ctrl+r", "try", "Dry run", priority=True),
        Binding("ctrl+s", "import", "Import", priority=True),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._reported: Chosen | None = None
        """The choices that the report on the screen is about."""
        self._head = ""
        self._report: kept.ImportReport | None = None
        """The report on the screen, below the line `_head`."""
        self._tried: Imported | None = None
        """The dry run whose file can be imported. No other file is."""
        self._why_not = FIRST
        """While nothing can be imported, the reason."""

    def compose(self) -> ComposeResult:
        yield Static(f"Import into {one_line(self._session.location)}", id="title", markup=False)
        with Horizontal():
            yield PathLine(placeholder="the path of a file; Enter shows the changes", id="path")
            yield Select([(name, name) for name in FORMATS], prompt="format: detect", id="format")
        with Horizontal():
            yield Check("declarations too", id="declarations")
            yield Check("remove keys missing from the file", id="replace")
        with VerticalScroll():
            yield Static("A dry run changes nothing.", id="report", markup=False)
        yield from foot()

    @property
    def _browser(self) -> Window:
        return window_of(self)

    @property
    def _chosen(self) -> Chosen:
        format = self.query_one("#format", Select).value
        return Chosen(
            str(path_of(self.query_one("#path", Input).value)),
            format if isinstance(format, str) else None,
            self.query_one("#declarations", Check).value,
            self.query_one("#replace", Check).value,
        )

    async def on_input_submitted(self) -> None:
        await self.action_try()

    def on_input_changed(self) -> None:
        self._forget()

    def on_select_changed(self) -> None:
        self._forget()

    def on_checkbox_changed(self) -> None:
        self._forget()

    def _forget(self) -> None:
        """Removes the report if it is about other choices than the current ones."""
        if self._reported is not None and self._reported != self._chosen:
            self._clear(FIRST)
            self._reported = None
            self._tell("Ctrl+R shows the changes.")

    def _clear(self, why_not: str) -> None:
        """Prevents an import. `why_not` is the reason to show if the user tries."""
        if self._tried is not None and self._tried.file is not None:
            self._tried.file.remove()
        self._tried, self._why_not = None, why_not

    def on_unmount(self) -> None:
        self._clear(FIRST)

    async def action_try(self) -> None:
        """Shows what the import would change. Asks for the passphrase of an export with encrypted secrets first."""
        chosen = self._chosen
        if chosen.format in (None, "kept") and await asyncio.to_thread(needs_passphrase, Path(chosen.path)):
            ask = ask_passphrase("The passphrase of the export")
            self._browser.push_screen(ask, lambda text: self._try(replace(chosen, passphrase=text)) if text else None)
        else:
            self._try(chosen)

    def _try(self, chosen: Chosen) -> None:
        work = Work("Reading the file", lambda progress: try_file(self._session, chosen, progress))
        self._browser.push_screen(work, lambda result: self._show(result, chosen, is_done=False))

    def action_import(self) -> None:
        """Imports the file as the dry run on the screen read it, if that still does what the report shows."""
        self._forget()  # the message about the last choice may still be on its way
        chosen, shown = self._reported, self._tried
        if chosen is None or shown is None:
            self._browser.tell(self._why_not)
        elif self._browser.may_write():
            work = Work("Importing", lambda progress: import_shown(self._session, chosen, shown, progress))
            self._browser.push_screen(work, lambda result: self._show(result, chosen, is_done=True))

    def _show(self, result: Imported | Exception | None, chosen: Chosen, *, is_done: bool) -> None:
        is_again = is_done and isinstance(result, Imported) and result.file is not None
        if is_again:
            self._tried, is_done = None, False  # the result keeps its file
        self._clear(FIRST if is_done else "the dry run failed; fix the problem, and press Ctrl+R again")
        self._reported = chosen
        if isinstance(result, Imported):
            self._tried, report = None if is_done else result, result.report
            final = result.final and f". {result.final}"
            if is_done and not (report.changed or report.removed):
                head = "Imported; no values changed."
            elif is_done:
                self._session.committed(report.revision, result.keys)
                head = f"Imported as revision {report.revision}{final or '; u in the list undoes it.'}"
            else:
                head = f"A dry run of format {result.format}. Ctrl+S imports{final or '.'}"
                if report.refused:
                    self._clear("some values are refused; correct them, and press Ctrl+R again")
                    head = f"A dry run of format {result.format}. Correct the refused values before you import it."
            if is_again:
                head = f"Nothing was imported, because other programs have changed keys of the report. {head}"
            self._tell(head, report)
        else:
            self._tell(one_line(str(result)))

    def _tell(self, head: str, report: kept.ImportReport | None = None) -> None:
        """Shows a line with a report below it."""
        self._head, self._report = head, report
        lines = report_lines(report, self._session.catalog.is_secret) if report else []
        self.query_one("#report", Static).update("\n".join([head, *lines]))

    def declarations_changed(self) -> None:
        """Covers the values of keys that have become secret."""
        if self._report:
            self._tell(self._head, self._report)


def report_lines(report: kept.ImportReport, is_secret: Callable[[str], bool]) -> list[str]:
    """A report as lines: changed, refused and omitted values."""

    def refusal_line(refusal: kept.ImportRefusal) -> str:
        reason = "its value is refused" if is_secret(refusal.key) else one_line(refusal.reason)
        return f"! {one_line(refusal.key)}: {reason}"

    lines = [
        f"{count_text(len(report.changed), 'key')} changed, {len(report.removed):,} removed,"
        f" {len(report.declared):,} declared, {report.unchanged:,} unchanged, {len(report.refused):,} refused"
    ]
    lines += _some(report.refused, refusal_line)
    lines += _some(report.not_carried, lambda lost: f"! {one_line(lost.place)}: {one_line(lost.reason)}")
    lines += _some(report.changed, lambda change: _change(change, change.secret or is_secret(change.key)))
    lines += _some(report.removed, lambda key: f"- {one_line(key)}")
    return lines + _some(report.declared, lambda key: f"= {one_line(key)} (declaration)")


def _some(found: Sequence[T], line: Callable[[T], str]) -> list[str]:
    more = [f"  and {len(found) - MOST:,} more"] if len(found) > MOST else []
    return [*map(line, found[:MOST]), *more]


def _change(change: kept.ImportChange, is_secret: bool) -> str:
    sign = "+" if change.old is None and not change.secret else "~"
    old = "" if sign == "+" else f"{value_text(change.old)} -> "
    return f"{sign} {one_line(change.key)}  {SECRET if is_secret else f'{old}{value_text(change.new)}'}"
