"""Where what the tests run has been built."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from sides import make_schemas

ROOT = Path(__file__).parents[3]
BUILD = Path(os.environ.get("KEPT_BUILD", ROOT / "build"))

sys.path.insert(0, str(ROOT / "bindings/python/src"))
os.environ.setdefault("KEPT_LIBRARY", str(BUILD / "lib/libkept.so.0"))


@pytest.fixture(scope="session")
def build() -> Path:
    """CMake's build folder: build/, or what KEPT_BUILD names."""
    if not (BUILD / "lib/gio/libgsettings-kept.so").exists():
        raise pytest.UsageError(f"{BUILD} has no module to test: run ninja there, or set KEPT_BUILD to another folder")
    return BUILD


@pytest.fixture(scope="session")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the schemas that both backends are asked about."""
    return make_schemas(tmp_path_factory.mktemp("data"))
