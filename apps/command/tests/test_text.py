"""Text that is hard to print: each output has all of it, and wrong JSON is shown with its place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Kept, environment_in, runner, seal

TEXTS = [
    "line\nbreak",
    "carriage\r\nreturn",
    "tab\tstop",
    "\"double\" 'single' `back`",
    "\\ backslash \\n",
    "\x1b[31mred \x07 \x7f \x9b",
    "😀 👩‍👩‍👧 e\u0301 größe",
    "turned \u202e round \u2028",
    "a=b: {c} [d], //e",
    " spaces ",
    "-dash",
]
# Every text is a key, and every text but the first is the value before it.
VALUES: dict[str, object] = {"plain": 1, "zero": "\x00 zero"} | {
    key: {"text": text, text: [text]} for key, text in zip(TEXTS, TEXTS[1:] + TEXTS[:1], strict=True)
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    kept = runner(environment_in(folder))
    lines = "\n".join(json.dumps({"set": key, "value": value}) for key, value in VALUES.items())
    assert kept("transaction", "player", input=lines).status == 0
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return tmp_path


def unescaped(text: str) -> str:
    assert all(character.isprintable() or character == " " for character in text.replace("\u200d", "")), text
    return str(json.loads(text)) if text.startswith('"') else text


def test_get_prints_what_was_set(kept: Kept, home: Path) -> None:
    for key, value in VALUES.items():
        assert json.loads(kept("get", "player", "--", key).out) == value


def test_lists_for_programs_have_every_text(kept: Kept, home: Path) -> None:
    assert {key: row["value"] for key, row in json.loads(kept("list", "player", "--json").out).items()} == VALUES
    decoder, found = json.JSONDecoder(), {}
    for line in kept("list", "player").out.split("\n")[:-1]:
        key, end = decoder.raw_decode(line) if line.startswith('"') else (line.split("=")[0], line.index("="))
        assert unescaped(line[:end]) == key and line[end] == "="
        found[key] = json.loads(line[end + 1 :])
    assert found == VALUES


def test_fields_have_every_text(kept: Kept, home: Path) -> None:
    fields = kept("list", "player", "--null").out.split("\0")[:-1]
    found = {key: json.loads(value) for key, value in zip(fields[::2], fields[1::2], strict=True)}
    assert found == VALUES


@pytest.mark.parametrize("more", [[], ["--declarations"], ["--output", "file"]])
def test_an_export_is_imported_whole(more: list[str], kept: Kept, home: Path) -> None:
    exported = kept("export", "player", *more).out or (home / "file").read_text()
    assert json.loads(exported)["values"] == VALUES
    assert kept("import", "other", "-", input=exported).status == 0
    assert kept("diff", "player", "other").status == 0


def test_log_diff_and_watch_have_every_text(kept: Kept, home: Path) -> None:
    changes = [json.loads(line) for line in kept("log", "player", "--json").out.splitlines()]
    assert {change["key"]: change["new"] for change in changes} == VALUES
    assert kept("set", "empty", "plain", "1").status == 0
    found = [json.loads(line) for line in kept("diff", "empty", "player", "--json").out.splitlines()]
    assert {change["key"]: change["new"] for change in found} | {"plain": 1} == VALUES
    # The signal ends it at once, so it comes with the last key.
    last = max(VALUES, key=str.encode)
    ending = '[ "$KEPT_KEY" != "$LAST" ] || kill $PPID'
    watched = kept("watch", "player", "--initial", "--json", "--exec", ending, more={"LAST": last})
    seen = {change["key"]: change["new"] for change in map(json.loads, watched.out.splitlines())}
    assert seen == VALUES


@pytest.mark.parametrize(
    "words",
    [
        "list player",
        "list player --tree",
        "list player --json",
        "log player",
        "log player --json",
        "diff empty player",
        "diff empty player --json",
        "explain player plain",
        "describe player",
        "doctor player",
        "undo player --dry-run",
        "set player a=1 --dry-run",
        "get player plain",
        "help topics",
        "--help",
    ],
)
def test_nothing_but_get_prints_control_characters_or_colours(words: str, kept: Kept, home: Path) -> None:
    assert kept("set", "empty", "a", "1").status == 0
    done = kept(*words.split(), more={"TERM": "xterm"})
    assert not {character for character in done.out + done.err if character < " " or "\x7f" <= character < "\xa0"} - {
        "\n"
    }
    assert "\u202e" not in done.out + done.err


def test_editing_keeps_every_text(kept: Kept, home: Path) -> None:
    done = kept("edit", "player", "--yes", more={"EDITOR": 'cp "$KEPT_EDITED" seen; true'})
    assert done.err == "kept: nothing was changed\n"
    assert kept("edit", "player", "--yes", more={"EDITOR": 'sed -i \'s/"plain": 1/"plain": 2/\''}).status == 0
    assert json.loads(kept("export", "player").out)["values"] == VALUES | {"plain": 2}


# A wrong text, and how it is shown.
WRONG = [
    ("[1, x]", "  [1, x]\n      ^\n"),
    ('["größe 😀 日本", x]', '  ["größe 😀 日本", x]\n                    ^\n'),
    ("[\t1,\tx]", "  [\\t1,\\tx]\n         ^\n"),
    ('{\n  "a": 1,\n  "b": x\n}\n', ' (line 3)\n    "b": x\n         ^\n'),
    ("[1,\n", "  [1,\n     ^\n"),
    ("[" + "1," * 100 + "x" + ",1" * 100 + "]", "  …" + "1," * 24 + "x" + ",1" * 13 + "…\n" + " " * 51 + "^\n"),
    ('{"a": "' + "日" * 60 + '"x}', "  …" + "日" * 23 + '"x}\n' + " " * 50 + "^\n"),
]
COMMANDS = ["set", "set declared", "transaction", "edit"]
# A transaction has one line for each operation.
CARETS = [(name, *wrong) for name in COMMANDS for wrong in WRONG if name != "transaction" or "\n" not in wrong[0]]


@pytest.mark.parametrize(("command", "text", "shown"), CARETS)
def test_wrong_json_is_shown_with_a_caret(command: str, text: str, shown: str, kept: Kept, tmp_path: Path) -> None:
    schema = '{"properties": {"declared": {"type": "array"}}}'
    assert kept("declare", "player", "-", input=schema).status == 0
    (tmp_path / "wrong.json").write_text(text)
    words = {
        "set": ["set", "player", "new", "-", "--undeclared"],
        "set declared": ["set", "player", "declared", "-"],
        "transaction": ["transaction", "player"],
        "edit": ["edit", "player", "--yes"],
    }[command]
    done = kept(*words, input=text, more={"EDITOR": "cp wrong.json"})
    assert done.status == 3
    assert shown in done.err, done.err


def test_an_empty_or_a_huge_text_is_refused_in_few_words(kept: Kept) -> None:
    assert kept("set", "player", "a", "").err.endswith("(the JSON text ends where a value is expected)\n")
    huge = kept("set", "player", "a", "-", input="x" * 1_000_000)
    assert huge.status == 3 and len(huge.err) < 500
    large = kept("set", "player", "a", "-", "--string", input="x" * 17_000_000)
    assert large.status == 3 and "at most 16777216" in large.err
    long = kept("set", "player", "k" * 1025, "1")
    assert long.status == 3 and "at most 1024" in long.err and len(long.err) < 500
    assert kept("set", "player", "a", b"\xff".decode(errors="surrogateescape")).status == 2
    assert kept("set", "player", "", "1").status == 3


@pytest.mark.parametrize("command", ["get", "set", "list", "doctor", "log", "export"])
def test_a_store_of_a_later_version_is_named_and_left_alone(command: str, kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    values = tmp_path / "config/kept/player.kept/values"
    before = bytearray(values.read_bytes())
    before[8] = 99
    seal(values, before)
    done = kept(command, "player", *{"get": ["a"], "set": ["a", "2"]}.get(command, []))
    # `doctor` reports what it finds.
    assert (done.status, bool(done.out)) == (4, command == "doctor")
    assert "has format 99" in done.out + done.err and "open it with the version that wrote it" in done.out + done.err
    assert values.read_bytes() == before


def test_a_wrong_import_names_the_line(kept: Kept) -> None:
    done = kept("import", "player", "-", input='{"a": 1,\n "b": [1,, 2]}\n')
    assert "reading - as JSON;" in done.err
    assert done.err.endswith(' (line 2)\n   "b": [1,, 2]}\n           ^\n')
    assert kept("import", "player", "-", input="{ a = 1; b = ; }").status == 3
    assert "old-style property list" in kept("import", "player", "-", input='{ "a" = 1; b = ; }').err


def test_a_store_that_may_only_be_read_is_read(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "store"
    assert kept("set", str(folder), "a", "1").status == 0
    for path in [folder, *folder.iterdir()]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    # Root may write what it likes; so another user tries, who must reach the folder and the program.
    as_user: list[str] = []
    if os.geteuid() == 0:
        program = shutil.copy(environment["KEPT_COMMAND"], tmp_path / "kept")
        as_user = ["setpriv", "--reuid", "nobody", "--clear-groups"]
        for parent in tmp_path.parents:
            if "pytest-" in parent.name:
                parent.chmod(0o755)
        tmp_path.chmod(0o755)
    else:
        program = environment["KEPT_COMMAND"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*as_user, program, *words], env=environment, capture_output=True, text=True, check=False, cwd="/"
        )

    read = run("get", str(folder), "a")
    assert (read.stdout, read.stderr) == ("1\n", "")
    assert run("list", str(folder)).stdout == "a=1\n"
    refused = run("set", str(folder), "a", "2")
    assert (refused.returncode, "readable but not writable" in refused.stderr) == (4, True)
    assert run("set", str(folder), "a", "2", "--dry-run").returncode == 4
    assert "this user cannot write to the folder" in run("doctor", str(folder)).stdout


def test_characters_that_turn_or_hide_text_are_escaped(kept: Kept) -> None:
    hidden = "a\u061c\u200b\u2066\u00ad\U000e0041\x9b"
    assert kept("set", "player", "--", hidden, json.dumps(hidden)).status == 0
    escaped = r"a\u061c\u200b\u2066\u00ad\udb40\udc41\u009b"
    assert kept("list", "player").out == f'"{escaped}"="{escaped}"\n'
    assert r"a\u{61C}\u{200B}\u{2066}\u{AD}\u{E0041}\u{9B}" in kept("get", "player", "--", f"{hidden}b").err
