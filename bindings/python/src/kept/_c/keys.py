"""Keys: listing, existence and removal."""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, c_bool, c_char_p, c_int, c_uint64, c_void_p

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

# typedef int (*kept_list_callback)(void *context, const char *key);
kept_list_callback = CFUNCTYPE(c_int, c_void_p, c_char_p)

# kept_status kept_contains(kept_store *store, const char *key, bool *out, kept_error *error);
kept_contains = prototype(
    "kept_contains",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_bool), POINTER(kept_error)],
    check,
)

# kept_status kept_remove(kept_store *store, const char *key, kept_error *error);
kept_remove = prototype("kept_remove", kept_status, [POINTER(kept_store), c_char_p, POINTER(kept_error)], check)

# kept_status kept_revision_of(kept_store *store, const char *key, uint64_t *revision, kept_error *error);
kept_revision_of = prototype(
    "kept_revision_of",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_uint64), POINTER(kept_error)],
    check,
)

# kept_status kept_list(kept_store *store, const char *prefix, kept_list_callback callback, void *context,
#     kept_error *error);
kept_list = prototype(
    "kept_list",
    kept_status,
    [POINTER(kept_store), c_char_p, kept_list_callback, c_void_p, POINTER(kept_error)],
    check,
)

# kept_status kept_list_json(kept_store *store, const char *prefix, char **json, kept_error *error);
kept_list_json = prototype(
    "kept_list_json",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)
