"""Edits that are collected and committed as one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

import kept
from kept_browse import _pending
from kept_browse._ask import Ask
from kept_browse._conflict import Conflict
from kept_browse._editor import Editor
from kept_browse._key_page import KeyPage
from kept_browse._pending import Edit, KeysChanged, Pending
from kept_browse._pending_screen import PendingScreen
from kept_browse._session import Layers
from screens import (
    HeldSizes,
    allow_writing,
    app_of,
    browse,
    go_to,
    keys_screen,
    line_with,
    listed,
    messages,
    open_editor,
    resize_again,
    screen_lines,
    screen_text,
    session_of,
    text_of,
    type_value,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
)
from stores import Writer, fill, write_file


async def gather(pilot: Pilot[int], key: str, text: str) -> None:
    """Adds an edit to the pending changes."""
    before = len(session_of(pilot).pending)
    known = key in session_of(pilot).pending
    await open_editor(pilot, key)
    await type_value(pilot, text)
    await pilot.press("ctrl+g")
    await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
    assert len(session_of(pilot).pending) == before + (not known)


async def review(pilot: Pilot[int]) -> OptionList:
    """Opens the screen of pending changes."""
    await pilot.press("a")
    screen = await wait_for_screen(pilot, PendingScreen)
    return screen.query_one("#edits", OptionList)


def test_edits_are_shown_as_differences_and_committed_together(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        before = session_of(pilot).settings.revision()
        await gather(pilot, "audio.volume", "77")
        await gather(pilot, "ui.font", "[red]Serif[/red]")
        await gather(pilot, "ui.title", "A title")
        assert line_with(pilot, "audio.volume")[:2] == "+*" and "30 -> 77" in screen_text(pilot)
        assert "3 pending changes: press a" in screen_lines(pilot)[0]
        assert session_of(pilot).settings["audio.volume"] == 30, "nothing is written yet"
        await review(pilot)
        lines = [line.strip() for line in screen_lines(pilot)]
        for text in ("> ~ audio.volume", "- 30", "+ 77", '- "Mono"', '+ "[red]Serif[/red]"', "- (absent)"):
            assert text in lines, text
        assert '+ "A title"' in lines
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "committed as revision")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert session_of(pilot).settings.revision() == before + 1, "one commit"
        await wait_for(pilot, lambda: "77" in line_with(pilot, "audio.volume"), "the new value")
        assert "pending" not in screen_lines(pilot)[0] and len(session_of(pilot).pending) == 0
        await pilot.press("u")
        await wait_for_message(pilot, "undid revision")
        await wait_for(pilot, lambda: session_of(pilot).settings.get("ui.title") is None, "the undoing")
        assert session_of(pilot).settings["audio.volume"] == 30
        await pilot.press("u")
        await wait_for_message(pilot, "no commits to undo since the store was opened; undos do not count")

    browse(filled, body)


def test_nothing_is_committed_if_one_key_was_changed_by_another_process(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await gather(pilot, "ui.font", "Serif")
        writer.set("ui.font", "Courier")
        await wait_for(pilot, lambda: '"Courier"' in line_with(pilot, "ui.font"), "the change of the other")
        await review(pilot)
        await pilot.press("ctrl+s")
        await wait_for_conflict(pilot, "ui.font", '"Courier"')
        settings = session_of(pilot).settings
        assert settings["audio.volume"] == 30 and settings["ui.font"] == "Courier"
        await pilot.press("escape")
        await wait_for_screen(pilot, PendingScreen)
        assert len(session_of(pilot).pending) == 2
        # If it is edited further, the conflict is in the editor, which shows the new value.
        pilot.app.screen.query_one("#edits", OptionList).highlighted = 1
        await pilot.press("e")
        editor = await wait_for_screen(pilot, Editor)
        assert editor.query_one("#editor", Input).value == "Serif", "the pending value is edited further"
        await pilot.press("ctrl+g")
        await wait_for(pilot, lambda: text_of(pilot, "#other-value") == "Courier", "the other value")
        await pilot.press("ctrl+g")
        await wait_for_screen(pilot, PendingScreen)
        await wait_for(pilot, lambda: '- "Courier"' in screen_text(pilot), "the value that is replaced")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await wait_for(pilot, lambda: settings["ui.font"] == "Serif", "the commit")
        assert settings["audio.volume"] == 77

    browse(filled, body)


async def wait_for_conflict(pilot: Pilot[int], key: str, value: str) -> None:
    """Waits until the conflict dialog shows another program's value of a key."""
    await wait_for_screen(pilot, Conflict)
    await wait_for(pilot, lambda: f'"{key}" has changed' in text_of(pilot, "#asked"), f"the conflict of {key}")
    await wait_for_text(pilot, f"now:   {value}")


def add_pending(pilot: Pilot[int], keys: list[str], value: kept.JSON) -> None:
    """Adds edits like an editor."""
    session = session_of(pilot)
    for key in keys:
        session.pending.add(Edit(key, session.settings.get(key), value, session.settings.revision(key)))


MANY = [f"many.k{number:02}" for number in range(12)]


@pytest.mark.parametrize("size", [(40, 10), (100, 30)])
def test_pressing_a_key_twice_never_replaces_an_unseen_value(
    filled: Path, writer: Writer, size: tuple[int, int]
) -> None:
    writer.run("with settings.transaction() as t:\n for n in range(12): t[f'many.k{n:02}'] = n")

    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        await wait_for(pilot, lambda: MANY[-1] in listed(pilot), "the keys")
        await allow_writing(pilot)
        add_pending(pilot, MANY, "mine")
        await review(pilot)
        for key in (MANY[7], MANY[11]):
            writer.set(key, "theirs")
        for _ in range(4):
            await pilot.press("ctrl+s")
        await wait_for_conflict(pilot, MANY[7], '"theirs"')
        assert settings[MANY[0]] == 0 and settings[MANY[7]] == "theirs"
        await pilot.press("enter", "space", "ctrl+s")
        await wait_for_conflict(pilot, MANY[7], '"theirs"')
        # The key changes again before the answer, which applies only to the displayed value.
        writer.set(MANY[7], "theirs again")
        await pilot.press("y")
        await wait_for_conflict(pilot, MANY[7], '"theirs again"')
        await pilot.press("y")
        await wait_for_conflict(pilot, MANY[11], '"theirs"')
        await pilot.press("y")
        await wait_for_screen(pilot, PendingScreen)
        assert settings[MANY[0]] == 0, "nothing is committed yet"
        writer.reset(MANY[0])
        await pilot.press("ctrl+s")
        await wait_for_conflict(pilot, MANY[0], "(absent)")
        await pilot.press("n")
        await wait_for_screen(pilot, PendingScreen)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await wait_for_message(pilot, "committed as revision")
        assert [settings.get(key) for key in MANY] == [None, *["mine"] * 11]

    browse(filled, body, size=size)


def test_a_value_that_a_small_terminal_does_not_show_is_not_replaced(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        add_pending(pilot, ["ui.font"], "Serif")
        await review(pilot)
        writer.set("ui.font", "Courier")
        await pilot.press("ctrl+s")
        await wait_for_conflict(pilot, "ui.font", '"Courier"')
        await pilot.resize_terminal(20, 3)
        await pilot.press("y")
        await wait_for(pilot, lambda: "Make the terminal" in text_of(pilot, "#keys"), "the refusal")
        await pilot.resize_terminal(40, 10)
        await wait_for_text(pilot, "Courier")
        # A message never covers it.
        app_of(pilot).tell("long " * 240)
        await pilot.pause()
        assert "Courier" in screen_text(pilot)
        assert isinstance(pilot.app.screen, Conflict)
        await pilot.press("y")
        await wait_for_screen(pilot, PendingScreen)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: session_of(pilot).settings["ui.font"] == "Serif", "the commit")

    browse(filled, body)


def test_a_question_is_answered_only_when_it_is_drawn_for_the_size_of_the_terminal(
    filled: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        add_pending(pilot, ["ui.font"], "Serif")
        await review(pilot)
        writer.set("ui.font", "Courier")
        await pilot.press("ctrl+s")
        await wait_for_conflict(pilot, "ui.font", '"Courier"')
        sizes = HeldSizes(monkeypatch)
        await pilot.resize_terminal(20, 3)
        await pilot.press("y")
        sizes.release(pilot)
        await wait_for(pilot, lambda: "Make the terminal" in text_of(pilot, "#keys"), "the refusal")
        await resize_again(pilot)
        assert "Make the terminal" in text_of(pilot, "#keys")

    browse(filled, body)


def test_a_conflict_about_a_secret_among_pending_changes_shows_no_value(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "net.token", "hunter3")
        await review(pilot)
        writer.set("net.token", "hunter4")
        await pilot.press("ctrl+s")
        await wait_for_conflict(pilot, "net.token", "(secret)")
        assert "hunter" not in screen_text(pilot)
        await pilot.press("y")
        await wait_for_screen(pilot, PendingScreen)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: session_of(pilot).settings["net.token"] == "hunter3", "the commit")

    browse(filled, body)


def test_pending_changes_conflict_in_another_store_of_the_same_name(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "ui.font", "Serif")
        before = session_of(pilot)
        filled.rename(filled.with_name("old.kept"))
        fill(filled)  # with the same values and revisions
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current and session_of(pilot) is not before, "the list")
        await wait_for(pilot, lambda: "ui.font" in listed(pilot), "the keys")
        await review(pilot)
        await pilot.press("ctrl+s")
        await wait_for_conflict(pilot, "ui.font", '"Mono"')
        await pilot.press("n")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert session_of(pilot).settings["ui.font"] == "Mono"

    browse(filled, body)


def test_a_key_that_another_process_makes_or_removes_is_a_conflict_too(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "ui.title", "Mine")
        await gather(pilot, "misc.note", '"mine"')
        writer.set("ui.title", "Theirs")
        writer.reset("misc.note")
        await review(pilot)
        await pilot.press("ctrl+s")
        await wait_for_conflict(pilot, "ui.title", '"Theirs"')
        await pilot.press("n")
        await wait_for_conflict(pilot, "misc.note", "(absent)")
        assert session_of(pilot).settings["ui.title"] == "Theirs"

    browse(filled, body)


def test_a_refused_commit_changes_nothing(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {})

    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await gather(pilot, "ui.font", "Serif")
        write_file(managed, {"ui.font": "Sans"}, ["ui.font"])
        await wait_for(pilot, lambda: session_of(pilot).settings.explain("ui.font").locked, "the lock")
        await review(pilot)
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "lock")
        assert session_of(pilot).settings["audio.volume"] == 30 and len(session_of(pilot).pending) == 2

    browse(filled, body, layers=Layers(str(managed), has_standard=False))


@pytest.mark.filterwarnings("ignore::kept.ShadowedWarning")
def test_a_value_that_a_higher_layer_hides_is_stored_and_reported_as_hidden(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSETEST_UI_FONT", "Env")

    async def body(pilot: Pilot[int]) -> None:
        assert '"Env"' in line_with(pilot, "ui.font") and line_with(pilot, "ui.font")[1] == "~"
        editor = await open_editor(pilot, "ui.font")
        assert isinstance(editor, Input) and editor.value == "Mono", "the stored value is edited"
        await type_value(pilot, "Serif")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "is stored, but hidden")

    browse(filled, body, layers=Layers(env_prefix="BROWSETEST_", has_standard=False))
    with kept.open(filled) as store:
        assert store["ui.font"] == "Serif"


def test_edits_are_discarded_one_by_one_or_all(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key, text in [("audio.volume", "77"), ("ui.font", "Serif"), ("ui.title", "A")]:
            await gather(pilot, key, text)
        edits = await review(pilot)
        edits.highlighted = 1
        await pilot.press("w")
        await wait_for_text(pilot, "READ-ONLY")
        for key, question, lines in [("d", 'of "ui.font"', 1), ("D", "Discard 3 pending changes?", 3)]:
            await pilot.press(key, key, key)
            await wait_for_screen(pilot, Ask)
            assert question in text_of(pilot, "#asked") and len(text_of(pilot, "#about").splitlines()) == lines
            await pilot.press("n")
            assert len(session_of(pilot).pending) == 3
        await pilot.press("d", "y")
        await wait_for(pilot, lambda: edits.option_count == 2, "the rest")
        assert "ui.font" not in screen_text(pilot) and "2 pending changes" in screen_lines(pilot)[0]
        await pilot.press("D", "y")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await pilot.press("a")
        await wait_for_message(pilot, "no changes are pending")
        assert session_of(pilot).settings["audio.volume"] == 30

    browse(filled, body)


def test_a_second_edit_replaces_the_first_and_the_old_value_drops_it(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await gather(pilot, "audio.volume", "78")
        await wait_for_text(pilot, "30 -> 78")
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "30")
        await pilot.press("ctrl+g")
        await wait_for(pilot, lambda: len(session_of(pilot).pending) == 0, "that nothing is pending")

    browse(filled, body)


def test_pending_changes_are_not_lost_without_a_question(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await pilot.press("q")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "discards")
        await pilot.press("enter", "q", "n")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert len(session_of(pilot).pending) == 1
        await pilot.press("q")
        await wait_for_screen(pilot, Ask)
        await pilot.press("y")
        await wait_for(pilot, lambda: pilot.app.return_value == 0, "the end")

    assert browse(filled, body).return_value == 0
    with kept.open(filled) as store:
        assert store["audio.volume"] == 30


def test_opening_again_keeps_pending_changes(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        before = session_of(pilot)
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current and session_of(pilot) is not before, "the list")
        await wait_for(pilot, lambda: "audio.volume" in listed(pilot), "the keys")
        await wait_for_text(pilot, "1 pending change")

    browse(filled, body)


def test_a_long_value_leaves_room_for_the_other_changes(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "ui.font", "word-" * 390)
        await gather(pilot, "audio.volume", "77")
        await review(pilot)
        await wait_for_text(pilot, "+ 77")
        assert sum("word-word" in line for line in screen_lines(pilot)) == 2 and line_with(pilot, '+ "word-word')
        await pilot.press("q")
        await go_to(pilot, "ui.font")
        await pilot.press("q")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "30 -> 77")
        await pilot.press("n", "D")
        await wait_for_text(pilot, "Remove")
        assert 'ui.font  "Mono"; pending: "word' in text_of(pilot, "#about") and "word-" * 13 not in screen_text(pilot)

    browse(filled, body, size=(80, 24))


def test_read_only_again_commits_nothing(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await review(pilot)
        await pilot.press("w")
        await wait_for_text(pilot, "READ-ONLY")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "press w")
        assert session_of(pilot).settings["audio.volume"] == 30
        await pilot.press("w")
        await wait_for_text(pilot, "WRITING")

    browse(filled, body)


def test_a_pending_secret_is_covered_and_its_commit_cannot_be_undone(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "net.token", "hunter3")
        assert "hunter" not in screen_text(pilot)
        await go_to(pilot, "net.token")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for(pilot, lambda: "pending: (secret)" in text_of(pilot, "#reason"), "the pending value")
        assert "hunter" not in screen_text(pilot)
        await pilot.press("q")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await review(pilot)
        await wait_for_text(pilot, "+ (secret)")
        assert "hunter" not in screen_text(pilot)
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "committed as revision")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert session_of(pilot).settings["net.token"] == "hunter3"
        await pilot.press("u")
        await wait_for_message(pilot, "the history keeps no secrets")
        assert not [text for text in messages(pilot) if "hunter" in text] and "hunter" not in screen_text(pilot)

    browse(filled, body)


def test_an_undo_after_a_change_of_another_process_is_refused(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "77")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "committed as revision")
        writer.set("audio.volume", 78)
        await pilot.press("u")
        await wait_for_message(pilot, "changed since")
        assert session_of(pilot).settings["audio.volume"] == 78

    browse(filled, body)


def test_the_page_of_a_key_shows_and_commits_pending_changes(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await pilot.press("e")
        await wait_for_screen(pilot, Editor)
        await type_value(pilot, "77")
        await pilot.press("ctrl+g")
        await wait_for_screen(pilot, KeyPage)
        await wait_for(pilot, lambda: "pending: 77" in text_of(pilot, "#reason"), "the pending value")
        await pilot.press("a")
        await wait_for_screen(pilot, PendingScreen)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, KeyPage), "the page")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "77", "the value")
        await wait_for(pilot, lambda: "pending" not in text_of(pilot, "#reason"), "that nothing is pending")
        await pilot.press("u")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "30", "the value before")

    browse(filled, body)


# --- without the interface


def test_edits_keep_the_order_of_their_first_addition() -> None:
    pending = Pending()
    for key in "bac":
        pending.add(Edit(key, 0, 1, 5))
    pending.add(Edit("a", 1, 2, 5))
    pending.add(Edit("b", 8, 9, 6))
    assert [(edit.key, edit.old, edit.new) for edit in pending.edits] == [("b", 8, 9), ("a", 0, 2), ("c", 0, 1)]
    pending.drop("a")
    pending.drop("absent")
    assert "a" not in pending and len(pending) == 2


def test_a_conflict_names_the_first_keys() -> None:
    assert str(KeysChanged(["a"])).startswith('"a" changed')
    assert '"a", "b", "c" and others' in str(KeysChanged("abcd"))


def test_an_older_commit_is_undone_when_the_newest_cannot_be(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        for key, text in (("audio.volume", "44"), ("net.token", "new")):
            await open_editor(pilot, key)
            await type_value(pilot, text)
            await pilot.press("ctrl+s")
            await wait_for_message(pilot, "committed as revision")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        for answer, volume in (("n", 44), ("y", 30)):
            await pilot.press("u")
            await wait_for_screen(pilot, Ask)
            await wait_for_text(pilot, "Undo your previous commit")
            await wait_for_text(pilot, "audio.volume")
            await pilot.press(answer)
            await wait_for(pilot, lambda: settings["audio.volume"] == volume, str(volume))  # noqa: B023
        await wait_for_message(pilot, "undid revision")
        await pilot.press("u")
        await wait_for_message(pilot, "secret")
        assert keys_screen(pilot).is_current

    browse(filled, body)


def test_a_commit_ends_a_pending_edit_whose_declaration_is_read_again_at_that_time(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        session = session_of(pilot)
        real = _pending.commit

        def commit(settings: kept.Store, edits: Sequence[Edit]) -> int | None:
            session.pending.redeclared(settings)
            return real(settings, edits)

        monkeypatch.setattr(_pending, "commit", commit)
        edit = Edit("audio.volume", 30, 60, session.settings.revision("audio.volume"))
        session.pending.add(edit)
        assert await session.commit([edit])
        assert not session.pending

    browse(filled, body)
