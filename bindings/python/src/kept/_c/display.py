"""Display: text for a terminal, a log or a report."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_size_t, c_uint32

from .library import prototype
from .status import check, kept_error, kept_status

KEPT_DISPLAY_LINE = 0
KEPT_DISPLAY_LINES = 1
KEPT_DISPLAY_JSON = 2

# kept_status kept_display_cut(const char *text, size_t length, size_t columns, char **cut, size_t *used,
#   kept_error *error);
kept_display_cut = prototype(
    "kept_display_cut",
    kept_status,
    [c_char_p, c_size_t, c_size_t, POINTER(c_char_p), POINTER(c_size_t), POINTER(kept_error)],
    check,
)

# kept_status kept_display_text(const char *text, size_t length, uint32_t form, char **displayed, kept_error *error);
kept_display_text = prototype(
    "kept_display_text",
    kept_status,
    [c_char_p, c_size_t, c_uint32, POINTER(c_char_p), POINTER(kept_error)],
    check,
)
