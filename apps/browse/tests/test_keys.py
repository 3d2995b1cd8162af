"""The list of keys: its contents, and that it follows the changes of other processes."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

import kept
from kept_browse._app import Browser
from kept_browse._ask import Ask
from kept_browse._editor import Editor
from kept_browse._help import Help
from kept_browse._key_page import KeyPage
from kept_browse._keys import ORDERS
from kept_browse._outline import Branch, Leaf
from kept_browse._rows import Row
from kept_browse._session import Layers
from screens import (
    allow_writing,
    app_of,
    browse,
    go_to,
    is_loaded,
    keys_screen,
    line_with,
    listed,
    messages,
    open_editor,
    rows,
    screen_lines,
    screen_text,
    search,
    session_of,
    text_of,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
    wait_until_gone,
)
from stores import SECRET_TEXT, VALUES, Writer, write_file


@pytest.mark.usefixtures("lasting_marks")
def test_each_key_has_its_value_type_layer_change_and_writer(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        writer.set("audio.volume", 70)
        await wait_for_text(pilot, "the writer")
        line = line_with(pilot, "audio.volume")
        assert [cell.strip() for cell in line.split("  ") if cell.strip()][-6:] == [
            ">* audio.volume", "70", "integer  user".split("  ")[0], "user", "now", "the writer",
        ]  # fmt: skip
        assert line_with(pilot, "audio.balance").split() == ["audio.balance", "0.0", "number", "declared"]
        assert str(filled) in screen_lines(pilot)[0] and "READ-ONLY" in screen_lines(pilot)[0]

    browse(filled, body, size=(120, 30))


def test_a_narrow_terminal_shows_who_changed_a_key_below_the_list(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "audio.volume")
        await wait_for_text(pilot, "How loud it is")
        assert "by filled [red]odd[/red]" in text_of(pilot, "#detail")
        assert line_with(pilot, "KEY").split() == ["KEY", "VALUE", "TYPE", "LAYER", "CHANGED"]

    browse(filled, body, size=(80, 24))


def test_long_keys_take_the_room_of_columns_and_are_cut_in_their_middle(tmp_path: Path) -> None:
    location = tmp_path / "long.kept"
    keys = [f"com.example.player.{name}.time-between-tries" for name in ("audio", "network")]
    with kept.open(location) as store:
        store.update(dict.fromkeys(keys, "some text"))

    async def body(pilot: Pilot[int]) -> None:
        for key in keys:
            assert '"some text"' in line_with(pilot, f"* {key}")
        assert line_with(pilot, "KEY").split() == ["KEY", "VALUE", "TYPE", "LAYER", "CHANGED"]
        await pilot.resize_terminal(80, 24)
        await wait_for_text(pilot, "* com.exampl…network.time-between-tries ")
        assert line_with(pilot, "KEY").split() == ["KEY", "VALUE", "LAYER", "CHANGED"]
        await pilot.press("down")
        await wait_for(pilot, lambda: f"{keys[1]}\nstring  ·  changed" in text_of(pilot, "#detail"), "the details")

    browse(location, body, size=(110, 24))


def test_an_empty_store_has_an_empty_list_that_fills(tmp_path: Path, process: Writer) -> None:
    location = tmp_path / "empty.kept"
    kept.open(location).close()

    async def body(pilot: Pilot[int]) -> None:
        assert "0 keys" in screen_text(pilot) and rows(pilot).item is None
        for key in ("enter", "e", "d", "t", "left", "right", "end", "down", "pageup", "home", "u", "a", "t"):
            await pilot.press(key)
        process.open(location)
        process.set("first", 1)
        await wait_for(pilot, lambda: rows(pilot).item == "first", "the first key under the cursor")
        assert "1 key" in screen_lines(pilot)[0]
        process.reset("first")
        await wait_for(pilot, lambda: rows(pilot).item is None, "the empty list")
        process.open(None)

    browse(location, body)


# --- changes by others


@pytest.mark.usefixtures("lasting_marks")
def test_a_change_by_another_process_is_shown_and_stands_out(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        writer.set("ui.font", "Serif")
        await wait_for(pilot, lambda: line_with(pilot, "ui.font").startswith(">"), "the sign of a change")
        assert '"Serif"' in line_with(pilot, "ui.font")
        session_of(pilot).catalog._flashes["ui.font"] = 0.0  # the time of the sign is over
        await wait_for(pilot, lambda: line_with(pilot, "ui.font").startswith(" "), "the end of the sign")

    browse(filled, body)


def test_a_key_that_comes_before_the_cursor_does_not_move_it_to_another_key(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "misc.note")
        for number in range(5):
            writer.set(f"aa.{number}", number)
            await wait_for(pilot, lambda n=number: f"aa.{n}" in screen_text(pilot), "the new key")  # type: ignore[misc]
            assert keys_screen(pilot).key == "misc.note"
            assert text_of(pilot, "#detail").startswith("misc.note\n")
        writer.run("for n in range(5): settings.reset(f'aa.{n}')")
        await wait_until_gone(pilot, "aa.")
        assert keys_screen(pilot).key == "misc.note"

    browse(filled, body)


def test_the_cursor_keeps_its_line_when_keys_come_above_it(tmp_path: Path, process: Writer) -> None:
    location = tmp_path / "many.kept"
    with kept.open(location) as store, store.transaction() as transaction:
        for number in range(200):
            transaction[f"k{number:03}"] = number

    async def body(pilot: Pilot[int]) -> None:
        process.open(location)
        await go_to(pilot, "k100")
        before = next(place for place, line in enumerate(screen_lines(pilot)) if "k100" in line)
        process.run("for n in range(50): settings[f'a{n:02}'] = n")
        await wait_for(pilot, lambda: len(listed(pilot)) == 250, "the new keys")
        await wait_for_text(pilot, "250 keys")
        assert keys_screen(pilot).key == "k100" and "k100" in screen_lines(pilot)[before]
        process.run("for n in range(50): settings.reset(f'a{n:02}')")
        await wait_for_text(pilot, "200 keys")
        assert keys_screen(pilot).key == "k100" and "k100" in screen_lines(pilot)[before]
        process.open(None)

    browse(location, body)


@pytest.mark.parametrize("is_tree", [False, True])
def test_a_new_key_that_comes_first_is_in_view(tmp_path: Path, process: Writer, is_tree: bool) -> None:
    location = tmp_path / "many.kept"
    with kept.open(location) as store:
        store.update({f"k{number:03}": number for number in range(200)})

    async def body(pilot: Pilot[int]) -> None:
        await pilot.press(*["t"] * is_tree)
        process.open(location)
        process.run("settings['a.1'] = 1; settings['a.2'] = 2")
        await wait_for_text(pilot, "> a.  (2)" if is_tree else "a.2")
        assert keys_screen(pilot).key == "k000"
        await go_to(pilot, "k150")
        await allow_writing(pilot)
        await pilot.press("n", *"a.0", "enter")
        await wait_for_screen(pilot, Editor)
        await pilot.press("7", "ctrl+s")
        await wait_for(pilot, lambda: keys_screen(pilot).key == "a.0", "the cursor on the new key")
        await wait_for_text(pilot, "*   0 " if is_tree else "a.0")
        process.open(None)

    browse(location, body, size=(80, 24))


def test_if_its_key_goes_the_cursor_is_on_the_next_one(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "misc.note")
        writer.reset("misc.note")
        await wait_until_gone(pilot, "misc.note")
        await wait_for(pilot, lambda: keys_screen(pilot).key == "misc.right", "the cursor on the next key")
        assert text_of(pilot, "#detail").startswith("misc.right\n")

    browse(filled, body)


def test_the_cursor_stays_in_the_tree_and_in_a_search_too(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await search(pilot, "misc")
        await go_to(pilot, "misc.note")
        writer.set("misc.a", 1)
        await wait_for_text(pilot, "misc.a")
        assert keys_screen(pilot).key == "misc.note"
        await pilot.press("t")
        await wait_for_text(pilot, "v misc.")
        assert keys_screen(pilot).key == "misc.note"
        writer.set("misc.b", 1)
        await wait_for(pilot, lambda: "misc.b" in listed(pilot), "the new key")
        assert keys_screen(pilot).key == "misc.note"

    browse(filled, body)


def test_a_declaration_of_another_process_without_a_value_appears(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        writer.declare({"later.key": {"type": "boolean", "summary": "Declared later"}})
        await wait_for_text(pilot, "later.key")
        assert line_with(pilot, "later.key").split() == ["later.key", "boolean"]

    browse(filled, body)


def test_many_changes_at_once_are_all_shown(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        writer.run("""
for number in range(300):
    settings[f"many.{number % 30:02}"] = number
""")
        await wait_for(pilot, lambda: listed(pilot).count("many.29") == 1, "the keys")
        catalog = session_of(pilot).catalog
        await wait_for(pilot, lambda: (row := catalog.row("many.29")) and row.value == "299", "the last value")
        assert [key for key in listed(pilot) if key.startswith("many.")] == [f"many.{n:02}" for n in range(30)]

    browse(filled, body)


def test_a_lock_that_is_written_while_the_list_is_open_is_marked(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {})

    async def body(pilot: Pilot[int]) -> None:
        assert "=" not in line_with(pilot, "audio.volume")
        write_file(managed, {"audio.volume": 11}, ["audio.volume", "audio.muted"])
        await wait_for(pilot, lambda: "=" in line_with(pilot, "audio.volume")[:3], "the mark of a lock")
        assert "11" in line_with(pilot, "audio.volume") and "managed" in line_with(pilot, "audio.volume")
        await wait_for(pilot, lambda: "=" in line_with(pilot, "audio.muted")[:3], "the mark without a value")
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        await pilot.press("e")
        await wait_for_message(pilot, "is locked by")
        assert any(str(managed) in text for text in messages(pilot)), "it says who has locked it"
        assert keys_screen(pilot).is_current, "there is no editor"
        write_file(managed, {})
        await wait_for(pilot, lambda: "=" not in line_with(pilot, "audio.volume")[:3], "the end of the lock")
        assert "30" in line_with(pilot, "audio.volume")

    browse(filled, body, layers=Layers(str(managed), has_standard=False))


def test_opening_the_store_again_keeps_the_search_and_the_cursor(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await search(pilot, "audio")
        await go_to(pilot, "audio.step")
        before = keys_screen(pilot)
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: keys_screen(pilot) is not before and is_loaded(app_of(pilot)), "the new list")
        await wait_for(pilot, lambda: len(listed(pilot)) == 4, "the search")
        assert keys_screen(pilot).key == "audio.step" and "4 of 21 keys" in screen_lines(pilot)[0]

    browse(filled, body)


def test_a_store_that_is_removed_or_replaced_is_reported_and_opened_again(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        shutil.rmtree(filled)
        await wait_for_text(pilot, "was removed")
        await pilot.press("ctrl+r")
        await wait_for_message(pilot, "does not exist")
        with kept.open(filled) as store:
            store["after"] = 1
            await wait_for_text(pilot, "was replaced by")
            await pilot.press("ctrl+r")
            await wait_for_text(pilot, "after")
            await wait_for(pilot, lambda: listed(pilot) == ["after"], "the keys of the new store")
            assert "was replaced" not in screen_text(pilot)
            store["after"] = 2
            await wait_for(pilot, lambda: " 2 " in line_with(pilot, "after"), "its change")

    browse(filled, body)


# --- tree


def test_the_tree_has_branches_that_open_and_close(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("t")
        await wait_for_text(pilot, "> audio.  (4)")
        assert "audio.volume" not in screen_text(pilot)
        await go_to_branch(pilot, "audio.")
        await pilot.press("right")
        await wait_for_text(pilot, "v audio.  (4)")
        assert " volume" in screen_text(pilot) and text_of(pilot, "#detail") == "audio.\n4 keys"
        await pilot.press("down", "down")
        assert keys_screen(pilot).key == "audio.muted"
        await pilot.press("left")
        assert isinstance(rows(pilot).item, Branch), "left goes from a key to its branch"
        await pilot.press("left")
        await wait_for_text(pilot, "> audio.  (4)")
        await pilot.press("enter")
        await wait_for_text(pilot, "v audio.  (4)")
        await pilot.press("t")
        await wait_for_text(pilot, "audio.volume")
        assert listed(pilot)[1] == "audio.balance"

    browse(filled, body)


def test_a_tree_lists_every_key_when_all_is_open(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("t")
        await pilot.pause()
        place = 0
        while place < len(rows(pilot).items):
            item = rows(pilot).items[place]
            if isinstance(item, Branch) and not item.is_open:
                rows(pilot).put_cursor(item)
                await pilot.press("right")
                await pilot.pause()
            place += 1
        leaves = [item.key for item in rows(pilot).items if isinstance(item, Leaf)]
        assert leaves == session_of(pilot).catalog.keys

    browse(filled, body)


def test_the_cursor_stays_on_its_key_when_the_list_becomes_a_tree_and_back(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key in ("ui.theme", "net.since", "audio.volume", "設定.名前"):
            await go_to(pilot, key)
            await pilot.press("t")
            await pilot.pause()
            assert keys_screen(pilot).key == key and isinstance(rows(pilot).item, Leaf | str)
            await pilot.press("t")
            await pilot.pause()
            assert keys_screen(pilot).key == key

    browse(filled, body)


def test_the_cursor_of_the_tree_stays_when_a_search_ends(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("t")
        await search(pilot, "theme")
        await wait_for_text(pilot, "ui.theme")
        await go_to(pilot, "ui.theme")
        await pilot.press("escape")
        await wait_for_text(pilot, "> audio.  (4)")
        assert keys_screen(pilot).key == "ui.theme"

    browse(filled, body)


def test_the_cursor_of_the_tree_stays_on_a_key_that_gets_a_branch(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("t")
        await go_to(pilot, "設定.名前")
        writer.set("設定.色", "赤")
        await wait_for_text(pilot, "v 設定.  (2)")
        assert keys_screen(pilot).key == "設定.名前"
        # The other way round: the branch disappears, and its last key takes its place.
        await go_to_branch(pilot, "設定.")
        await pilot.press("left")
        await wait_for_text(pilot, "> 設定.  (2)")
        writer.reset("設定.名前")
        await wait_for(pilot, lambda: keys_screen(pilot).key == "設定.色", "the last key of the branch")

    browse(filled, body)


def test_left_goes_to_the_branch_that_is_drawn(tmp_path: Path) -> None:
    location = tmp_path / "deep.kept"
    with kept.open(location) as store, store.transaction() as transaction:
        for key in ("x.a", "x.b.c", "x.b.d", "x.y.z", "z.only"):
            transaction[key] = 1

    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("t")
        # A branch with one key is that key: x.y.z is a line below x.
        await go_to(pilot, "x.y.z")
        await pilot.press("left")
        assert rows(pilot).item == Branch("x.", 0, 4, True)
        await go_to_branch(pilot, "x.b.")
        await pilot.press("right", "down", "down", "left")
        assert rows(pilot).item == Branch("x.b.", 1, 2, True)
        await pilot.press("left", "left")
        assert rows(pilot).item == Branch("x.", 0, 4, True)
        await go_to(pilot, "z.only")
        await pilot.press("left")
        assert keys_screen(pilot).key == "z.only", "nothing is above it"

    browse(location, body)


async def go_to_branch(pilot: Pilot[int], prefix: str) -> None:
    rows(pilot).put_cursor(Branch(prefix, 0, 0, False))
    await pilot.pause()
    item = rows(pilot).item
    assert isinstance(item, Branch) and item.prefix == prefix


# --- keys and mouse


def test_the_list_is_sorted_by_change_layer_or_type(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        by_key = listed(pilot)
        writer.settle()
        writer.set("ui.font", "Serif")
        await wait_for_text(pilot, '"Serif"')
        await go_to(pilot, "ui.window")
        await pilot.press("s")
        await wait_for_text(pilot, "newest change first")
        assert listed(pilot)[0] == keys_screen(pilot).key == "ui.font" and sorted(listed(pilot)) == by_key
        await go_to(pilot, "net.since")
        writer.settle()
        writer.set("ui.title", "New")
        await wait_for(pilot, lambda: listed(pilot)[0] == "ui.title", "the newer change")
        assert keys_screen(pilot).key == "net.since" and line_with(pilot, "net.since") != ""
        await pilot.press("s")
        await wait_for_text(pilot, "by layer")
        assert listed(pilot)[:3] == ["audio.balance", "audio.muted", "audio.step"]
        await pilot.press("s")
        await wait_for_text(pilot, "by type")
        assert listed(pilot)[:2] == ["ui.columns", "audio.muted"]
        await pilot.press("s")
        assert listed(pilot) == by_key

    browse(filled, body)


def test_the_list_is_sorted_once_for_each_change(filled: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    ranked: list[Row | None] = []
    rank = ORDERS["newest change first"]
    assert rank is not None

    def counted(row: Row | None) -> Any:
        ranked.append(row)
        return rank(row)

    monkeypatch.setitem(ORDERS, "newest change first", counted)

    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("s")
        await wait_for(pilot, lambda: len(ranked) == len(listed(pilot)), "the order")
        keys_screen(pilot).edits_changed()
        assert len(ranked) == len(listed(pilot))
        writer.settle()
        writer.set("ui.font", "Serif")
        await wait_for(pilot, lambda: listed(pilot)[0] == "ui.font", "the newer change")
        assert len(ranked) > len(listed(pilot))

    browse(filled, body)


def test_a_key_and_its_value_are_copied_but_no_covered_secret(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key, text in [("ui.font", "Mono"), ("audio.volume", "30"), ("net.certificate", "AP8c")]:
            await go_to(pilot, key)
            await pilot.press("Y")
            assert pilot.app.clipboard == key
            await pilot.press("y")
            assert pilot.app.clipboard == text
        await wait_for_message(pilot, "copied the value")
        await go_to(pilot, "ui.title")
        await pilot.press("y")
        await wait_for_message(pilot, "no value to copy")
        await go_to(pilot, "net.token")
        await pilot.press("y")
        await wait_for_message(pilot, "to copy a secret, open the page")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "r reveals it")
        await pilot.press("y")
        assert pilot.app.clipboard == "AP8c"
        await pilot.press("r")
        await wait_for_text(pilot, SECRET_TEXT)
        await pilot.press("y")
        assert pilot.app.clipboard == SECRET_TEXT

    browse(filled, body)


def test_the_keys_move_the_cursor(tmp_path: Path) -> None:
    location = tmp_path / "many.kept"
    with kept.open(location) as store, store.transaction() as transaction:
        for number in range(100):
            transaction[f"k{number:02}"] = number

    async def body(pilot: Pilot[int]) -> None:
        for key, place in [
            ("up", 0), ("down", 1), ("j", 2), ("k", 1), ("end", 99), ("down", 99), ("home", 0), ("G", 99), ("g", 0),
        ]:  # fmt: skip
            await pilot.press(key)
            assert keys_screen(pilot).key == f"k{place:02}", key
            assert f"k{place:02}" in screen_text(pilot), "the cursor is in view"
        await pilot.press("pagedown")
        below = rows(pilot).item
        await pilot.press("pageup")
        assert below == f"k{rows(pilot).size.height - 1:02}" and rows(pilot).item == "k00"

    browse(location, body)


def test_a_click_moves_the_cursor_and_two_open_a_key(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        place = listed(pilot).index("audio.muted")
        await pilot.click("#rows", offset=(5, place))
        await pilot.pause()
        assert keys_screen(pilot).key == "audio.muted"
        await pilot.click("#rows", offset=(5, len(listed(pilot)) + 1))
        assert keys_screen(pilot).key == "audio.muted", "below the last key is nothing"
        await pilot.click("#rows", offset=(5, place), times=2)
        assert (await wait_for_screen(pilot, KeyPage)).key == "audio.muted"

    browse(filled, body)


def test_enter_opens_a_key_and_q_comes_back(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "ui.font")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await pilot.press("q")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert keys_screen(pilot).key == "ui.font"

    browse(filled, body)


@pytest.mark.parametrize("key", ["question_mark", "f1"])
def test_the_help_explains_every_sign_and_filter(filled: Path, key: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press(key)
        await wait_for_screen(pilot, Help)
        await wait_for_text(pilot, "read-only")
        for text in ("changed from its default", "locked by the administrator", "@modified", "@undeclared"):
            assert text in screen_text(pilot)
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body, size=(100, 60))


def test_q_ends_the_program(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("q")

    assert browse(filled, body).return_value == 0


@pytest.mark.parametrize("is_pending", [False, True])
def test_escape_never_ends_the_program(filled: Path, is_pending: bool) -> None:
    async def body(pilot: Pilot[int]) -> None:
        if is_pending:
            await open_editor(pilot, "ui.font")
            await pilot.press("x", "ctrl+g")
            await wait_for_text(pilot, "1 pending change")
        await go_to(pilot, "ui.font")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await pilot.press("escape", "escape", "escape", "escape")
        await wait_for_message(pilot, "press q to quit")
        assert keys_screen(pilot).is_current and pilot.app.is_running
        assert len(session_of(pilot).pending) == is_pending

    assert browse(filled, body).return_value is None


# --- the start


def test_it_begins_read_only_and_one_key_allows_writing(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "ui.font")
        for key in ("e", "d", "D", "n"):
            await pilot.press(key)
            await wait_for(pilot, lambda: any("press w" in text for text in messages(pilot)), "how to allow it")
            assert keys_screen(pilot).is_current
        await allow_writing(pilot)
        await pilot.press("d")
        await wait_for_screen(pilot, Ask)
        await pilot.press("n")
        await pilot.press("w")
        await wait_for_text(pilot, "READ-ONLY")
        await pilot.press("e")
        await wait_for_message(pilot, "press w")

    browse(filled, body)
    with kept.open(filled) as store:
        assert store["ui.font"] == "Mono"


def test_the_read_only_option_prevents_writing(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("w")
        await wait_for_message(pilot, "--read-only")
        await go_to(pilot, "ui.font")
        for key in ("e", "d", "D", "n"):
            await pilot.press(key)
            await pilot.pause()
            assert keys_screen(pilot).is_current and "READ-ONLY" in screen_text(pilot)

    browse(filled, body, is_read_only=True)


def test_it_may_begin_with_a_search_or_the_page_of_a_key(filled: Path) -> None:
    async def found(pilot: Pilot[int]) -> None:
        assert listed(pilot) == ["audio.balance", "audio.muted", "audio.step", "audio.volume"]

    async def page(pilot: Pilot[int]) -> None:
        assert (await wait_for_screen(pilot, KeyPage)).key == "audio.volume"

    browse(filled, found, query="audio.")
    browse(filled, page, key="audio.volume")


def test_a_missing_store_is_not_created(tmp_path: Path) -> None:
    location = tmp_path / "absent.kept"
    browser = Browser(str(location), layers=Layers(has_standard=False))

    async def running() -> None:
        async with browser.run_test() as pilot:
            await wait_for(pilot, lambda: browser.failure, "the failure")

    asyncio.run(running())
    assert "does not exist" in str(browser.failure) and browser.return_value == 4 and not location.exists()


# --- sizes


def test_the_screen_follows_the_size_of_the_terminal(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, "設定.名前")
        for columns, lines in [(80, 24), (200, 60), (81, 25), (40, 12), (100, 30)]:
            await pilot.resize_terminal(columns, lines)
            await wait_for(
                pilot,
                lambda c=columns: len(screen_lines(pilot)[0]) == c,  # type: ignore[misc]
                "the new width",
            )
            await wait_for_text(pilot, "READ-ONLY")
            assert keys_screen(pilot).key == "設定.名前"
            assert "設" in "\n".join(screen_lines(pilot)[3:-3]), "the cursor stays in view"

    browse(filled, body, size=(100, 30))


def test_every_key_of_the_store_is_listed(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        assert set(VALUES) <= set(listed(pilot)) and is_loaded(pilot.app)  # type: ignore[arg-type]

    browse(filled, body)
