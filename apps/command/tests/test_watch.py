"""Watching: changes of other processes arrive as they happen."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import IO

import pytest

from conftest import Kept, on_terminal, status_of


def line_of(watching: subprocess.Popen[str]) -> str:
    out: IO[str] | None = watching.stdout
    assert out is not None
    return out.readline()


def watch(environment: dict[str, str], *arguments: str, store: str = "player") -> subprocess.Popen[str]:
    """Begins to watch; the initial value shows that it does."""
    watching = subprocess.Popen(
        [environment["KEPT_COMMAND"], "watch", store, *arguments, "--initial", "--json"],
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("more", [[], ["--timeout", "1000"]])
def test_a_signal_ends_it_as_any_program(
    kept: Kept, environment: dict[str, str], number: signal.Signals, more: list[str]
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    watching = watch(environment, *more)
    watching.send_signal(number)
    assert (watching.communicate(timeout=60)[1], watching.returncode) == ("", -number)


def test_ctrl_c_ends_the_script_around_it(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    script = 'while "$PLAIN" watch player --initial; do touch again; done'
    # bash ends a script only if its program has died of the signal, too.
    shell = environment | {"KEPT_COMMAND": "/bin/bash", "PLAIN": environment["KEPT_COMMAND"]}
    assert on_terminal(shell, ["-c", script], [(": 1", "\x03")])[0] == -signal.SIGINT
    assert not (tmp_path / "again").exists()


def test_a_signal_that_the_caller_ignores_does_not_end_it(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a", "1").status == 0
    script = 'trap "" HUP; exec "$KEPT_COMMAND" watch player a --initial --count 1'
    watching = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, env=environment, text=True)
    assert line_of(watching).endswith("a: 1\n")
    watching.send_signal(signal.SIGHUP)
    assert kept("set", "player", "a", "2").status == 0
    assert " a: 1 → 2 " in line_of(watching)
    assert status_of(watching) == 0


@pytest.mark.parametrize("more", [[], ["--timeout", "0.01"]])
def test_a_signal_does_not_wait_for_a_command_that_runs(
    kept: Kept, environment: dict[str, str], tmp_path: Path, more: list[str]
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    os.mkfifo(tmp_path / "runs")
    os.mkfifo(tmp_path / "go")
    watching = running(environment, tmp_path, "echo >runs; read line <go; echo $KEPT_KEY >runs", *more)
    assert (tmp_path / "runs").read_text() == "\n"
    watching.terminate()
    assert status_of(watching) == -signal.SIGTERM
    # The command ends by itself.
    (tmp_path / "go").write_text("\n")
    assert (tmp_path / "runs").read_text() == "a\n"


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


LARGE = 131_063


def running(environment: dict[str, str], folder: Path, script: str, *words: str) -> subprocess.Popen[str]:
    """Watches with a command; the initial value has run it once, with nothing on standard output."""
    watching = subprocess.Popen(
        [environment["KEPT_COMMAND"], "watch", "player", "--initial", *words, "--exec", script],
        stdout=subprocess.PIPE,
        env=environment,
        cwd=folder,
        text=True,
    )
    assert line_of(watching)
    return watching


@pytest.mark.parametrize("size", [LARGE - 1, LARGE, 5_000_000])
def test_a_large_value_is_in_the_standard_input_of_the_command(
    size: int, kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    script = 'cat >input.$KEPT_REVISION; echo "$KEPT_REVISION ${KEPT_NEW-none} ${#KEPT_OLD}" | cut -c1-9 >>log'
    watching = running(environment, tmp_path, script, "--count", "3")
    for value in ("x" * size, "y" * size, "small"):
        assert kept("set", "player", "a", "-", "--string", input=value).status == 0
        assert line_of(watching)
    assert status_of(watching) == 0
    inputs = [json.loads((tmp_path / f"input.{revision}").read_text()) for revision in (1, 2, 3, 4)]
    assert "old" not in inputs[0] and inputs[0]["new"] == inputs[1]["old"] == 1
    assert inputs[1]["new"] == inputs[2]["old"] == "x" * size
    assert inputs[2]["new"] == inputs[3]["old"] == "y" * size
    assert [change["key"] for change in inputs] == ["a"] * 4 and inputs[3]["new"] == "small"
    lines = (tmp_path / "log").read_text().splitlines()
    if size < LARGE:
        assert [line[:4] for line in lines] == ["1 1 ", "2 xx", "3 yy", "4 sm"]
    else:
        assert lines == ["1 1 0", "2 none 0", "3 none 0", "4 none 0"]


def test_a_command_need_not_read_its_standard_input(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    watching = running(environment, tmp_path, "exec <&-; echo $KEPT_REVISION >>log", "--count", "1")
    assert kept("set", "player", "a", "-", "--string", input="x" * 5_000_000).status == 0
    assert line_of(watching)
    assert status_of(watching) == 0
    assert (tmp_path / "log").read_text() == "1\n2\n"


def test_a_command_has_the_bytes_of_every_variable_and_no_value_of_its_caller(
    kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    script = r"""printf '%s|' "$WORD" "${KEPT_OLD-none}" "${KEPT_NEW-none}" >>log"""
    given = {name.encode(): value.encode() for name, value in environment.items()}
    watching = subprocess.Popen(
        [environment["KEPT_COMMAND"], "watch", "player", "--initial", "--count", "1", "--exec", script],
        stdout=subprocess.PIPE,
        env=given | {b"WORD": b"\xfcber", b"KEPT_OLD": b"stale", b"KEPT_NEW": b"stale"},
        cwd=tmp_path,
    )
    assert watching.stdout and watching.stdout.readline()
    assert kept("reset", "player", "a").status == 0
    assert watching.stdout.readline()
    assert status_of(watching) == 0
    assert (tmp_path / "log").read_bytes() == b"\xfcber|none|1|\xfcber|1|none|"


def test_a_command_that_cannot_be_started_is_a_failure(kept: Kept, environment: dict[str, str]) -> None:
    key = "k" * 1000
    assert kept("set", "player", key, "1").status == 0
    # What this program is given fits into the 128 KiB that the system allows it, and with the key it does not.
    words = [environment["KEPT_COMMAND"], "watch", "player", "--initial", "--quiet", "--timeout", "0.01", "--exec"]
    texts = [*words, *(f"{name}={value}" for name, value in environment.items())]
    script = f": {'x' * (131_072 - sum(len(text) + 1 + 8 for text in texts) - 300)}"
    done = subprocess.run(
        [*words, script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 19, 1 << 19)),
    )
    assert done.returncode == 4 and "cannot be started: Argument list too long" in done.stderr, done.stderr[:300]
    assert len(done.stderr) < 300


def test_changes_that_come_faster_than_they_are_printed_may_be_one(
    kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    os.mkfifo(tmp_path / "go")
    # Open for reading too, so that no command finds the end of the file instead of its line.
    go = os.open(tmp_path / "go", os.O_RDWR)
    watching = running(environment, tmp_path, 'read line <go; echo "$KEPT_OLD $KEPT_NEW" >>log')
    for value in range(2, 12):
        assert kept("set", "player", "a", str(value)).status == 0
    # The command for the initial value ends now.
    os.write(go, b"\n")
    lines: list[list[str]] = []
    while not lines or lines[-1][1] != "11":
        lines.append(line_of(watching).split("a: ")[1].split(" (")[0].split(" → "))
        os.write(go, b"\n")
    # The last command has read its line.
    while not (tmp_path / "log").read_text().endswith(" 11\n"):
        pass
    os.close(go)
    # Each begins where the one before it has ended.
    assert lines[0][0] == "1" and all(one[1] == next[0] for one, next in zip(lines, lines[1:], strict=False))
    watching.terminate()
    assert status_of(watching) == -signal.SIGTERM
    assert "may be merged into one" in " ".join(kept("help", "watch").out.split())


@pytest.mark.parametrize("more", [[], ["--count", "1", "--timeout", "60"]])
def test_a_store_that_is_removed_ends_it(
    more: list[str], kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    watching = watch(environment, *more)
    (tmp_path / "config/kept/player.kept").rename(tmp_path / "away")
    assert kept("set", "player", "a", "2").status == 0
    err = watching.communicate(timeout=60)[1]
    assert (watching.returncode, "player" in err and "removed" in err) == (4, True), err


@pytest.mark.parametrize("again", [False, True])
def test_a_store_without_files_of_layers_that_is_removed_ends_it(
    again: bool, kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    assert kept("set", str(store), "a", "1").status == 0
    watching = watch(environment, store=str(store))
    store.rename(tmp_path / "away")
    if again:
        assert kept("set", str(store), "a", "2").status == 0
    sentence = f"kept: the store {store} was removed or replaced; start kept watch again\n"
    assert (watching.communicate(timeout=60)[1], watching.returncode) == (sentence, 4)


@pytest.mark.parametrize("command", ["/nonexistent", "/"])
def test_a_command_that_does_not_exist_is_a_failure(command: str, kept: Kept) -> None:
    assert kept("set", "player", "a", "1").status == 0
    done = kept("watch", "player", "--initial", "--quiet", "--timeout", "0.01", "--exec", command)
    assert done.status == 4, done
