"""Editing one key with the widget that suits its declaration."""

from __future__ import annotations

import resource
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Switch, TextArea

import kept
from kept_browse import _pending
from kept_browse._ask import Ask, AskText
from kept_browse._editor import Editor
from kept_browse._key_page import KeyPage
from kept_browse._pending_screen import PendingScreen
from kept_browse._session import Layers
from kept_browse._slider import Slider
from screens import (
    SECONDS,
    HeldSizes,
    allow_writing,
    browse,
    keys_screen,
    leave_editor,
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
    wait_until_gone,
)
from stores import CONTROL, HOSTILE, SECRET_TEXT, Writer, write_file


def stored(location: Path, key: str) -> Any:
    with kept.open(location) as store:
        return store.get(key)


async def finished(pilot: Pilot[int]) -> None:
    """Sets the value and waits until it is committed."""
    await pilot.press("ctrl+s")
    await wait_for(pilot, lambda: keys_screen(pilot).is_current, f"the end of the editor: {problem(pilot)}")
    await wait_for_message(pilot, "committed as revision")


def is_problem(pilot: Pilot[int], sentence: str) -> bool:
    return text_of(pilot, "#problem") == sentence


def problem(pilot: Pilot[int]) -> str:
    return text_of(pilot, "#problem") if isinstance(pilot.app.screen, Editor) else ""


# --- good values


GOOD: list[tuple[str, str, str, Any]] = [
    ("audio.volume", "30", "77", 77),
    ("audio.balance", "0.0", "-0.25", -0.25),
    ("audio.balance", "-0.25", "1", 1.0),
    ("ui.font", "Mono", "設定 [red]x[/red]", "設定 [red]x[/red]"),
    ("ui.font", "設定 [red]x[/red]", "", ""),
    ("ui.title", "", "A title", "A title"),
    ("net.since", "2026-11-20T23:44:01Z", "2027-01-02", datetime(2027, 1, 2, tzinfo=UTC)),
    ("net.certificate", "AP8c", "AP8=", b"\x00\xff"),
    ("ui.columns", '[\n  "name",\n  "size"\n]', '["a", "b"]', ["a", "b"]),
    ("ui.window", '{\n  "width": 800\n}', '{"width": 1, "more": [true]}', {"width": 1, "more": [True]}),
    ("misc.note", '"not declared"', "[1, 2.0]", [1, 2.0]),
]
"""Keys, the initial text of their editors, the text to type, and the value that is then stored."""


def test_a_value_is_edited_in_the_form_of_its_declaration(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        for key, shown, text, value in GOOD:
            editor = await open_editor(pilot, key)
            assert isinstance(editor, TextArea | Input), key
            assert (editor.text if isinstance(editor, TextArea) else editor.value) == shown, key
            await type_value(pilot, text)
            await wait_for(pilot, lambda: problem(pilot) == "", f"that {text!r} is right")  # noqa: B023
            await pilot.press("ctrl+s")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, f"the end of the editor of {key}")
            await wait_for(pilot, lambda: settings.get(key) == value, f"{value!r} in {key}")  # noqa: B023
            assert type(settings.get(key)) is type(value)

    browse(filled, body)


def test_a_boolean_is_a_switch(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "audio.muted")
        assert isinstance(editor, Switch) and editor.value is False
        await pilot.press("space")
        await wait_for(pilot, lambda: editor.value, "the switch")
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "audio.muted") is True


def test_an_enumeration_is_a_list_of_choices(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "ui.theme")
        assert isinstance(editor, OptionList) and editor.highlighted == 1
        assert '"[red]odd[/red]"' in screen_text(pilot)
        await pilot.press("down", "enter")
        await wait_for_message(pilot, "committed as revision")

    browse(filled, body)
    assert stored(filled, "ui.theme") == HOSTILE


def test_a_list_of_choices_does_not_wrap(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "ui.theme")
        assert isinstance(editor, OptionList)
        await pilot.press("down", "down", "down")
        assert editor.highlighted == 2
        await pilot.press("up", "up", "up", "up")
        assert editor.highlighted == 0

    browse(filled, body)


def test_enter_is_in_the_footer_where_it_sets_the_value(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key in ("ui.font", "audio.muted", "ui.theme", "audio.volume"):
            await open_editor(pilot, key)
            await wait_for_text(pilot, "⏎ Set")
            await pilot.press("escape")
        await open_editor(pilot, "ui.window")
        assert "⏎" not in screen_text(pilot)

    browse(filled, body, size=(80, 24))


@pytest.mark.parametrize("set_key", ["ctrl+s", "ctrl+g", "enter"])
def test_an_untouched_editor_of_an_unset_key_sets_nothing(filled: Path, writer: Writer, set_key: str) -> None:
    writer.declare({"new.on": {"type": "boolean"}, "new.bytes": {"type": "bytes"}, "new.text": {"type": "string"}})
    writer.reset("ui.theme")

    async def body(pilot: Pilot[int]) -> None:
        before = session_of(pilot).settings.revision()
        for key in ("audio.muted", "ui.theme", "new.on", "new.bytes", "new.text"):
            await open_editor(pilot, key)
            await pilot.press(set_key)
            await wait_for_text(pilot, "You have not entered a value")
            await pilot.press("n", "escape")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert session_of(pilot).settings.revision() == before and not session_of(pilot).pending

    browse(filled, body)


def test_a_number_with_bounds_has_a_slider(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "audio.volume")
        slider = pilot.app.screen.query_one(Slider)
        assert isinstance(editor, Input) and "0 [" in screen_text(pilot) and "] 100" in screen_text(pilot)
        slider.focus()
        for key, text in [
            ("right", "31"), ("left", "30"), ("pageup", "40"), ("end", "100"), ("right", "100"), ("home", "0"),
            ("left", "0"), ("pagedown", "0"), ("shift+right", "10"),
        ]:  # fmt: skip
            await pilot.press(key)
            await wait_for(pilot, lambda t=text: editor.value == t, f"{text} after {key}")  # type: ignore[misc]
        await pilot.click(Slider, offset=(slider.size.width - 7, 0))
        await wait_for(pilot, lambda: int(editor.value) > 90, "the number under the mouse")
        await type_value(pilot, "20")
        await wait_for(pilot, lambda: slider._number == 20, "the slider at the number that is typed")
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "audio.volume") == 20


def test_the_slider_only_takes_allowed_numbers(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "audio.step")
        assert isinstance(editor, Input)
        pilot.app.screen.query_one(Slider).focus()
        for key, text in [("right", "10"), ("home", "5"), ("left", "5"), ("end", "50")]:
            await pilot.press(key)
            await wait_for(pilot, lambda t=text: editor.value == t, f"{text} after {key}")  # type: ignore[misc]
            assert problem(pilot) == ""

    browse(filled, body)


BOUNDS: list[dict[str, Any]] = [
    {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    {"type": "number", "minimum": -1e300, "maximum": 1e300},
    {"type": "number", "minimum": 0.1, "maximum": 0.3},
    {"type": "integer", "minimum": 5, "maximum": 5},
    {"type": "integer", "minimum": 3, "maximum": 4, "multipleOf": 7},
    {"type": "number", "minimum": 0},
]


def test_odd_bounds_leave_an_editor_that_can_be_used(filled: Path, writer: Writer) -> None:
    writer.declare({f"odd.{number}": bounds for number, bounds in enumerate(BOUNDS)})

    async def body(pilot: Pilot[int]) -> None:
        for number in range(len(BOUNDS)):
            editor = await open_editor(pilot, f"odd.{number}")
            assert isinstance(editor, Input)
            if sliders := list(pilot.app.screen.query(Slider)):
                sliders[0].focus()
                for key in ("end", "home", "right", "left", "pageup"):
                    await pilot.press(key)
                    assert problem(pilot) == "", f"{editor.value} after {key} in {BOUNDS[number]}"
            await leave_editor(pilot)

    browse(filled, body)


def test_long_text_and_text_of_several_lines_have_an_area(filled: Path, writer: Writer) -> None:
    writer.set("ui.font", "one\ntwo\tthree")

    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "ui.font")
        assert isinstance(editor, TextArea) and editor.text == "one\ntwo\tthree"
        await type_value(pilot, "one\nfour")
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "ui.font") == "one\nfour"


def test_text_with_control_characters_is_written_with_escapes(filled: Path, writer: Writer) -> None:
    writer.set("ui.font", f"{CONTROL}\x9b")

    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "ui.font")
        assert isinstance(editor, TextArea) and "\\u001b" in editor.text and "\\u202e" in editor.text
        assert not set("\x1b\x9b\x07\u202e\u200e") & set(screen_text(pilot))
        await wait_for_text(pilot, "because of its control characters")
        await type_value(pilot, editor.text.replace("red", "blue"))
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "ui.font") == f"{CONTROL}\x9b".replace("red", "blue")


# --- bad values


BAD = [
    ("audio.volume", "101", "maximum"),
    ("audio.volume", "1.5", "integer"),
    ("audio.volume", "many", ""),
    ("audio.volume", "", ""),
    ("audio.volume", "99999999999999999999", "64 bits"),
    ("audio.balance", "-1.1", "minimum"),
    ("audio.step", "7", "multiple"),
    ("ui.title", "small", "pattern"),
    ("net.since", "yesterday", "date"),
    ("net.certificate", "0g", "base64"),
    ("ui.columns", "[1]", "string"),
    ("ui.columns", '["a", "b", "c", "d"]', "maximum is 3"),
    ("ui.columns", '{"a": 1}', "array"),
    ("ui.window", '{"width": "wide"}', "integer"),
    ("ui.window", "null", "null cannot be stored"),
]
"""Keys, the text to type in their editors, and a word of the refusal."""


def test_a_refused_value_is_not_written_and_the_reason_is_shown(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key, text, words in BAD:
            await open_editor(pilot, key)
            await type_value(pilot, text)
            await wait_for(pilot, lambda: problem(pilot), f"the sentence about {text!r}, as it is typed")  # noqa: B023
            assert words.casefold() in problem(pilot).casefold()
            await wait_for_text(pilot, problem(pilot).split()[0])
            for finish in ("ctrl+s", "ctrl+g"):
                await pilot.press(finish)
                assert isinstance(pilot.app.screen, Editor), "it stays open"
            await leave_editor(pilot)
        assert len(session_of(pilot).pending) == 0

    with kept.open(filled) as store:
        revision = store.revision()
        browse(filled, body)
        assert store.revision() == revision


def test_a_wrong_number_is_refused_with_the_expected_form(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "true")
        await wait_for(pilot, lambda: "the text is not a whole number such as 7" in problem(pilot), "the sentence")

    browse(filled, body)


def test_a_pattern_is_checked_with_each_letter(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.title")
        await pilot.press("a")
        await wait_for(pilot, lambda: "^[A-Z]" in problem(pilot), "the pattern")
        await pilot.press("backspace", "A")
        await wait_for(pilot, lambda: problem(pilot) == "", "that it is right")

    browse(filled, body)


def test_wrong_json_has_a_caret_under_the_place(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.window")
        await type_value(pilot, '{\n  "設定": x\n}')
        await wait_for_text(pilot, "line 2, column 9")
        lines = screen_lines(pilot)
        place = next(number for number, line in enumerate(lines) if "line 2, column 9" in line)
        before, after = lines[place + 1].split("x")[0], lines[place + 2].split("^")[0]
        assert len(before) + 2 == len(after), "the wide characters before it have two cells each"

    browse(filled, body)


# --- secrets


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("set_key", ["ctrl+s", "ctrl+g", "enter"])
def test_an_untouched_editor_of_a_secret_changes_nothing(filled: Path, set_key: str, refused: bool) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "net.token")
        if refused:
            editor.post_message(events.Paste("a\x1b[31mb"))
            await wait_for(pilot, lambda: "nothing was pasted" in problem(pilot), "the refusal")
        for answer in (set_key, "n", set_key, "escape"):
            await pilot.press(answer)
            if answer == set_key:
                await wait_for_text(pilot, "You have not entered a value")
                await wait_for_text(pilot, "lost for good")
        await pilot.press("escape", "a", "ctrl+s")
        assert not session_of(pilot).pending and not session_of(pilot).commits

    browse(filled, body)
    assert stored(filled, "net.token") == SECRET_TEXT


def test_the_empty_text_becomes_a_secret_after_a_question(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "net.token")
        await pilot.press("a", "backspace", "ctrl+s")
        await wait_for_screen(pilot, Ask)
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")

    browse(filled, body)
    assert stored(filled, "net.token") == ""


def test_an_untouched_switch_does_not_replace_a_value_that_it_cannot_show(filled: Path, writer: Writer) -> None:
    writer.run(
        "settings.declare({'s.on': {'type': 'boolean', 'secret': True}}); settings['s.on'] = True;"
        "settings['m.on'] = 'yes'; settings.declare({'m.on': {'type': 'boolean'}})"
    )

    async def body(pilot: Pilot[int]) -> None:
        for key in ("s.on", "m.on"):
            await open_editor(pilot, key)
            await pilot.press("ctrl+s")
            await wait_for_text(pilot, "Set false?")
            await pilot.press("n", "escape")
        await open_editor(pilot, "s.on")
        await pilot.press("space", "space", "ctrl+s")
        await wait_for_screen(pilot, Ask)
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")
        assert len(session_of(pilot).commits) == 1

    browse(filled, body)
    assert stored(filled, "s.on") is False


COVERED: dict[str, tuple[dict[str, Any], str, str]] = {
    "s.object": ({"type": "object"}, '{"a": "never-shown"}', '{"a": never-shown}'),
    "s.array": ({"type": "array"}, '["never-shown"]', '["never-shown" never-shown]'),
    "s.integer": ({"type": "integer", "minimum": 0, "maximum": 99999999}, "4711471", "4711471x"),
    "s.number": ({"type": "number"}, "4711.471", "4711.471x"),
    "s.date": ({"type": "date"}, "2027-01-02", "2027-01-02x"),
    "s.bytes": ({"type": "bytes"}, "47114711", "4711471"),
}
"""Secrets: their declarations, a text to type, and a text that is refused."""


def test_a_secret_of_every_type_is_covered_while_it_is_written(filled: Path, writer: Writer) -> None:
    writer.declare({key: {**declaration, "secret": True} for key, (declaration, _, _) in COVERED.items()})

    async def body(pilot: Pilot[int]) -> None:
        def is_covered() -> bool:
            text = screen_text(pilot) + problem(pilot)
            return not any(part in text for part in ("never-shown", "4711", "2027-01"))

        for key, (_, good, bad) in COVERED.items():
            editor = await open_editor(pilot, key)
            await type_value(pilot, bad)
            await wait_for(pilot, lambda: problem(pilot) != "", f"the reason for {key}")  # noqa: B023
            await wait_for_text(pilot, "•••")
            assert is_covered() and not pilot.app.screen.query(Slider), screen_text(pilot)
            if isinstance(editor, TextArea):
                assert "line 1, column" in problem(pilot)
                await wait_for_text(pilot, f"1 line, {len(bad)} characters, covered")
            await type_value(pilot, good)
            await wait_for(pilot, lambda: problem(pilot) == "", "that it is right")
            assert is_covered(), screen_text(pilot)
            await finished(pilot)

    browse(filled, body)
    assert stored(filled, "s.object") == {"a": "never-shown"} and stored(filled, "s.integer") == 4711471


# --- several lines


def test_the_cursor_of_an_area_begins_behind_the_text(filled: Path, writer: Writer) -> None:
    writer.set("ui.font", "one\ntwo")

    async def body(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "one\\ntwo")
        editor = await open_editor(pilot, "ui.font")
        editor.post_message(events.Paste(" three"))
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "ui.font") == "one\ntwo three"


# --- changes by others during an edit


@pytest.mark.parametrize("set_key", ["ctrl+s", "ctrl+g"])
@pytest.mark.parametrize(("key", "typed", "other"), [("audio.volume", [], 61), ("ui.columns", ["end", "space"], ["x"])])
def test_a_change_is_seen_when_the_same_value_is_set_again(
    filled: Path, writer: Writer, key: str, typed: list[str], other: Any, set_key: str
) -> None:
    before = stored(filled, key)

    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, key)
        await pilot.press(*typed)
        writer.set(key, other)
        await pilot.press(set_key)
        await wait_for(pilot, lambda: "changed since you edited" in problem(pilot), "the conflict")
        await wait_for_text(pilot, str(other).strip("[]'"))
        assert session_of(pilot).settings[key] == other and not session_of(pilot).pending
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, key) == before


def test_a_change_of_another_process_is_not_overwritten_unseen(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "audio.volume")
        await type_value(pilot, "60")
        writer.set("audio.volume", 61)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: '"audio.volume" changed since you edited' in problem(pilot), "the conflict")
        # The dialog shows both values, and the user decides.
        assert isinstance(editor, Input) and editor.value == "60" and pilot.app.focused is editor
        assert text_of(pilot, "#other-value") == "61"
        # The next change is noticed, too.
        writer.reset("audio.volume")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: text_of(pilot, "#other-value") == "(absent)", "the new state")
        assert session_of(pilot).settings["audio.volume"] == 50
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "audio.volume") == 60


def test_both_texts_of_a_conflict_fit_a_small_terminal(filled: Path, writer: Writer) -> None:
    writer.declare({"ui.font": {"type": "string", "default": "Sans", "summary": "What is read"}})
    writer.set("ui.font", "\n".join(f"mine {number}" for number in range(20)))

    async def body(pilot: Pilot[int]) -> None:
        await wait_for(pilot, lambda: "mine 19" in str(session_of(pilot).settings["ui.font"]), "the text")
        area = await open_editor(pilot, "ui.font")
        await pilot.press("x")
        writer.set("ui.font", "\n".join(f"other {number}" for number in range(20)))
        await pilot.press("ctrl+s")
        await wait_for_text(pilot, "other 0")
        other = pilot.app.screen.query_one("#other")
        await wait_for(pilot, lambda: other.max_scroll_y > 0, "the layout")
        other.focus()
        await pilot.press("end")
        await wait_for_text(pilot, "other 19")
        lines = screen_lines(pilot)
        assert any("mine" in line for line in lines)
        box = other.region
        assert set(lines[box.bottom - 1][box.x + 1 : box.right - 1]) == {"━"}, "its end is in view"
        assert area.region.bottom <= box.y

    browse(filled, body, size=(80, 24))


SUMMARY = "A summary of many words that takes several lines of a dialog, whatever the width of the terminal. " * 4
SIZES = [(40, 12), (60, 16), (80, 22), (80, 24), (100, 30)]


@pytest.mark.parametrize("size", SIZES)
def test_a_conflict_is_in_view_at_any_size(filled: Path, writer: Writer, size: tuple[int, int]) -> None:
    writer.declare(
        {
            "audio.volume": {"type": "integer", "minimum": 0, "maximum": 100, "summary": SUMMARY},
            "ui.font": {"type": "string", "summary": SUMMARY},
        }
    )

    async def body(pilot: Pilot[int]) -> None:
        # A line with a slider, an area, and JSON.
        for key, other in (("audio.volume", 61), ("ui.font", "other"), ("ui.columns", ["other"])):
            await open_editor(pilot, key)
            if key == "ui.font":
                await pilot.press("ctrl+j")
                await wait_for(pilot, lambda: isinstance(pilot.app.screen.query_one("#editor"), TextArea), "the area")
            writer.set(key, other)
            await pilot.press("ctrl+s")
            await wait_for_text(pilot, "changed since")
            await wait_for_text(pilot, "it:")
            shown = str(other).strip("[']")
            await wait_for(pilot, lambda: shown in _visible(pilot, "#other-value"), "the value")  # noqa: B023
            if key == "audio.volume":
                await type_value(pilot, "31")
                await wait_for_text(pilot, "changed since")
            await leave_editor(pilot)

    browse(filled, body, size=size)


def _visible(pilot: Pilot[int], selector: str) -> str:
    """The text on the screen at the place of a widget."""
    box = pilot.app.screen.find_widget(pilot.app.screen.query_one(selector)).visible_region
    return "\n".join(line[box.x : box.right] for line in screen_lines(pilot)[box.y : box.bottom])


@pytest.mark.parametrize("size", [*SIZES, (20, 6)])
def test_a_reason_is_in_view_at_any_size(filled: Path, writer: Writer, size: tuple[int, int]) -> None:
    writer.declare({"audio.volume": {"type": "integer", "minimum": 0, "maximum": 100, "summary": SUMMARY}})

    async def body(pilot: Pilot[int]) -> None:
        for key, text in (("audio.volume", "999"), ("ui.columns", "[1")):
            await open_editor(pilot, key)
            await pilot.resize_terminal(*size)
            await type_value(pilot, text)
            await pilot.press("ctrl+s")
            await wait_for(pilot, lambda: problem(pilot) != "", "the reason")
            await wait_for(pilot, lambda: _visible(pilot, "#problem").strip() != "", "the reason in view")
            assert problem(pilot)[:12] in _visible(pilot, "#problem")
            assert text in screen_text(pilot)
            await leave_editor(pilot)
            await pilot.resize_terminal(100, 30)

    browse(filled, body)


def test_a_value_that_is_not_in_view_is_not_replaced(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.font")
        await pilot.resize_terminal(20, 5)
        await type_value(pilot, "Mine")
        writer.set("ui.font", "Other")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "changed since you edited" in problem(pilot), "the conflict")
        for _ in range(2):
            await pilot.press("ctrl+s")
            await wait_for(pilot, lambda: problem(pilot).startswith("Make the terminal larger"), "the advice")
        assert session_of(pilot).settings["ui.font"] == "Other"
        await pilot.resize_terminal(200, 60)
        await wait_for_text(pilot, "Escape keeps it:")
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "ui.font") == "Mine"


def test_a_value_is_replaced_only_when_it_is_drawn_for_the_size_of_the_terminal(
    filled: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.font")
        await type_value(pilot, "Mine")
        writer.set("ui.font", "Other")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "changed since you edited" in problem(pilot), "the conflict")
        await wait_for_text(pilot, "Other")
        sizes = HeldSizes(monkeypatch)
        await pilot.resize_terminal(20, 3)
        await pilot.press("ctrl+s")
        sizes.release(pilot)
        await wait_for(pilot, lambda: problem(pilot).startswith("Make the terminal larger"), "the advice")
        await resize_again(pilot)
        assert problem(pilot).startswith("Make the terminal larger")

    browse(filled, body)
    assert stored(filled, "ui.font") == "Other"


def test_after_a_conflict_the_other_value_can_be_kept(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.font")
        await type_value(pilot, "Mine")
        writer.set("ui.font", "line 1\nline 2")
        await pilot.press("ctrl+s")
        await wait_for_text(pilot, "line 2")
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body)
    assert stored(filled, "ui.font") == "line 1\nline 2"


def test_a_conflict_about_a_secret_shows_no_value(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "net.token")
        await type_value(pilot, "mine-never-shown")
        writer.set("net.token", "other-never-shown")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "(secret)" in text_of(pilot, "#other-value"), "the other secret")
        assert "never-shown" not in screen_text(pilot)
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "net.token") == "mine-never-shown"


def test_a_conflict_in_an_edit_that_is_also_pending(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "60")
        await pilot.press("ctrl+g")
        await wait_for_text(pilot, "1 pending change")
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "62")
        writer.set("audio.volume", 61)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "61" in text_of(pilot, "#other-value"), "the conflict")
        await finished(pilot)
        assert not session_of(pilot).pending, "it was edited further, and committed"

    browse(filled, body)
    assert stored(filled, "audio.volume") == 62


def test_a_full_disk_does_not_lose_the_input(filled: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(40_000))

    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.font")
        await pilot.press("ctrl+j")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen.query_one("#editor"), TextArea), "the area")
        await type_value(pilot, text)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            await pilot.press("ctrl+s")
            await wait_for(pilot, lambda: "could not write" in problem(pilot), "the refusal")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        editor = pilot.app.screen.query_one("#editor")
        assert isinstance(editor, TextArea) and editor.text == text
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "ui.font") == text


def test_a_commit_that_waits_for_another_program_keeps_the_dialog(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, refuses = threading.Event(), threading.Event()

    async def body(pilot: Pilot[int]) -> None:
        def commit(settings: kept.Store, edits: list[_pending.Edit]) -> int | None:
            assert waits.wait(SECONDS)
            if refuses.is_set():
                raise kept.BusyError("others kept writing")
            return real(settings, edits)

        real = _pending.commit
        monkeypatch.setattr(_pending, "commit", commit)
        editor = await open_editor(pilot, "ui.font")
        await type_value(pilot, "Slow")
        refuses.set()
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "waiting for another program" in problem(pilot), "the reason for waiting")
        # The commit has been decided already.
        await pilot.press("ctrl+s", "x", "escape")
        assert isinstance(pilot.app.screen, Editor) and isinstance(editor, Input) and editor.value == "Slow"
        waits.set()
        await wait_for(pilot, lambda: "others kept writing" in problem(pilot), "the refusal")
        await wait_for(pilot, lambda: pilot.app.focused is editor, "the focus")
        refuses.clear()
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "ui.font") == "Slow"


@pytest.mark.parametrize("leave", ["ctrl+q", "escape", "ctrl+d"])
def test_leaving_asks_about_unsaved_input(filled: Path, leave: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for key, text, shown in (("ui.font", "Serif", "Serif"), ("net.token", "my-secret", "(secret)")):
            await open_editor(pilot, key)
            await type_value(pilot, text)
            await pilot.press("ctrl+r", leave)
            await wait_for_screen(pilot, Ask)
            assert f"{key}  {shown}" in screen_text(pilot) and "my-secret" not in screen_text(pilot)
            await pilot.press(leave)
            if leave != "escape":  # which is the answer no
                await pilot.press("n")
            assert await wait_for_screen(pilot, Editor)
            await pilot.press("escape", "y")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await open_editor(pilot, "ui.theme")
        await pilot.press("up", leave)
        await wait_for_text(pilot, 'ui.theme  "light"')
        await pilot.press("n", "down", "escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list, as nothing was changed")
        await open_editor(pilot, "ui.font")
        await pilot.press("ctrl+q")
        await wait_for(pilot, lambda: not pilot.app.is_running or pilot.app.return_value == 0, "the end")

    browse(filled, body)


def test_a_key_locked_during_the_edit_is_refused_with_the_reason(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {})

    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        write_file(managed, {"audio.volume": 10}, ["audio.volume"])
        await wait_for(pilot, lambda: session_of(pilot).settings.explain("audio.volume").locked, "the lock")
        await type_value(pilot, "60")
        await pilot.press("ctrl+s")
        await wait_for(
            pilot, lambda: "lock" in problem(pilot) or any("lock" in t for t in messages(pilot)), "the refusal"
        )

    browse(filled, body, layers=Layers(str(managed), has_standard=False))
    assert stored(filled, "audio.volume") == 30


def test_a_narrower_declaration_of_another_process_is_checked(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        writer.declare({"audio.volume": {"type": "integer", "maximum": 50}})
        await type_value(pilot, "60")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "50" in problem(pilot) or any("50" in t for t in messages(pilot)), "the refusal")

    browse(filled, body)
    assert stored(filled, "audio.volume") == 30


# --- secrets, new keys, and others


def test_the_editor_of_a_secret_begins_empty_and_covers_its_text(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        editor = await open_editor(pilot, "net.token")
        assert isinstance(editor, Input) and editor.value == "" and editor.password
        assert "hunter" not in screen_text(pilot)
        await pilot.press(*"hunter3")
        await pilot.pause()
        assert "hunter" not in screen_text(pilot)
        await finished(pilot)
        assert "hunter" not in screen_text(pilot) and not [text for text in messages(pilot) if "hunter" in text]

    browse(filled, body)
    assert stored(filled, "net.token") == "hunter3"


SECRETS: list[tuple[dict[str, Any], Any]] = [
    ({"type": "integer", "minimum": 0, "maximum": 99999999}, 42424242),
    ({"type": "object"}, {"a": SECRET_TEXT}),
    ({"type": "array"}, [SECRET_TEXT]),
    ({"type": "bytes"}, b"\x42\x42"),
    ({"type": "string", "pattern": "^hunter"}, "hunter"),
    ({"type": "string", "enum": ["other", "hunter"]}, "hunter"),
]


def test_no_editor_shows_a_secret(filled: Path, writer: Writer) -> None:
    for number, (declaration, value) in enumerate(SECRETS):
        writer.set(f"secret.{number}", value)
        writer.declare({f"secret.{number}": {**declaration, "secret": True}})

    async def body(pilot: Pilot[int]) -> None:
        for number in range(len(SECRETS)):
            editor = await open_editor(pilot, f"secret.{number}")
            await pilot.pause()
            for shown in ("42424242", SECRET_TEXT, "42 42"):
                assert shown not in screen_text(pilot)
            if isinstance(editor, OptionList):
                assert editor.highlighted != 1, "which of the choices it is, is not shown"
            await pilot.press("escape")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body)


def test_a_new_key_may_have_any_valid_name(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        for name in ("new.[red]key", "x" * 2000):
            await pilot.press("n")
            ask = await wait_for_screen(pilot, AskText)
            ask.query_one(Input).value = name
            await pilot.press("enter")
            if len(name) > 1024:
                await wait_for(pilot, lambda: "the key is 2000 bytes long" in text_of(pilot, "#problem"), "the refusal")
                await pilot.press("ctrl+s")
                assert pilot.app.screen is ask, "that cannot be insisted on"
                continue
            await pilot.press("ctrl+s")
            await wait_for_screen(pilot, Editor)
            assert "new.[red]key" in screen_text(pilot)
            await type_value(pilot, '"text"')
            await finished(pilot)
            await wait_for_text(pilot, "new.[red]key")

    browse(filled, body)
    assert stored(filled, "new.[red]key") == "text"


def test_a_new_key_that_is_not_declared_is_refused_as_the_command_does(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await pilot.press("n")
        ask = await wait_for_screen(pilot, AskText)
        for name, meant in (("audio.volum", "audio.volume"), ("ui.fnot", "ui.font"), ("quite.other.key", None)):
            ask.query_one(Input).value = name
            await pilot.press("enter")
            suggestion = ";" if meant is None else f'; did you mean "{meant}"?'
            sentence = f'"{name}" is not declared in this store{suggestion} Ctrl+S sets it anyway'
            await wait_for(pilot, partial(is_problem, pilot, sentence), "the refusal")
            assert pilot.app.screen is ask and ask.query_one(Input).value == name
        # A different text is refused again.
        ask.query_one(Input).value = "quite.another.key"
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "quite.another.key" in text_of(pilot, "#problem"), "the refusal")
        await pilot.press("ctrl+s")
        await wait_for_screen(pilot, Editor)
        await type_value(pilot, "1")
        await pilot.press("ctrl+g")
        # A pending value is edited further without a question.
        await pilot.press("a")
        await wait_for_screen(pilot, PendingScreen)
        await pilot.press("e")
        await wait_for_screen(pilot, Editor)
        await type_value(pilot, "2")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "committed as revision")
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        # A declared key without a value counts as new, too.
        await pilot.press("n")
        ask = await wait_for_screen(pilot, AskText)
        ask.query_one(Input).value = "ui.title"
        await pilot.press("enter")
        await wait_for_screen(pilot, Editor)

    browse(filled, body)
    assert stored(filled, "quite.another.key") == 2
    assert stored(filled, "audio.volum") is None


def test_the_page_of_an_unknown_key_does_not_set_it(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await wait_for_screen(pilot, KeyPage)
        await pilot.press("w", "e")
        await wait_for_message(pilot, 'did you mean "audio.volume"?')
        assert isinstance(pilot.app.screen, KeyPage)

    browse(filled, body, key="audio.volumee")


def test_without_declarations_every_key_is_accepted(tmp_path: Path) -> None:
    location = tmp_path / "free.kept"
    with kept.open(location) as store:
        store["audio.volume"] = 1

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await pilot.press("n")
        ask = await wait_for_screen(pilot, AskText)
        ask.query_one(Input).value = "audio.volum"
        await pilot.press("enter")
        await wait_for_screen(pilot, Editor)

    browse(location, body)


def test_an_unchanged_value_is_not_written_but_one_of_another_type_is(filled: Path, writer: Writer) -> None:
    writer.set("misc.list", [1, 2])

    async def body(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "misc.list")
        revision = session_of(pilot).settings.revision()
        await open_editor(pilot, "misc.list")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert session_of(pilot).settings.revision() == revision
        await open_editor(pilot, "misc.list")
        await type_value(pilot, "[true, 2.0]")
        await finished(pilot)

    browse(filled, body)
    assert str(stored(filled, "misc.list")) == "[True, 2.0]"


def test_a_stored_value_that_does_not_fit_can_be_corrected(filled: Path, writer: Writer) -> None:
    writer.set("misc.number", "text")
    writer.declare({"misc.number": {"type": "integer", "default": 7}})

    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "misc.number")
        await type_value(pilot, "8")
        await finished(pilot)

    browse(filled, body)
    assert stored(filled, "misc.number") == 8


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (200, 60)])
def test_the_editor_fits_on_the_screen(filled: Path, size: tuple[int, int]) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.window")
        await type_value(pilot, "[1,")
        await wait_for_text(pilot, "^")
        assert "ends where a value is expected" in screen_text(pilot).replace("\n", " ") or "array" in screen_text(
            pilot
        )

    browse(filled, body, size=size)


def test_the_default_is_used_from_the_editor_and_offered_next_to_the_value(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.muted")
        assert "Use default" not in screen_text(pilot), "nothing is stored"
        await leave_editor(pilot)
        await open_editor(pilot, "audio.volume")
        await wait_for_text(pilot, "Use default")
        await pilot.press("ctrl+d")
        await wait_for_screen(pilot, Ask)
        await wait_for_text(pilot, "audio.volume  30")
        await pilot.press("n", "enter")
        await wait_for_text(pilot, "d uses the default, 50")
        await pilot.press("d")
        await wait_for_screen(pilot, Ask)
        await pilot.press("y")
        await wait_for(pilot, lambda: session_of(pilot).settings["audio.volume"] == 50, "the default")
        await wait_for_screen(pilot, KeyPage)
        await wait_until_gone(pilot, "d uses the default")

    browse(filled, body, size=(80, 24))
