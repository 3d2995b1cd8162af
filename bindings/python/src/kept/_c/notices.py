"""Notices: what an observer receives."""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

from .library import prototype
from .observation import kept_notice
from .status import check, kept_error, kept_status

KEPT_ORIGIN_STORE = 0
KEPT_ORIGIN_PROCESS = 1
KEPT_ORIGIN_OTHER = 2
KEPT_ORIGIN_INITIAL = 3
KEPT_ORIGIN_SEVERAL = 4
KEPT_ORIGIN_LAYER = 5


class kept_value(Structure):
    """A value in a notice; opaque, and valid during the callback."""


# uint64_t kept_notice_revision(const kept_notice *notice);
kept_notice_revision = prototype("kept_notice_revision", c_uint64, [POINTER(kept_notice)])

# uint64_t kept_notice_first_revision(const kept_notice *notice);
kept_notice_first_revision = prototype("kept_notice_first_revision", c_uint64, [POINTER(kept_notice)])

# uint32_t kept_notice_origin(const kept_notice *notice);
kept_notice_origin = prototype("kept_notice_origin", c_uint32, [POINTER(kept_notice)])

# const char *kept_notice_tag(const kept_notice *notice);
kept_notice_tag = prototype("kept_notice_tag", c_char_p, [POINTER(kept_notice)])

# int64_t kept_notice_time(const kept_notice *notice);
kept_notice_time = prototype("kept_notice_time", c_int64, [POINTER(kept_notice)])

# bool kept_notice_may_have_missed(const kept_notice *notice);
kept_notice_may_have_missed = prototype("kept_notice_may_have_missed", c_bool, [POINTER(kept_notice)])

# size_t kept_notice_count(const kept_notice *notice);
kept_notice_count = prototype("kept_notice_count", c_size_t, [POINTER(kept_notice)])

# const char *kept_notice_key(const kept_notice *notice, size_t index);
kept_notice_key = prototype("kept_notice_key", c_char_p, [POINTER(kept_notice), c_size_t])

# const char *kept_notice_old_json(const kept_notice *notice, size_t index);
kept_notice_old_json = prototype("kept_notice_old_json", c_char_p, [POINTER(kept_notice), c_size_t])

# const char *kept_notice_new_json(const kept_notice *notice, size_t index);
kept_notice_new_json = prototype("kept_notice_new_json", c_char_p, [POINTER(kept_notice), c_size_t])

# uint32_t kept_notice_layer(const kept_notice *notice, size_t index);
kept_notice_layer = prototype("kept_notice_layer", c_uint32, [POINTER(kept_notice), c_size_t])

# bool kept_notice_secret(const kept_notice *notice, size_t index);
kept_notice_secret = prototype("kept_notice_secret", c_bool, [POINTER(kept_notice), c_size_t])

# const kept_value *kept_notice_old(const kept_notice *notice, size_t index);
kept_notice_old = prototype("kept_notice_old", POINTER(kept_value), [POINTER(kept_notice), c_size_t])

# const kept_value *kept_notice_new(const kept_notice *notice, size_t index);
kept_notice_new = prototype("kept_notice_new", POINTER(kept_value), [POINTER(kept_notice), c_size_t])

# kept_status kept_value_bool(const kept_value *value, bool *out, kept_error *error);
kept_value_bool = prototype(
    "kept_value_bool", kept_status, [POINTER(kept_value), POINTER(c_bool), POINTER(kept_error)], check
)

# kept_status kept_value_int64(const kept_value *value, int64_t *out, kept_error *error);
kept_value_int64 = prototype(
    "kept_value_int64", kept_status, [POINTER(kept_value), POINTER(c_int64), POINTER(kept_error)], check
)

# kept_status kept_value_uint64(const kept_value *value, uint64_t *out, kept_error *error);
kept_value_uint64 = prototype(
    "kept_value_uint64", kept_status, [POINTER(kept_value), POINTER(c_uint64), POINTER(kept_error)], check
)

# kept_status kept_value_double(const kept_value *value, double *out, kept_error *error);
kept_value_double = prototype(
    "kept_value_double", kept_status, [POINTER(kept_value), POINTER(c_double), POINTER(kept_error)], check
)

# kept_status kept_value_date(const kept_value *value, int64_t *seconds, int32_t *nanoseconds, kept_error *error);
kept_value_date = prototype(
    "kept_value_date",
    kept_status,
    [POINTER(kept_value), POINTER(c_int64), POINTER(c_int32), POINTER(kept_error)],
    check,
)

# kept_status kept_value_string(const kept_value *value, const char **text, size_t *length, kept_error *error);
kept_value_string = prototype(
    "kept_value_string",
    kept_status,
    [POINTER(kept_value), POINTER(c_char_p), POINTER(c_size_t), POINTER(kept_error)],
    check,
)

# kept_status kept_value_bytes(const kept_value *value, const void **bytes, size_t *length, kept_error *error);
kept_value_bytes = prototype(
    "kept_value_bytes",
    kept_status,
    [POINTER(kept_value), POINTER(c_void_p), POINTER(c_size_t), POINTER(kept_error)],
    check,
)
