"""History: past changes, their time and author, and undoing them."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_uint32, c_uint64

from .library import prototype
from .status import check, check_without_key, kept_error, kept_status
from .store import kept_store
from .transactions import kept_transaction_options

KEPT_HISTORY_PREFIX = 1

# kept_status kept_history_json(kept_store *store, const char *key, uint32_t flags, char **json, kept_error *error);
kept_history_json = prototype(
    "kept_history_json",
    kept_status,
    [POINTER(kept_store), c_char_p, c_uint32, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_undo(kept_store *store, uint64_t revision, const kept_transaction_options *options, char **keys,
#                       kept_error *error);
kept_undo = prototype(
    "kept_undo",
    kept_status,
    [POINTER(kept_store), c_uint64, POINTER(kept_transaction_options), POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_set_history_limits(kept_store *store, const char *json, kept_error *error);
kept_set_history_limits = prototype(
    "kept_set_history_limits",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(kept_error)],
    check_without_key,
)

# kept_status kept_history_limits_json(kept_store *store, char **json, kept_error *error);
kept_history_limits_json = prototype(
    "kept_history_limits_json",
    kept_status,
    [POINTER(kept_store), POINTER(c_char_p), POINTER(kept_error)],
    check,
)
