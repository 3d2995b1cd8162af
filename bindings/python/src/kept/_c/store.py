"""Store: opening and closing."""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p, sizeof

from .._typing import TYPE_CHECKING
from .library import prototype
from .status import check, check_interrupt, kept_error, kept_status

if TYPE_CHECKING:
    from ctypes import _Pointer
    from typing import TypeAlias


class kept_store(Structure):
    """An open store, or a transaction on one; opaque."""


StorePointer: TypeAlias = "_Pointer[kept_store]"

KEPT_SHARED = 0
KEPT_DURABLE = 1
KEPT_BY_LIBRARY = 0
KEPT_BY_HOST = 1
KEPT_READ_WRITE = 0
KEPT_READ_ONLY = 1
KEPT_STANDARD_FILE = b""

# typedef void (*kept_report_callback)(void *context, const kept_error *error);
kept_report_callback = CFUNCTYPE(None, c_void_p, POINTER(kept_error))


class kept_options(Structure):
    """How to open a store."""

    _fields_ = (
        ("size", c_size_t),
        ("durability", c_uint32),
        ("busy_timeout_ms", c_uint32),
        ("delivery", c_uint32),
        ("access", c_uint32),
        ("tag", c_char_p),
        ("managed", c_char_p),
        ("system", c_char_p),
        ("environment", c_char_p),
        ("argv", POINTER(c_char_p)),
        ("argc", c_size_t),
        ("report", kept_report_callback),
        ("report_context", c_void_p),
    )


def KEPT_OPTIONS_INIT() -> kept_options:
    """The options to begin with."""
    return kept_options(sizeof(kept_options), KEPT_SHARED, 5000, KEPT_BY_LIBRARY)


# kept_status kept_open(const char *location, const kept_options *options, kept_store **store, kept_error *error);
kept_open = prototype(
    "kept_open",
    kept_status,
    [c_char_p, POINTER(kept_options), POINTER(POINTER(kept_store)), POINTER(kept_error)],
    check,
)

# void kept_close(kept_store *store);
kept_close = prototype("kept_close", None, [POINTER(kept_store)], check_interrupt)

# kept_status kept_flush(kept_store *store, kept_error *error);
kept_flush = prototype("kept_flush", kept_status, [POINTER(kept_store), POINTER(kept_error)], check)

# kept_status kept_salvaged(kept_store *store, char **quarantine, kept_error *error);
kept_salvaged = prototype(
    "kept_salvaged", kept_status, [POINTER(kept_store), POINTER(c_char_p), POINTER(kept_error)], check
)

# kept_status kept_acknowledge_salvage(kept_store *store, kept_error *error);
kept_acknowledge_salvage = prototype(
    "kept_acknowledge_salvage", kept_status, [POINTER(kept_store), POINTER(kept_error)], check
)

# const uint64_t *kept_store_generation(kept_store *store);
kept_store_generation = prototype("kept_store_generation", POINTER(c_uint64), [POINTER(kept_store)])

# const uint64_t *kept_store_layers(kept_store *store);
kept_store_layers = prototype("kept_store_layers", POINTER(c_uint64), [POINTER(kept_store)])
