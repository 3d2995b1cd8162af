"""A few rounds with real processes; `python apps/fleet/convergence --rounds 200` runs more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Each ends after seconds; a busy machine takes longer.
PATIENCE = 600.0


def test_a_fleet_converges(tmp_path: Path) -> None:
    if not os.environ.get("KEPT_FLEET"):
        pytest.fail("KEPT_FLEET must name the program, such as build/bin/kept-fleet")
    options = ["--rounds", "8", "--machines", "3", "--seconds", "2", "--seed", "1", "--folder", str(tmp_path / "logs")]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent), *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
