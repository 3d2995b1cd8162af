"""The asyncio example: its output while another process changes keys, and that it ends on request."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = str(ROOT / "bindings" / "python" / "src")
SECONDS = 60

os.environ.setdefault("KEPT_LIBRARY", str(ROOT / "build" / "lib" / "libkept.so"))
sys.path.insert(0, PACKAGE)

import kept  # noqa: E402


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The program, once it is watching."""
    environment = os.environ | {"PYTHONPATH": PACKAGE}
    command = [sys.executable, str(ROOT / "examples/python/watch_changes.py"), str(tmp_path / "a.kept")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None and program.stdout.readline() == "watching\n"
            yield program
        finally:
            program.kill()


def test_it_prints_each_change_and_ends_with_quit(tmp_path: Path, watching: subprocess.Popen[str]) -> None:
    with kept.open(tmp_path / "a.kept") as settings:
        with settings.transaction() as transaction:
            transaction["volume"], transaction["written"] = 70, datetime.now(UTC)
        assert watching.stdout is not None
        printed = [watching.stdout.readline(), watching.stdout.readline()]
        found = re.fullmatch(r"volume: null → 70  latency (\d+) µs\n", printed[0])
        assert found and 0 <= int(found[1]) < SECONDS * 1_000_000
        assert printed[1].startswith('written: null → "20')
        del settings["volume"]
        assert watching.stdout.readline() == "volume: 70 → null  latency unknown\n"
        settings["quit"] = True
        assert watching.stdout.readline() == "quit: null → true  latency unknown\n"
    assert watching.wait(SECONDS) == 0
    assert watching.stdout.read() == ""
