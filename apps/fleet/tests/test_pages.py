"""The files installed with the program match it: the manual, the completions and the services."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from conftest import program, run

FLEET = Path(__file__).parents[1]
COMMANDS = ["follow", "publish", "sync", "status"]


def options_of(command: str) -> set[str]:
    return set(re.findall(r"--[a-z-]+", run([program(), "help", command]).out))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    done = run([program(), "manual", str(tmp_path)])
    assert done.status == 0, done.err
    return tmp_path


def test_the_manual_has_all_commands_and_options(pages: Path) -> None:
    done = run(["groff", "-man", "-Tascii", "-ww", "-P-cbou", str(pages / "kept-fleet.1")])
    assert (done.status, done.err) == (0, "")
    for command in COMMANDS:
        assert f"kept-fleet {command} IDENTIFIER" in done.out
        assert options_of(command) <= set(re.findall(r"--[a-z-]+", done.out)), command
    assert "kept-fleet --version" in done.out and "DOCUMENTS\n" in done.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_read_the_completions(pages: Path, shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    script = pages / f"kept-fleet.{shell}"
    assert "conflicts-for" in script.read_text()
    done = run([shell, "-n", str(script)])
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize("command", ["follow", "sync"])
def test_services_give_options_that_the_program_has(command: str) -> None:
    unit = (FLEET / f"systemd/kept-fleet-{command}@.service").read_text()
    line = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    assert line.startswith(f"ExecStart=/usr/bin/kept-fleet {command} %i $KEPT_FLEET_OPTIONS ")
    assert set(re.findall(r"--[a-z-]+", line)) <= options_of(command)


@pytest.mark.parametrize("command", ["follow", "sync"])
def test_services_may_do_little(command: str) -> None:
    unit = str(FLEET / f"systemd/kept-fleet-{command}@.service")
    done = run(["systemd-analyze", "security", "--offline=true", "--threshold=30", unit])
    assert done.status == 0, done.out + done.err
