"""Small dialogs: a question that another key answers, and a line of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

from ._entry import Line
from ._text import many_lines

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    Accept = Callable[[str, bool], Awaitable["Refusal | None"]]
    """Says why a text is not taken. The second argument is whether the person insists."""


LOW = 22
"""Lines of a terminal that has less place than a dialog needs."""


@dataclass(frozen=True)
class Refusal:
    """Why a text is not taken."""

    reason: str
    can_be_overruled: bool = False

    def __str__(self) -> str:
        return self.reason

    def with_remedy(self, remedy: str) -> str:
        """The reason, which may end with a question, and what can be done."""
        return f"{self.reason}{'' if self.reason.endswith('?') else ';'} {remedy}"


class Ask(ModalScreen[bool]):
    """Asks before something is destroyed. `y` is the answer: neither the key that has asked, nor Enter."""

    CSS = """
    Ask { align: center middle; }
    Ask > Vertical { width: 76; max-width: 95%; height: auto; max-height: 100%; background: $panel; }
    Ask > Vertical { border: solid $error; }
    Ask #keys { margin: 1 0; }
    Ask.low #keys { margin: 0; }
    Ask #lines { height: auto; max-height: 50vh; }
    Ask #question { height: auto; max-height: 40vh; }
    Ask.low > Vertical { width: 100%; max-width: 100%; height: 1fr; border: none; }
    Ask.low #lines { height: 1fr; max-height: 100%; }
    Ask.low #question { max-height: 50%; }
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
            with VerticalScroll(id="question", can_focus=False):
                yield Static(self._question, markup=False)
            yield Static("Press y to do it, n not to.", id="keys", markup=False)
            with VerticalScroll(id="lines"):
                yield Static("\n".join(self._lines), markup=False)
        yield Footer()

    def on_resize(self, event: events.Resize) -> None:
        """Leaves borders out where there is no place, and says so if there are more lines than the dialog shows."""
        self.set_class(event.size.height < LOW, "low")
        self.call_after_refresh(self._show_keys)

    def _show_keys(self) -> None:
        keys = "Press y to do it, n not to."
        if self.query_one("#lines").max_scroll_y:
            keys += f" Arrow keys show all {len(self._lines):,} lines."
        self.query_one("#keys", Static).update(keys)


class AskText(ModalScreen[str | None]):
    """Asks for a line of text. A text that is refused stays, with the reason."""

    CSS = """
    AskText { align: center middle; }
    AskText > Vertical { width: 70; max-width: 95%; height: auto; max-height: 100%; border: solid $primary;
        background: $panel; }
    AskText #problems { height: auto; max-height: 50vh; }
    AskText #problem { color: $text-error; height: auto; display: none; }
    AskText #problem.shown { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "insist", "Do it all the same"),
        Binding("escape", "dismiss(None)", "Cancel"),
    ]

    def __init__(self, title: str, placeholder: str, accept: Accept) -> None:
        super().__init__()
        self._title, self._placeholder, self._accept = title, placeholder, accept
        self._refused: str | None = None
        """The text of which the reason can be overruled."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, markup=False)
            yield Line(placeholder=self._placeholder)
            with VerticalScroll(id="problems", can_focus=False):
                yield Static(id="problem", markup=False)
        yield Footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What was refused can be insisted on if that is so."""
        return action != "insist" or self._refused is not None

    async def on_input_submitted(self, message: Input.Submitted) -> None:
        if text := message.value:
            await self._submit(text, False)
        else:
            self.dismiss(None)

    async def action_insist(self) -> None:
        """Takes the text that was refused, if it is still the same."""
        text = self.query_one(Line).value
        await self._submit(text, text == self._refused)

    async def _submit(self, text: str, insists: bool) -> None:
        refusal = await self._accept(text, insists)
        if self.app.screen is not self:
            return  # the store that was asked for has taken its place
        if refusal is None:
            self.dismiss(text)
            return
        self._refused = text if refusal.can_be_overruled else None
        problem = self.query_one("#problem", Static)
        problem.update(
            many_lines(refusal.with_remedy("Ctrl+S does it all the same") if self._refused else str(refusal))
        )
        problem.add_class("shown")
        self.refresh_bindings()
