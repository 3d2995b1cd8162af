"""Transactions: several keys change together or not at all."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_char_p, c_size_t, c_uint32, c_uint64, sizeof

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

KEPT_AS_OPENED = 0xFFFFFFFF


class kept_transaction_options(Structure):
    """How to commit."""

    _fields_ = (
        ("size", c_size_t),
        ("durability", c_uint32),
        ("reserved", c_uint32),
        ("tag", c_char_p),
    )


def KEPT_TRANSACTION_OPTIONS_INIT() -> kept_transaction_options:
    """The options to begin with."""
    return kept_transaction_options(sizeof(kept_transaction_options), KEPT_AS_OPENED, 0, None)


# kept_status kept_begin(kept_store *store, const kept_transaction_options *options, kept_store **transaction,
#     kept_error *error);
kept_begin = prototype(
    "kept_begin",
    kept_status,
    [POINTER(kept_store), POINTER(kept_transaction_options), POINTER(POINTER(kept_store)), POINTER(kept_error)],
    check,
)

# kept_status kept_commit(kept_store *transaction, uint64_t *revision, kept_error *error);
kept_commit = prototype(
    "kept_commit",
    kept_status,
    [POINTER(kept_store), POINTER(c_uint64), POINTER(kept_error)],
    check,
)

# void kept_rollback(kept_store *transaction);
kept_rollback = prototype("kept_rollback", None, [POINTER(kept_store)])
