"""The page of one key."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

import kept
from kept_browse._ask import Ask
from kept_browse._editor import Editor
from kept_browse._key_page import KeyPage
from kept_browse._pending_screen import PendingScreen
from kept_browse._session import Layers
from screens import (
    allow_writing,
    browse,
    keys_screen,
    leave_editor,
    messages,
    open_editor,
    screen_lines,
    screen_text,
    text_of,
    type_value,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
    wait_until_gone,
)
from stores import SECRET_TEXT, Writer, write_file


async def open_page(pilot: Pilot[int], key: str) -> KeyPage:
    keys_screen(pilot).open_key(key)
    page = await wait_for_screen(pilot, KeyPage)
    await wait_for(pilot, lambda: text_of(pilot, "#title"), "the page")
    return page


def test_it_shows_value_reason_and_the_ladder_of_layers(filled: Path, tmp_path: Path) -> None:
    system = write_file(tmp_path / "system.json", {"audio.volume": 20})

    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "audio.volume")
        await wait_for_text(pilot, "> user")
        assert text_of(pilot, "#value") == "30"
        ladder = [line.split() for line in text_of(pilot, "#ladder").split("\n")]
        assert [line[:3] for line in ladder] == [
            [">", "user", "wins"], ["system", "hidden", "20"], ["registered", "silent"], ["declared", "hidden", "50"],
        ]  # fmt: skip
        assert str(system) in text_of(pilot, "#ladder"), "the file that has the value"

    browse(filled, body, layers=Layers(system=str(system), has_standard=False))


def test_it_shows_the_declaration(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "audio.volume")
        await pilot.press("2")
        await wait_for_text(pilot, "For every speaker.")
        lines = [line.split(maxsplit=1) for line in text_of(pilot, "#declared").split("\n")]
        assert lines[:4] == [
            ["summary", "How loud it is"], ["description", "For every speaker."], ["type", "integer"],
            ["default", "50"],
        ]  # fmt: skip
        assert ["maximum", "100"] in lines and ["minimum", "0"] in lines

    async def undeclared(pilot: Pilot[int]) -> None:
        await open_page(pilot, "misc.note")
        await pilot.press("2")
        await wait_for_text(pilot, "The key is not declared")

    browse(filled, body)
    browse(filled, undeclared)


SHOWN = [
    ("net.certificate", "AP8c"),
    ("net.since", "2026-11-20T23:44:01Z"),
    ("ui.font", "Mono"),
    ("ui.window", '{\n  "width": 800\n}'),
    ("misc.wide", "設定の値"),
    ("ui.title", "(absent)"),
    ("absent.key", "(absent)"),
    ("..", "(absent)"),
]


def test_a_value_of_every_type_is_shown(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key, value in SHOWN:
            await open_page(pilot, key)
            await wait_for(pilot, lambda: text_of(pilot, "#value") == value, f"{value!r} of {key}")  # noqa: B023
            await pilot.press("q")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body)


@pytest.mark.parametrize("key", ["x" * 2000, "a\0b", "\ud800"])
def test_an_invalid_key_is_refused_with_the_reason(filled: Path, key: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "(the key ")
        await pilot.press("e", "w", "e", "d", "u", "r", "1", "2", "3", "4", "q")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body, key=key)


# --- changes by others


def test_a_change_by_another_process_is_shown_on_every_part(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "audio.volume")
        await pilot.press("4")
        await wait_for_text(pilot, "appear here as they happen")
        writer.set("audio.volume", 71)
        await wait_for_text(pilot, "30 -> 71")
        assert "the writer" in text_of(pilot, "#log") and "other" in text_of(pilot, "#log").lower()
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "71", "the value")
        assert "71" in text_of(pilot, "#ladder")
        writer.settle()
        writer.reset("audio.volume")
        await wait_for(pilot, lambda: text_of(pilot, "#log").split("\n")[0].endswith("71 -> (absent)")
                       or text_of(pilot, "#log").split("\n")[0].endswith("71 -> 50"), "the newest first")  # fmt: skip
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "50", "the default")
        await pilot.press("3")
        await wait_for_text(pilot, "71")

    browse(filled, body)


def test_a_key_that_vanishes_leaves_its_page_and_comes_again(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "misc.note")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "not declared", "the value")
        writer.reset("misc.note")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "(absent)", "that it is absent")
        await allow_writing(pilot)
        await pilot.press("d")
        await wait_for_message(pilot, "no stored value to remove")
        writer.set("misc.note", "again")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "again", "the new value")

    browse(filled, body)


def test_a_lock_is_shown_when_it_is_written_and_forbids_editing(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {})

    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "audio.volume")
        write_file(managed, {"audio.volume": 11}, ["audio.volume"])
        await wait_for(pilot, lambda: "LOCKED" in text_of(pilot, "#title"), "the lock")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "11", "the prescribed value")
        assert str(managed) in text_of(pilot, "#ladder")
        await allow_writing(pilot)
        await pilot.press("e")
        await wait_for_message(pilot, f'"audio.volume" is locked by {managed} and cannot be changed here')
        assert isinstance(pilot.app.screen, KeyPage)

    browse(filled, body, layers=Layers(str(managed), has_standard=False))


def test_a_value_that_does_not_fit_is_marked_with_the_reason(filled: Path, writer: Writer) -> None:
    writer.set("misc.number", "text")
    writer.declare({"misc.number": {"type": "integer", "default": 7}})

    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "misc.number")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "7", "the default")
        line = next(line for line in text_of(pilot, "#ladder").split("\n") if " user " in line)
        assert line.startswith("!") and "skipped" in line and "integer" in line

    browse(filled, body)


# --- history


def test_the_history_is_undone(filled: Path, writer: Writer) -> None:
    for value in (40, 45):
        writer.set("audio.volume", value)
        writer.settle()

    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "audio.volume")
        await pilot.press("3")
        await wait_for_text(pilot, "40 -> 45")
        past = pilot.app.screen.query_one("#past", OptionList)
        assert past.option_count == 3 and "the writer" in screen_text(pilot)
        await pilot.press("u")
        await wait_for_message(pilot, "press w")
        await allow_writing(pilot)
        await pilot.press("u")
        await wait_for_message(pilot, "Undid revision")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "40", "the value before")
        await wait_for(pilot, lambda: past.option_count == 4, "the undoing in the history")
        assert "kept browse" in screen_text(pilot)

    browse(filled, body)
    with kept.open(filled) as store:
        assert store["audio.volume"] == 40


async def edit(pilot: Pilot[int], key: str, text: str, end: str) -> None:
    """Edits a key on the list."""
    await open_editor(pilot, key)
    await type_value(pilot, text)
    await pilot.press(end)
    await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")


def test_the_page_of_a_key_undoes_changes_of_that_key(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await edit(pilot, "audio.volume", "77", "ctrl+s")
        await edit(pilot, "ui.font", "Serif", "ctrl+s")
        settings = keys_screen(pilot).session.settings
        # The last commit changed another key.
        await open_page(pilot, "audio.balance")
        await pilot.press("u")
        await wait_for_message(pilot, "you have not changed this key since the store was opened")
        await pilot.press("escape")
        await open_page(pilot, "audio.volume")
        await pilot.press("u")
        await wait_for_message(pilot, "Undid revision")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "30", "the value before")
        assert settings["ui.font"] == "Serif"
        # No second one exists.
        await pilot.press("u")
        await wait_for_message(pilot, "you have not changed this key since the store was opened")
        assert settings["audio.volume"] == 30 and settings["ui.font"] == "Serif"

    browse(filled, body)


@pytest.mark.parametrize("tab", ["1", "3"])
def test_undoing_a_commit_of_several_keys_asks_first(filled: Path, tab: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await edit(pilot, "audio.volume", "77", "ctrl+g")
        await edit(pilot, "ui.font", "Serif", "ctrl+g")
        await pilot.press("a", "ctrl+s")
        await wait_for_message(pilot, "committed as revision")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        settings = keys_screen(pilot).session.settings
        await open_page(pilot, "audio.volume")
        await pilot.press(tab)
        if tab == "3":
            await wait_for_text(pilot, "30 -> 77")
            pilot.app.screen.query_one("#past", OptionList).highlighted = 0
        for answer in ("n", "y"):
            await pilot.press("u")
            await wait_for_screen(pilot, Ask)
            assert "It changed 2 keys" in screen_text(pilot) and "ui.font" in screen_text(pilot)
            assert settings["ui.font"] == "Serif"
            await pilot.press(answer)
            await wait_for_screen(pilot, KeyPage)
        await wait_for_message(pilot, "Undid revision")
        assert settings["ui.font"] == "Mono" and settings["audio.volume"] == 30

    browse(filled, body)


def test_an_undo_after_a_later_change_is_refused(filled: Path, writer: Writer) -> None:
    for value in (40, 45):
        writer.set("audio.volume", value)
        writer.settle()

    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "audio.volume")
        await allow_writing(pilot)
        await pilot.press("3")
        await wait_for_text(pilot, "30 -> 40")
        pilot.app.screen.query_one("#past", OptionList).highlighted = 1
        await pilot.press("u")
        await wait_for(pilot, lambda: messages(pilot), "the refusal")
        assert "revision" in messages(pilot)[0] and text_of(pilot, "#value") == "45"

    browse(filled, body)


def test_the_cursor_of_the_history_stays_on_its_change(filled: Path, writer: Writer) -> None:
    writer.set("audio.volume", 40)

    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "audio.volume")
        await pilot.press("3")
        await wait_for_text(pilot, "30 -> 40")
        past = pilot.app.screen.query_one("#past", OptionList)
        past.highlighted = 0
        for count, value in enumerate((41, 42), 3):
            writer.settle()
            writer.set("audio.volume", value)
            await wait_for(pilot, lambda n=count: past.option_count == n, "the newer change")  # type: ignore[misc]
            assert past.highlighted is not None
            assert "30 -> 40" in str(past.get_option_at_index(past.highlighted).prompt)

    browse(filled, body)


def test_long_values_leave_room_for_other_changes_in_the_history(filled: Path, writer: Writer) -> None:
    for letter in "abc":
        writer.set("misc.note", letter * 1500)
        writer.settle()

    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "misc.note")
        await pilot.press("3")
        await wait_for_text(pilot, '"not declared" ->')

    browse(filled, body, size=(80, 24))


def test_the_page_of_a_key_without_history_says_so(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "audio.muted")
        await pilot.press("3")
        await wait_for_text(pilot, "No changes are recorded.")
        await allow_writing(pilot)
        await pilot.press("u")
        await wait_for_message(pilot, "you have not changed this key since the store was opened")

    browse(filled, body)


# --- secrets


def test_a_secret_is_covered_until_it_is_revealed(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "net.token")
        await wait_for_text(pilot, "(secret)  r reveals it")
        assert "SECRET" in screen_lines(pilot)[0]
        writer.set("net.token", f"{SECRET_TEXT}2")
        for tab in "1234":
            await pilot.press(tab)
            await pilot.pause()
            assert "hunter" not in screen_text(pilot)
        await wait_for(pilot, lambda: "(secret)" in text_of(pilot, "#log"), "the covered change")
        await pilot.press("r")
        await wait_for(pilot, lambda: text_of(pilot, "#value") == f"{SECRET_TEXT}2", "the value")
        await pilot.press("r")
        await wait_until_gone(pilot, "hunter")
        await pilot.press("r")
        await wait_for_text(pilot, "hunter")
        await pilot.press("q")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert "hunter" not in screen_text(pilot)
        await open_page(pilot, "net.token")
        await wait_for_text(pilot, "r reveals it")

    browse(filled, body)


def test_the_default_of_a_secret_is_covered(filled: Path, writer: Writer) -> None:
    writer.declare(
        {"net.pin": {"type": "string", "secret": True, "default": "hunter-default", "enum": ["hunter-default"]}}
    )

    async def body(pilot: Pilot[int]) -> None:
        await open_page(pilot, "net.pin")
        for tab in "1234":
            await pilot.press(tab)
            await pilot.pause()
            assert "hunter" not in screen_text(pilot)
        await pilot.press("2")
        await wait_for_text(pilot, "(secret)")

    browse(filled, body)


def test_a_page_is_left_while_it_is_read(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for number in range(20):
            writer.set("audio.volume", number)
            keys_screen(pilot).open_key("audio.volume")
            await wait_for(pilot, lambda: isinstance(pilot.app.screen, KeyPage), "the page")
            await pilot.press("q")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body)


def test_a_key_that_becomes_a_secret_is_covered_on_every_screen(filled: Path, writer: Writer) -> None:
    writer.run(
        "settings.undeclare('ui.font'); settings['ui.font'] = 'hunter 1'; settings.history();"
        "settings['ui.font'] = 'hunter 2'; settings.undeclare('ui.columns'); settings['ui.columns'] = ['hunter 3']"
    )

    def covered(pilot: Pilot[int]) -> bool:
        return "hunter" not in screen_text(pilot)

    async def declare(pilot: Pilot[int], key: str, kind: str) -> None:
        writer.declare({key: {"type": kind, "secret": True, "default": "hunter" if kind == "string" else ["hunter"]}})
        await wait_for(pilot, lambda: covered(pilot), "the cover")

    async def body(pilot: Pilot[int]) -> None:
        # In an editor with a line, and on the page below it.
        await wait_for_text(pilot, "hunter 3")
        await allow_writing(pilot)
        await open_page(pilot, "ui.font")
        await pilot.press("r")  # which has no effect on a key that is not secret, now or later
        writer.set("ui.font", "hunter 4")
        await wait_for(pilot, lambda: "hunter 4" in text_of(pilot, "#log"), "the change")
        await pilot.press("e")
        editor = (await wait_for_screen(pilot, Editor)).query_one("#editor")
        await pilot.press("x")
        await declare(pilot, "ui.font", "string")
        assert "hunter" in str(getattr(editor, "value", "")) + str(getattr(editor, "text", "")), "it is not lost"
        await leave_editor(pilot)
        for tab in "1234":
            await pilot.press(tab)
            await wait_for(pilot, lambda: covered(pilot), f"the cover of tab {tab}")
        await wait_for_text(pilot, "(secret)")
        await pilot.press("escape")
        # In an area with JSON, and among the pending changes.
        await open_editor(pilot, "ui.columns")
        await pilot.press("ctrl+home", "space", "ctrl+g")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await open_editor(pilot, "ui.columns")
        await type_value(pilot, '["hunter 5"]')
        await pilot.press("ctrl+g", "a")
        await wait_for_screen(pilot, PendingScreen)
        await wait_for_text(pilot, "hunter 5")
        await pilot.press("e")
        await wait_for_screen(pilot, Editor)
        await wait_for_text(pilot, "hunter 5")
        await type_value(pilot, '["hunter 5" hunter]')
        await wait_for(pilot, lambda: "hunter" in text_of(pilot, "#problem"), "the reason")
        await declare(pilot, "ui.columns", "array")
        assert "hunter" not in text_of(pilot, "#problem") and "line 1, column" in text_of(pilot, "#problem")
        await leave_editor(pilot)
        await wait_for_screen(pilot, PendingScreen)
        await wait_for(pilot, lambda: covered(pilot), "the covered pending value")
        await wait_for_text(pilot, "(secret)")

    browse(filled, body)
