"""The browser warns before and after commits that cannot be undone, and offers `u` only for others."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

import kept
from kept_browse._ask import Ask
from kept_browse._import_screen import ImportScreen
from kept_browse._key_page import KeyPage
from kept_browse._pending import Edit
from kept_browse._pending_screen import PendingScreen
from kept_browse._session import Session
from kept_browse._undoing import MOST, finality, obstacle, size_of
from screens import (
    allow_writing,
    app_of,
    browse,
    go_to,
    keys_screen,
    listed,
    messages,
    open_editor,
    screen_text,
    session_of,
    text_of,
    type_value,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
)
from stores import Writer

FINAL = "It cannot be undone:"
TOO_LONG = f"{FINAL} the history does not keep values that long."
OFF = f"{FINAL} the history of the store is turned off."


async def committed(pilot: Pilot[int], why: str) -> None:
    """Waits for a commit and its notice."""
    await wait_for_message(pilot, "committed as revision")
    said = messages(pilot)[-1]
    assert why in said and ("u in the list undoes it" in why) == ("u in the list undoes it" in said)
    await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
    app_of(pilot)._end_message()


@pytest.mark.parametrize(
    ("value", "new"),
    [("x" * 65_537, "short"), ("ü" * 40_000, "short"), (b"x" * 65_537, "AA=="), (["x" * 70_000], "[1]")],
    ids=["text", "letters", "bytes", "JSON"],
)
@pytest.mark.parametrize("size", [(100, 30), (40, 10)])
def test_the_editor_of_a_long_value_says_that_it_cannot_be_undone(
    filled: Path, value: kept.JSON, new: str, size: tuple[int, int]
) -> None:
    key = "net.certificate" if isinstance(value, bytes) else "misc.long"
    with kept.open(filled) as settings:
        if isinstance(value, str):
            settings.declare({key: {"type": "string"}})
        settings[key] = value

    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, key)
        await wait_for(pilot, lambda: text_of(pilot, "#final") == TOO_LONG, "the warning")
        await wait_for_text(pilot, FINAL)
        await type_value(pilot, new)
        await pilot.press("ctrl+s")
        await committed(pilot, TOO_LONG)
        # The short value can be restored.
        await open_editor(pilot, key)
        assert not pilot.app.screen.query_one("#final").display
        await type_value(pilot, "AQ==" if isinstance(value, bytes) else "[2]" if isinstance(value, list) else "other")
        await pilot.press("ctrl+s")
        await committed(pilot, "u in the list undoes it")

    browse(filled, body, size=size)


def test_the_removal_of_a_long_value_says_so_before_and_after(filled: Path, writer: Writer) -> None:
    writer.run("settings['misc.long'] = 'x' * 65537; settings['misc.just'] = 'x' * 65536")

    async def body(pilot: Pilot[int]) -> None:
        await wait_for(pilot, lambda: "misc.long" in listed(pilot), "the key")
        await allow_writing(pilot)
        await go_to(pilot, "misc.long")
        await pilot.press("d")
        await wait_for_screen(pilot, Ask)
        await wait_for(pilot, lambda: TOO_LONG in text_of(pilot, "#question Static"), "the warning")
        await wait_for_text(pilot, "history does not keep values")
        await pilot.press("y")
        await committed(pilot, TOO_LONG)
        await pilot.press("u")
        await wait_for_message(pilot, "too large to be kept")
        await go_to(pilot, "misc.just")
        await pilot.press("d")
        await wait_for_screen(pilot, Ask)
        assert "cannot" not in text_of(pilot, "#question Static")
        await pilot.press("y")
        await committed(pilot, "u in the list undoes it")
        await pilot.press("u")
        await wait_for_message(pilot, "undid revision")

    browse(filled, body, size=(40, 12))


def test_a_store_without_a_history_says_so_before_and_after(filled: Path) -> None:
    with kept.open(filled) as settings:
        settings.history_limits = {"changes": 0}

    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        await wait_for(pilot, lambda: text_of(pilot, "#final") == OFF, "the warning")
        await type_value(pilot, "31")
        await pilot.press("ctrl+g")
        await wait_for_text(pilot, "1 pending change")
        await pilot.press("a")
        await wait_for_screen(pilot, PendingScreen)
        await wait_for(pilot, lambda: text_of(pilot, "#hint") == OFF, "the warning")
        await pilot.press("ctrl+s")
        await committed(pilot, OFF)
        await go_to(pilot, "ui.font")
        await pilot.press("d")
        await wait_for_screen(pilot, Ask)
        await wait_for(pilot, lambda: OFF in text_of(pilot, "#question Static"), "the warning")
        await pilot.press("y")
        await committed(pilot, OFF)
        await pilot.press("u")
        await wait_for_message(pilot, "your earlier commits")

    browse(filled, body)


@pytest.mark.parametrize("location", ["memory:one-of-the-browser"])
def test_a_store_that_keeps_no_history_promises_nothing(location: str) -> None:
    with kept.open(location) as settings:
        settings["audio.volume"] = 1

        async def body(pilot: Pilot[int]) -> None:
            await open_editor(pilot, "audio.volume")
            await wait_for(pilot, lambda: "keeps no history" in text_of(pilot, "#final"), "the warning")
            await type_value(pilot, "31")
            await pilot.press("ctrl+s")
            await committed(pilot, f"{FINAL} the store keeps no history.")
            await pilot.press("u")
            await wait_for_message(pilot, "no history")

        browse(location, body)


@pytest.mark.parametrize("size", [(100, 30), (40, 10)])
def test_pending_changes_that_cannot_be_undone_are_marked(filled: Path, writer: Writer, size: tuple[int, int]) -> None:
    writer.run("settings['misc.long'] = 'x' * 65537")

    async def body(pilot: Pilot[int]) -> None:
        await wait_for(pilot, lambda: "misc.long" in listed(pilot), "the key")
        for key, text in [("audio.volume", "31"), ("net.token", "new"), ("misc.long", '"s"')]:
            await open_editor(pilot, key)
            await type_value(pilot, text)
            await pilot.press("ctrl+g")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await pilot.press("a")
        screen = await wait_for_screen(pilot, PendingScreen)
        await wait_for_text(pilot, FINAL)
        hint = text_of(pilot, "#hint")
        assert "secrets" in hint and "values that long" in hint
        titles = [str(screen._options.get_option_at_index(place).prompt).split("\n")[0] for place in range(3)]
        assert titles == ["~ audio.volume", "~ net.token  (cannot be undone)", "~ misc.long  (cannot be undone)"]
        await pilot.press("ctrl+s")
        await committed(pilot, hint)

    browse(filled, body, size=size)


@pytest.mark.parametrize("has_other", [True, False])
def test_u_offers_only_a_commit_that_can_be_undone(filled: Path, writer: Writer, has_other: bool) -> None:
    writer.run("settings['misc.long'] = 'x' * 65537")

    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        await wait_for(pilot, lambda: "misc.long" in listed(pilot), "the key")
        edits = [("misc.long", '"s"'), ("net.token", "a"), ("net.token", "b")]
        for key, text in [*([("audio.volume", "31")] if has_other else []), *edits]:
            await open_editor(pilot, key)
            await type_value(pilot, text)
            await pilot.press("ctrl+s")
            await committed(pilot, "u in the list undoes it" if key == "audio.volume" else FINAL)
        own = session_of(pilot).commits
        await pilot.press("u")
        if has_other:
            await wait_for_screen(pilot, Ask)
            question = text_of(pilot, "#question Static")
            assert f"the last of your earlier commits that can be undone, revision {own[0].revision}?" in question
            await wait_for_text(pilot, "audio.volume")
            await pilot.press("y")
            await wait_for(pilot, lambda: settings["audio.volume"] == 30, "the undoing")
            await pilot.press("u")
        await wait_for_message(pilot, "your earlier commits since the store was opened cannot be undone either")
        assert keys_screen(pilot).is_current

    browse(filled, body)


@pytest.mark.parametrize("on_page", [True, False])
def test_undoing_a_commit_of_a_long_value_asks_first(filled: Path, on_page: bool) -> None:
    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        await open_editor(pilot, "ui.title")
        await type_value(pilot, "X" * 65_537)
        await pilot.press("ctrl+s")
        await committed(pilot, "u in the list undoes it")
        if on_page:
            await go_to(pilot, "ui.title")
            await pilot.press("enter")
            await wait_for_screen(pilot, KeyPage)
        for answer in "ny":
            await pilot.press("u")
            await wait_for_screen(pilot, Ask)
            await wait_for_text(pilot, "will be lost")
            assert settings.get("ui.title") is not None
            await pilot.press(answer)
            await wait_for(pilot, lambda: not isinstance(pilot.app.screen, Ask), "the answer")
        await wait_for_message(pilot, "undid revision")
        assert settings.get("ui.title") is None

    browse(filled, body)


def test_an_import_says_that_it_cannot_be_undone(filled: Path, tmp_path: Path, writer: Writer) -> None:
    writer.run("settings['misc.long'] = 'x' * 65537")
    file = tmp_path / "new.json"
    file.write_text('{"kept":1,"values":{"misc.long":"s"}}')

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await pilot.press("i")
        screen = await wait_for_screen(pilot, ImportScreen)
        screen.query_one("#path", Input).value = str(file)
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: f"Ctrl+S imports. {TOO_LONG}" in text_of(pilot, "#report"), "the warning")
        await pilot.press("ctrl+s")
        await wait_for_text(pilot, "Imported as revision")
        assert FINAL in text_of(pilot, "#report") and "u in the list" not in screen_text(pilot)

    browse(filled, body)


def test_closing_the_store_after_the_commit_does_not_end_the_program(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def obstacle_of_closed(session: Session, revision: int) -> str | None:
        session.close()
        return obstacle(session.settings, revision)

    monkeypatch.setattr(Session, "obstacle", obstacle_of_closed)

    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "31")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "committed as revision")
        assert not any("undoes" in text for text in messages(pilot))

    browse(filled, body)


@pytest.mark.parametrize("error", [kept.NoSpaceError, kept.BusyError, kept.DeniedError, kept.UnavailableError])
def test_an_undo_of_unknown_outcome_is_not_called_impossible(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[kept.KeptError]
) -> None:
    file = tmp_path / "new.json"
    file.write_text('{"audio.volume": 32}')
    read, is_failing = kept.Store.history, False

    def history(settings: kept.Store, *arguments: str) -> kept.History:
        if is_failing:
            raise error("the disk or the quota is full, and nothing was changed")
        return read(settings, *arguments)

    monkeypatch.setattr(kept.Store, "history", history)

    async def body(pilot: Pilot[int]) -> None:
        nonlocal is_failing
        await open_editor(pilot, "audio.volume")
        await type_value(pilot, "31")
        is_failing = True
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "committed as revision")
        assert "not known whether" in messages(pilot)[-1] and "nothing was changed" not in messages(pilot)[-1]
        # A lasting reason is reported anyway.
        await open_editor(pilot, "net.token")
        await type_value(pilot, "new")
        await pilot.press("ctrl+s")
        await committed(pilot, f"{FINAL} the history does not keep the values of secrets")
        await pilot.press("i")
        screen = await wait_for_screen(pilot, ImportScreen)
        screen.query_one("#path", Input).value = str(file)
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: "Ctrl+S imports." in text_of(pilot, "#report"), "the dry run")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in text_of(pilot, "#report"), "the import")
        assert "not known whether" in text_of(pilot, "#report")
        await pilot.press("escape")
        is_failing = False
        await pilot.press("u")
        await wait_for(pilot, lambda: session_of(pilot).settings["audio.volume"] == 31, "the undoing")

    browse(filled, body)


@pytest.mark.parametrize("on_page", [True, False])
def test_u_reports_at_once_why_it_cannot_undo(filled: Path, on_page: bool, writer: Writer) -> None:
    writer.run("settings['ui.title'] = 'X' * 70000")

    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "ui.title")
        await type_value(pilot, "Y" * 70_000)
        await pilot.press("ctrl+s")
        await committed(pilot, TOO_LONG)
        if on_page:
            await go_to(pilot, "ui.title")
            await pilot.press("enter")
            await wait_for_screen(pilot, KeyPage)
        await pilot.press("u")
        await wait_for_message(pilot, "too large to be kept")
        assert not isinstance(pilot.app.screen, Ask)

    browse(filled, body)


# --- without the interface


def test_the_size_of_a_value_is_as_the_history_counts_it(tmp_path: Path) -> None:
    with kept.open(tmp_path / "sizes.kept") as settings:
        array: list[kept.JSON] = ['é\n\u2028"', 1e16, -0.0, 2**60, b"\x00\xff", True]
        values: list[kept.JSON] = ["x", "é\n", b"x", array, {"k": {"é": []}}]
        for value in values:
            for over in (0, 1):
                rest = MOST - size_of(value) + over
                match value:
                    case str():
                        long: kept.JSON = value + "x" * rest
                    case bytes():
                        long = value + b"x" * rest
                    case list():
                        long = [*value, "x" * (rest - 3)]
                    case dict():
                        long = {**value, "n": "x" * (rest - 7)}
                assert size_of(long) == MOST + over
                settings["key"] = long
                edit = Edit("key", long, None, settings.revision("key"))
                settings.history()  # so that the commits are not folded
                with settings.transaction() as transaction:
                    transaction.reset("key")
                    revision = transaction.commit()
                assert (finality(settings, [edit]) is None) == (obstacle(settings, revision) is None) == (over == 0)


def test_small_limits_of_the_history_are_found(tmp_path: Path) -> None:
    edits = [Edit(f"key {number}", "x" * 100, "y", 1) for number in range(3)]
    with kept.open(tmp_path / "limits.kept") as settings:
        assert finality(settings, edits) is None
        for limits, is_enough in (({"changes": 2}, False), ({"bytes": 400}, False), ({"bytes": 500}, True)):
            settings.history_limits = limits
            assert (finality(settings, edits) is None) == is_enough
        for name in ("changes", "changesPerKey", "days", "bytes"):
            settings.history_limits = {name: 0}
            assert finality(settings, edits) == OFF
