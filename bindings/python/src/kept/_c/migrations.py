"""Migrations: changing the schema of a program's settings."""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_size_t, c_uint32, c_void_p

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

# typedef kept_status (*kept_migration_callback)(void *context, kept_store *transaction, kept_error *error);
kept_migration_callback = CFUNCTYPE(kept_status, c_void_p, POINTER(kept_store), POINTER(kept_error))


class kept_migration(Structure):
    """A step to a schema version."""

    _fields_ = (
        ("version", c_uint32),
        ("reserved", c_uint32),
        ("name", c_char_p),
        ("run", kept_migration_callback),
        ("context", c_void_p),
    )


KEPT_MIGRATE_CARRY_ON = 1
KEPT_MIGRATE_READ_ONLY = 2
KEPT_MIGRATE_NO_BACKUP = 4
KEPT_MIGRATE_CONFIRMED = 8

KEPT_MIGRATED_NOTHING = 0
KEPT_MIGRATED = 1
KEPT_MIGRATED_FRESH = 2
KEPT_MIGRATED_ELSEWHERE = 3
KEPT_MIGRATED_READ_ONLY = 4

# kept_status kept_schema_version(kept_store *store, uint32_t *version, kept_error *error);
kept_schema_version = prototype(
    "kept_schema_version", kept_status, [POINTER(kept_store), POINTER(c_uint32), POINTER(kept_error)], check
)

# kept_status kept_migrate(kept_store *store, const kept_migration *steps, size_t count, uint32_t flags,
#     uint32_t *result, char **backup, kept_error *error);
kept_migrate = prototype(
    "kept_migrate",
    kept_status,
    [
        POINTER(kept_store),
        POINTER(kept_migration),
        c_size_t,
        c_uint32,
        POINTER(c_uint32),
        POINTER(c_char_p),
        POINTER(kept_error),
    ],
    check,
)

# kept_status kept_rename(kept_store *store, const char *key, const char *to, kept_error *error);
kept_rename = prototype(
    "kept_rename",
    kept_status,
    [POINTER(kept_store), c_char_p, c_char_p, POINTER(kept_error)],
    check,
)
