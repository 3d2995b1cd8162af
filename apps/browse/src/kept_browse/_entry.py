"""Fields for typed and pasted text: a line, and an area of several lines. A paste is taken whole or not at all."""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, TextArea

import kept

from ._places import path_of
from ._text import count_text, first_unsafe, one_line

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType


class Refused(Message):
    """Pasted text was not taken. The browser shows the reason, unless a screen does."""

    def __init__(self, reason: str, *, is_text: bool = True) -> None:
        super().__init__()
        self.reason, self.is_text = f"{reason}; nothing was pasted", is_text


class Line(Input):
    """A line of text. Textual's own takes only the first of several pasted lines."""

    class Several(Message):
        """Several lines were pasted, and the line did not take them."""

        def __init__(self, line: Line, text: str) -> None:
            super().__init__()
            self.line, self.text = line, text

        @property
        def reason(self) -> str:
            """Why they were not taken."""
            lines = self.text.count("\n") + (not self.text.endswith("\n"))
            return f"the pasted text has {count_text(lines, 'line')}, but this field takes one; nothing was pasted"

    def _on_paste(self, event: events.Paste) -> None:
        # Otherwise Textual would call its own method, too.
        event.prevent_default()
        event.stop()
        self._take(event.text)

    def action_paste(self) -> None:
        self._take(self.app.clipboard)

    def _take(self, pasted: str) -> None:
        text = _unix(pasted)
        if text.find("\n") == len(text) - 1:
            text = text.removesuffix("\n")  # copied together with the line
        if refusal := _refusal(text):
            self.post_message(refusal)
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


class PathLine(Line):
    """A line for a path, or also for the identifier of a store, which Tab completes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "complete", "Complete")]

    def __init__(self, *, has_stores: bool = False, **options: Any) -> None:
        super().__init__(suggester=Paths(has_stores), **options)

    async def action_complete(self) -> None:
        """Completes the path, or goes to the next field if it is complete."""
        # The suggestion on the screen may be for an earlier text.
        found = self.suggester and await self.suggester.get_suggestion(self.value)
        if found and found != self.value:
            self.value = found
            self.cursor_position = len(found)
        else:
            self.screen.focus_next()


class Paths(Suggester):
    """Suggests how a path continues: as all paths do that begin with the text, or else as the first of them."""

    def __init__(self, has_stores: bool) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._has_stores = has_stores

    async def get_suggestion(self, value: str) -> str | None:
        return await asyncio.to_thread(self._continued, value) if value else None

    def _continued(self, text: str) -> str | None:
        folder, slash, begun = text.rpartition("/")
        names = []
        try:
            with os.scandir(path_of(folder + slash) if slash else ".") as entries:
                names += [f"{entry.name}{'/' * entry.is_dir()}" for entry in entries]
            if self._has_stores and not slash:
                names += [place.location for place in kept.places()]
        except (OSError, ValueError, kept.KeptError):
            pass  # using the path reports the reason
        names = sorted(
            name
            for name in names
            if name.startswith(begun) and (begun or not name.startswith(".")) and first_unsafe(name) is None
        )
        if not names:
            return None
        common = os.path.commonprefix(names)
        return f"{folder}{slash}{common if common != begun else names[0]}"


class Area(TextArea):
    """Text of several lines, which may be covered."""

    def __init__(self, text: str = "", *, is_covered: bool = False, **options: Any) -> None:
        super().__init__(text, **options)
        self._is_covered = is_covered

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        return Text("•" * len(line), end="", no_wrap=True) if self._is_covered else line

    def cover(self) -> None:
        """Covers the text."""
        self._is_covered = True
        self.notify_style_update()  # which discards the drawn lines
        self.refresh()

    def _on_paste(self, event: events.Paste) -> None:  # type: ignore[override]
        event.prevent_default()
        event.stop()
        self._take(event.text)

    def action_paste(self) -> None:
        self._take(self.app.clipboard)

    def _take(self, pasted: str) -> None:
        text = _unix(pasted)
        if refusal := _refusal(text):
            self.post_message(refusal)
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
    """Text with Unix line breaks: terminals send carriage returns instead."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _refusal(text: str) -> Refused | None:
    """Why a text cannot be taken: a character would act on the terminal, or Textual would take it for a line break."""
    if (found := first_unsafe(text)) is None:
        return None
    if wrong := _WRONG_BYTES.match(text, text.index(found)):
        digits = wrong[0].encode("utf-8", "surrogateescape").hex(" ")
        return Refused(f"the pasted text has bytes that are not UTF-8 (hexadecimal {digits})", is_text=False)
    return Refused(f"the pasted text has the character {one_line(found)}, which cannot be entered here")


_WRONG_BYTES = re.compile("[\udc80-\udcff]{1,8}")
"""How bytes that are not UTF-8 arrive from the terminal."""
