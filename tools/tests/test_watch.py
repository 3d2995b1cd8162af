"""Watching: changes of other processes arrive as they happen."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import IO

import pytest

from conftest import Kept, status_of


def line_of(watching: subprocess.Popen[str]) -> str:
    out: IO[str] | None = watching.stdout
    assert out is not None
    return out.readline()


def watch(environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    """Begins to watch; the initial value shows that it does."""
    watching = subprocess.Popen(
        [environment["KEPT_COMMAND"], "watch", "player", *arguments, "--initial", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert json.loads(line_of(watching))["origin"] == "initial"
    return watching


def ended(watching: subprocess.Popen[str]) -> None:
    """It ends by itself, and says nothing about an error."""
    assert (watching.communicate(timeout=60)[1], watching.returncode) == ("", 0)


def test_a_change_of_another_process_arrives_with_both_values(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a", "1").status == 0
    watching = watch(environment, "a", "--count", "1")
    assert kept("set", "player", "a", "2").status == 0
    change = json.loads(line_of(watching))
    assert (change["key"], change["old"], change["new"]) == ("a", 1, 2)
    assert (change["origin"], change["tag"], change["revision"]) == ("another process", "kept", 2)
    ended(watching)


def test_a_command_runs_for_each_change(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    log = tmp_path / "log"
    watching = watch(environment, "--count", "2", "--exec", f'echo "$KEPT_KEY $KEPT_OLD $KEPT_NEW" >> {log}')
    assert kept("set", "player", "a", '"x; rm"').status == 0
    # Two changes that are not read yet may arrive as one.
    assert json.loads(line_of(watching))["new"] == "x; rm"
    assert kept("reset", "player", "a").status == 0
    ended(watching)
    assert log.read_text() == "a  1\na 1 x; rm\na x; rm \n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(kept: Kept, environment: dict[str, str], number: signal.Signals) -> None:
    assert kept("set", "player", "a", "1").status == 0
    watching = watch(environment)
    watching.send_signal(number)
    ended(watching)


def test_a_time_limit_is_a_failure_only_where_changes_were_counted(kept: Kept) -> None:
    assert kept("set", "player", "a", "1").status == 0
    assert kept("watch", "player", "--timeout", "0.01").status == 0
    assert kept("watch", "player", "--timeout", "0.01", "--count", "1").status == 1


def test_initial_values_are_printed_first_and_are_no_changes(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a.x=1", "a.y=2", "b=3").status == 0
    watching = watch(environment, "a.", "--count", "2")
    assert json.loads(line_of(watching))["key"] == "a.y"
    assert kept("set", "player", "b", "4").status == 0
    assert kept("set", "player", "a.y=5", "a.x=6").status == 0
    changes = [json.loads(line_of(watching)) for _ in range(2)]
    assert {change["key"]: (change["old"], change["new"]) for change in changes} == {"a.x": (1, 6), "a.y": (2, 5)}
    assert status_of(watching) == 0


def test_a_command_gets_what_has_changed_and_an_absent_value_has_no_variable(
    kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    script = 'echo "$KEPT_KEY $KEPT_REVISION $KEPT_ORIGIN ${KEPT_OLD-none} ${KEPT_NEW-none}" >> log'
    watching = subprocess.Popen(
        [environment["KEPT_COMMAND"], "watch", "player", "a", "--initial", "--count", "2", "--exec", script],
        stdout=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
        text=True,
    )
    assert line_of(watching)
    assert kept("set", "player", "a", '{"b":[1]}').status == 0
    assert line_of(watching)
    assert kept("reset", "player", "a").status == 0
    assert status_of(watching) == 0
    assert (tmp_path / "log").read_text().splitlines() == [
        "a 1 initial none 1",
        'a 2 another process 1 {"b":[1]}',
        'a 3 another process {"b":[1]} none',
    ]


def test_a_line_for_people_has_time_both_values_and_who(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a", "1").status == 0
    command = [environment["KEPT_COMMAND"], "watch", "player", "--initial", "--count", "1"]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    assert line_of(watching).endswith("Z a: 1\n")
    assert kept("set", "player", "b", '"x"').status == 0
    assert line_of(watching).endswith('Z b: – → "x" (kept, another process)\n')
    assert status_of(watching) == 0
