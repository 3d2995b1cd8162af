"""Snapshots: an immutable view of one revision."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_uint64

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

# kept_status kept_snapshot(kept_store *store, const char *prefix, kept_store **snapshot, kept_error *error);
kept_snapshot = prototype(
    "kept_snapshot",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(POINTER(kept_store)), POINTER(kept_error)],
    check,
)

# kept_status kept_snapshot_at(kept_store *store, const char *prefix, uint64_t revision, kept_store **snapshot,
#                              kept_error *error);
kept_snapshot_at = prototype(
    "kept_snapshot_at",
    kept_status,
    [POINTER(kept_store), c_char_p, c_uint64, POINTER(POINTER(kept_store)), POINTER(kept_error)],
    check,
)

# void kept_snapshot_end(kept_store *snapshot);
kept_snapshot_end = prototype("kept_snapshot_end", None, [POINTER(kept_store)])

# kept_status kept_store_revision(kept_store *store, uint64_t *revision, kept_error *error);
kept_store_revision = prototype(
    "kept_store_revision", kept_status, [POINTER(kept_store), POINTER(c_uint64), POINTER(kept_error)], check
)
