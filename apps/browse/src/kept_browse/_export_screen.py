"""The screen that exports a store to a file or copies it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input, Static

from ._ask import Ask, ask_again, ask_passphrase
from ._check import Check
from ._entry import PathLine
from ._places import may_exist, path_of
from ._text import one_line
from ._window import foot, window_of
from ._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._session import Session
    from ._window import Window


class ExportScreen(Screen[None]):
    """Writes the stored values or a backup to a file that only its owner can read. The store is not changed."""

    CSS = """
    ExportScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    ExportScreen Horizontal { height: 3; }
    ExportScreen Check { width: auto; border: none; height: 1; margin: 1 1 0 0; }
    ExportScreen > #report { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.leave", "Back"),
        Binding("f1", "app.help", "Help"),
        Binding("ctrl+s", "export", "Write", priority=True),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def compose(self) -> ComposeResult:
        yield Static(f"Export {one_line(self._session.location)}", id="title", markup=False)
        yield PathLine(placeholder="the path of the file to write", id="path")
        with Horizontal():
            yield Check("declarations too", True, id="declarations")
            yield Check("values of secrets, encrypted", id="secrets")
            yield Check("a backup, not JSON", id="backup")
        yield Static(
            "JSON can be read and imported. A backup contains everything, including secrets and revisions.",
            id="report", markup=False,
        )  # fmt: skip
        yield from foot()

    @property
    def _browser(self) -> Window:
        return window_of(self)

    def on_input_submitted(self) -> None:
        self.action_export()

    def action_export(self) -> None:
        """Writes the file. If it exists already, asks first, with a different key for the answer."""
        text = self.query_one("#path", Input).value
        if not text.strip():
            self._browser.tell("enter the path of the file to write", "warning")
            return
        path = path_of(text)
        if may_exist(path):
            self._browser.push_screen(
                Ask(f"Replace {one_line(str(path))}?", []), lambda yes: self._write(path) if yes else None
            )
        else:
            self._write(path)

    def _write(self, path: Path) -> None:
        """Writes the file, after questions for a new passphrase if it has secrets."""
        chosen = {name: self.query_one(f"#{name}", Check).value for name in ("declarations", "secrets", "backup")}
        if not chosen["secrets"] or chosen["backup"]:
            self._write_chosen(path, chosen, None)
            return

        def entered(first: str | None) -> None:
            if first is not None:
                self._browser.push_screen(
                    ask_again(first), lambda second: self._write_chosen(path, chosen, second) if second else None
                )

        self._browser.push_screen(ask_passphrase("A new passphrase for the export"), entered)

    def _write_chosen(self, path: Path, chosen: dict[str, bool], passphrase: str | None) -> None:
        def call(progress: Callable[[int, int], object]) -> str:
            settings = self._session.settings
            if chosen["backup"]:
                return f"copied revision {settings.backup(path, replace=True)} to {path}"
            settings.export_file(
                path,
                declarations=chosen["declarations"],
                secrets=passphrase is not None,
                passphrase=passphrase,
                progress=progress,
            )
            return f"wrote {path}"

        self._browser.push_screen(
            Work("Writing", call), lambda result: self.query_one("#report", Static).update(one_line(str(result)))
        )
