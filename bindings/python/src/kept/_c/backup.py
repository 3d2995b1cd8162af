"""Backup: copying, restoring and verifying a whole store."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_uint32, c_uint64, c_void_p

from .export_and_import import kept_progress_callback
from .library import prototype
from .status import check_without_key, kept_error, kept_status
from .store import kept_store

KEPT_BACKUP_REPLACE = 1

# kept_status kept_backup(kept_store *store, const char *path, uint32_t flags, uint64_t *revision, kept_error *error);
kept_backup = prototype(
    "kept_backup",
    kept_status,
    [POINTER(kept_store), c_char_p, c_uint32, POINTER(c_uint64), POINTER(kept_error)],
    check_without_key,
)

# kept_status kept_restore(kept_store *store, const char *path, const char *passphrase, char **quarantine,
#                          kept_error *error);
kept_restore = prototype(
    "kept_restore",
    kept_status,
    [POINTER(kept_store), c_char_p, c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check_without_key,
)

# kept_status kept_verify_json(kept_store *store, kept_progress_callback progress, void *context, char **json,
#                              kept_error *error);
kept_verify_json = prototype(
    "kept_verify_json",
    kept_status,
    [POINTER(kept_store), kept_progress_callback, c_void_p, POINTER(c_char_p), POINTER(kept_error)],
    check_without_key,
)
