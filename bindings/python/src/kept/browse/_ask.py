"""Small dialogs: a question that another key answers, and a line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType


class Ask(ModalScreen[bool]):
    """Asks before something is destroyed. `y` is the answer: neither the key that has asked, nor Enter."""

    CSS = """
    Ask { align: center middle; }
    Ask > Vertical { width: 76; max-width: 95%; height: auto; max-height: 80%; background: $panel; }
    Ask > Vertical { border: solid $error; }
    Ask #lines { height: auto; max-height: 12; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes, do it"),
        Binding("n,escape", "dismiss(False)", "No", key_display="n"),
    ]

    def __init__(self, question: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._question, self._lines = question, lines

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(f"{self._question}\n", markup=False)
            with VerticalScroll(id="lines"):
                yield Static("\n".join(self._lines), markup=False)
            yield Static("\nPress y to do it, n not to.", markup=False)
        yield Footer()


class AskText(ModalScreen[str | None]):
    """Asks for a line of text."""

    CSS = """
    AskText { align: center middle; }
    AskText > Vertical { width: 70; max-width: 95%; height: auto; border: solid $primary; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(self, title: str, placeholder: str) -> None:
        super().__init__()
        self._title, self._placeholder = title, placeholder

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, markup=False)
            yield Input(placeholder=self._placeholder)
        yield Footer()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value or None)
