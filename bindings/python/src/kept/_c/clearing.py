"""Clearing: back to the defaults."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_size_t

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

# kept_status kept_reset(kept_store *store, const char *key, kept_error *error);
kept_reset = prototype("kept_reset", kept_status, [POINTER(kept_store), c_char_p, POINTER(kept_error)], check)

# kept_status kept_remove_all(kept_store *store, const char *prefix, size_t *removed, kept_error *error);
kept_remove_all = prototype(
    "kept_remove_all",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_size_t), POINTER(kept_error)],
    check,
)
