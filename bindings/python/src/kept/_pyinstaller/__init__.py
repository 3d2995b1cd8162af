"""What PyInstaller must know of this package. It finds it by an entry point of the distribution (pyproject.toml)."""

from __future__ import annotations

import os


def get_hook_dirs() -> list[str]:
    """Called by PyInstaller."""
    return [os.path.dirname(__file__)]
