"""A slider for numbers between two bounds."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.message import Message
from textual.widget import Widget

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType


class Slider(Widget, can_focus=True):
    """A bar for the arrow keys and the mouse. Its numbers are the minimum plus multiples of a step."""

    DEFAULT_CSS = """
    Slider { height: 1; width: 1fr; color: $text; }
    Slider:focus { text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "Less"),
        Binding("right", "step(1)", "More"),
        Binding("shift+left,pagedown", "step(-10)", "Much less", show=False),
        Binding("shift+right,pageup", "step(10)", "Much more", show=False),
        Binding("home", "step(-1000000000000000000000)", "Least", show=False),
        Binding("end", "step(1000000000000000000000)", "Most", show=False),
    ]

    class Moved(Message):
        """The slider was moved."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, minimum: Decimal, maximum: Decimal, step: Decimal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._minimum, self._maximum, self._step = minimum, maximum, step
        self._number = minimum

    def show(self, number: Decimal) -> None:
        """Shows a number, or the nearest bound."""
        if number.is_finite():
            self._number = max(self._minimum, min(self._maximum, number))
            self.refresh()

    def _move_to(self, number: Decimal) -> None:
        steps = round((number - self._minimum) / self._step)
        most = int((self._maximum - self._minimum) / self._step)
        self._number = self._minimum + self._step * max(0, min(most, steps))
        self.refresh()
        self.post_message(self.Moved(_text(self._number)))

    def action_step(self, steps: int) -> None:
        self._move_to(self._number + self._step * steps)

    def on_click(self, event: events.Click) -> None:
        track = self._track
        place = event.x - track.start
        if 0 <= place < len(track):
            self._move_to(self._minimum + (self._maximum - self._minimum) * place / max(1, len(track) - 1))

    @property
    def _track(self) -> range:
        """The columns of the bar, between the bounds."""
        start = len(_text(self._minimum)) + 2
        return range(start, max(start + 1, self.size.width - len(_text(self._maximum)) - 2))

    def render(self) -> str:
        length = len(self._track)
        place = int((self._number - self._minimum) / (self._maximum - self._minimum) * (length - 1))
        bar = "=" * place + "O" + "-" * (length - 1 - place)
        return f"{_text(self._minimum)} \\[{bar}] {_text(self._maximum)}"


def _text(number: Decimal) -> str:
    """A number as JSON. One that does not fit 64 bits is written as a double."""
    return f"{number:f}" if abs(number) < 1 << 64 else str(float(number))
