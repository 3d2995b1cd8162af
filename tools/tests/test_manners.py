"""What every command does alike: statuses, errors, stores, streams."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from conftest import Kept

READING = ["get", "list", "watch", "explain", "describe", "export", "backup", "doctor", "info", "reset", "undeclare"]


@pytest.mark.parametrize("command", READING)
def test_a_command_that_reads_makes_no_store(kept: Kept, command: str, tmp_path: Path) -> None:
    words = ["none"] + (["x"] if command in ("get", "explain", "backup", "reset", "undeclare") else [])
    done = kept(command, *words)
    assert (done.status, done.out) == (4, "")
    assert done.err.startswith("kept: there is no store none")
    assert not (tmp_path / "config").exists()


@pytest.mark.parametrize(
    "words", [[], ["get"], ["get", "player"], ["list", "player", "--frob"], ["frob"], ["set", "player", "a"], ["gett"]]
)
def test_wrong_usage_has_its_own_status(kept: Kept, words: list[str]) -> None:
    done = kept(*words)
    if words:
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("kept: ")
    else:
        assert (done.status, "explain" in done.out) == (0, True)


def test_the_store_may_come_from_the_environment_or_an_option(kept: Kept) -> None:
    assert kept("set", "a", "1", more={"KEPT_STORE": "player"}).status == 0
    assert kept("get", "a", "--store", "player").out == "1\n"
    assert kept("get", "a", more={"KEPT_STORE": "player"}).out == "1\n"


def test_a_store_may_be_a_path(kept: Kept, tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    assert kept("set", path, "a", "1").status == 0
    assert kept("get", path, "a").out == "1\n"


def test_a_full_output_is_an_error(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a", "1").status == 0
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [environment["KEPT_COMMAND"], "get", "player", "a"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment,
            check=False,
        )
    assert done.returncode == 4
    assert done.stderr.startswith(b"kept: the output cannot be written")


def test_a_corrupt_or_newer_store_is_unavailable(kept: Kept, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "values.sqlite").mkdir()
    done = kept("get", str(folder), "a")
    assert (done.status, done.out) == (4, "")


def test_a_terminal_has_a_table_and_colours_unless_they_are_not_wanted(environment: dict[str, str]) -> None:
    program = environment["KEPT_COMMAND"]
    subprocess.run([program, "set", "player", "a", "1"], env=environment, check=True)
    shown = [
        subprocess.run(
            ["script", "-qec", f"{program} list player", "/dev/null"],
            capture_output=True,
            text=True,
            env=environment | {"TERM": "xterm"} | more,
            stdin=subprocess.DEVNULL,
            check=True,
        ).stdout
        for more in ({}, {"NO_COLOR": "1"})
    ]
    assert all("KEY" in text and "LAYER" in text for text in shown)
    assert ["\x1b[" in text for text in shown] == [True, False]


def test_shells_complete_commands_stores_keys_and_choices(declared: Kept) -> None:
    def complete(*words: str) -> list[str]:
        return declared("complete", "kept", *words).out.splitlines()

    assert complete("exp") == ["explain", "export"]
    assert complete("get", "pl") == ["player"]
    assert complete("get", "player", "audio.v") == ["audio.volume"]
    assert complete("set", "player", "audio.theme", "") == ["dark", "light"]
    assert complete("set", "player", "audio.muted", "t") == ["true"]
    for shell in ("bash", "zsh", "fish"):
        assert "kept complete" in declared("completion", shell).out
    assert declared("completion", "csh").status == 2


def test_the_manual_has_a_page_for_each_command(kept: Kept, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    assert kept("manual", "--into", str(pages)).status == 0
    commands = kept("complete", "kept", "").out.split()
    assert {f"kept-{command}.1" for command in commands} | {"kept.1"} == {
        page for page in os.listdir(pages) if page.endswith(".1")
    }
    for command in commands:
        assert kept("help", command).out.startswith("OVERVIEW: ")
