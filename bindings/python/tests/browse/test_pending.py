"""Edits that are gathered, and committed as one transaction."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

import kept
from browse.screens import (
    allow_writing,
    browse,
    go_to,
    keys_screen,
    line_with,
    listed,
    open_editor,
    screen_lines,
    screen_text,
    session_of,
    text_of,
    toasts,
    type_value,
    wait_for,
    wait_for_screen,
    wait_for_text,
    wait_for_toast,
)
from browse.stores import Writer, write_file
from kept.browse._ask import Ask
from kept.browse._editor import Editor
from kept.browse._key_page import KeyPage
from kept.browse._pending import ChangedMeanwhile, Edit, Pending
from kept.browse._pending_screen import PendingScreen
from kept.browse._session import Layers


async def gather(pilot: Pilot[int], key: str, text: str) -> None:
    """Adds an edit to what is pending."""
    before = len(session_of(pilot).pending)
    known = key in session_of(pilot).pending
    await open_editor(pilot, key)
    await type_value(pilot, text)
    await pilot.press("ctrl+g")
    await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
    assert len(session_of(pilot).pending) == before + (not known)


async def review(pilot: Pilot[int]) -> OptionList:
    """Opens the screen with what is pending."""
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
        for text in ("~ audio.volume", "- 30", "+ 77", '- "Mono"', '+ "[red]Serif[/red]"', "- (absent)", '+ "A title"'):
            assert text in lines, text
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "committed as revision")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert session_of(pilot).settings.revision() == before + 1, "one commit"
        await wait_for(pilot, lambda: "77" in line_with(pilot, "audio.volume"), "the new value")
        assert "pending" not in screen_lines(pilot)[0] and len(session_of(pilot).pending) == 0
        await pilot.press("u")
        await wait_for_toast(pilot, "undid revision")
        await wait_for(pilot, lambda: session_of(pilot).settings.get("ui.title") is None, "the undoing")
        assert session_of(pilot).settings["audio.volume"] == 30
        await pilot.press("u")
        await wait_for_toast(pilot, "nothing is left to undo")

    browse(filled, body)


def test_nothing_is_committed_if_one_key_was_changed_by_another_process(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await gather(pilot, "ui.font", "Serif")
        writer.set("ui.font", "Courier")
        await wait_for(pilot, lambda: '"Courier"' in line_with(pilot, "ui.font"), "the change of the other")
        await review(pilot)
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, '"ui.font" changed since you edited')
        settings = session_of(pilot).settings
        assert settings["audio.volume"] == 30 and settings["ui.font"] == "Courier"
        assert isinstance(pilot.app.screen, PendingScreen) and len(session_of(pilot).pending) == 2
        # Edited again, with the new value seen, it replaces it.
        pilot.app.screen.query_one("#edits", OptionList).highlighted = 1
        await pilot.press("e")
        editor = await wait_for_screen(pilot, Editor)
        assert editor.query_one("#editor", Input).value == "Serif", "what is pending is edited further"
        await pilot.press("ctrl+g")
        await wait_for_screen(pilot, PendingScreen)
        await wait_for(pilot, lambda: '- "Courier"' in screen_text(pilot), "the value that is replaced")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await wait_for(pilot, lambda: settings["ui.font"] == "Serif", "the commit")
        assert settings["audio.volume"] == 77

    browse(filled, body)


def test_a_key_that_another_process_makes_or_removes_is_a_conflict_too(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "ui.title", "Mine")
        await gather(pilot, "misc.note", '"mine"')
        writer.set("ui.title", "Theirs")
        writer.reset("misc.note")
        await review(pilot)
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, '"ui.title", "misc.note" changed since you edited')
        assert session_of(pilot).settings["ui.title"] == "Theirs"

    browse(filled, body)


def test_what_kept_refuses_at_the_commit_changes_nothing(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {})

    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await gather(pilot, "ui.font", "Serif")
        write_file(managed, {"ui.font": "Sans"}, ["ui.font"])
        await wait_for(pilot, lambda: session_of(pilot).settings.explain("ui.font").locked, "the lock")
        await review(pilot)
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "lock")
        assert session_of(pilot).settings["audio.volume"] == 30 and len(session_of(pilot).pending) == 2

    browse(filled, body, layers=Layers(str(managed), has_standard=False))


@pytest.mark.filterwarnings("ignore::kept.ShadowedWarning")
def test_a_value_that_a_higher_layer_hides_is_stored_and_said_to_be_hidden(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSETEST_UI_FONT", "Env")

    async def body(pilot: Pilot[int]) -> None:
        assert '"Env"' in line_with(pilot, "ui.font") and line_with(pilot, "ui.font")[1] == "~"
        editor = await open_editor(pilot, "ui.font")
        assert isinstance(editor, Input) and editor.value == "Mono", "the stored value is edited"
        await type_value(pilot, "Serif")
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "is stored, but hidden")

    browse(filled, body, layers=Layers(env_prefix="BROWSETEST_", has_standard=False))
    with kept.open(filled) as store:
        assert store["ui.font"] == "Serif"


def test_edits_are_discarded_one_by_one_or_all(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key, text in [("audio.volume", "77"), ("ui.font", "Serif"), ("ui.title", "A")]:
            await gather(pilot, key, text)
        edits = await review(pilot)
        edits.highlighted = 1
        await pilot.press("d")
        await wait_for(pilot, lambda: edits.option_count == 2, "the rest")
        assert "ui.font" not in screen_text(pilot) and "2 pending changes" in screen_lines(pilot)[0]
        await pilot.press("D")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await pilot.press("a")
        await wait_for_toast(pilot, "nothing is pending")
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


def test_what_is_pending_is_not_lost_without_a_question(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await pilot.press("q")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "discarded")
        await pilot.press("enter", "q", "n")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert len(session_of(pilot).pending) == 1
        await pilot.press("q")
        await wait_for_screen(pilot, Ask)
        await pilot.press("y")

    assert browse(filled, body).return_value == 0
    with kept.open(filled) as store:
        assert store["audio.volume"] == 30


def test_opening_again_keeps_what_is_pending(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        before = session_of(pilot)
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current and session_of(pilot) is not before, "the list")
        await wait_for(pilot, lambda: "audio.volume" in listed(pilot), "the keys")
        await wait_for_text(pilot, "1 pending change")

    browse(filled, body)


def test_read_only_again_commits_nothing(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "audio.volume", "77")
        await review(pilot)
        await pilot.press("w")
        await wait_for_text(pilot, "READ-ONLY")
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "press w")
        assert session_of(pilot).settings["audio.volume"] == 30
        await pilot.press("w")
        await wait_for_text(pilot, "WRITING")

    browse(filled, body)


def test_a_secret_is_covered_among_what_is_pending_and_not_undone(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await gather(pilot, "net.token", "hunter3")
        assert "hunter" not in screen_text(pilot)
        await go_to(pilot, "net.token")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for(pilot, lambda: "pending: (secret)" in text_of(pilot, "#reason"), "what is pending")
        assert "hunter" not in screen_text(pilot)
        await pilot.press("q")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await review(pilot)
        await wait_for_text(pilot, "+ (secret)")
        assert "hunter" not in screen_text(pilot)
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "committed as revision")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert session_of(pilot).settings["net.token"] == "hunter3"
        await pilot.press("u")
        await wait_for_toast(pilot, "a secret's values are not kept")
        assert not [toast for toast in toasts(pilot) if "hunter" in toast] and "hunter" not in screen_text(pilot)

    browse(filled, body)


def test_an_undoing_after_a_change_of_another_process_is_refused(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "77")
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "committed as revision")
        writer.set("audio.volume", 78)
        await pilot.press("u")
        await wait_for_toast(pilot, "changed since")
        assert session_of(pilot).settings["audio.volume"] == 78

    browse(filled, body)


def test_the_page_of_a_key_shows_and_commits_what_is_pending(filled: Path) -> None:
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
        await wait_for(pilot, lambda: "pending: 77" in text_of(pilot, "#reason"), "what is pending")
        await pilot.press("a")
        await wait_for_screen(pilot, PendingScreen)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, KeyPage), "the page")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "77", "the value")
        assert "pending" not in text_of(pilot, "#reason")
        await pilot.press("u")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "30", "the value before")

    browse(filled, body)


# --- without the interface


def test_edits_are_in_the_order_in_which_they_were_begun() -> None:
    pending = Pending()
    for key in "bac":
        pending.add(Edit(key, 0, 1, 5))
    pending.add(Edit("a", 1, 2, 5))
    pending.add(Edit("b", 8, 9, 6))
    assert [(edit.key, edit.old, edit.new) for edit in pending.edits] == [("b", 8, 9), ("a", 0, 2), ("c", 0, 1)]
    pending.drop("a")
    pending.drop("absent")
    assert "a" not in pending and len(pending) == 2
    pending.clear()
    assert not pending.edits


def test_a_conflict_names_the_first_keys() -> None:
    assert str(ChangedMeanwhile(["a"])).startswith('"a" changed')
    assert '"a", "b", "c" and others' in str(ChangedMeanwhile("abcd"))


def test_an_older_commit_is_undone_when_the_newest_cannot_be(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        for key, text in (("audio.volume", "44"), ("net.token", "new")):
            await open_editor(pilot, key)
            await type_value(pilot, text)
            await pilot.press("ctrl+s")
            await wait_for_toast(pilot, "committed as revision")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        for answer, volume in (("n", 44), ("y", 30)):
            await pilot.press("u")
            await wait_for_screen(pilot, Ask)
            await wait_for_text(pilot, "Undo your commit before it")
            await wait_for_text(pilot, "audio.volume")
            await pilot.press(answer)
            await wait_for(pilot, lambda: settings["audio.volume"] == volume, str(volume))  # noqa: B023
        await wait_for_toast(pilot, "undid revision")
        await pilot.press("u")
        await wait_for_toast(pilot, "secret")
        assert keys_screen(pilot).is_current

    browse(filled, body)
