"""Editing several settings in an editor."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from conftest import Kept, on_terminal, status_of


def test_editing_commits_what_was_changed(declared: Kept, environment: dict[str, str]) -> None:
    assert declared("set", "player", "title", "old").status == 0
    assert declared("edit", "player", "--yes", more={"EDITOR": "sed -i s/old/new/"}).status == 0
    assert declared("get", "player", "title").out == "new\n"
    wrong = declared("edit", "player", "--yes", more={"EDITOR": 'sed -i s/new/n\\"ew/'})
    assert wrong.status == 3
    kept_text = Path(wrong.err.split("your text is in ")[1].strip())
    assert 'n"ew' in kept_text.read_text()
    assert declared("get", "player", "title").out == "new\n"


def test_what_another_program_has_changed_meanwhile_is_not_overwritten(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a=1", "b=1").status == 0
    program = environment["KEPT_COMMAND"]
    done = kept("edit", "player", "--yes", more={"EDITOR": f"{program} set player a 5 && sed -i s/1/2/"})
    assert done.status == 3
    assert '"a": has revision' in done.err
    assert kept("get", "player", "a", "b").out == "5\n1\n"


def test_a_secret_is_not_in_the_text_and_is_not_shown_when_it_is_set(declared: Kept) -> None:
    assert declared("set", "player", "token", "hunter2").status == 0
    text = declared("edit", "player", "--yes", more={"EDITOR": "cat"})
    assert "hunter2" not in text.out + text.err
    insert = 'sed -i \'/^{/a "token":"hunter3",\''
    done = declared("edit", "player", "--yes", more={"EDITOR": insert})
    assert (done.status, "hunter" in done.out + done.err) == (0, False)
    assert declared("get", "player", "token", "--reveal").out == "hunter3\n"


def test_a_key_that_is_removed_from_the_text_is_reset(declared: Kept) -> None:
    assert declared("set", "player", "audio.volume=7", "title=x").status == 0
    assert declared("edit", "player", "audio.", "--yes", more={"EDITOR": "sed -i '/\"audio.volume\": 7/d'"}).status == 0
    assert declared("get", "player", "audio.volume", "title").out == "50\nx\n"


def test_a_dry_run_leaves_no_text_behind(declared: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "title", "old").status == 0
    done = declared("edit", "player", "--dry-run", more={"EDITOR": "sed -i s/old/new/"})
    assert (done.status, done.out, done.err) == (0, '~ title: "old" → "new"\n', "")
    assert not list(tmp_path.glob("kept-*"))


def test_keys_that_begin_with_a_dollar_sign_are_keys(kept: Kept) -> None:
    values = {"$a": 1, "$date": 2, "$literal": {"$b": 3}, "plain": 4}
    lines = "\n".join(json.dumps({"set": key, "value": value}) for key, value in values.items() if key != "$literal")
    assert kept("transaction", "player", input=lines).status == 0
    assert kept("set", "player", "$literal", '{"$literal":{"$b":3}}').status == 0
    assert kept("edit", "player", "--yes", more={"EDITOR": "true"}).err == "kept: nothing was changed\n"
    done = kept("edit", "player", "--yes", more={"EDITOR": "sed -i 's/: 2,/: 20,/;/plain/d'"})
    assert (done.status, done.out) == (0, "~ $date: 2 → 20\n- plain: 4\n"), done.err
    wrong = kept("edit", "player", "--yes", more={"EDITOR": "sed -i 's/: 20,/: x,/'"})
    assert wrong.status == 3 and ' (line 4)\n    "$date": x,\n             ^\n' in wrong.err, wrong.err


def test_the_limits_of_a_value_are_not_those_of_the_text(kept: Kept) -> None:
    assert kept("set", "player", "deep", "[" * 64 + "]" * 64).status == 0
    for name in ("one", "two"):
        assert kept("set", "player", name, "-", "--string", input="x" * 10_000_000).status == 0
    assert kept("set", "player", "plain", "1").status == 0
    done = kept("edit", "player", "--yes", more={"EDITOR": "sed -i 's/: 1,/: 2,/'"})
    assert (done.status, done.out) == (0, "~ plain: 1 → 2\n"), done.err[:500]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "an object has this key twice"),
        ('{"a": null}', '"a": null cannot be stored by itself; remove the key'),
        ("[1]", "the text is not a JSON object"),
        ('{"a": 1} {}', "expected "),
        ('{"a": 1}, "b": 2', "unknown member"),
        ("", "ends where a value is expected"),
    ],
)
def test_a_text_that_is_not_one_object_of_keys_is_refused(text: str, reason: str, kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "7").status == 0
    (tmp_path / "edited").write_text(text)
    done = kept("edit", "player", "--yes", more={"EDITOR": "cp edited"})
    assert done.status == 3 and reason in done.err, done.err
    assert kept("list", "player").out == "a=7\n"


def left(folder: Path) -> list[str]:
    """The texts that an edit has left behind."""
    return [path.read_text() for path in folder.glob("kept-*")]


@pytest.mark.parametrize("editor", ["false", "no-such-editor", "sh -c 'kill -KILL $$'", "true"])
def test_a_text_with_secrets_that_was_not_changed_is_removed(editor: str, declared: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "token=hunter2", "title=x").status == 0
    done = declared("edit", "player", "--reveal", "--yes", more={"EDITOR": editor})
    assert done.status == (0 if editor == "true" else 4)
    assert editor == "true" or f"the editor {editor} failed; the text was not changed" in done.err
    assert left(tmp_path) == []


def test_a_changed_text_is_kept_and_said_to_contain_secrets(declared: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "token=hunter2", "title=x").status == 0
    failing = {"EDITOR": "sh -c 'sed -i s/x/y/ \"$0\"; false'"}
    done = declared("edit", "player", "--reveal", "--yes", more=failing)
    assert done.status == 4 and "; it contains secrets\n" in done.err
    assert "hunter2" in left(tmp_path)[0]
    [path] = tmp_path.glob("kept-*")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and str(path) in done.err
    path.unlink()
    done = declared("edit", "player", "--yes", more=failing)
    assert "; your text is in " in done.err and "hunter2" not in left(tmp_path)[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_secrets_in_an_unchanged_text(
    number: signal.Signals, declared: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert declared("set", "player", "token", "hunter2").status == 0
    os.mkfifo(tmp_path / "opened")
    os.mkfifo(tmp_path / "end")
    editing = subprocess.Popen(
        [environment["KEPT_COMMAND"], "edit", "player", "--reveal"],
        env=environment | {"EDITOR": "sh -c 'echo >opened; read line <end'"},
        cwd=tmp_path,
    )
    (tmp_path / "opened").read_text()
    assert "hunter2" in left(tmp_path)[0]
    editing.send_signal(number)
    assert status_of(editing) == -number
    assert left(tmp_path) == []
    (tmp_path / "end").write_text("")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_names_the_file_of_a_changed_text(
    number: signal.Signals, declared: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert declared("set", "player", "token=hunter2", "title=old").status == 0
    for name in ("opened", "end"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "editor").write_text('sed -i s/old/new/ "$1"; echo >opened; read line <end')
    editing = subprocess.Popen(
        [environment["KEPT_COMMAND"], "edit", "player", "--reveal"],
        env=environment | {"EDITOR": "sh editor"},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    (tmp_path / "opened").read_text()
    editing.send_signal(number)
    [path] = tmp_path.glob("kept-*")
    assert editing.stderr
    assert editing.stderr.readline().endswith(f"; your text is in {path}; it contains secrets\n")
    (tmp_path / "end").write_text("")
    assert status_of(editing) == -number and "hunter2" in path.read_text()


def test_a_terminal_that_ends_it_is_told_where_the_text_is(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a", "1").status == 0
    editing = environment | {"EDITOR": "sed -i s/1/9/"}
    status, shown = on_terminal(editing, ["edit", "player"], [("commit this? [y/n]", "\x1c")])
    assert status == -signal.SIGQUIT and "your text is in " in shown


def test_a_text_that_is_not_committed_because_nobody_answers_is_kept(
    kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    done = kept("edit", "player", more={"EDITOR": "sed -i s/1/9/"})
    # A script must not take it for done.
    assert done.status == 2 and "see --yes" in done.err and "nothing was committed; your text is in " in done.err
    assert len(left(tmp_path)) == 1
    assert kept("get", "player", "a").out == "1\n"


def test_a_person_may_answer_that_nothing_is_committed(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    editing = environment | {"EDITOR": "sed -i s/1/9/"}
    for answer in ("n\r", "\x04", "\x03"):
        status, shown = on_terminal(editing, ["edit", "player"], [("commit this? [y/n]", answer)])
        assert status == 0 and "nothing was committed; your text is in " in shown
    assert kept("get", "player", "a").out == "1\n"
    assert on_terminal(editing, ["edit", "player"], [("commit this? [y/n]", "y\r")])[0] == 0
    assert kept("get", "player", "a").out == "9\n"


def test_an_output_that_cannot_be_written_commits_nothing_and_loses_no_text(
    kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert kept("set", "player", "a", "1").status == 0
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [environment["KEPT_COMMAND"], "edit", "player", "--yes"],
            env=environment | {"EDITOR": "sed -i s/1/9/"}, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 4 and "nothing was committed; your text is in " in done.stderr
    assert kept("get", "player", "a").out == "1\n" and '"a": 9' in left(tmp_path)[0]


def test_an_editor_may_have_a_path_that_is_not_utf_8(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    folder = os.fsencode(tmp_path) + b"/b\xfcro"
    os.mkdir(folder)
    with open(folder + b"/myeditor", "w") as program:
        program.write('#!/bin/sh\nsed -i s/1/9/ "$@"\n')
    os.chmod(folder + b"/myeditor", 0o755)
    given = {name.encode(): value.encode() for name, value in environment.items()}
    for more in (
        {b"PATH": folder + b":" + given[b"PATH"], b"EDITOR": b"myeditor"},
        {b"EDITOR": b"false", b"VISUAL": folder + b"/myeditor"},
    ):
        assert kept("set", "player", "a", "1").status == 0
        command = [environment["KEPT_COMMAND"], "edit", "player", "--yes"]
        done = subprocess.run(command, env=given | more, capture_output=True, check=False)
        assert (done.returncode, done.stdout.decode()) == (0, "~ a: 1 → 9\n"), done.stderr


def test_an_editor_may_have_words(declared: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "title", "old").status == 0
    program = tmp_path / "my editor"
    program.write_text('#!/bin/sh\n[ "$1" = "a b" ] && sed -i s/old/new/ "$2"\n')
    program.chmod(0o755)
    done = declared("edit", "player", "--yes", more={"EDITOR": f"'{program}' \"a b\"", "VISUAL": ""})
    assert (done.status, done.out) == (0, '~ title: "old" → "new"\n'), done.err


@pytest.mark.parametrize("editor", ["rm", "sh -c 'rm \"$0\"; false'"])
def test_a_text_that_the_editor_has_removed_is_not_named(editor: str, kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    done = kept("edit", "player", "--yes", more={"EDITOR": editor})
    assert (done.status, "removed" in done.err, str(tmp_path) in done.err) == (4, True, False), done.err
    assert kept("get", "player", "a").out == "1\n"


def test_an_editor_that_nobody_has_named_is_not_started_without_a_terminal(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    (tmp_path / "vi").write_text("#!/bin/sh\ntouch started\n")
    (tmp_path / "vi").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "EDITOR": "", "VISUAL": ""}
    done = kept("edit", "player", "--yes", more=path)
    assert (done.status, "there is no terminal for vi; name an editor in EDITOR" in done.err) == (2, True), done.err
    assert not (tmp_path / "started").exists()
