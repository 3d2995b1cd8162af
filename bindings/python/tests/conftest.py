"""Which library the tests use, and the stores that they open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from places import ROOT

# A busy machine makes no test fail.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")

# The package loads its library when it is imported, so this comes first. Child processes inherit it.
built = ROOT / ".build/debug/libKeptC.so"
if "KEPT_LIBRARY" not in os.environ:
    if not built.exists():
        raise pytest.UsageError("there is no library to test: run swift build, or set KEPT_LIBRARY to a libkept.so")
    os.environ["KEPT_LIBRARY"] = str(built)
os.environ["PYTHONPATH"] = str(ROOT / "bindings/python/src")

import kept  # noqa: E402


@pytest.fixture
def location(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / "test.kept"


@pytest.fixture
def settings(location: Path) -> Iterator[kept.Store]:
    """An empty store in a folder, which keeps its secrets as they are."""
    with kept.open(location) as store:
        store.keep_secrets_plain()
        yield store


@pytest.fixture
def store() -> Iterator[kept.Store]:
    """An empty store in memory."""
    with kept.open("memory:") as store:
        yield store


@pytest.fixture(params=["the key", "the store", "both"])
def declared_by(request: pytest.FixtureRequest) -> str:
    """What says that a key is secret."""
    return str(request.param)
