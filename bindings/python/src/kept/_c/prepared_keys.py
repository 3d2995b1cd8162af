"""Prepared keys: for the most frequent reads."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_bool, c_char_p, c_double, c_int64, c_size_t

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store


class kept_key(Structure):
    """A key that was checked and hashed once; opaque, and never freed."""


# kept_status kept_key_prepare(const char *key, const kept_key **out, kept_error *error);
kept_key_prepare = prototype(
    "kept_key_prepare",
    kept_status,
    [c_char_p, POINTER(POINTER(kept_key)), POINTER(kept_error)],
    check,
)

# kept_status kept_key_get_bool(kept_store *store, const kept_key *key, bool *out, kept_error *error);
kept_key_get_bool = prototype(
    "kept_key_get_bool",
    kept_status,
    [POINTER(kept_store), POINTER(kept_key), POINTER(c_bool), POINTER(kept_error)],
    check,
)

# kept_status kept_key_get_int64(kept_store *store, const kept_key *key, int64_t *out, kept_error *error);
kept_key_get_int64 = prototype(
    "kept_key_get_int64",
    kept_status,
    [POINTER(kept_store), POINTER(kept_key), POINTER(c_int64), POINTER(kept_error)],
    check,
)

# kept_status kept_key_get_double(kept_store *store, const kept_key *key, double *out, kept_error *error);
kept_key_get_double = prototype(
    "kept_key_get_double",
    kept_status,
    [POINTER(kept_store), POINTER(kept_key), POINTER(c_double), POINTER(kept_error)],
    check,
)

# kept_status kept_key_get_string(kept_store *store, const kept_key *key, char *buffer, size_t capacity,
#     size_t *length, kept_error *error);
kept_key_get_string = prototype(
    "kept_key_get_string",
    kept_status,
    [POINTER(kept_store), POINTER(kept_key), c_char_p, c_size_t, POINTER(c_size_t), POINTER(kept_error)],
    check,
)
