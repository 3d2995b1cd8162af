"""Secrets: no command prints the value of one, in its output or in an error, unless it is asked to."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

from conftest import Kept, environment_in, on_terminal, runner

SCHEMA = """{"properties": {
  "title": {"type": "string"},
  "token": {"type": "string", "secret": true, "pattern": "^hunter", "default": "hunter-default"},
  "pin": {"type": "integer", "secret": true, "minimum": 770000},
  "place": {"type": "string", "secret": true, "enum": ["hunter-home", "hunter-work"], "summary": "Where"},
  "door": {"type": "object", "secret": true, "properties": {"code": {"type": "string", "const": "hunter-door"}}},
  "list": {"type": "array", "secret": true}
}}"""

# Each has what gives away a secret in its arguments, its input or the store.
HIDDEN = "hunter"
PIN = "77001"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with secrets, some of them set before they were declared secret, and copies of it."""
    folder = tmp_path_factory.mktemp("template")
    kept = runner(environment_in(folder))
    assert kept("set", "player", 'token="hunter-old"', "pin=770012", 'title="x"').status == 0
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("declare", "player", "-", input=SCHEMA).status == 0
    assert kept("backup", "player", "backup").status == 0
    assert kept("mark", "good", "player").status == 0
    assert kept("export", "player", "--secrets", "--plain", "--output", "export").status == 0
    assert kept("set", "player", "token=hunter-new", "pin=770013", 'list=["hunter-a"]').status == 0
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "input"),
    [
        ("get player token", ""),
        ("get player token --raw", ""),
        ("get player token --json", ""),
        ("get player token --type integer", ""),
        ("get player token --at @1", ""),
        ("get player tokem", ""),
        ("set player token hunter-more --dry-run", ""),
        ("set player token hunter-more", ""),
        ("set player token xhunter", ""),
        ("set player pin hunter", ""),
        ("set player pin 77001", ""),
        ("set player pin 770019 --if-revision 99", ""),
        ("set player list [hunter", ""),
        ("set player list hunter", ""),
        ("set player token hunter --type integer", ""),
        ("set player token - --raw", "xhunter"),
        ("reset player token --dry-run", ""),
        ("reset player token pin", ""),
        ("list player --all", ""),
        ("list player --tree", ""),
        ("list player --json --all", ""),
        ("list player --null", ""),
        ("explain player token", ""),
        ("explain player token --json", ""),
        ("explain player pin -- -pin 770014", ""),
        ("explain player token --env-prefix P_", ""),
        ("explain player list -- -list [hunter", ""),
        ("describe player", ""),
        ("describe player --json", ""),
        ("describe player token", ""),
        ("describe player place", ""),
        ("describe player place --json", ""),
        ("describe player door", ""),
        ("set player place elsewhere", ""),
        ('set player door {"code":1}', ""),
        ("log player", ""),
        ("log player --json", ""),
        ("undo player", ""),
        ("undo player --dry-run", ""),
        ("undo player 1 --dry-run", ""),
        ("diff player @1", ""),
        ("diff player @1 @3 --json", ""),
        ("diff player backup", ""),
        ("diff backup player --json", ""),
        ("diff export player", ""),
        ("mark good player --dry-run", ""),
        ("restore player backup --dry-run", ""),
        ("restore player --last-good", ""),
        ("export player", ""),
        ("import player export --dry-run", ""),
        ("import player export", ""),
        ("import player export --replace --json", ""),
        ("import player -", '{"token":"xhunter"}'),
        ("import player -", '{"token":"hunter"'),
        ("import player -", '{\n  "token":\n  "hunter" "x"\n}'),
        ("import player -", "token=xhunter"),
        ("import new -", '{"declarations":{"token":{"secret":true}},"kept":1,"values":{"token":"hunter"'),
        ("transaction player", '{"set":"token","value":"xhunter"}'),
        ("transaction player", '{"set":"token","value":"hunter"'),
        ("transaction player", '{"expect":"token","value":"hunter"}'),
        ("transaction player --expect token=hunter", ""),
        ("transaction player --expect pin=hunter", ""),
        ("edit player --yes", "cat"),
        ("edit player --yes", 'sed -i \'s/^{/{"token":"hunter-more",/\''),
        ("edit player --yes", 'sed -i \'s/^{/{"token":"xhunter",/\''),
        ("edit player --yes", 'sed -i \'s/^{/{"token":"hunter"/\''),
        ("edit player --yes --dry-run", "sed -i 's/^{/{\"pin\":77001,/'"),
        ("declare player -", SCHEMA.replace("hunter-default", "xhunter")),
        ("declare player - --dry-run", SCHEMA.replace("^hunter", "^x")),
        ("declare player -", SCHEMA.replace("^hunter", "^x").replace("hunter-default", "x")),
        ("undeclare player token --dry-run", ""),
        ("doctor player", ""),
        ("doctor player --json", ""),
        ("info player", ""),
        ("stores", ""),
        ("migrate-status player", ""),
        ("complete kept get player ", ""),
        ("complete kept set player token ", ""),
        ("complete kept set player token=", ""),
    ],
)
def test_no_command_prints_a_secret(words: str, input: str, kept: Kept, home: Path) -> None:
    more = {"EDITOR": input} | ({"P_TOKEN": "hunter-environment"} if "P_" in words else {})
    done = kept(*words.split(" "), input=input, more=more)
    assert HIDDEN not in done.out + done.err
    assert PIN not in done.out + done.err
    assert "770000" not in done.out + done.err


@pytest.mark.parametrize(
    "words",
    [
        "get player token --reveal",
        "list player --reveal",
        "list player --tree --reveal",
        "list player --json --reveal",
        "explain player token --reveal",
        "explain player token --json --reveal",
        "diff backup player --reveal",
        "edit player --yes --reveal",
        "export player --secrets --plain",
    ],
)
def test_a_secret_is_printed_where_it_is_asked_for(words: str, kept: Kept, home: Path) -> None:
    assert "hunter-new" in kept(*words.split(), more={"EDITOR": "cat"}).out


def test_the_rules_of_a_secret_are_shown_only_if_asked_for(kept: Kept, home: Path) -> None:
    hidden = kept("describe", "player", "place", "--json")
    assert json.loads(hidden.out) == {"type": "string", "secret": True, "summary": "Where"}
    assert hidden.err == "kept: left out rules or defaults of 1 secret; --reveal includes them\n"
    whole = kept("describe", "player", "--json", "--reveal")
    assert whole.err == "" and "hunter-home" in whole.out and "^hunter" in whole.out
    assert "hunter-home" in kept("describe", "player", "--reveal").out
    assert kept("declare", "other", "-", input=whole.out).status == 0
    assert kept("diff", "player", "other", "--quiet").status == 1
    assert "declaration" not in kept("diff", "player", "other").out
    assert kept("describe", "player", "title").err == ""
    changed = SCHEMA.replace("hunter-work", "hunter-school")
    done = kept("declare", "player", "-", "--dry-run", input=changed)
    text = '{"secret":true,"summary":"Where","type":"string"} and rules that are not shown'
    assert done.out == f"~ declaration of place: {text} → {text}\n"


@pytest.mark.parametrize("json", [[], ["--json"]])
@pytest.mark.parametrize("reveal", [[], ["--reveal"]])
def test_watch_shows_and_passes_a_secret_only_if_asked(
    json: list[str], reveal: list[str], kept: Kept, home: Path
) -> None:
    watch = ("watch", "player", "token", "--initial", "--exec", "env > got; cat > input; kill $PPID")
    done = kept(*watch, *json, *reveal)
    got = (home / "got").read_text()
    assert ("hunter-new" in (home / "input").read_text()) == bool(reveal)
    assert done.status == -signal.SIGTERM and "token" in done.out and "KEPT_KEY=token" in got
    assert ("hunter-new" in done.out, "KEPT_NEW=hunter-new" in got) == (bool(reveal), bool(reveal))
    assert reveal or "hunter" not in done.out + got


def test_a_secret_that_is_edited_openly_is_changed(kept: Kept, home: Path) -> None:
    done = kept("edit", "player", "--yes", "--reveal", more={"EDITOR": "sed -i s/hunter-new/hunter-edited/"})
    assert (done.status, done.out) == (0, '~ token: "hunter-new" → "hunter-edited"\n')
    assert json.loads(kept("get", "player", "token", "--reveal", "--json").out) == "hunter-edited"


PROMPT = 'value of "token", which is not shown: '


def on_shell(environment: dict[str, str], script: str, dialogue: list[tuple[str, str | None]]) -> tuple[int, str]:
    """Runs a shell script on a terminal, so that the terminal is still there when the command in it has ended."""
    shell = {"KEPT_COMMAND": "/bin/bash", "KEPT": environment["KEPT_COMMAND"]}
    return on_terminal(environment | shell, ["-c", script], dialogue)


@pytest.mark.parametrize("words", ["token -", "token=-", "title=y token=- pin=770019"])
def test_a_secret_is_typed_unseen(words: str, kept: Kept, environment: dict[str, str], home: Path) -> None:
    script = f'"$KEPT" set player {words} && stty -a'
    status, shown = on_shell(environment, script, [(PROMPT, "hunter-typed\n")])
    assert (status, HIDDEN in shown, " echo " in shown) == (0, False, True), shown
    assert kept("get", "player", "token", "--reveal").out == "hunter-typed\n"


def test_every_byte_of_a_secret_is_typed_unseen(kept: Kept, environment: dict[str, str], home: Path) -> None:
    prompt = PROMPT.replace(":", "; Ctrl-D ends it:")
    status, shown = on_terminal(environment, ["set", "player", "token", "-", "--raw"], [(prompt, "hunter\nmore\n\x04")])
    assert (status, HIDDEN in shown, "more" in shown) == (0, False, False), shown
    assert kept("get", "player", "token", "--reveal").out == "hunter\nmore\n\n"


@pytest.mark.parametrize(
    ("answer", "status"),
    [("\x04", 3), ("xhunter\n", 3), ("hunter\x03", 130), ("hunter\x1c", 131), ("hunter\x1a\x03", 130)],
)
def test_a_terminal_shows_again_what_is_typed(
    answer: str, status: int, kept: Kept, environment: dict[str, str], home: Path
) -> None:
    script = 'trap : INT QUIT; "$KEPT" set player token -; got=$?; stty -a; exit $got'
    ended, shown = on_shell(environment, script, [(PROMPT, answer)])
    # The pattern of the declaration is not part of the typed text.
    assert (ended, HIDDEN in shown.replace("^hunter", ""), " echo " in shown) == (status, False, True), shown
    assert kept("get", "player", "token", "--reveal").out == "hunter-new\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_from_elsewhere_leaves_a_terminal_that_shows(
    number: signal.Signals, environment: dict[str, str], home: Path
) -> None:
    # The signal is sent once the command has asked, when the terminal hides the typed text.
    script = f"""
        mkfifo errors && exec 3<>errors
        "$KEPT" set player token - </dev/tty 2>&3 &
        read -rn 10 <&3 && stty -a && kill -{number} $! && wait $!
        got=$?; stty -a; exit $got"""
    status, shown = on_shell(environment, script, [])
    assert (status, shown.count(" -echo "), shown.count(" echo ")) == (128 + number, 1, 1), shown


def test_what_is_no_secret_is_typed_openly(kept: Kept, environment: dict[str, str], home: Path) -> None:
    status, shown = on_shell(environment, 'echo ready; "$KEPT" set player title -', [("ready", "seen\n\x04")])
    assert (status, "seen" in shown, "value of" in shown) == (0, True, False)
    assert kept("get", "player", "title").out == "seen\n"


def test_an_import_tells_a_new_secret_from_a_replaced_one(declared: Kept, tmp_path: Path) -> None:
    (tmp_path / "new.json").write_text('{"token": "hunter2"}')
    for more, sign in ((["--dry-run"], "+"), ([], "+"), (["--dry-run"], None), ([], None)):
        done = declared("import", "player", "new.json", *more)
        assert (f"{sign} token: (secret)\n" in done.out, "hunter2" in done.out) == (sign is not None, False), done.out
    (tmp_path / "new.json").write_text('{"token": "hunter3"}')
    assert "~ token: (secret)\n" in declared("import", "player", "new.json").out
