"""The example shows what its README says."""

from __future__ import annotations

import os
from pathlib import Path

from conftest import run

EXAMPLE = Path(__file__).parents[3] / "examples/fleet/run"


def test_the_example_shows_a_lock_and_a_change_arriving_everywhere() -> None:
    command = str(Path(os.environ["KEPT_COMMAND"]).resolve())
    done = run([str(EXAMPLE)], environment=os.environ | {"KEPT": command})
    assert done.status == 0, done.out + done.err
    for machine, source in (("desk", "layer"), ("laptop", "layer"), ("cabin", "layer"), ("desk", "fleet:cabin")):
        assert any(f"on {machine}: " in line and source in line for line in done.out.splitlines()), done.out
    assert "is locked by the managed layer" in done.err
