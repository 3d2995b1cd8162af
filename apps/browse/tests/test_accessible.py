"""Rules for every screen: no state is shown by color alone, and no text from a store acts on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

import kept
from kept_browse._ask import Ask
from kept_browse._compare_screen import CompareScreen
from kept_browse._conflict import Conflict
from kept_browse._editor import Editor
from kept_browse._export_screen import ExportScreen
from kept_browse._help import Help
from kept_browse._import_screen import ImportScreen
from kept_browse._key_page import KeyPage
from kept_browse._pending_screen import PendingScreen
from kept_browse._plain import ascii_text, speaks_utf8
from kept_browse._session import Layers
from screens import (
    allow_writing,
    app_of,
    browse,
    keys_screen,
    leave_editor,
    line_with,
    listed,
    messages,
    open_editor,
    rows,
    screen_lines,
    screen_text,
    search,
    session_of,
    type_value,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
)
from stores import CONTROL, SECRET_TEXT, Writer, write_file

ACTING = set("\x00\x07\x08\x0b\x1b\r\x7f\x9b\u200e\u200f\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u061c\u2028\ufeff")
WILD = f"[red]k[/red] {CONTROL}\x9b"
"""A key with markup, an escape sequence, and characters that reverse text."""


def assert_harmless(pilot: Pilot[int]) -> None:
    """Asserts that the screen has no secret and nothing that acts on a terminal, and that each line has its width."""
    text = screen_text(pilot)
    assert not ACTING & set(text), ascii(text)
    assert "hunter" not in text and not [text for text in messages(pilot) if ACTING & set(text) or "hunter" in text]
    assert {cell_len(line) for line in screen_lines(pilot)} == {pilot.app.size.width}


# --- hostile text


@pytest.fixture
def wild(filled: Path, writer: Writer) -> Path:
    """The store with text that would act on a terminal or on Textual, in every place."""
    writer.declare({
        WILD: {
            "type": "string", "summary": f"[link]{WILD}", "description": f"[/]{WILD}\n[b]",
            "default": f"[@click]{WILD}",
        },
        "choice": {"type": "string", "enum": [WILD, f"[u]{WILD}"], "summary": "[reverse]s"},
    })  # fmt: skip
    writer.run(f"""
with settings.transaction(tag={WILD!r}) as transaction:
    transaction[{WILD!r}] = {f"[bold]v[/bold]{CONTROL}"!r}
    transaction["choice"] = {WILD!r}
""")
    return filled


def test_hostile_text_is_shown_as_it_is_on_every_screen(wild: Path, tmp_path: Path, writer: Writer) -> None:
    other = tmp_path / "other [red]store.kept"
    with kept.open(other) as store:
        store[WILD] = f"[blink]other{CONTROL}"
    values = tmp_path / "[red]values.json"
    with kept.open(other) as store:
        store.export_file(values)

    async def body(pilot: Pilot[int]) -> None:
        # The list, with the details of the key.
        await search(pilot, "[red]k")
        await wait_for(pilot, lambda: WILD in listed(pilot) and rows(pilot).item == WILD, "the key under the cursor")
        await wait_for_text(pilot, "[link][red]k[/red]")
        assert "[red]k[/red]" in line_with(pilot, "*") and "\\u001b" in screen_text(pilot)
        assert_harmless(pilot)
        # Its page.
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "[bold]v[/bold]")
        assert_harmless(pilot)
        await pilot.press("2")
        await wait_for_text(pilot, "[/][red]k[/red]")
        await wait_for_text(pilot, "[@click]")
        assert_harmless(pilot)
        await pilot.press("3")
        await wait_for_text(pilot, '"[bold]v')
        assert_harmless(pilot)
        await pilot.press("4")
        writer.set(WILD, f"[i]new{CONTROL}")
        await wait_for(pilot, lambda: "[i]new" in str(pilot.app.screen.query_one("#log").render()), "the change")
        assert_harmless(pilot)
        # Its editor, with a refusal.
        await allow_writing(pilot)
        await pilot.press("e")
        await wait_for_screen(pilot, Editor)
        await wait_for_text(pilot, "[i]new")
        await wait_for_text(pilot, "[@click]")
        assert_harmless(pilot)
        await type_value(pilot, '{"[red]": [/]}')
        await wait_for_text(pilot, "^")
        assert "[/]" in screen_text(pilot)
        assert_harmless(pilot)
        await type_value(pilot, '"[s]edited\\u001b\\u202e"')
        await pilot.press("ctrl+g")
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "[s]edited")
        assert_harmless(pilot)
        # The pending changes, their commit, and a question.
        await pilot.press("a")
        await wait_for_screen(pilot, PendingScreen)
        await wait_for_text(pilot, "[s]edited")
        assert "[i]new" in screen_text(pilot) and "[red]k" in screen_text(pilot)
        assert_harmless(pilot)
        writer.set(WILD, f"[i]newer{CONTROL}")
        await pilot.press("ctrl+s")
        await wait_for_screen(pilot, Conflict)
        await wait_for_text(pilot, "[i]newer")
        assert "[s]edited" in screen_text(pilot) and "[red]k" in screen_text(pilot)
        assert_harmless(pilot)
        await pilot.press("escape")
        await wait_for_screen(pilot, PendingScreen)
        await pilot.press("D")
        await wait_for_screen(pilot, Ask)
        assert_harmless(pilot)
        await pilot.press("y")
        await wait_for_screen(pilot, KeyPage)
        await pilot.press("d")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "[i]newer")
        assert_harmless(pilot)
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")
        await wait_for_screen(pilot, KeyPage)
        await pilot.press("1", "u")
        await wait_for_message(pilot, "undid revision")
        await wait_for_text(pilot, "[red]k")
        assert_harmless(pilot)
        await pilot.press("q")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        # Import and comparison.
        await pilot.press("i")
        await wait_for_screen(pilot, ImportScreen)
        pilot.app.screen.query_one("#path", Input).value = str(values)
        await pilot.press("ctrl+r")
        await wait_for_text(pilot, "[blink]other")
        assert_harmless(pilot)
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await pilot.press("c")
        await wait_for_screen(pilot, CompareScreen)
        pilot.app.screen.query_one("#other", Input).value = str(other)
        await pilot.press("enter")
        await wait_for_text(pilot, "[blink]other")
        assert_harmless(pilot)

    browse(wild, body, size=(140, 40))


def test_choices_are_shown_as_they_are(wild: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "choice")
        assert isinstance(editor, OptionList) and editor.option_count == 2
        await wait_for_text(pilot, "[u][red]k[/red]")
        assert "[reverse]s" in screen_text(pilot)
        assert_harmless(pilot)

    browse(wild, body)


def test_the_tree_shows_hostile_branches_as_they_are(filled: Path, writer: Writer) -> None:
    writer.run("settings['[red]a\\x1b.b'] = 1; settings['[red]a\\x1b.c'] = 2")

    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("end", "t")
        await wait_for_text(pilot, "> [red]a\\u{1B}.  (2)")
        await pilot.press("home", "right")
        await wait_for_text(pilot, "v [red]a")
        assert_harmless(pilot)

    browse(filled, body)


def test_hostile_sentences_are_shown_as_they_are_in_messages(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        app_of(pilot).tell(f"[red]a sentence[/red] [/] {CONTROL} \\[x]", "error")
        await wait_for_text(pilot, "[red]a sentence[/red] [/]")
        assert_harmless(pilot)

    browse(filled, body)


def test_a_sentence_about_a_lock_names_a_hostile_path_as_it_is(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "[red]x.json", {"audio.volume": 1}, ["audio.volume"])

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await search(pilot, "@locked")
        await pilot.press("e")
        await wait_for_message(pilot, "[red]x.json")
        assert_harmless(pilot)

    browse(filled, body, layers=Layers(str(managed), has_standard=False), size=(160, 30))


# --- no state by color alone


@pytest.mark.usefixtures("lasting_marks")
def test_every_state_of_a_key_has_a_sign(filled: Path, tmp_path: Path, writer: Writer) -> None:
    managed = write_file(tmp_path / "managed.json", {"audio.muted": True}, ["audio.muted"])
    writer.set("misc.number", "text")
    writer.declare({"misc.number": {"type": "integer"}})

    async def body(pilot: Pilot[int]) -> None:
        signs = {key: line_with(pilot, key)[:2] for key in ("audio.volume", "audio.muted", "audio.step", "misc.number")}
        assert signs == {"audio.volume": " *", "audio.muted": " =", "audio.step": "  ", "misc.number": " !"}
        writer.set("ui.font", "Serif")
        await wait_for(pilot, lambda: line_with(pilot, "ui.font")[:2] == ">*", "the sign of a change")
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "9")
        await pilot.press("ctrl+g")
        await wait_for(pilot, lambda: line_with(pilot, "audio.volume")[:2] == "+*", "the sign of the pending change")
        assert "WRITING" in screen_lines(pilot)[0]

    browse(filled, body, layers=Layers(str(managed), has_standard=False))


def test_switches_and_boxes_show_their_state(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.muted")
        await wait_for_text(pilot, "false  ")
        await pilot.press("space")
        await wait_for_text(pilot, "true  ")
        await leave_editor(pilot)
        await pilot.press("x")
        await wait_for_screen(pilot, ExportScreen)
        boxes = line_with(pilot, "declarations too")
        assert boxes.count("X") == 1 and boxes.index("X") < boxes.index("declarations too")
        pilot.app.screen.query_one("#declarations").focus()
        await pilot.press("space")
        await wait_for(pilot, lambda: "X" not in line_with(pilot, "declarations too"), "the empty box")

    browse(filled, body)


def styles_of(pilot: Pilot[int], text: str = "") -> list[Style]:
    """The styles of the lines that contain a text, or of all lines."""
    strips = [strip for strip in pilot.app.screen._compositor.render_strips() if text in strip.text]
    return [segment.style for strip in strips for segment in strip if segment.style is not None]


def is_selected(pilot: Pilot[int], text: str) -> bool:
    """Whether a line is highlighted without a color."""
    return any(style.reverse or style.underline for style in styles_of(pilot, text))


def test_no_color_turns_colors_off_but_the_selection_is_visible(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    folder = tmp_path / "configuration/kept"
    folder.mkdir(parents=True)
    for name in ("org.first", "org.second"):
        kept.open(folder / f"{name}.kept").close()

    def assert_selected(pilot: Pilot[int], selected: str, other: str) -> None:
        assert not [style for style in styles_of(pilot) if style.color or style.bgcolor]
        assert is_selected(pilot, selected) and not is_selected(pilot, other)

    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("home", "down")
        await wait_for(pilot, lambda: is_selected(pilot, " audio.balance"), "the cursor")
        assert_selected(pilot, "   audio.balance", "   audio.muted")
        await open_editor(pilot, "ui.theme")
        await wait_for(pilot, lambda: is_selected(pilot, '│> "dark"'), "the choice")
        assert_selected(pilot, '│> "dark"', '│  "light"')
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await pilot.press("slash")
        await wait_for(pilot, lambda: is_selected(pilot, "ui.theme"), "the cursor of a list without the focus")
        await pilot.press("enter", "enter", "3")
        revision = session_of(pilot).settings.revision("ui.theme")
        await wait_for_text(pilot, f">      {revision}  2")

    async def overview(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "org.second")
        await wait_for(pilot, lambda: is_selected(pilot, " org.first "), "the cursor")
        assert_selected(pilot, " org.first ", " org.second ")

    browse(filled, body)
    browse(None, overview)


def test_light_and_dark(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        dark = pilot.app.screen.styles.background
        await pilot.press("l")
        await wait_for(pilot, lambda: pilot.app.screen.styles.background != dark, "the light ground")
        assert pilot.app.theme == "textual-light"
        await pilot.press("l")
        await wait_for(pilot, lambda: pilot.app.screen.styles.background == dark, "the dark ground")

    async def begun(pilot: Pilot[int]) -> None:
        assert pilot.app.theme == "textual-light"

    browse(filled, body)
    browse(filled, begun, is_light=True)


# --- ASCII, wide characters, and text from right to left


def test_the_ascii_option_draws_only_ascii(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        async def check(screen: str) -> None:
            await pilot.pause()
            ground = pilot.app.screen.styles.background
            for strip in pilot.app.screen._compositor.render_strips():
                drawn = "".join(segment.text for segment in app_of(pilot)._ascii.apply(list(strip), ground))
                assert drawn.isascii() and cell_len(drawn) == strip.cell_length, f"{screen}: {drawn!r}"

        assert app_of(pilot)._ascii in app_of(pilot).get_line_filters()
        await check("the list")
        steps: list[tuple[str, type[Any]]] = [("i", ImportScreen), ("x", ExportScreen), ("f1", Help)]
        for key, kind in steps:
            await pilot.press(key)
            await wait_for_screen(pilot, kind)
            await check(key)
            await pilot.press("escape")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await open_editor(pilot, "ui.window")
        await check("the editor")

    browse(filled, body, is_ascii=True)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Mn", "Me", "Zl", "Zp"])))
def test_text_in_ascii_has_the_same_width(text: str) -> None:
    drawn = ascii_text(text)
    assert drawn.isascii() and len(drawn) == sum(map(cell_len, text))


@pytest.mark.parametrize(
    ("environment", "answer"),
    [
        ({}, True),
        ({"LANG": "C"}, True),
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "de_DE.utf8"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "de_DE.UTF-8", "LC_CTYPE": "de_DE"}, False),
        ({"LC_ALL": "C.UTF-8"}, True),
    ],
)
def test_the_locale_decides_whether_the_terminal_has_utf8(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], answer: bool
) -> None:
    monkeypatch.delenv("LANG", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert speaks_utf8() is answer


def cells_before(line: str, text: str) -> int:
    return cell_len(line[: line.index(text)])


@pytest.mark.parametrize("columns", [80, 100, 133])
def test_columns_are_aligned_in_any_script(filled: Path, columns: int) -> None:
    async def body(pilot: Pilot[int]) -> None:
        expected = cells_before(line_with(pilot, "TYPE"), "TYPE")
        for key in ("misc.wide", "misc.right", "設定.名前", "הגדרה", "misc.hostile", "misc.control"):
            assert cells_before(line_with(pilot, f"* {key}"), "string") == expected, key
        assert_harmless(pilot)

    browse(filled, body, size=(columns, 30))


@pytest.mark.parametrize("size", [(80, 24), (240, 70), (30, 8)])
def test_every_screen_can_be_drawn_at_any_size(filled: Path, size: tuple[int, int]) -> None:
    async def body(pilot: Pilot[int]) -> None:
        steps: list[tuple[str, type[Any]]] = [
            ("enter", KeyPage), ("i", ImportScreen), ("x", ExportScreen), ("c", CompareScreen), ("f1", Help),
        ]  # fmt: skip
        for key, kind in steps:
            await pilot.press(key)
            await wait_for_screen(pilot, kind)
            assert len(screen_lines(pilot)) == size[1]
            assert_harmless(pilot)
            await pilot.press("escape")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await open_editor(pilot, "audio.volume")
        assert_harmless(pilot)

    browse(filled, body, size=size)


# --- secrets


@pytest.mark.usefixtures("lasting_marks")
def test_no_screen_shows_a_secret(filled: Path, tmp_path: Path, writer: Writer) -> None:
    other = tmp_path / "other.kept"
    with kept.open(other) as store:
        store["net.token"] = f"{SECRET_TEXT}-there"

    async def body(pilot: Pilot[int]) -> None:
        assert_harmless(pilot)
        writer.set("net.token", f"{SECRET_TEXT}-2")
        await wait_for(pilot, lambda: line_with(pilot, "net.token")[:1] == ">", "the change")
        assert_harmless(pilot)
        await search(pilot, SECRET_TEXT[3:])
        await wait_for(pilot, lambda: listed(pilot) == [], "that it is not found")
        await search(pilot, "net.token")
        await pilot.press("c")
        await wait_for_screen(pilot, CompareScreen)
        pilot.app.screen.query_one("#other", Input).value = str(other)
        await pilot.press("enter")
        await wait_for_text(pilot, "keys compared")
        await pilot.press("ctrl+a")
        await pilot.pause()
        assert_harmless(pilot)
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert not [row for row in session_of(pilot).catalog.rows.values() if "hunter" in row.text]

    browse(filled, body)
