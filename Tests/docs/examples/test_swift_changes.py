"""The Swift example that watches a store prints the changes of another process when they happen.

The other process is this one.
"""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import kept
from programs import run, swift_folder


def test_the_watching_program_prints_what_another_process_changes(tmp_path: Path) -> None:
    location = str(tmp_path / "store")
    with subprocess.Popen([swift_folder() / "WatchChanges", location], stdout=subprocess.PIPE, text=True) as watching:
        expect_changes_of_others(watching, location)


def expect_changes_of_others(watching: subprocess.Popen[str], location: str) -> None:
    assert watching.stdout is not None
    assert watching.stdout.readline() == "watching\n"
    with kept.open(location) as settings:
        with settings.transaction() as transaction:
            transaction["audio.volume"], transaction["written"] = 70, datetime.now(UTC)
        lines = [watching.stdout.readline() for _ in range(2)]
        assert re.fullmatch(r"audio\.volume: null → 70  latency \d+ µs\n", lines[0])
        assert re.fullmatch(r'written: null → \{"\$date":".*"\}  latency \d+ µs\n', lines[1])
        del settings["audio.volume"]
        assert watching.stdout.readline() == "audio.volume: 70 → null  latency unknown\n"
        settings["quit"] = True
    assert watching.stdout.readline() == "quit: null → true  latency unknown\n"
    assert watching.wait() == 0


def test_the_watching_program_says_how_it_is_used() -> None:
    done = run(swift_folder() / "WatchChanges")
    assert (done.returncode, done.stderr) == (2, "usage: WatchChanges LOCATION\n")
