"""The processes that have a store open."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import kept

OPEN = """
import sys
import kept
with open("/proc/self/comm", "w") as name:
    name.write(sys.argv[2])
with kept.open(sys.argv[1]) as settings:
    settings["a"] = 1
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("name", ["player", "a) b\x1b\n c"])
def test_another_process_is_listed_with_its_program_and_since_when(name: str, tmp_path: Path) -> None:
    location = tmp_path / "it's a store"
    assert kept.processes(location) == ()
    before = datetime.now(UTC)
    with subprocess.Popen(
        [sys.executable, "-c", OPEN, str(location), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout and child.stdout.readline() == b"open\n"
        (tmp_path / "link").symlink_to(location)
        [found] = kept.processes(location)
        assert [found] == list(kept.processes(tmp_path / "link"))
        assert (found.pid, found.name, found.writing) == (child.pid, name.split("\n")[0], True)
        # The kernel rounds the start of the machine to a second.
        assert found.since and abs(found.since - before) < timedelta(seconds=30)
        child.communicate()
    assert kept.processes(location) == ()


def test_a_process_that_only_reads_a_file_of_the_store_is_not_writing(tmp_path: Path) -> None:
    with kept.open(tmp_path / "store") as settings:
        settings["a"] = 1
    reading = "import sys; file = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", reading, str(tmp_path / "store/pulse")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout and child.stdout.readline()
        assert [(each.pid, each.writing) for each in kept.processes(tmp_path / "store")] == [(child.pid, False)]
        child.communicate()


def test_processes_that_cannot_be_listed_are_an_error(tmp_path: Path) -> None:
    kept.open(tmp_path / "store").close()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with pytest.raises(kept.UnavailableError, match="/proc"):
            kept.processes(tmp_path / "store")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_this_process_is_not_listed(tmp_path: Path) -> None:
    with kept.open(tmp_path / "store") as settings:
        settings["a"] = 1
        assert os.getpid() not in [each.pid for each in kept.processes(tmp_path / "store")]
    assert kept.processes("memory:") == ()


@pytest.mark.parametrize("location", ["", "two words", "a\0b", "\udcff"])
def test_a_wrong_location_is_invalid(location: str) -> None:
    with pytest.raises(kept.InvalidError):
        kept.processes(location)
