"""The Swift example that watches a store prints what another process changes, as it changes.

Needs libkept.so for that other process, which is this one: the one that `KEPT_LIBRARY` names, else the one in build/.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "swift"
SCRATCH = ROOT / "build" / "examples" / "swift"
"""The same as the demo's, so that the package is built once."""

os.environ.setdefault("KEPT_LIBRARY", str(ROOT / "build" / "lib" / "libkept.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python" / "src"))

import kept  # noqa: E402


def build() -> Path:
    # SwiftPM does not see that files of a package beside this one came or went; without its plan it looks again.
    (SCRATCH / "debug.yaml").unlink(missing_ok=True)
    command = ["swift", "build", "--package-path", str(PACKAGE), "--scratch-path", str(SCRATCH)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return SCRATCH / "debug" / "WatchChanges"


def test_the_watching_program_prints_what_another_process_changes(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with subprocess.Popen([build(), location], stdout=subprocess.PIPE, text=True) as watching:
        expect_changes_of_others(watching, location)


def expect_changes_of_others(watching: subprocess.Popen[str], location: str) -> None:
    assert watching.stdout is not None
    assert watching.stdout.readline() == "watching\n"
    with kept.open(location) as settings:
        with settings.transaction() as transaction:
            transaction["audio.volume"], transaction["written"] = 70, datetime.now(timezone.utc)
        lines = [watching.stdout.readline() for _ in range(2)]
        assert re.fullmatch(r"audio\.volume: null → 70  latency \d+ µs\n", lines[0])
        assert re.fullmatch(r'written: null → \{"\$date":".*"\}  latency \d+ µs\n', lines[1])
        del settings["audio.volume"]
        assert watching.stdout.readline() == "audio.volume: 70 → null  latency unknown\n"
        settings["quit"] = True
    assert watching.stdout.readline() == "quit: null → true  latency unknown\n"
    assert watching.wait() == 0


def test_the_watching_program_says_how_it_is_used() -> None:
    done = subprocess.run([build()], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "usage: WatchChanges LOCATION\n")
