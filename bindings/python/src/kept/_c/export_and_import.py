"""Export and import: a store as a file."""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p, sizeof

from .library import prototype
from .status import check, check_without_key, kept_error, kept_status
from .store import kept_store

# typedef int (*kept_progress_callback)(void *context, uint64_t done, uint64_t total);
kept_progress_callback = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)

KEPT_TRANSFER_REPLACE = 1
KEPT_TRANSFER_DRY_RUN = 2
KEPT_TRANSFER_DECLARATIONS = 4
KEPT_TRANSFER_SECRETS = 8
KEPT_TRANSFER_READABLE = 16
KEPT_TRANSFER_FLAT = 32
KEPT_TRANSFER_NESTED = 64
KEPT_TRANSFER_PLAIN = 128


class kept_transfer_options(Structure):
    """The options of an export or import."""

    _fields_ = (
        ("size", c_size_t),
        ("flags", c_uint32),
        ("prefix", c_char_p),
        ("separator", c_char_p),
        ("progress", kept_progress_callback),
        ("progress_context", c_void_p),
        ("passphrase", c_char_p),
    )


def KEPT_TRANSFER_OPTIONS_INIT() -> kept_transfer_options:
    """The options to begin with."""
    return kept_transfer_options(sizeof(kept_transfer_options))


# kept_status kept_export_json(kept_store *store, const kept_transfer_options *options, char **json,
#     kept_error *error);
kept_export_json = prototype(
    "kept_export_json",
    kept_status,
    [POINTER(kept_store), POINTER(kept_transfer_options), POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_export_file(kept_store *store, const char *path, const kept_transfer_options *options,
#     kept_error *error);
kept_export_file = prototype(
    "kept_export_file",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(kept_transfer_options), POINTER(kept_error)],
    check_without_key,
)

# kept_status kept_import(kept_store *store, const void *text, size_t length, const kept_transfer_options *options,
#     char **report, kept_error *error);
kept_import = prototype(
    "kept_import",
    kept_status,
    [
        POINTER(kept_store),
        c_void_p,
        c_size_t,
        POINTER(kept_transfer_options),
        POINTER(c_char_p),
        POINTER(kept_error),
    ],
    check_without_key,
)

# kept_status kept_import_file(kept_store *store, const char *path, const kept_transfer_options *options,
#     char **report, kept_error *error);
kept_import_file = prototype(
    "kept_import_file",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(kept_transfer_options), POINTER(c_char_p), POINTER(kept_error)],
    check_without_key,
)
