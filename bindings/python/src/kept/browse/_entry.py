"""Where text is typed and pasted: a line, and an area of several lines. What is pasted is taken whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.message import Message
from textual.widgets import Input, TextArea

from ._text import count_text, first_unsafe, one_line

if TYPE_CHECKING:
    from textual import events


class Refused(Message):
    """Pasted text was not taken. The browser shows the reason, unless a screen does."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class Line(Input):
    """A line of text. Textual's own takes the first one of several lines that are pasted."""

    class Several(Message):
        """Several lines were pasted. The line has not taken them."""

        def __init__(self, line: Line, text: str) -> None:
            super().__init__()
            self.line, self.text = line, text

        @property
        def reason(self) -> str:
            """Why they were not taken."""
            lines = self.text.count("\n") + (not self.text.endswith("\n"))
            return f"{count_text(lines, 'line')} were pasted, and one fits here; nothing was taken"

    def _on_paste(self, event: events.Paste) -> None:
        # Else Textual would call its own method, too.
        event.prevent_default()
        event.stop()
        self._take(event.text)

    def action_paste(self) -> None:
        self._take(self.app.clipboard)

    def _take(self, pasted: str) -> None:
        text = _unix(pasted)
        if text.find("\n") == len(text) - 1:
            text = text.removesuffix("\n")  # it was selected with the line
        if reason := _refusal(text):
            self.post_message(Refused(reason))
        elif "\n" in text:
            self.post_message(self.Several(self, text))
        else:
            self.replace(text, *self.selection)

    def action_copy(self) -> None:
        if not self.password:
            super().action_copy()

    def action_cut(self) -> None:
        if self.password:
            self.delete_selection()
        else:
            super().action_cut()


class Area(TextArea):
    """Text of several lines, which may be covered."""

    def __init__(self, text: str = "", *, is_covered: bool = False, **options: Any) -> None:
        super().__init__(text, **options)
        self._is_covered = is_covered

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        return Text("•" * len(line), end="", no_wrap=True) if self._is_covered else line

    def cover(self) -> None:
        """Covers what was shown."""
        self._is_covered = True
        self.notify_style_update()  # which forgets lines that were drawn
        self.refresh()

    def _on_paste(self, event: events.Paste) -> None:  # type: ignore[override]
        event.prevent_default()
        event.stop()
        self._take(event.text)

    def action_paste(self) -> None:
        self._take(self.app.clipboard)

    def _take(self, pasted: str) -> None:
        text = _unix(pasted)
        if reason := _refusal(text):
            self.post_message(Refused(reason))
        else:
            start, end = sorted(self.selection)
            self.move_cursor(self.replace(text, start, end).end_location)

    def action_copy(self) -> None:
        if not self._is_covered:
            super().action_copy()

    def action_cut(self) -> None:
        if self._is_covered:
            self.delete(*sorted(self.selection))
        else:
            super().action_cut()


def _unix(text: str) -> str:
    """Text with the line breaks of Unix: terminals send carriage returns in their place."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _refusal(text: str) -> str | None:
    """Why a text cannot be taken: what it has would act on the terminal, or Textual would take it for a line break."""
    if (found := first_unsafe(text)) is None:
        return None
    return f"the pasted text has the character {one_line(found)}; nothing was taken"
