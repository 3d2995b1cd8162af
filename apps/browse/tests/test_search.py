"""Searching while typing, and filters."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

import kept
from kept_browse._help import Help
from kept_browse._session import Layers
from screens import (
    browse,
    go_to,
    keys_screen,
    line_with,
    listed,
    screen_lines,
    screen_text,
    search,
    session_of,
    text_of,
    wait_for,
    wait_for_text,
)
from stores import SECRET_TEXT, VALUES, Writer, write_file


async def found(pilot: Pilot[int], text: str, keys: list[str]) -> None:
    """Searches and waits for exactly these keys."""
    await search(pilot, text)
    await wait_for(pilot, lambda: listed(pilot) == keys, f"{keys} for {text!r}, not {listed(pilot)}")


def test_every_letter_narrows_the_list(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("slash")
        counts = []
        for letter in "volume":
            await pilot.press(letter)
            await pilot.pause()
            counts.append(len(listed(pilot)))
        assert counts == sorted(counts, reverse=True) and listed(pilot) == ["audio.volume"]
        assert "1 of 21 keys" in screen_lines(pilot)[0]
        await pilot.press("backspace", "backspace", "x")
        await wait_for(pilot, lambda: listed(pilot) == [], "an empty list")
        await pilot.press("escape", "escape")
        await wait_for(pilot, lambda: len(listed(pilot)) == 21, "all keys")
        assert keys_screen(pilot).query_one("#search", Input).value == ""

    browse(filled, body)


def test_keys_summaries_and_values_are_searched(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await found(pilot, "BALANCE", ["audio.balance"])
        await found(pilot, "how loud", ["audio.volume"])
        await found(pilot, "serif mono", [])
        await found(pilot, "mono", ["ui.font"])
        await found(pilot, "設定", ["misc.wide", "設定.名前"])
        await found(pilot, "שלום", ["misc.right"])
        await found(pilot, "ui. width", ["ui.window"])

    browse(filled, body)


def test_a_changed_value_enters_and_leaves_the_search(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await found(pilot, "courier", [])
        writer.set("ui.font", "Courier")
        await wait_for(pilot, lambda: listed(pilot) == ["ui.font"], "the key with the new value")
        writer.set("new.key", "courier too")
        await wait_for(pilot, lambda: listed(pilot) == ["new.key", "ui.font"], "the new key")
        writer.set("ui.font", "Serif")
        await wait_for(pilot, lambda: listed(pilot) == ["new.key"], "the list without it")

    browse(filled, body)


def test_filters_are_words_of_the_search(filled: Path, tmp_path: Path, writer: Writer) -> None:
    managed = write_file(tmp_path / "managed.json", {"audio.volume": 10, "ui.font": "Sans"}, ["audio.volume"])
    writer.set("audio.muted", True)
    writer.set("misc.number", "text")
    writer.declare({"misc.number": {"type": "integer"}})

    async def body(pilot: Pilot[int]) -> None:
        await found(pilot, "@locked", ["audio.volume", "ui.font"])
        await found(pilot, "@shadowed", ["audio.volume", "ui.font"])
        await found(pilot, "@invalid", ["misc.number"])
        await found(pilot, "@secret", ["net.token"])
        await found(pilot, "@modified audio", ["audio.muted", "audio.volume"])
        await found(pilot, "@undeclared misc.n", ["misc.note"])
        await found(pilot, "@locked @secret", [])
        await search(pilot, "@recent")
        await wait_for(pilot, lambda: set(VALUES) <= set(listed(pilot)), "the new values")
        assert "audio.balance" not in listed(pilot), "which was never written"

    browse(filled, body, layers=Layers(str(managed), has_standard=False))


def test_a_filter_follows_changes_by_others(filled: Path, tmp_path: Path, writer: Writer) -> None:
    managed = write_file(tmp_path / "managed.json", {})

    async def body(pilot: Pilot[int]) -> None:
        await found(pilot, "@modified audio", ["audio.volume"])
        writer.set("audio.muted", True)
        await wait_for(pilot, lambda: listed(pilot) == ["audio.muted", "audio.volume"], "the changed key")
        writer.set("audio.muted", False)
        await wait_for(pilot, lambda: listed(pilot) == ["audio.volume"], "that it is as its default again")
        await found(pilot, "@locked", [])
        write_file(managed, {}, ["audio.volume"])
        await wait_for(pilot, lambda: listed(pilot) == ["audio.volume"], "the locked key")
        write_file(managed, {})
        await wait_for(pilot, lambda: listed(pilot) == [], "the end of the lock")

    browse(filled, body, layers=Layers(str(managed), has_standard=False))


def test_an_incomplete_filter_is_explained(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("slash", "@")
        await wait_for_text(pilot, "@locked: locked by the administrator")
        assert len(listed(pilot)) == 21
        await pilot.press("m")
        await wait_for(pilot, lambda: "@modified:" in text_of(pilot, "#detail"), "the filter that it begins")
        assert "@locked" not in text_of(pilot, "#detail")
        await wait_for_text(pilot, "esc End the search")
        await pilot.press("escape")
        await wait_for(pilot, lambda: "[red]odd[/red]" in text_of(pilot, "#detail"), "the details of the key again")

    browse(filled, body)


def test_a_secret_is_not_found_by_its_value(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await found(pilot, SECRET_TEXT, [])
        await found(pilot, "hunter", [])
        await found(pilot, "net.token", ["net.token"])
        assert "(secret)" in line_with(pilot, "* net.token") and "hunter" not in screen_text(pilot)

    browse(filled, body)


def test_down_and_enter_reach_the_list_and_letters_are_text(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("slash", *"wqtdeun")
        search = keys_screen(pilot).query_one("#search", Input)
        await wait_for(pilot, lambda: search.value == "wqtdeun", "the letters")
        assert "READ-ONLY" in screen_text(pilot)
        await pilot.press("enter")
        assert keys_screen(pilot).query_one("#rows").has_focus
        await pilot.press("slash", "down")
        assert keys_screen(pilot).query_one("#rows").has_focus
        await pilot.press("slash", "f1")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, Help), "the help")

    browse(filled, body)


def test_the_tree_opens_what_a_search_finds(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("t")
        await found(pilot, "volume", ["audio.volume"])
        await found(pilot, "audio", ["audio.balance", "audio.muted", "audio.step", "audio.volume"])
        assert "v audio." in screen_text(pilot)
        await search(pilot, "")
        await wait_for_text(pilot, "> misc.")
        assert "v audio." in screen_text(pilot), "the cursor is there"

    browse(filled, body)


def test_hostile_words_are_searched_literally(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for text in ("[red", "[/", "\\[", "%s {0} {}", "'\"", "\x1b", "@@", "x" * 5000):
            await search(pilot, text)
            assert keys_screen(pilot).is_current
        await found(pilot, "[/red][/]", ["misc.hostile"])

    browse(filled, body)


def test_the_cursor_stays_on_its_key_while_the_search_finds_it(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "misc.note")
        await search(pilot, "misc")
        assert keys_screen(pilot).key == "misc.note"
        await search(pilot, "")
        assert keys_screen(pilot).key == "misc.note" and session_of(pilot).catalog.is_complete

    browse(filled, body)


def test_a_search_ends_while_the_store_is_still_being_read(tmp_path: Path) -> None:
    location = tmp_path / "large.kept"
    with kept.open(location) as store, store.transaction() as transaction:
        for number in range(3000):
            transaction[f"k{number:04}"] = f"value {number}"

    async def body(pilot: Pilot[int]) -> None:
        await wait_for(pilot, lambda: listed(pilot) == ["k2999"], "the key whose value is read last")

    browse(location, body, query='"value 2999"')


@pytest.mark.parametrize("tree", [False, True])
def test_the_key_whose_name_is_typed_gets_the_cursor(filled: Path, writer: Writer, tree: bool) -> None:
    writer.run("settings['ui.fon'] = 1; settings['ui.fonts'] = 2")

    async def body(pilot: Pilot[int]) -> None:
        await wait_for(pilot, lambda: "ui.fonts" in listed(pilot), "the keys")
        if tree:
            await pilot.press("t")
        await go_to(pilot, "ui.fonts") if not tree else None
        await pilot.press("slash", *"ui.font", "enter")
        await wait_for(pilot, lambda: keys_screen(pilot).key == "ui.font", "the cursor on the key")
        await pilot.press("slash", *"ui.fon", "enter")
        await wait_for(pilot, lambda: keys_screen(pilot).key == "ui.fon", "the cursor on the other key")

    browse(filled, body)
