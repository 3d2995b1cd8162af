"""Declarations: what a key holds."""

from __future__ import annotations

from ctypes import POINTER, c_char_p

from .library import prototype
from .status import check, check_without_key, kept_error, kept_status
from .store import kept_store

# kept_status kept_declare_json(kept_store *store, const char *key, const char *schema, kept_error *error);
kept_declare_json = prototype(
    "kept_declare_json",
    kept_status,
    [POINTER(kept_store), c_char_p, c_char_p, POINTER(kept_error)],
    check,
)

# kept_status kept_declare_list(kept_store *store, const char *schema, kept_error *error);
kept_declare_list = prototype(
    "kept_declare_list", kept_status, [POINTER(kept_store), c_char_p, POINTER(kept_error)], check_without_key
)

# kept_status kept_declare_file(kept_store *store, const char *path, kept_error *error);
kept_declare_file = prototype(
    "kept_declare_file", kept_status, [POINTER(kept_store), c_char_p, POINTER(kept_error)], check_without_key
)

# kept_status kept_undeclare(kept_store *store, const char *key, kept_error *error);
kept_undeclare = prototype("kept_undeclare", kept_status, [POINTER(kept_store), c_char_p, POINTER(kept_error)], check)

# kept_status kept_declaration_json(kept_store *store, const char *key, char **schema, kept_error *error);
kept_declaration_json = prototype(
    "kept_declaration_json",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_declarations_json(kept_store *store, const char *prefix, char **schema, kept_error *error);
kept_declarations_json = prototype(
    "kept_declarations_json",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)
