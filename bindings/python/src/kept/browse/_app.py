"""The program: which store is open, and whether it may be changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from rich.traceback import Traceback
from textual import work
from textual.app import App
from textual.binding import Binding

import kept

from ._ask import Ask
from ._entry import Line, Refused
from ._plain import AsciiFilter, ColourlessFilter
from ._session import Layers, NoStore, Session, salvage_text
from ._terminal import Terminal
from ._text import many_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from textual.binding import BindingType
    from textual.filter import LineFilter


class Browser(App[int]):
    """Shows stores, and changes them when that is allowed. The first screen is that of all stores, or of one."""

    TITLE = "kept browse"
    ENABLE_COMMAND_PALETTE = False
    # Without colours, a cursor is in reverse, or underlined where Textual draws nothing in reverse.
    CSS = """
    Toast { width: 70; max-width: 90%; }
    DataTable:nocolor > .datatable--cursor, Tab:nocolor.-active { text-style: bold reverse; }
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
        is_ascii: bool = False,
        is_light: bool = False,
        query: str = "",
        key: str | None = None,
    ) -> None:
        super().__init__(driver_class=Terminal)
        self._location, self._layers = location, layers or Layers()
        self._is_read_only = is_read_only
        self._query, self._key = query, key
        self._may_write = False
        self._ascii = AsciiFilter(enabled=is_ascii)
        self._colourless = ColourlessFilter(enabled=self.no_color)
        self.theme = "textual-light" if is_light else "textual-dark"
        self.failure: str | None = None
        """Why the store that was named could not be opened."""

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
    async def show_store(self, location: str) -> None:
        """Opens a store, or says why it cannot be opened. Keys and the mouse work meanwhile."""
        if refusal := await self.open_store(location):
            self.tell(refusal, "error")

    async def open_store(self, location: str) -> str | None:
        """Opens a store on another thread, and shows its keys. Returns why it could not be opened."""
        from ._keys import KeysScreen

        try:
            session = await asyncio.to_thread(Session.begin, location, self._layers)
            before = getattr(self.screen, "session", None)
            if before is not None and before.location == session.location:
                session.take_pending(before)
            screen = KeysScreen(session, self._query)
        except (kept.KeptError, NoStore, OSError, ValueError) as error:
            return str(error)
        while len(self.screen_stack) > 1 and not _is_overview(self.screen):
            self.pop_screen()
        self._may_write = False
        self._query = ""
        await self.push_screen(screen)
        if key := self._key:
            self._key = None
            screen.open_key(key)
            # The list below shows it in a line of its own, as long as it is so.
            if salvaged := salvage_text(session.settings):
                self.tell(salvaged, "warning")
        return None

    # --- writing

    @property
    def mode_text(self) -> str:
        """For the title of screens."""
        return "WRITING" if self._may_write else "READ-ONLY"

    def may_write(self) -> bool:
        """Whether writing is allowed; says how to allow it if not."""
        if not self._may_write:
            how = "it was started with --read-only" if self._is_read_only else "press w to allow changes"
            self.tell(f"nothing is changed: {how}", "warning")
        return self._may_write

    def action_writing(self) -> None:
        """Allows changes, or ends that."""
        if self._is_read_only:
            self.tell("it was started with --read-only", "warning")
            return
        self._may_write = not self._may_write
        self.clear_notifications()
        for screen in self.screen_stack:
            if hasattr(screen, "mode_changed"):
                screen.mode_changed()

    # --- the rest

    def tell(self, sentence: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        """Shows a sentence for some seconds."""
        sentence = many_lines(sentence)
        # The last one is what counts; several would cover the list.
        self.clear_notifications()
        self.notify(sentence[:1].upper() + sentence[1:], severity=severity, markup=False, timeout=8)

    def on_refused(self, message: Refused) -> None:
        """Says why pasted text was not taken."""
        self.tell(message.reason, "warning")

    def on_line_several(self, message: Line.Several) -> None:
        """Says so where a line alone can be typed."""
        self.tell(message.reason, "warning")

    def action_help(self) -> None:
        """Shows what the keys do."""
        from ._help import Help

        if not isinstance(self.screen, Help):
            self.push_screen(Help())

    def action_light(self) -> None:
        """Changes between light and dark."""
        self.theme = "textual-dark" if self.theme == "textual-light" else "textual-light"

    def action_leave(self) -> None:
        """Leaves a screen; the last one, the program. What is pending is not lost without a question."""
        session: Session | None = getattr(self.screen, "session", None)
        if session and session.pending and type(self.screen).__name__ == "KeysScreen":
            question = "Leave? What is pending was not committed, and is discarded."
            self.push_screen(Ask(question, session.pending.lines), self._leave)
        else:
            self._leave(True)

    def action_step_back(self) -> None:
        """Leaves a screen, but not the program: Escape pressed once too often ends nothing."""
        if len(self.screen_stack) > 2:
            self.action_leave()
        else:
            self.tell("press q to end the program")

    async def action_quit(self) -> None:
        """Ends the program, with a question if something is pending or was written in an editor."""
        sessions = {id(found): found for screen in self.screen_stack if (found := getattr(screen, "session", None))}
        lines = [line for session in sessions.values() for line in session.pending.lines]
        written = [line for screen in self.screen_stack for line in getattr(screen, "unsaved", ())]
        if not lines and not written:
            self.exit(0)
        elif not isinstance(self.screen, Ask):
            what = "What is pending" if lines else "What you have written"
            question = Ask(f"Quit? {what} was not committed, and is discarded.", lines + written)
            self.push_screen(question, lambda yes: self.exit(0) if yes else None)

    def _fatal_error(self) -> None:
        # Textual's own traceback shows variables, which have values of secrets.
        self.bell()
        self.panic(Traceback(width=None, show_locals=False))

    def _leave(self, yes: bool | None) -> None:
        if not yes:
            return
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.exit(0)


def _is_overview(screen: object) -> bool:
    return type(screen).__name__ == "Overview"
