"""Writing scalars by the typed functions of C, so that no JSON is made and read for them."""

from __future__ import annotations

from typing import Any

from ._c.buffers import kept_set_bytes, kept_set_string
from ._c.status import kept_error
from ._c.store import StorePointer
from ._c.values import kept_set_bool, kept_set_double, kept_set_int64


def write_scalar(settings: StorePointer, key: bytes, value: Any) -> bool:
    """Writes a scalar; False for everything that only JSON can say, or only `encode` can refuse."""
    kind = type(value)
    if kind is int:
        if not -(2**63) <= value < 2**63:
            return False
        kept_set_int64(settings, key, value, kept_error())
    elif kind is bool:
        kept_set_bool(settings, key, value, kept_error())
    elif kind is float:
        kept_set_double(settings, key, value, kept_error())
    elif kind is str:
        try:
            text = value.encode("utf-8")
        except UnicodeEncodeError:
            return False
        kept_set_string(settings, key, text, len(text), kept_error())
    elif kind is bytes:
        kept_set_bytes(settings, key, value, len(value), kept_error())
    else:
        return False
    return True
