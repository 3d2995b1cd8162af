"""Text as a terminal, a log or a report may show it."""

from __future__ import annotations

from ctypes import byref, c_char_p

from ._c.display import KEPT_DISPLAY_JSON, KEPT_DISPLAY_LINE, KEPT_DISPLAY_LINES, kept_display_cut, kept_display_text
from ._c.status import kept_error, kept_free
from ._errors import InvalidError


def display_text(text: str, *, lines: bool = False, json: bool = False, columns: int | None = None) -> str:
    """The text on one line, with escapes for what must not reach a terminal or a log.

    Keys, values and file names may contain anything. Control characters control a terminal and begin lines, some
    characters change the direction of the text around them, and invisible ones make different keys look the same. They
    become `\\n`, `\\t`, `\\r` or an escape such as `\\u{1B}`; half a surrogate pair becomes `\\udc80`.

    With `lines`, line breaks and tabs stay. With `json`, the text is JSON and has the escapes of JSON, so that it has
    the same value. `columns` shortens a text on one line to as many columns of a terminal; a wide character takes
    two. It then ends in an ellipsis. In C: `kept_display_text`, `kept_display_cut`. In Swift: `DisplayText`.
    """
    if columns is not None and (lines or json):
        raise InvalidError("columns applies only to text on one line; it cannot be combined with lines or json")
    if text.isascii() and text.isprintable() and (columns is None or len(text) <= columns):
        return text
    form = KEPT_DISPLAY_JSON if json else KEPT_DISPLAY_LINES if lines else KEPT_DISPLAY_LINE
    encoded = text.encode("utf-8", "backslashreplace")
    displayed = c_char_p()
    if columns is None:
        kept_display_text(encoded, len(encoded), form, byref(displayed), kept_error())
    else:
        kept_display_cut(encoded, len(encoded), max(0, columns), byref(displayed), None, kept_error())
    try:
        return (displayed.value or b"").decode()
    finally:
        kept_free(displayed)
