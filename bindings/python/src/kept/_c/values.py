"""Values: one pair of functions for each kind."""

from __future__ import annotations

from ctypes import POINTER, c_bool, c_char_p, c_double, c_int32, c_int64, c_uint64

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

# kept_status kept_get_bool(kept_store *store, const char *key, bool *out, kept_error *error);
kept_get_bool = prototype(
    "kept_get_bool",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_bool), POINTER(kept_error)],
    check,
)

# kept_status kept_set_bool(kept_store *store, const char *key, bool value, kept_error *error);
kept_set_bool = prototype(
    "kept_set_bool",
    kept_status,
    [POINTER(kept_store), c_char_p, c_bool, POINTER(kept_error)],
    check,
)

# kept_status kept_get_int64(kept_store *store, const char *key, int64_t *out, kept_error *error);
kept_get_int64 = prototype(
    "kept_get_int64",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_int64), POINTER(kept_error)],
    check,
)

# kept_status kept_set_int64(kept_store *store, const char *key, int64_t value, kept_error *error);
kept_set_int64 = prototype(
    "kept_set_int64",
    kept_status,
    [POINTER(kept_store), c_char_p, c_int64, POINTER(kept_error)],
    check,
)

# kept_status kept_get_uint64(kept_store *store, const char *key, uint64_t *out, kept_error *error);
kept_get_uint64 = prototype(
    "kept_get_uint64",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_uint64), POINTER(kept_error)],
    check,
)

# kept_status kept_set_uint64(kept_store *store, const char *key, uint64_t value, kept_error *error);
kept_set_uint64 = prototype(
    "kept_set_uint64",
    kept_status,
    [POINTER(kept_store), c_char_p, c_uint64, POINTER(kept_error)],
    check,
)

# kept_status kept_get_double(kept_store *store, const char *key, double *out, kept_error *error);
kept_get_double = prototype(
    "kept_get_double",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_double), POINTER(kept_error)],
    check,
)

# kept_status kept_set_double(kept_store *store, const char *key, double value, kept_error *error);
kept_set_double = prototype(
    "kept_set_double",
    kept_status,
    [POINTER(kept_store), c_char_p, c_double, POINTER(kept_error)],
    check,
)

# kept_status kept_get_date(kept_store *store, const char *key, int64_t *seconds, int32_t *nanoseconds,
#     kept_error *error);
kept_get_date = prototype(
    "kept_get_date",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_int64), POINTER(c_int32), POINTER(kept_error)],
    check,
)

# kept_status kept_set_date(kept_store *store, const char *key, int64_t seconds, int32_t nanoseconds,
#     kept_error *error);
kept_set_date = prototype(
    "kept_set_date",
    kept_status,
    [POINTER(kept_store), c_char_p, c_int64, c_int32, POINTER(kept_error)],
    check,
)
