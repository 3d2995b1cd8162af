"""Removing stored values takes a second, different key, and only affects the listed keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

import kept
from kept_browse._ask import Ask
from kept_browse._key_page import KeyPage
from kept_browse._keys import KeysScreen
from kept_browse._outline import Branch
from kept_browse._pending import Edit
from kept_browse._session import Layers
from screens import (
    allow_writing,
    browse,
    go_to,
    keys_screen,
    line_with,
    listed,
    messages,
    rows,
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
from stores import VALUES, Writer, write_file


def stored(location: Path) -> set[str]:
    with kept.open(location) as store:
        return set(store)


async def ask(pilot: Pilot[int], key: str) -> None:
    await pilot.press(key)
    await wait_for_screen(pilot, Ask)


def test_a_value_is_removed_by_d_and_then_y_and_undone(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        await ask(pilot, "d")
        await wait_for_text(pilot, "Remove 1 stored value?")
        assert "audio.volume  30" in screen_text(pilot) and "apply again: 50." in text_of(pilot, "#asked")
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")
        await wait_for(pilot, lambda: "50" in line_with(pilot, "audio.volume"), "the default")
        assert "declared" in line_with(pilot, "audio.volume")
        await pilot.press("u")
        await wait_for(pilot, lambda: "30" in line_with(pilot, "audio.volume"), "the value")

    browse(filled, body)


def test_no_other_key_is_an_answer(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        for asked in ("d", "D"):
            await ask(pilot, asked)
            for key in (asked, "enter", "space", "w", "Y", "u", "q", "down"):
                await pilot.press(key)
                await pilot.pause()
                assert isinstance(pilot.app.screen, Ask), key
            await pilot.press("escape" if asked == "d" else "n")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body)
    assert stored(filled) == set(VALUES)


def test_only_listed_keys_are_removed(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await search(pilot, "misc.")
        await wait_for(pilot, lambda: len(listed(pilot)) == 5, "the found keys")
        await ask(pilot, "D")
        await wait_for_text(pilot, "Remove 5 stored values?")
        # A key that appears after the question is not part of it.
        writer.set("misc.later", 1)
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")
        await wait_for(pilot, lambda: listed(pilot) == ["misc.later"], "the list")

    browse(filled, body)
    assert stored(filled) == {key for key in VALUES if not key.startswith("misc.")} | {"misc.later"}


def test_keys_in_a_closed_branch_are_not_removed(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await pilot.press("t")
        await wait_for_text(pilot, "> misc.")
        rows(pilot).put_cursor(Branch("misc.", 0, 0, False))
        await pilot.press("d")
        await pilot.pause()
        assert keys_screen(pilot).is_current, "a branch is not a key"
        await ask(pilot, "D")
        await wait_for_text(pilot, "stored value")
        assert "misc." not in "\n".join(pilot.app.screen._lines)  # type: ignore[attr-defined]
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")

    browse(filled, body)
    assert {key for key in VALUES if key.startswith(("misc.", "audio.", "net.", "ui."))} == stored(filled)


def test_a_change_after_the_question_is_not_destroyed(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        await ask(pilot, "d")
        writer.set("audio.volume", 31)
        await pilot.press("y")
        await wait_for_message(pilot, '"audio.volume" changed since')

    browse(filled, body)
    with kept.open(filled) as store:
        assert store["audio.volume"] == 31


def test_the_question_is_about_the_key_under_the_cursor_when_keys_come_before_it(filled: Path, writer: Writer) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "misc.note")
        for number in range(8):
            writer.set(f"aa.{number:02}", number)
            await ask(pilot, "d")
            await wait_for_text(pilot, "misc.note  ")
            assert pilot.app.screen._lines == ['misc.note  "not declared"']  # type: ignore[attr-defined]
            await pilot.press("n")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await wait_for(pilot, lambda: "aa.07" in listed(pilot), "the last key")

    browse(filled, body)


def test_a_locked_key_is_refused_before_a_question(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {"audio.volume": 10}, ["audio.volume"])

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        await pilot.press("d")
        await wait_for_message(pilot, f'"audio.volume" is locked by {managed}')
        assert keys_screen(pilot).is_current
        await ask(pilot, "D")
        await wait_for_text(pilot, f"Remove {len(VALUES) - 1} stored values?")
        await wait_for_text(pilot, "1 locked key stays")
        assert "audio.volume" not in "".join(pilot.app.screen._lines)  # type: ignore[attr-defined]
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")

    browse(filled, body, layers=Layers(str(managed), has_standard=False))
    assert stored(filled) == {"audio.volume"}


def test_a_key_that_is_locked_just_before_the_answer_is_not_removed(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    managed = write_file(tmp_path / "managed.json", {})
    monkeypatch.setattr(KeysScreen, "_redeclared", lambda _: None)

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await ask(pilot, "D")
        write_file(managed, {"audio.volume": 10}, ["audio.volume"])
        settings = session_of(pilot).settings
        await wait_for(pilot, lambda: settings.explain("audio.volume").locked, "the lock")
        await pilot.press("y")
        await wait_for_message(pilot, "lock")
        assert any("audio.volume" in text for text in messages(pilot))

    browse(filled, body, layers=Layers(str(managed), has_standard=False))
    assert stored(filled) == set(VALUES)


def test_a_question_follows_locks(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {}, ["ui.font"])

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await ask(pilot, "D")
        await wait_for_text(pilot, f"Remove {len(VALUES) - 1} stored values?")
        assert "audio.volume  30" in text_of(pilot, "#about")
        # The question was not about a key that has been unlocked since.
        write_file(managed, {}, ["audio.volume"])
        await wait_for_text(pilot, f"Remove {len(VALUES) - 2} stored values?")
        await wait_for_text(pilot, "2 locked keys stay")
        assert not {"audio.volume", "ui.font"} & set(text_of(pilot, "#about").split())
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")

    browse(filled, body, layers=Layers(str(managed), has_standard=False), size=(100, 60))
    assert stored(filled) == {"audio.volume", "ui.font"}


def test_a_question_about_a_key_ends_when_that_is_locked(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {})

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        await ask(pilot, "d")
        write_file(managed, {}, ["audio.volume"])
        await wait_for_message(pilot, f'"audio.volume" is locked by {managed}')
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body, layers=Layers(str(managed), has_standard=False))
    assert stored(filled) == set(VALUES)


@pytest.mark.parametrize("asks", ["D", "q", "ctrl+q"])
def test_a_key_that_is_declared_secret_is_covered_in_questions(filled: Path, writer: Writer, asks: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        session_of(pilot).pending.add(Edit("misc.note", "not declared", "new", 1))
        await ask(pilot, asks)
        await wait_for_text(pilot, "not declared")
        writer.declare({"misc.note": {"type": "string", "secret": True}})
        await wait_until_gone(pilot, "not declared")
        await wait_for_text(pilot, "misc.note  (secret)")
        assert isinstance(pilot.app.screen, Ask)

    browse(filled, body, size=(100, 60))


@pytest.mark.parametrize("asks", ["d", "D"])
def test_a_question_names_the_pending_changes_that_it_discards(filled: Path, asks: str) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        session_of(pilot).pending.add(Edit("ui.font", "Mono", "WORK", 1))
        session_of(pilot).pending.add(Edit("audio.volume", 30, 40, 1))
        await search(pilot, "ui.")
        await go_to(pilot, "ui.font")
        await ask(pilot, asks)
        question = text_of(pilot, "#asked")
        assert "This also discards 1 pending change." in question
        assert 'ui.font  "Mono"; pending: "WORK"' in text_of(pilot, "#about").split("\n")
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")
        assert [edit.key for edit in session_of(pilot).pending.edits] == ["audio.volume"]

    browse(filled, body)


def test_without_a_stored_value_nothing_is_removed(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.muted")
        await pilot.press("d")
        await wait_for_message(pilot, "no stored value to remove")
        await search(pilot, "no such key")
        await pilot.press("D")
        await wait_for_message(pilot, "no stored value to remove")

    browse(filled, body)


def test_a_secret_is_covered_in_the_question(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "net.token")
        await ask(pilot, "d")
        await wait_for_text(pilot, "net.token  (secret)")
        assert "hunter" not in screen_text(pilot)
        await pilot.press("n")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await ask(pilot, "D")
        await wait_for_text(pilot, "stored values")
        assert "hunter" not in screen_text(pilot)

    browse(filled, body, size=(100, 60))


def test_the_page_of_a_key_asks_too(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "ui.font")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await ask(pilot, "d")
        await pilot.press("y")
        await wait_for_text(pilot, "> declared")

    browse(filled, body)
    assert "ui.font" not in stored(filled)


@pytest.mark.parametrize("size", [(40, 12), (30, 8), (80, 24)])
def test_a_question_shows_its_keys_at_any_size(filled: Path, size: tuple[int, int]) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await ask(pilot, "D")
        await wait_for_text(pilot, "Press y to confirm")
        await wait_for_text(pilot, "y Yes")
        await wait_for_text(pilot, "Remove 17 stored values?")

    browse(filled, body, size=size)


def test_a_question_is_answered_before_it_is_drawn_for_a_new_size(filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        await ask(pilot, "d")
        question = pilot.app.screen
        assert isinstance(question, Ask)
        await pilot.press("n")
        await wait_for(pilot, lambda: not question.is_running, "the end")
        # Textual calls it after the next drawing, which is one of the list.
        keys_screen(pilot).call_after_refresh(question._show_keys)
        await pilot.pause()

    browse(filled, body)


@pytest.mark.parametrize("size", [(20, 5), (8, 3)])
def test_values_that_a_small_terminal_does_not_show_are_not_removed(filled: Path, size: tuple[int, int]) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await search(pilot, "ui.")
        await pilot.resize_terminal(*size)
        await ask(pilot, "D")
        await pilot.press("y")
        await wait_for(pilot, lambda: "Make the terminal larger" in text_of(pilot, "#keys"), "the refusal")
        await wait_for_text(pilot, "Make the")
        await pilot.press("y")
        await pilot.pause()
        assert isinstance(pilot.app.screen, Ask)
        assert stored(filled) == set(VALUES)
        await pilot.resize_terminal(80, 24)
        await wait_for_text(pilot, "Press y to confirm")
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")

    browse(filled, body)
    assert stored(filled) == {key for key in VALUES if not key.startswith("ui.")}


def test_a_question_about_many_values_says_that_there_are_more(filled: Path, writer: Writer) -> None:
    writer.run("with settings.transaction() as t:\n for n in range(700): t[f'many.k{n:03}'] = n")

    async def body(pilot: Pilot[int]) -> None:
        await wait_for(pilot, lambda: "many.k699" in listed(pilot), "the keys")
        await allow_writing(pilot)
        await search(pilot, "many.")
        await ask(pilot, "D")
        await wait_for_text(pilot, "Arrow keys scroll through the list")
        await pilot.press("end")
        await wait_for_text(pilot, "many.k699  699")
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")
        await pilot.press("u")
        await wait_for_message(pilot, "undid revision")
        assert messages(pilot)[-1].endswith("many.k000, many.k001, many.k002 and 697 more")

    browse(filled, body)
