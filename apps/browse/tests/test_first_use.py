"""Problems that a first-time user of the browser ran into."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Switch

import kept
from kept_browse._ask import Ask
from kept_browse._compare_screen import CompareScreen
from kept_browse._key_page import KeyPage
from kept_browse._overview import Overview
from kept_browse._session import Layers
from screens import (
    allow_writing,
    app_of,
    browse,
    go_to,
    keys_screen,
    line_with,
    listed,
    messages,
    open_editor,
    screen_text,
    search,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
    wait_until_gone,
)
from stores import Writer


def test_a_second_search_replaces_the_first_and_escape_ends_it_at_once(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await search(pilot, "theme")
        await wait_for(pilot, lambda: listed(pilot) == ["ui.theme"], "the key")
        await pilot.press("slash", *"font")
        await wait_for(pilot, lambda: listed(pilot) == ["ui.font"], "the other key")
        await pilot.press("slash", *"qqq")
        await wait_for_text(pilot, "No key matches.")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "ui.theme" in listed(pilot), "all keys")
        assert not keys_screen(pilot).query_one("#search", Input).has_focus

    browse(filled, body)


def test_a_warning_before_and_after_a_commit_says_that_it_cannot_be_undone(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "net.token")
        await pilot.press("d")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "cannot be undone")
        assert "does not match" not in screen_text(pilot)
        await pilot.press("y")
        await wait_for_message(pilot, "cannot be undone: the history does not keep the values of secrets")
        assert not any("fit" in text for text in messages(pilot))
        assert not any("u in the list undoes it" in text for text in messages(pilot))

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


def test_pending_changes_are_listed_when_leaving(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        pilot.app.screen.query_one("#editor", Input).value = "31"
        await pilot.press("ctrl+g")
        await wait_for_text(pilot, "1 pending change")
        await pilot.press("q")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "audio.volume  30 -> 31")

    browse(filled, body)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
def test_a_message_covers_nothing_and_ends_at_the_next_key(filled: Path, size: tuple[int, int]) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "net.token")
        await pilot.press("a")
        await wait_for_text(pilot, "No changes are pending")
        for text in ("net.token  ", "What the service asks for", "Open"):
            assert text in screen_text(pilot), text
        await pilot.press("e")
        await wait_for_text(pilot, "Nothing is changed: press")
        assert "No changes are pending" not in screen_text(pilot)
        pressed_before = events.Key("up", None)
        app_of(pilot).tell("a message that comes late")
        before = keys_screen(pilot).key
        pilot.app.post_message(pressed_before)
        await wait_for(pilot, lambda: keys_screen(pilot).key != before, "the effect of the key")
        assert messages(pilot) == ["A message that comes late"]
        await pilot.press("down")
        await wait_until_gone(pilot, "A message that comes late")
        # In a dialog, too.
        await open_editor(pilot, "ui.font")
        app_of(pilot).tell("committed")
        await pilot.press("x")
        assert not messages(pilot)

    browse(filled, body, size=size)


def test_the_overview_counts_declared_keys_as_the_list_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with kept.open("org.example.counted") as settings:
        settings.declare({"a": {"type": "integer"}, "b": {"type": "integer"}})
        settings["a"] = 1

    async def body(pilot: Pilot[int]) -> None:
        await wait_for_screen(pilot, Overview)
        await wait_for(pilot, lambda: " 2 " in line_with(pilot, "org.example.counted"), "the number of keys")

    browse(None, body)


def test_each_screen_shows_the_keys_for_leaving_and_help_at_80_columns(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "q Leave  ? Help")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "? Help")
        for text in ("q Back", "w Writing", "1 Layers", "2 Declaration", "3 History", "4 Live"):
            assert text in screen_text(pilot), text

    browse(filled, body, size=(80, 24))


def test_each_screen_shows_how_to_leave_it_in_40_columns(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "audio.volume")
        for key, leaves in [("", "q Leave"), ("enter", "q Back"), *((key, "esc Back") for key in "ixc")]:
            await pilot.press(*filter(None, [key]))
            await wait_for_text(pilot, leaves)
            await pilot.press(*["escape"] * bool(key))
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await allow_writing(pilot)
        for key in ("n", "e"):
            await pilot.press(key)
            await wait_for_text(pilot, "esc Cancel")
            await pilot.press("escape")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body, size=(40, 12))


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
