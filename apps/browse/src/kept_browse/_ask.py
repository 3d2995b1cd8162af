"""Small dialogs: a question that another key answers, and a line of text."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Static

import kept

from ._entry import Line, Refused
from ._leaving import until_left
from ._passphrase import NoPassphrase
from ._seen import is_seen, once_drawn
from ._text import many_lines

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.geometry import Size

    Accept = Callable[[str, bool], Awaitable["Refusal | None"]]
    """Returns why a text is refused, or None. The second argument is true if the user insists on it."""


T = TypeVar("T")

LOW = 22
"""The height, in lines, of a terminal that is too low for a whole dialog."""


@dataclass(frozen=True)
class Refusal:
    """Why a text is refused."""

    reason: str
    can_be_overruled: bool = False

    def __str__(self) -> str:
        return self.reason

    def with_remedy(self, remedy: str) -> str:
        """The reason, which may end with a question, followed by the remedy."""
        return f"{self.reason}{'' if self.reason.endswith('?') else ';'} {remedy}"


class Question(ModalScreen[T]):
    """Asks before something is changed or destroyed. The answer is `y`, and not Enter or the key that opened the
    question. It only works while the terminal shows the whole question and at least the start of its subject."""

    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical { width: 76; max-width: 95%; height: auto; max-height: 100%; background: $panel; }
    Question > Vertical { border: solid $error; }
    Question #keys { margin: 1 0; }
    Question #lines { height: auto; max-height: 50vh; }
    Question #question { height: auto; max-height: 40vh; }
    Question.low > Vertical { width: 100%; max-width: 100%; height: 1fr; border: none; }
    Question.low #keys { margin: 0; }
    Question.low #lines { height: 1fr; max-height: 100%; }
    Question.low #question { max-height: 50%; }
    """

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question
        self._too_small: Size | None = None
        """The size of the terminal for which the answer was refused."""

    @property
    def answer(self) -> T:
        """The result of `y`."""
        raise NotImplementedError

    @property
    def keys(self) -> str:
        """The sentence that explains the keys."""
        raise NotImplementedError

    def lines(self) -> Iterator[Static]:
        """The subject of the question. Its first line has to be in view."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical():
            with VerticalScroll(id="question", can_focus=False):
                yield Static(self._question, id="asked", markup=False)
            yield Static(self.keys, id="keys", markup=False)
            with VerticalScroll(id="lines"):
                yield from self.lines()
        yield Footer()

    def on_resize(self, event: events.Resize) -> None:
        """Leaves out the borders where space is short."""
        self.set_class(event.size.height < LOW, "low")
        self.call_after_refresh(self._show_keys)

    @until_left
    async def _show_keys(self) -> None:
        is_refused = self._too_small == self.outer_size
        self.query_one("#keys", Static).update(
            "Make the terminal larger, and press y again." if is_refused else self.keys
        )

    def action_yes(self) -> None:
        """Ends the dialog once its contents are drawn."""
        once_drawn(self, self._yes)

    async def _yes(self) -> None:
        if not self.is_active:
            return
        lines = self.query_one("#lines")
        if is_seen(self, self.query_one("#asked"), is_whole=True) and all(
            is_seen(self, line) for line in lines.children[:1]
        ):
            self.dismiss(self.answer)
            return
        lines.scroll_home(animate=False)
        self._too_small = self.outer_size
        await self._show_keys()


class Ask(Question[bool]):
    """Asks whether to do something, and lists the lines concerned. When locks or declarations have changed, `renew`
    returns the question as it is now; None ends it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "Yes"),
        Binding("n,escape", "dismiss(False)", "No", key_display="n"),
    ]

    def __init__(
        self, question: str, lines: Sequence[str], renew: Callable[[], tuple[str, Sequence[str]] | None] | None = None
    ) -> None:
        super().__init__(question)
        self._lines, self._renew = lines, renew

    @property
    def answer(self) -> bool:
        return True

    @property
    def keys(self) -> str:
        keys = "Press y to confirm, n to cancel."
        if self.is_mounted and self.query_one("#lines").max_scroll_y:
            keys += " Arrow keys scroll through the list."
        return keys

    def lines(self) -> Iterator[Static]:
        if self._lines:
            yield Static("\n".join(self._lines), id="about", markup=False)

    def declarations_changed(self) -> None:
        """Asks again, by the current locks and declarations."""
        if self._renew is None or not self.is_active:
            return  # the help covers it; if the answer is out of date, the store refuses it
        try:
            now = self._renew()
        except kept.KeptError:
            return  # the list below reports this
        if now is None:
            self.dismiss(False)
            return
        question, self._lines = now
        self.query_one("#asked", Static).update(question)
        self.query_one("#about", Static).update("\n".join(self._lines))


class AskText(ModalScreen[str | None]):
    """Asks for a line of text. A refused text stays, with the reason."""

    CSS = """
    AskText { align: center middle; }
    AskText > Vertical { width: 70; max-width: 95%; height: auto; max-height: 100%; border: solid $primary;
        background: $panel; }
    AskText #problems { height: auto; max-height: 50vh; }
    AskText #problem { color: $text-error; height: auto; display: none; }
    AskText #problem.shown { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("ctrl+s", "insist", "Set it anyway"),
    ]

    def __init__(self, title: str, line: Line, accept: Accept) -> None:
        super().__init__()
        self._title, self._line, self._accept = title, line, accept
        self._refused: str | None = None
        """The refused text that the user may insist on."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, markup=False)
            yield self._line
            with VerticalScroll(id="problems", can_focus=False):
                yield Static(id="problem", markup=False)
        yield Footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allows insisting on a refused text only where the reason permits it."""
        return action != "insist" or self._refused is not None

    async def on_input_submitted(self, message: Input.Submitted) -> None:
        if text := message.value:
            await self._submit(text, False)
        else:
            self.dismiss(None)

    async def action_insist(self) -> None:
        """Takes the refused text after all, unless it has been edited since."""
        text = self._line.value
        await self._submit(text, text == self._refused)

    async def _submit(self, text: str, insists: bool) -> None:
        refusal = await self._accept(text, insists)
        if not self.is_active:
            return  # the requested store has replaced this dialog
        if refusal is None:
            self.dismiss(text)
            return
        self._refused = text if refusal.can_be_overruled else None
        self._show(refusal.with_remedy("Ctrl+S sets it anyway") if self._refused else str(refusal))

    def on_refused(self, message: Refused) -> None:
        """Shows why pasted text was refused."""
        message.stop()
        self._show(message.reason)

    def on_line_several(self, message: Line.Several) -> None:
        """Refuses several pasted lines."""
        message.stop()
        self._show(message.reason)

    def _show(self, problem: str) -> None:
        self.query_one("#problem", Static).update(many_lines(problem))
        self.query_one("#problem").add_class("shown")
        self.refresh_bindings()


def ask_passphrase(title: str, accept: Callable[[str], object] = lambda _: None) -> AskText:
    """Asks for a passphrase, which is covered. `accept`, which is called on another thread, may refuse it by raising an
    error."""

    async def accepted(text: str, _: bool) -> Refusal | None:
        try:
            await asyncio.to_thread(accept, text)
        except (kept.KeptError, NoPassphrase) as error:
            return Refusal(str(error))
        return None

    return AskText(title, Line(password=True), accepted)


def ask_again(first: str) -> AskText:
    """Asks for a new passphrase that was entered once."""

    def accept(text: str) -> None:
        if text != first:
            raise NoPassphrase("it differs from the first one; enter that again, or press Escape")

    return ask_passphrase("The same passphrase again", accept)
