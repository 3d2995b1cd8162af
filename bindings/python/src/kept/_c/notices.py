"""Notices: what an observer is told; everything is valid during the callback."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_size_t, c_uint32, c_uint64

from .library import prototype
from .observation import kept_notice

KEPT_ORIGIN_STORE = 0
KEPT_ORIGIN_PROCESS = 1
KEPT_ORIGIN_OTHER = 2
KEPT_ORIGIN_INITIAL = 3

# uint64_t kept_notice_revision(const kept_notice *notice);
kept_notice_revision = prototype("kept_notice_revision", c_uint64, [POINTER(kept_notice)])

# uint32_t kept_notice_origin(const kept_notice *notice);
kept_notice_origin = prototype("kept_notice_origin", c_uint32, [POINTER(kept_notice)])

# size_t kept_notice_count(const kept_notice *notice);
kept_notice_count = prototype("kept_notice_count", c_size_t, [POINTER(kept_notice)])

# const char *kept_notice_key(const kept_notice *notice, size_t index);
kept_notice_key = prototype("kept_notice_key", c_char_p, [POINTER(kept_notice), c_size_t])

# const char *kept_notice_old_json(const kept_notice *notice, size_t index);
kept_notice_old_json = prototype("kept_notice_old_json", c_char_p, [POINTER(kept_notice), c_size_t])

# const char *kept_notice_new_json(const kept_notice *notice, size_t index);
kept_notice_new_json = prototype("kept_notice_new_json", c_char_p, [POINTER(kept_notice), c_size_t])
