"""JSON: any value as text."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_uint64

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

# kept_status kept_get_json(kept_store *store, const char *key, char **json, kept_error *error);
kept_get_json = prototype(
    "kept_get_json",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_set_json(kept_store *store, const char *key, const char *json, kept_error *error);
kept_set_json = prototype(
    "kept_set_json",
    kept_status,
    [POINTER(kept_store), c_char_p, c_char_p, POINTER(kept_error)],
    check,
)

# kept_status kept_set_json_if(kept_store *store, const char *key, const char *json, uint64_t expected,
#     uint64_t *revision, kept_error *error);
kept_set_json_if = prototype(
    "kept_set_json_if",
    kept_status,
    [POINTER(kept_store), c_char_p, c_char_p, c_uint64, POINTER(c_uint64), POINTER(kept_error)],
    check,
)
