"""Observation: hearing of changes."""

from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_uint32, c_void_p
from typing import TYPE_CHECKING, TypeAlias

from .library import prototype
from .status import check, kept_error, kept_status
from .store import kept_store

if TYPE_CHECKING:
    from ctypes import _Pointer

KEPT_OBSERVE_KEY = 0
KEPT_OBSERVE_PREFIX = 1
KEPT_OBSERVE_INITIAL = 2


class kept_notice(Structure):
    """One commit as an observer sees it; opaque, and valid during the callback."""


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
