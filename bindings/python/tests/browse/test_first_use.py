"""What a first user of the browser stumbled over."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Switch

import kept
from browse.screens import (
    allow_writing,
    app_of,
    browse,
    go_to,
    keys_screen,
    line_with,
    listed,
    open_editor,
    screen_text,
    search,
    toasts,
    wait_for,
    wait_for_screen,
    wait_for_text,
    wait_for_toast,
)
from browse.stores import Writer
from kept.browse._ask import Ask
from kept.browse._compare_screen import CompareScreen
from kept.browse._key_page import KeyPage
from kept.browse._overview import Overview
from kept.browse._session import Layers


def test_another_store_begins_read_only_again(filled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.kept"
    kept.open(other).close()

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await app_of(pilot).open_store(str(other))
        await wait_for_text(pilot, "other.kept")
        assert "READ-ONLY" in screen_text(pilot)

    browse(filled, body)


def test_a_second_search_replaces_the_first_and_escape_ends_it_at_once(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await search(pilot, "theme")
        await wait_for(pilot, lambda: listed(pilot) == ["ui.theme"], "the key")
        await pilot.press("slash", *"font")
        await wait_for(pilot, lambda: listed(pilot) == ["ui.font"], "the other key")
        await pilot.press("slash", *"qqq")
        await wait_for_text(pilot, "Nothing is found.")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "ui.theme" in listed(pilot), "all keys")
        assert not keys_screen(pilot).query_one("#search", Input).has_focus

    browse(filled, body)


def test_what_cannot_be_undone_is_said_before_and_after(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "net.token")
        await pilot.press("d")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "cannot be undone")
        assert "does not fit" not in screen_text(pilot)
        await pilot.press("y")
        await wait_for_toast(pilot, "cannot be undone: the history does not keep the values of secrets")
        assert not any("fit" in toast for toast in toasts(pilot))
        assert not any("u undoes it" in toast for toast in toasts(pilot))

    browse(filled, body)


def test_a_question_shows_the_stored_value_that_does_not_fit(filled: Path, writer: Writer) -> None:
    writer.set("audio.extra", "left")
    writer.declare({"audio.extra": {"type": "integer"}})

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.extra")
        assert line_with(pilot, "audio.extra").startswith(" !")
        await pilot.press("d")
        await wait_for_text(pilot, 'audio.extra  "left"')
        await pilot.press("y")
        await wait_for(pilot, lambda: line_with(pilot, "audio.extra").startswith((" ", "> ", ">")) and
                       "!" not in line_with(pilot, "audio.extra")[:3], "the row without its mark")  # fmt: skip

    browse(filled, body)


@pytest.mark.filterwarnings("ignore::kept.ShadowedWarning")
@pytest.mark.parametrize("by_us", [True, False])
def test_a_stored_value_that_a_higher_layer_hides_is_shown_as_changed(
    filled: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch, by_us: bool
) -> None:
    monkeypatch.setenv("TESTS_AUDIO_VOLUME", "7")

    async def body(pilot: Pilot[int]) -> None:
        assert "filled" in line_with(pilot, "audio.volume")
        if by_us:
            await open_editor(pilot, "audio.volume")
            pilot.app.screen.query_one("#editor", Input).value = "31"
            await pilot.press("enter")
            await wait_for(pilot, lambda: "kept browse" in line_with(pilot, "audio.volume"), "who has changed it")
        else:
            writer.set("audio.volume", 31)
            await wait_for(pilot, lambda: "the writer" in line_with(pilot, "audio.volume"), "who has changed it")

    browse(filled, body, size=(120, 30), layers=Layers(env_prefix="TESTS_", has_standard=False))


def test_enter_sets_a_boolean_and_space_turns_it(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "audio.muted")
        await pilot.press("space")
        await wait_for(pilot, lambda: isinstance(editor, Switch) and editor.value, "the turned switch")
        await pilot.press("enter")
        await wait_for(pilot, lambda: "true" in line_with(pilot, "audio.muted"), "the value")

    browse(filled, body)


def test_a_letter_goes_to_a_choice(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "ui.theme")
        assert isinstance(editor, OptionList)
        await wait_for_text(pilot, '"dark"  (now)')
        await pilot.press("l")
        await wait_for(pilot, lambda: editor.highlighted == 0, "the choice light")

    browse(filled, body)


def test_a_conflict_shows_the_new_value_and_can_be_committed_then(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        pilot.app.screen.query_one("#editor", Input).value = "31"
        await pilot.press("ctrl+g")
        await wait_for_text(pilot, "1 pending change")
        writer.set("audio.volume", 77)
        await pilot.press("a")
        await wait_for_text(pilot, "- 30")
        await pilot.press("ctrl+s")
        await wait_for_text(pilot, "now:   77")
        await pilot.press("y")
        await wait_for_text(pilot, "- 77")
        await pilot.press("ctrl+s")
        settings = keys_screen(pilot).session.settings
        await wait_for(pilot, lambda: settings["audio.volume"] == 31, "the commit")

    browse(filled, body)


def test_what_is_pending_is_listed_when_one_leaves(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        pilot.app.screen.query_one("#editor", Input).value = "31"
        await pilot.press("ctrl+g")
        await wait_for_text(pilot, "1 pending change")
        await pilot.press("q")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "audio.volume  30 -> 31")

    browse(filled, body)


def test_only_the_last_notification_is_shown(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("e")
        await wait_for_toast(pilot, "press w to allow changes")
        await pilot.press("w")
        await wait_for(pilot, lambda: not toasts(pilot), "no notification")

    browse(filled, body)


def test_the_overview_counts_declared_keys_as_the_list_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with kept.open("org.example.counted") as settings:
        settings.declare({"a": {"type": "integer"}, "b": {"type": "integer"}})
        settings["a"] = 1

    async def body(pilot: Pilot[int]) -> None:
        await wait_for_screen(pilot, Overview)
        await wait_for(pilot, lambda: " 2 " in line_with(pilot, "org.example.counted"), "the number of keys")

    browse(None, body)


def test_each_screen_says_at_80_columns_how_it_is_left_and_helped(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "? Help  q Back")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "? Help")
        for text in ("q Back", "w Writing", "1 Layers", "2 Declaration", "3 History", "4 Live"):
            assert text in screen_text(pilot), text

    browse(filled, body, size=(80, 24))


def test_enter_opens_a_key_of_a_comparison(filled: Path, tmp_path: Path) -> None:
    kept.open(tmp_path / "other.kept").close()

    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("c")
        screen = await wait_for_screen(pilot, CompareScreen)
        screen.query_one(Input).value = str(tmp_path / "other.kept")
        await pilot.press("enter")
        await wait_for_text(pilot, "differences")
        assert screen_text(pilot).splitlines()[0].rstrip().endswith("…"), "what does not fit is cut"
        await wait_for(pilot, lambda: screen.query_one("#rows").has_focus, "the list")
        await pilot.press("enter")
        page = await wait_for_screen(pilot, KeyPage)
        assert page.key == "[red]odd[/red]"
        await pilot.press("escape")
        assert await wait_for_screen(pilot, CompareScreen)

    browse(filled, body, size=(60, 24))


def test_the_list_of_stores_says_that_enter_opens_one() -> None:
    async def body(pilot: Pilot[int]) -> None:
        await wait_for_screen(pilot, Overview)
        await wait_for_text(pilot, "Open another")
        assert "⏎ Open" in screen_text(pilot)

    browse(None, body)
