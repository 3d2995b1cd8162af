"""Buffers: text and bytes, copied into the caller's memory."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_size_t, c_void_p

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

# kept_status kept_get_string(kept_store *store, const char *key, char *buffer, size_t capacity, size_t *length,
#     kept_error *error);
kept_get_string = prototype(
    "kept_get_string",
    kept_status,
    [POINTER(kept_store), c_char_p, c_char_p, c_size_t, POINTER(c_size_t), POINTER(kept_error)],
    check,
)

# kept_status kept_set_string(kept_store *store, const char *key, const char *text, size_t length, kept_error *error);
kept_set_string = prototype(
    "kept_set_string",
    kept_status,
    [POINTER(kept_store), c_char_p, c_char_p, c_size_t, POINTER(kept_error)],
    check,
)

# kept_status kept_get_bytes(kept_store *store, const char *key, void *buffer, size_t capacity, size_t *length,
#     kept_error *error);
kept_get_bytes = prototype(
    "kept_get_bytes",
    kept_status,
    [POINTER(kept_store), c_char_p, c_void_p, c_size_t, POINTER(c_size_t), POINTER(kept_error)],
    check,
)

# kept_status kept_set_bytes(kept_store *store, const char *key, const void *bytes, size_t length, kept_error *error);
kept_set_bytes = prototype(
    "kept_set_bytes",
    kept_status,
    [POINTER(kept_store), c_char_p, c_void_p, c_size_t, POINTER(kept_error)],
    check,
)
