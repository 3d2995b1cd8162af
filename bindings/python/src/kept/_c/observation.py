"""Observation: being notified of changes."""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from typing import TYPE_CHECKING, TypeAlias

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

if TYPE_CHECKING:
    from ctypes import _Pointer

KEPT_OBSERVE_KEY = 0
KEPT_OBSERVE_PREFIX = 1
KEPT_OBSERVE_INITIAL = 2
KEPT_OBSERVE_POLLED = 4


class kept_notice(Structure):
    """One or more whole transactions as an observer sees them; opaque, and valid during the callback."""


class kept_subscription(Structure):
    """A subscription; opaque."""


NoticePointer: TypeAlias = "_Pointer[kept_notice]"
SubscriptionPointer: TypeAlias = "_Pointer[kept_subscription]"

# typedef void (*kept_notice_callback)(void *context, const kept_notice *notice);
kept_notice_callback = CFUNCTYPE(None, c_void_p, POINTER(kept_notice))

# The header writes this type where it is used: void (*release)(void *context)
kept_release = CFUNCTYPE(None, c_void_p)

# kept_status kept_observe(kept_store *store, const char *key, uint32_t flags, kept_notice_callback callback,
#     void *context, void (*release)(void *context), kept_subscription **subscription, kept_error *error);
kept_observe = prototype(
    "kept_observe",
    kept_status,
    [
        POINTER(kept_store),
        c_char_p,
        c_uint32,
        kept_notice_callback,
        c_void_p,
        kept_release,
        POINTER(POINTER(kept_subscription)),
        POINTER(kept_error),
    ],
    check,
)

# void kept_unobserve(kept_subscription *subscription);
kept_unobserve = prototype("kept_unobserve", None, [POINTER(kept_subscription)])

# kept_status kept_store_fd(kept_store *store, int *fd, kept_error *error);
kept_store_fd = prototype(
    "kept_store_fd", kept_status, [POINTER(kept_store), POINTER(c_int), POINTER(kept_error)], check
)

# kept_status kept_store_dispatch(kept_store *store, size_t max, size_t *delivered, kept_error *error);
kept_store_dispatch = prototype(
    "kept_store_dispatch",
    kept_status,
    [POINTER(kept_store), c_size_t, POINTER(c_size_t), POINTER(kept_error)],
    check,
)

# kept_status kept_subscription_fd(kept_subscription *subscription, int *fd, kept_error *error);
kept_subscription_fd = prototype(
    "kept_subscription_fd", kept_status, [POINTER(kept_subscription), POINTER(c_int), POINTER(kept_error)], check
)

# kept_status kept_subscription_dispatch(kept_subscription *subscription, size_t max, size_t *delivered,
#     kept_error *error);
kept_subscription_dispatch = prototype(
    "kept_subscription_dispatch",
    kept_status,
    [POINTER(kept_subscription), c_size_t, POINTER(c_size_t), POINTER(kept_error)],
    check,
)

# kept_status kept_subscription_take(kept_subscription *subscription, kept_notice **notice, kept_error *error);
kept_subscription_take = prototype(
    "kept_subscription_take",
    kept_status,
    [POINTER(kept_subscription), POINTER(POINTER(kept_notice)), POINTER(kept_error)],
    check,
)

# void kept_notice_free(kept_notice *notice);
kept_notice_free = prototype("kept_notice_free", None, [POINTER(kept_notice)])
