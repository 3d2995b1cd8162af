"""Streams and signals: closed, full, slow and removed ones, and the ways to end a command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Kept, environment_in, on_terminal, runner, status_of


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 100,000 keys, whose list is longer than a pipe holds, and a small one."""
    folder = tmp_path_factory.mktemp("template")
    kept = runner(environment_in(folder))
    text = json.dumps({f"key.{number:06d}": number for number in range(100_000)})
    assert kept("import", "big", "-", input=text).status == 0
    assert kept("set", "player", "a=1", "b=2").status == 0
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template / "config", tmp_path / "config")
    return tmp_path


def start(environment: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [environment["KEPT_COMMAND"], *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=environment["HOME"],
    )


def shell(environment: dict[str, str], script: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["bash", "-c", f'kept() {{ "$KEPT_COMMAND" "$@"; }}; {script}'],
        env=environment, capture_output=True, text=True, timeout=60, check=False, cwd=environment["HOME"],
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["list", "list --json", "list --tree", "export", "watch --initial"])
def test_100_000_keys_end_with_their_reader(command: str, environment: dict[str, str], home: Path) -> None:
    name, *options = command.split()
    script = f"kept {name} big {' '.join(options)} | head -n 1; echo ${{PIPESTATUS[0]}}"
    status, out, err = shell(environment, script)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == ("141" if name != "export" else "0" if len(out) > 100_000 else "141")


@pytest.mark.parametrize(
    "command",
    ["get player a", "list player", "list player --json", "export player", "explain player a", "log player",
     "watch player --initial", "doctor player", "info player", "stores", "set player a 3 --dry-run", "help", "--help",
     "--version", "help topics", "completion bash", "manual"],
)  # fmt: skip
@pytest.mark.parametrize("output", [">/dev/full", ">&-"])
def test_an_output_that_cannot_be_written_is_an_error(
    command: str, output: str, environment: dict[str, str], home: Path
) -> None:
    status, _, err = shell(environment, f"kept {command} {output}")
    assert status == 4
    assert err.startswith("kept: the output cannot be written: ")


REPORTING = {
    "undo player": "b",
    "import player -": "c",
    "import player - --json": "c",
    "restore player backup": "b",
    "backup player fresh": "",
    "mark good player": "",
    "doctor player --repair": "",
}


@pytest.mark.parametrize("command", REPORTING)
@pytest.mark.parametrize("output", [">/dev/full", ">&-", "| true; exit ${PIPESTATUS[0]}"])
def test_a_change_whose_report_cannot_be_written_has_a_status_of_its_own(
    command: str, output: str, kept: Kept, environment: dict[str, str], home: Path
) -> None:
    assert kept("backup", "player", "backup").status == 0
    assert kept("set", "player", "b", "3").status == 0
    before = kept("list", "player").out
    if "doctor" in command:
        (home / "config/kept/player.kept/values").write_bytes(b"nonsense" * 4096)
    # The reader has left before anything is written.
    slow = "sleep 0; " if "|" not in output else ""
    status, _, err = shell(environment, f"{slow}echo '{{\"c\": 7}}' | kept {command} {output}")
    if "|" not in output:
        assert "the command is done, but its report cannot be written: " in err
    assert status == 5 or "|" in output and status == 0, (status, err)
    if REPORTING[command]:
        assert kept("list", "player").out != before
    if command == "undo player":
        assert kept("get", "player", "b").out == "2\n"
        # Nothing was changed, and so it is not that status.
        assert shell(environment, f"kept {command} --dry-run >/dev/full")[0] == 4


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm_to_a_store(closed: str, kept: Kept, environment: dict[str, str], home: Path) -> None:
    assert shell(environment, f"kept set player a 5 {closed}")[0] == 0
    assert shell(environment, f"kept get player none {closed}")[0] == 1
    assert kept("get", "player", "a").out == "5\n"
    assert kept("doctor", "player").status == 0


@pytest.mark.parametrize("command", ["set player a -", "import player -", "transaction player", "declare player -"])
def test_closed_input_is_an_error(command: str, environment: dict[str, str], home: Path) -> None:
    status, out, err = shell(environment, f"kept {command} <&-")
    assert (status, out) == (4, "")
    assert err.startswith("kept: standard input cannot be read: ")


@pytest.mark.parametrize("blocks", [True, False])
def test_a_slow_reader_gets_everything(blocks: bool, environment: dict[str, str], home: Path) -> None:
    script = f"import os, sys; os.set_blocking(1, {blocks}); os.execv(sys.argv[1], sys.argv[1:])"
    listing = start(
        environment | {"KEPT_COMMAND": sys.executable}, "-c", script, environment["KEPT_COMMAND"], "list", "big"
    )
    assert listing.stdout
    lines = 0
    while part := os.read(listing.stdout.fileno(), 1000):
        lines += part.count(b"\n")
    assert (status_of(listing), lines) == (0, 100_000)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["list", "export"])
def test_a_signal_ends_an_output_that_nobody_reads(
    command: str, number: signal.Signals, kept: Kept, environment: dict[str, str], home: Path
) -> None:
    writing = start(environment, command, "big")
    assert writing.stdout and writing.stdout.read(1)
    writing.send_signal(number)
    _, err = writing.communicate(timeout=60)
    assert (writing.returncode, err) == (-number, b"")
    assert kept("get", "big", "key.000000").out == "0\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["import", "transaction", "set"])
def test_a_signal_ends_an_input_before_anything_is_changed(
    command: str, number: signal.Signals, kept: Kept, environment: dict[str, str], home: Path
) -> None:
    reading = start(environment, command, "player", *{"import": ["-"], "set": ["a", "-"]}.get(command, []))
    assert reading.stdin
    # More than a pipe holds, so that the command has begun to read.
    os.write(reading.stdin.fileno(), b'{"set":"a","value":7}\n' * 20_000)
    reading.send_signal(number)
    with reading:
        assert reading.wait(60) == -number
        assert reading.stderr and reading.stderr.read() == b""
    assert kept("get", "player", "a").out == "1\n"


def test_an_editor_decides_what_ctrl_c_means(kept: Kept, home: Path) -> None:
    done = kept("edit", "player", "--yes", more={"EDITOR": "kill -INT $PPID; sed -i s/1/9/"})
    assert (done.status, done.out) == (0, "~ a: 1 → 9\n")


def test_a_text_is_not_lost_if_a_signal_ends_edit(kept: Kept, home: Path) -> None:
    done = kept("edit", "player", "--yes", more={"EDITOR": 'sed -i s/1/9/ "$KEPT_EDITED"; kill -TERM $PPID; true'})
    assert done.status == -signal.SIGTERM
    assert kept("get", "player", "a").out == "1\n"
    texts = [path.read_text() for path in home.glob("kept-*.json")]
    assert len(texts) == 1 and '"a": 9' in texts[0]


@pytest.mark.parametrize(
    ("answer", "status", "value"), [("y\n", 0, "9"), ("n\n", 0, "1"), ("\x03", 0, "1"), ("\x04", 0, "1")]
)
def test_a_person_answers_before_an_edit_is_committed(
    answer: str, status: int, value: str, kept: Kept, environment: dict[str, str], home: Path
) -> None:
    editor = {"EDITOR": "sed -i s/1/9/"}
    done, output = on_terminal(environment | editor, ["edit", "player"], [("commit this? [y/n] ", answer)])
    assert (done, kept("get", "player", "a").out) == (status, f"{value}\n"), output
    assert "~ a: 1 → 9" in output
    assert ("your text is in" in output) == (value == "1")


def test_wrong_text_goes_back_to_the_editor(kept: Kept, environment: dict[str, str], home: Path) -> None:
    editor = {"EDITOR": "sed -i -e 's/: x/: 9/' -e 's/: 1/: x/'"}
    questions = [("edit again? [y/n] ", "y\n"), ("commit this? [y/n] ", "y\n")]
    status, output = on_terminal(environment | editor, ["edit", "player"], questions)
    assert (status, kept("get", "player", "a").out) == (0, "9\n"), output


def test_watch_ends_when_its_terminal_is_closed(environment: dict[str, str], home: Path) -> None:
    status, output = on_terminal(environment, ["watch", "player", "--initial"], [("b\x1b[0m: 2", None)])
    assert status == -signal.SIGHUP, output


def test_watch_ends_at_the_next_change_when_its_reader_has_left(
    kept: Kept, environment: dict[str, str], home: Path
) -> None:
    watching = start(environment, "watch", "player", "a", "--initial")
    assert watching.stdout and watching.stdout.readline().endswith(b"a: 1\n")
    watching.stdout.close()
    assert kept("set", "player", "a", "2").status == 0
    with watching:
        assert watching.wait(60) == 141
        assert watching.stderr and watching.stderr.read() == b""


def test_the_first_of_100_000_keys_is_there_at_once(environment: dict[str, str], home: Path) -> None:
    # A busy machine takes a second; what grows with the square of the keys takes longer than `shell` waits.
    assert shell(environment, "kept list big | head -n 1")[1] == "key.000000=0\n"


@pytest.mark.parametrize(("place", "remedy"), [(">/dev/full", True), (">&-", False)])
def test_only_a_full_disk_is_to_be_freed(place: str, remedy: bool, kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a", "1").status == 0
    command = ["sh", "-c", f'"$KEPT_COMMAND" list player {place}']
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "free some space" in done.stderr) == (4, remedy), done
