"""Layers: where a value comes from."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_uint32

from .library import prototype
from .status import check, check_without_key, kept_error, kept_status
from .store import kept_store

KEPT_LAYER_NONE = 0
KEPT_LAYER_DECLARED = 1
KEPT_LAYER_REGISTERED = 2
KEPT_LAYER_SYSTEM = 3
KEPT_LAYER_USER = 4
KEPT_LAYER_ENVIRONMENT = 5
KEPT_LAYER_ARGUMENTS = 6
KEPT_LAYER_MANAGED = 7

# kept_status kept_explain_json(kept_store *store, const char *key, char **json, kept_error *error);
kept_explain_json = prototype(
    "kept_explain_json",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_layer_of(kept_store *store, const char *key, uint32_t *layer, kept_error *error);
kept_layer_of = prototype(
    "kept_layer_of",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_uint32), POINTER(kept_error)],
    check,
)

# kept_status kept_register_json(kept_store *store, const char *json, kept_error *error);
kept_register_json = prototype(
    "kept_register_json", kept_status, [POINTER(kept_store), c_char_p, POINTER(kept_error)], check_without_key
)
