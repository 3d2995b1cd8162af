"""The settings of this package for PyInstaller, which finds them by an entry point of the distribution
(pyproject.toml)."""

from __future__ import annotations

import os


def get_hook_dirs() -> list[str]:
    """Called by PyInstaller."""
    return [os.path.dirname(__file__)]
