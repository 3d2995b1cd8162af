"""The program: the open store, and whether changes are allowed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar

from rich.traceback import Traceback
from textual import work
from textual.app import ScreenError
from textual.binding import Binding
from textual.css.query import QueryError
from textual.events import Key
from textual.widget import MountError
from textual.worker import WorkerFailed

import kept

from ._ask import Ask
from ._entry import Line, Refused
from ._plain import AsciiFilter, ColourlessFilter
from ._session import Layers, NoStore, Session, salvage_text
from ._terminal import Terminal
from ._text import many_lines
from ._window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from textual.binding import BindingType
    from textual.events import Event
    from textual.filter import LineFilter
    from textual.timer import Timer

SECONDS = 15
"""How long a message is shown if no key is pressed."""


class Browser(Window):
    """Shows stores, and changes them when that is allowed. The first screen shows all stores, or one."""

    TITLE = "kept browse"
    ENABLE_COMMAND_PALETTE = False
    # Without colours, the cursor is in reverse video, or underlined where Textual cannot reverse.
    CSS = """
    DataTable:nocolor > .datatable--cursor, RowList:nocolor > .row-list--cursor, Tab:nocolor.-active {
        text-style: bold reverse;
    }
    OptionList:nocolor > .option-list--option-highlighted, Checkbox:nocolor:focus > .toggle--label {
        text-style: bold underline;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False),
        Binding("l", "light", "Light or dark", show=False),
        Binding("f1", "help", "Help", show=False),
    ]

    def __init__(
        self,
        location: str | None = None,
        *,
        layers: Layers | None = None,
        is_read_only: bool = False,
        is_writing: bool = False,
        is_ascii: bool = False,
        is_light: bool = False,
        query: str = "",
        key: str | None = None,
    ) -> None:
        super().__init__(driver_class=Terminal)
        self._location, self._layers = location, layers or Layers()
        self._is_read_only = is_read_only
        self._query, self._key = query, key
        self._is_writing = is_writing and not is_read_only
        self._refusal: str | None = None
        """Why the open store accepts no changes."""
        self._ascii = AsciiFilter(enabled=is_ascii)
        self._colourless = ColourlessFilter(enabled=self.no_color)
        self.theme = "textual-light" if is_light else "textual-dark"
        self.failure: str | None = None
        """Why the store on the command line could not be opened."""
        self._message_timer: Timer | None = None
        self._told = 0.0

    def get_line_filters(self) -> Sequence[LineFilter]:
        own = (self._ascii, self._colourless)
        return [*super().get_line_filters(), *(filter for filter in own if filter.enabled)]

    def on_mount(self) -> None:
        if self._location is None:
            from ._overview import Overview

            self.push_screen(Overview())
        else:
            self._open_first(self._location)

    @work(group="open")
    async def _open_first(self, location: str) -> None:
        if refusal := await self.open_store(location):
            self.failure = refusal
            self.exit(4)

    @work(group="open", exclusive=True)
    async def show_store(self, location: str, key: str | None = None) -> None:
        """Opens a store and the page of a key, or reports why it cannot be opened. Keys and the mouse keep working in
        the meantime."""
        self._key = key
        if refusal := await self.open_store(location):
            self._key = None
            self.tell(refusal, "error")

    async def open_store(self, location: str) -> str | None:
        """Opens a store on another thread and shows its keys. Returns the reason if it cannot be opened."""
        from ._keys import KeysScreen

        try:
            session = await asyncio.to_thread(Session.begin, location, self._layers)
            before = next((screen for screen in self.screen_stack if isinstance(screen, KeysScreen)), None)
            if before and before.session.location != session.location:
                before = None
            if before:
                session.take_pending(before.session)
            refusal = await session.refusal() if self._is_writing else None
            screen = KeysScreen(session, before.search_text if before else self._query)
            if before and before.key:
                screen.put_cursor(before.key)
        except (kept.KeptError, NoStore, OSError, ValueError) as error:
            return str(error)
        while len(self.screen_stack) > 1 and not _shows_stores(self.screen):
            self.pop_screen()
        self._query, self._refusal = "", refusal
        self._end_message()  # which is about the previous store
        await self.push_screen(screen)
        if refusal:
            self.tell(f"nothing can be changed: {refusal}", "warning")
        if session.still_locked:
            self.tell(session.still_locked, "warning")
        if key := self._key:
            self._key = None
            screen.put_cursor(key)
            screen.open_key(key)
            # The list of keys shows it in a line of its own for as long as it is true.
            if salvaged := salvage_text(session.settings):
                self.tell(salvaged, "warning")
        return None

    # --- the screens about a store

    def open_key(self, session: Session, key: str, closed: Callable[[], None] | None = None) -> None:
        from ._key_page import KeyPage

        self.push_screen(KeyPage(session, key), lambda _: closed and closed())

    def open_pending(self, session: Session, closed: Callable[[], None]) -> None:
        from ._pending_screen import PendingScreen

        self.push_screen(PendingScreen(session), lambda _: closed())

    def open_import(self, session: Session) -> None:
        from ._import_screen import ImportScreen

        self.push_screen(ImportScreen(session))

    def open_export(self, session: Session) -> None:
        from ._export_screen import ExportScreen

        self.push_screen(ExportScreen(session))

    def open_compare(self, session: Session) -> None:
        from ._compare_screen import CompareScreen

        self.push_screen(CompareScreen(session))

    # --- writing

    @property
    def mode_text(self) -> str:
        """The mode, for the titles of screens."""
        return "WRITING" if self._is_writing and not self._refusal else "READ-ONLY"

    def may_write(self) -> bool:
        """Whether writing is allowed. If not, shows how to allow it."""
        if self.mode_text == "WRITING":
            return True
        how = "the browser was started with --read-only" if self._is_read_only else "press w to allow changes"
        self.tell(f"nothing is changed: {self._refusal or how}", "warning")
        return False

    async def action_writing(self) -> None:
        """Switches between read-only and writing, also for the stores that are opened later."""
        if self._is_read_only:
            self.tell("the browser was started with --read-only", "warning")
            return
        session: Session | None = getattr(self.screen, "session", None)
        before = self.mode_text
        self._refusal = None if self._is_writing or session is None else await session.refusal()
        if self._refusal:
            self.tell(f"nothing can be changed: {self._refusal}", "warning")
        else:
            self._is_writing = not self._is_writing
            if session is None or self.mode_text == before:  # no title shows it
                self.tell(f"changes are {'allowed' if self._is_writing else 'off'} in every store that you open")
        for screen in self.screen_stack:
            if hasattr(screen, "mode_changed"):
                screen.mode_changed()

    # --- the rest

    def tell(self, sentence: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        """Shows a sentence above the footer until the next key, or for some seconds."""
        sentence = many_lines(sentence)
        self.message = (severity, sentence[:1].upper() + sentence[1:])
        if self._message_timer:
            self._message_timer.stop()
        self._told = time.monotonic()
        self._message_timer = self.set_timer(SECONDS, self._end_message)

    def _end_message(self) -> None:
        self.message = ("", "")

    async def on_event(self, event: Event) -> None:
        """Ends a message that is older than a key. One that came after the key was pressed stays."""
        if isinstance(event, Key) and event.time > self._told:
            self._end_message()
        await super().on_event(event)

    def on_refused(self, message: Refused) -> None:
        """Shows why pasted text was refused."""
        self.tell(message.reason, "warning")

    def on_line_several(self, message: Line.Several) -> None:
        """Refuses several pasted lines where only one fits."""
        self.tell(message.reason, "warning")

    def action_help(self) -> None:
        """Shows the help."""
        from ._help import Help

        if not isinstance(self.screen, Help):
            self.push_screen(Help())

    def action_light(self) -> None:
        """Changes between light and dark."""
        self.theme = "textual-dark" if self.theme == "textual-light" else "textual-light"

    def action_leave(self) -> None:
        """Leaves a screen, or the program from the last one. Asks before pending changes are discarded."""
        session: Session | None = getattr(self.screen, "session", None)
        if session and session.pending and type(self.screen).__name__ == "KeysScreen":
            question, pending = "Leave? This discards the pending changes.", session.pending
            self.push_screen(Ask(question, pending.lines(), lambda: (question, pending.lines())), self._leave)
        else:
            self._leave(True)

    def action_step_back(self) -> None:
        """Leaves a screen but never the program, so that pressing Escape once too often is harmless."""
        if len(self.screen_stack) > 2:
            self.action_leave()
        else:
            self.tell("press q to quit")

    async def action_quit(self) -> None:
        """Ends the program, after a question if changes are pending or an editor has unsaved text."""
        sessions = {id(found): found for screen in self.screen_stack if (found := getattr(screen, "session", None))}

        def ask() -> tuple[str, list[str]] | None:
            lines = [line for session in sessions.values() for line in session.pending.lines()]
            written = [line for screen in self.screen_stack for line in getattr(screen, "unsaved", ())]
            what = "the pending changes" if lines else "your text"
            return (f"Quit? This discards {what}.", lines + written) if lines or written else None

        if (question := ask()) is None:
            self.exit(0)
        elif not isinstance(self.screen, Ask):
            self.push_screen(Ask(*question, ask), lambda yes: self.exit(0) if yes else None)

    def _handle_exception(self, error: Exception) -> None:
        # Once an exit is requested, Textual mounts nothing more. A screen that is just opening then lacks its widgets.
        cause = error.error if isinstance(error, WorkerFailed) else error
        if not self._exit or not isinstance(cause, QueryError | ScreenError | MountError):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        # Textual's own traceback shows local variables, which may hold secrets.
        self.bell()
        self.panic(Traceback(width=None, show_locals=False))

    def _leave(self, yes: bool | None) -> None:
        if not yes:
            return
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.exit(0)


def _shows_stores(screen: object) -> bool:
    return type(screen).__name__ in ("Overview", "SearchScreen")
