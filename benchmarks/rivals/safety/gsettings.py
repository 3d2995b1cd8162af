"""GSettings on dconf, through the C library that its users call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SCHEMA = "org.example.survivor"


def library() -> Any:
    import ctypes

    gio, pointer, text = ctypes.CDLL("libgio-2.0.so.0"), ctypes.c_void_p, ctypes.c_char_p
    signatures = {
        "g_settings_new": (pointer, text),
        "g_settings_set_string": (ctypes.c_int, pointer, text, text),
        "g_settings_get_user_value": (pointer, pointer, text),
        "g_variant_get_string": (text, pointer, pointer),
        "g_variant_unref": (None, pointer),
        "g_settings_sync": (None,),
        "g_settings_backend_get_default": (pointer,),
        "g_type_name_from_instance": (text, pointer),
    }
    for name, (result, *arguments) in signatures.items():
        getattr(gio, name).restype, getattr(gio, name).argtypes = result, arguments
    return gio


class GSettings:
    """The folder is that of its session, which determines where dconf has its file (candidates.py)."""

    def __init__(self, folder: Path) -> None:
        self.gio = library()
        backend = self.gio.g_type_name_from_instance(self.gio.g_settings_backend_get_default()).decode()
        if backend != "DConfSettingsBackend":
            raise RuntimeError(f"GSettings would use {backend} in place of dconf")
        self.settings = self.gio.g_settings_new(SCHEMA.encode())

    def set(self, name: str, text: str) -> None:
        if not self.gio.g_settings_set_string(self.settings, name.encode(), text.encode()):
            raise RuntimeError("g_settings_set_string returned FALSE")

    def get(self, name: str) -> str | None:
        if not (found := self.gio.g_settings_get_user_value(self.settings, name.encode())):
            return None
        text: str = self.gio.g_variant_get_string(found, None).decode(errors="surrogateescape")
        self.gio.g_variant_unref(found)
        return text

    def close(self) -> None:
        """A program that exits normally waits for what it has sent."""
        self.gio.g_settings_sync()
