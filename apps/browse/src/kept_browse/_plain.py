"""Filters for terminals that lack Unicode or colours."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.filter import LineFilter

if TYPE_CHECKING:
    from textual.color import Color

_LINES = {
    **dict.fromkeys("─━┄┅┈┉╌╍═╴╶╸╺▔▁▂‾", "-"),
    **dict.fromkeys("│┃┆┇┊┋╎╏║╵╷╹╻▏▕▎▌▐", "|"),
    **dict.fromkeys("█▇▆▅▄▃▀▊▉■", "#"),
    **dict.fromkeys("•●◉⬤○", "*"),
    "…": ".",
    "→": ">",
    "·": "-",
    "✓": "x",
    "▼": "v",
    "▶": ">",
    "▲": "^",
}


def speaks_utf8() -> bool:
    """Whether the locale says that the terminal shows UTF-8. Like Python, it assumes UTF-8 if no locale is set."""
    everything = os.environ.get("LC_ALL", "")
    name = everything or os.environ.get("LC_CTYPE", "") or os.environ.get("LANG", "")
    if name in ("", "C", "POSIX"):
        return not everything
    return "utf8" in name.lower().replace("-", "")


def ascii_text(text: str) -> str:
    """Text of the same width in ASCII, with signs for lines and question marks for other characters."""
    if text.isascii():
        return text
    return "".join(
        character if character.isascii() else _LINES.get(character) or _line_or_question(character)
        for character in text
    )


def _line_or_question(character: str) -> str:
    return "+" if "\u2500" <= character <= "\u257f" else "?" * cell_len(character)


class AsciiFilter(LineFilter):
    """Draws in ASCII only."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(ascii_text(text), style, control) for text, style, control in segments]


class ColourlessFilter(LineFilter):
    """Draws without colours, as https://no-color.org asks for. Textual's own filter leaves shades of grey."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text, style and style.without_color, control) for text, style, control in segments]
