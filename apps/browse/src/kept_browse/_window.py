"""The interface of the program for its screens and actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import App
from textual.reactive import var
from textual.widgets import Footer, Static

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    from textual.screen import Screen
    from textual.widget import Widget

    from ._session import Session


class Window(App[int]):
    """The program as screens see it. It opens stores and screens, so that no screen has to import it."""

    message: var[tuple[str, str]] = var(("", ""))
    """The severity and the text of the last message; empty when it is no longer shown."""

    @property
    def mode_text(self) -> str:
        """The mode, for the titles of screens."""
        raise NotImplementedError

    def may_write(self) -> bool:
        """Whether writing is allowed. If not, shows how to allow it."""
        raise NotImplementedError

    def tell(self, sentence: str, severity: Literal["information", "warning", "error"] = "information") -> None:
        """Shows a sentence above the footer until the next key, or for some seconds."""
        raise NotImplementedError

    def show_store(self, location: str, key: str | None = None) -> object:
        """Opens a store and the page of a key, or reports why it cannot be opened. Keys and the mouse keep working in
        the meantime."""
        raise NotImplementedError

    async def open_store(self, location: str) -> str | None:
        """Opens a store on another thread and shows its keys. Returns the reason if it cannot be opened."""
        raise NotImplementedError

    def open_key(self, session: Session, key: str, closed: Callable[[], None] | None = None) -> None:
        """Opens the page of a key."""
        raise NotImplementedError

    def open_pending(self, session: Session, closed: Callable[[], None]) -> None:
        """Opens the screen of pending changes."""
        raise NotImplementedError

    def open_import(self, session: Session) -> None:
        """Opens the import screen."""
        raise NotImplementedError

    def open_export(self, session: Session) -> None:
        """Opens the export screen."""
        raise NotImplementedError

    def open_compare(self, session: Session) -> None:
        """Opens the comparison screen."""
        raise NotImplementedError

    def action_step_back(self) -> None:
        """Leaves a screen but never the program."""
        raise NotImplementedError


class Message(Static):
    """The last message. The rest of the screen makes room for it."""

    DEFAULT_CSS = """
    Message { dock: bottom; margin-bottom: 1; padding: 0 1; height: auto; max-height: 40vh; display: none; }
    Message { background: $boost; color: $text; }
    Message.warning { color: $text-warning; text-style: bold; }
    Message.error { color: $text-error; text-style: bold; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)

    def on_mount(self) -> None:
        self.watch(self.app, "message", self._show)

    def _show(self, message: tuple[str, str]) -> None:
        severity, text = message
        self.update(text)
        self.display = bool(text)
        self.set_classes(severity)


def foot() -> Iterator[Widget]:
    """The last lines of a screen. Dialogs have only a footer, so that no message takes the place of a question."""
    yield Message()
    yield Footer()


def window_of(screen: object) -> Window:
    """The program that a screen belongs to."""
    return cast("Window", cast("Screen[None]", screen).app)
