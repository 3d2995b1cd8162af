"""Administration: for programs that show and check the settings of others."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_size_t, c_uint32, c_void_p

from .export_and_import import kept_progress_callback
from .library import prototype
from .status import check, check_without_key, kept_error, kept_status
from .store import kept_options, kept_store

KEPT_DIFFERENCES_SECRETS = 1

# kept_status kept_place_json(const char *location, char **json, kept_error *error);
kept_place_json = prototype(
    "kept_place_json",
    kept_status,
    [c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_places_json(const char *folder, char **json, kept_error *error);
kept_places_json = prototype(
    "kept_places_json",
    kept_status,
    [c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_processes_json(const char *location, char **json, kept_error *error);
kept_processes_json = prototype(
    "kept_processes_json",
    kept_status,
    [c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_findings_json(const char *location, const kept_options *options, kept_progress_callback progress,
#                                 void *context, char **json, kept_error *error);
kept_findings_json = prototype(
    "kept_findings_json",
    kept_status,
    [
        c_char_p,
        POINTER(kept_options),
        kept_progress_callback,
        c_void_p,
        POINTER(c_char_p),
        POINTER(kept_error),
    ],
    check,
)

# kept_status kept_verify_files_json(const char *location, char **json, kept_error *error);
kept_verify_files_json = prototype(
    "kept_verify_files_json",
    kept_status,
    [c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_secrets_json(kept_store *store, const char *request, char **json, kept_error *error);
kept_secrets_json = prototype(
    "kept_secrets_json",
    kept_status,
    [POINTER(kept_store), c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check_without_key,
)

# kept_status kept_layer_files_json(kept_store *store, char **json, kept_error *error);
kept_layer_files_json = prototype(
    "kept_layer_files_json",
    kept_status,
    [POINTER(kept_store), POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_layer_check(const char *text, size_t length, uint32_t layer, kept_error *error);
kept_layer_check = prototype(
    "kept_layer_check",
    kept_status,
    [c_char_p, c_size_t, c_uint32, POINTER(kept_error)],
    check,
)

# kept_status kept_text_to_json(const char *text, size_t length, const char *type, char **json, kept_error *error);
kept_text_to_json = prototype(
    "kept_text_to_json",
    kept_status,
    [c_char_p, c_size_t, c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check,
)

# kept_status kept_json_to_text(const char *json, const char *type, char **text, kept_error *error);
kept_json_to_text = prototype(
    "kept_json_to_text",
    kept_status,
    [c_char_p, c_char_p, POINTER(c_char_p), POINTER(kept_error)],
    check_without_key,
)

# kept_status kept_differences_json(kept_store *old, const char *old_file, kept_store *changed,
#   const char *changed_file, uint32_t flags, char **json, kept_error *error);
kept_differences_json = prototype(
    "kept_differences_json",
    kept_status,
    [
        POINTER(kept_store),
        c_char_p,
        POINTER(kept_store),
        c_char_p,
        c_uint32,
        POINTER(c_char_p),
        POINTER(kept_error),
    ],
    check_without_key,
)
