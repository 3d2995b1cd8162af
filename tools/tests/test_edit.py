"""Editing several settings in an editor."""

from __future__ import annotations

from pathlib import Path

from conftest import Kept


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
    assert '"a": has the revision' in done.err
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
