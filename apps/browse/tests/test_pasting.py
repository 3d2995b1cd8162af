"""Pasted text is taken whole, or refused with a reason. No part of it is lost silently."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

import kept
from kept_browse._ask import AskText
from kept_browse._terminal import KeysAndPastes
from screens import (
    allow_writing,
    browse,
    keys_screen,
    leave_editor,
    open_editor,
    screen_text,
    search,
    text_of,
    type_value,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
)
from stores import SECRET_TEXT, Writer
from terminal import Terminal
from terminal import wait_for as wait_for_state

LINES = "new 1\nnew 2\nnew 3"


def stored(location: Path, key: str) -> Any:
    with kept.open(location) as store:
        return store.get(key)


def editor_of(pilot: Pilot[int]) -> Any:
    return pilot.app.screen.query_one("#editor")


async def paste(pilot: Pilot[int], text: str) -> None:
    """Pastes like a terminal with bracketed paste."""
    assert pilot.app.focused is not None
    pilot.app.focused.post_message(events.Paste(text))
    await pilot.pause()


async def committed(pilot: Pilot[int]) -> None:
    await pilot.press("ctrl+s")
    await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
    await wait_for_message(pilot, "committed as revision")


@pytest.mark.parametrize("break_", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("key", ["ui.font", "net.token"])
def test_several_lines_of_a_text_are_all_taken(filled: Path, key: str, break_: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, key)
        await type_value(pilot, "")
        # Terminals send different line breaks.
        await paste(pilot, LINES.replace("\n", break_))
        await wait_for(pilot, lambda: isinstance(pilot.app.focused, TextArea), "an area with the focus")
        await committed(pilot)

    browse(filled, body)
    assert stored(filled, key) == LINES


def test_the_lines_of_a_secret_are_covered_and_counted(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "net.token")
        await paste(pilot, f"{SECRET_TEXT}\nsecond\n")
        await wait_for_text(pilot, f"3 lines, {len(SECRET_TEXT) + 8} characters, covered")
        await pilot.press(*"third")
        await wait_for_text(pilot, f"3 lines, {len(SECRET_TEXT) + 13} characters, covered")
        for text in (SECRET_TEXT, "second", "third"):
            assert text not in screen_text(pilot)
        # It does not go to the terminal's clipboard either.
        editor_of(pilot).select_all()
        await pilot.press("ctrl+c")
        assert pilot.app.clipboard == ""
        await pilot.press("end")
        await committed(pilot)

    browse(filled, body)
    assert stored(filled, "net.token") == f"{SECRET_TEXT}\nsecond\nthird"


def test_a_secret_in_a_line_is_not_copied(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "net.token")
        assert isinstance(editor, Input)
        await pilot.press(*"abc")
        for keys in (["ctrl+c"], ["ctrl+x"]):
            editor.select_all()
            await pilot.press(*keys)
            assert pilot.app.clipboard == ""
        assert editor.value == ""

    browse(filled, body)


def test_lines_go_where_the_cursor_is(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "ui.font")
        assert isinstance(editor, Input)
        editor.selection = type(editor.selection)(3, 1)  # the "on" of Mono, selected from its end
        await paste(pilot, "1\n2")
        await wait_for(pilot, lambda: isinstance(editor_of(pilot), TextArea), "an area")
        await pilot.press(*"34", "enter", "5")
        await paste(pilot, "6\r7")
        await committed(pilot)

    browse(filled, body)
    assert stored(filled, "ui.font") == "M1\n234\n56\n7o"


def test_a_line_is_broken_by_a_key(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.font")
        await wait_for_text(pilot, "New line")
        await pilot.press("end", "ctrl+j", "x")
        await wait_for(pilot, lambda: isinstance(editor_of(pilot), TextArea), "an area")
        assert "New line" not in screen_text(pilot), "Enter makes one there"
        await committed(pilot)

    browse(filled, body)
    assert stored(filled, "ui.font") == "Mono\nx"


def test_the_final_line_break_is_dropped_after_one_line_but_not_after_several(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for text, value in (("one\n", "one"), ("one\ntwo\n", "one\ntwo\n")):
            await open_editor(pilot, "ui.font")
            await type_value(pilot, "")
            await paste(pilot, text)
            await committed(pilot)
            assert keys_screen(pilot).session.settings["ui.font"] == value

    browse(filled, body)


def test_lines_of_base64_are_taken_too(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "net.certificate")
        await type_value(pilot, "")
        await paste(pilot, "AAEC\nAw==\n")
        await wait_for(pilot, lambda: isinstance(editor_of(pilot), TextArea), "an area")
        await committed(pilot)

    browse(filled, body)
    assert stored(filled, "net.certificate") == b"\0\1\2\3"


@pytest.mark.parametrize("key", ["audio.volume", "net.since"])
def test_a_field_for_one_line_refuses_several(filled: Path, key: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, key)
        assert isinstance(editor, Input)
        before = editor.value
        await paste(pilot, "1\n2\n3\n")
        await wait_for_message(pilot, "the pasted text has 3 lines, but this field takes one; nothing was pasted")
        assert editor_of(pilot) is editor and editor.value == before
        editor.value = ""
        await paste(pilot, "77\n" if key == "audio.volume" else "2027-01-02\r\n")
        await committed(pilot)

    browse(filled, body)
    assert str(stored(filled, key)).startswith("77" if key == "audio.volume" else "2027-01-02")


def characters_of_guide(begin: str, end: str) -> list[str]:
    """The characters that a part of the guide lists by code point."""
    guide = (Path(__file__).parents[1] / "README.md").read_text()
    part = guide[guide.index(begin) :]
    return [chr(int(number, 16)) for number in re.findall(r"U\+([0-9A-F]{4,6})", part[: part.index(end)])]


REFUSED = characters_of_guide("Refused:", "Accepted:")
TAKEN = characters_of_guide("Accepted:", "\n\n")


def test_the_guide_lists_characters_that_a_paste_may_contain() -> None:
    assert {"\xad", "\u200b", "\u2028", "\u202e", "\ufeff"} <= set(REFUSED) and {"\t", "\xa0"} <= set(TAKEN)


JOINED = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f469\u200d\U0001f680 \u2764\ufe0f"
"""Persian text and emojis, with the invisible characters that they need."""


@pytest.mark.parametrize("text", [*(f"a{character}b" for character in TAKEN), JOINED])
@pytest.mark.parametrize("key", ["ui.font", "net.token"])
def test_displayable_characters_are_taken_unchanged(filled: Path, key: str, text: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, key)
        await type_value(pilot, "")
        await paste(pilot, text)
        await committed(pilot)

    browse(filled, body)
    assert stored(filled, key) == text


@pytest.mark.parametrize("character", sorted({"\x1b", "\x0c", "\x85", "\x00", "\u200e", *REFUSED}))
def test_a_character_that_cannot_be_displayed_is_refused_by_name(filled: Path, character: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key in ("ui.font", "net.token", "misc.note"):
            editor = await open_editor(pilot, key)
            assert isinstance(editor, Input | TextArea)
            before = editor.text if isinstance(editor, TextArea) else editor.value
            for text in (f"a{character}b", f"a\nb{character}c\n"):
                await paste(pilot, text)
                await wait_for(
                    pilot, lambda: f"has the character \\u{{{ord(character):X}}}" in text_of(pilot, "#problem"), "it"
                )
            assert (editor.text if isinstance(editor, TextArea) else editor.value) == before
            await pilot.press("escape")

    browse(filled, body)


def test_the_refusal_names_the_command_if_that_accepts_the_text(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.font")
        await paste(pilot, "a\u200bb")
        await wait_for(pilot, lambda: text_of(pilot, "#problem").endswith("; kept set STORE KEY - accepts it"), "it")
        await paste(pilot, "a\udced\udcff b")
        wrong = "the pasted text has bytes that are not UTF-8 (hexadecimal ed ff); nothing was pasted"
        await wait_for(pilot, lambda: text_of(pilot, "#problem").lower() == wrong.lower(), "the sentence alone")

    browse(filled, body)


def test_several_lines_in_a_search_or_for_a_name_are_refused(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("slash")
        await paste(pilot, "ui.font\nui.theme")
        await wait_for_message(pilot, "the pasted text has 2 lines")
        await paste(pilot, "ui.font\n")
        await wait_for(pilot, lambda: keys_screen(pilot).listed_keys == ["ui.font"], "the key")
        await search(pilot, "")
        await allow_writing(pilot)
        await pilot.press("n")
        ask = await wait_for_screen(pilot, AskText)
        await paste(pilot, "a\nb")
        await wait_for_text(pilot, "the pasted text has 2 lines")
        assert ask.query_one(Input).value == ""

    browse(filled, body)


def test_text_cut_from_an_area_is_pasted_whole(filled: Path, writer: Writer) -> None:
    writer.set("ui.font", "one\ntwo")

    async def body(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "one\\ntwo")
        area = await open_editor(pilot, "ui.font")
        assert isinstance(area, TextArea)
        area.select_all()
        await pilot.press("ctrl+x")
        assert pilot.app.clipboard == "one\ntwo"
        await leave_editor(pilot)
        await open_editor(pilot, "ui.title")
        await pilot.press(*"A ", "ctrl+v")
        await wait_for(pilot, lambda: isinstance(editor_of(pilot), TextArea), "an area")
        await committed(pilot)

    browse(filled, body)
    assert stored(filled, "ui.title") == "A one\ntwo"


# --- bytes from the terminal


def bracketed(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


ESCAPES = [
    "abc\x1b[31mdef\x1b[0mghi",
    "a\x1bb",
    "x\x1b[Ay",
    "\x1b",
    "a\x1b\x1b[20",
    "a\nb\x1b[31mc\nd",
    "a\x00b",
    "a\x1b[200~b",
]


@pytest.mark.parametrize("text", [*ESCAPES, "", "one\ntwo", "設定"])
def test_a_paste_is_received_whole_however_it_arrives(text: str) -> None:
    sent = f"k{bracketed(text)}\x1b[A{bracketed(text)}"
    for size in (1, 2, 3, 5, 7, len(sent)):
        parser = KeysAndPastes()
        received = []
        for start in range(0, len(sent), size):
            for message in parser.feed(sent[start : start + size]):
                assert isinstance(message, events.Key | events.Paste)
                received.append(message.key if isinstance(message, events.Key) else ("pasted", message.text))
        assert received == ["k", ("pasted", text), "up", ("pasted", text)]


@pytest.mark.parametrize("key", ["ui.font", "net.token", "audio.volume"])
def test_pasted_escape_sequences_are_refused_whole(filled: Path, key: str) -> None:
    before = stored(filled, key)
    with Terminal(filled, "--key", key) as terminal:
        terminal.wait("Declaration")
        terminal.type("we")
        terminal.wait("Add to pending")
        for text in ESCAPES[:-2]:
            terminal.type(bracketed(text))
            terminal.wait("has the character \\u{1B}")
        terminal.type(bracketed("a\x00b"))
        terminal.wait("has the character \\u{0}")
        terminal.type(b"\x1b[200~a\xed\xa0\x80 \xff\x1b[201~")
        terminal.wait("has bytes that are not UTF-8 (hexadecimal ed a0 80)")
        terminal.type(bracketed("77"))
        terminal.type("\x13")
        expected = {"ui.font": f"{before}77", "net.token": "77", "audio.volume": 77}[key]
        with kept.open(filled) as settings:
            wait_for_state(lambda: settings[key] == expected, lambda: f"{settings[key]!r} and not {expected!r}")
