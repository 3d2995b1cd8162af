"""The README's program runs, and mypy agrees with it, so that it cannot rot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program in the README, as a file."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "bindings/python/README.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 1
    file = tmp_path / "program.py"
    file.write_text(blocks[0], "utf-8")
    return file


def test_it_runs(program: Path) -> None:
    environment = os.environ | {"XDG_CONFIG_HOME": str(program.parent)}
    result = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (program.parent / "kept/com.example.player.kept").is_dir()


def test_mypy_agrees(program: Path) -> None:
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", os.devnull]
    result = subprocess.run([sys.executable, "-m", "mypy", *options, program], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
