"""A store with a key of 200 characters."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

import kept
from kept_browse._key_page import KeyPage
from kept_browse._overview import SearchScreen
from screens import (
    browse,
    go_to,
    keys_screen,
    line_with,
    open_editor,
    screen_lines,
    screen_text,
    wait_for,
    wait_for_screen,
    wait_for_text,
)

LONG = "long." + "".join(f"part{number:03}" for number in range(28))
VALUE = "value " * 60


def fill(location: Path | str) -> None:
    with kept.open(location, tag="player") as settings, settings.transaction() as transaction:
        transaction[LONG] = 1
        for number in range(60):
            transaction[f"many.k{number:02}"] = VALUE


def whole(pilot: Pilot[int]) -> bool:
    """Whether the screen shows the whole key, on several lines."""
    return LONG in "".join(line.strip(" │") for line in screen_lines(pilot))


SIZES = [(80, 24), (200, 50), (40, 16)]


@pytest.mark.parametrize("size", SIZES)
def test_a_long_key_leaves_room_for_the_other_columns(location: Path, size: tuple[int, int]) -> None:
    fill(location)

    async def body(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "many.k01")
        row = line_with(pilot, "many.k01")
        assert "…" in row[-2:] or size[0] > 40, "the mark of a cut value is left of the scrollbar"
        if size[0] >= 80:
            assert "CHANGED" in screen_text(pilot) and "user" in row and "…" in row
        if size[0] == 200:
            assert "BY" in screen_text(pilot) and "player" in row

    browse(location, body, size=size)


@pytest.mark.parametrize("size", SIZES)
def test_the_whole_of_a_long_key_is_shown(location: Path, size: tuple[int, int]) -> None:
    fill(location)

    async def body(pilot: Pilot[int]) -> None:
        await go_to(pilot, LONG)
        await wait_for(pilot, lambda: whole(pilot), "the key below the list")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for(pilot, lambda: whole(pilot), "the key on its page")
        await pilot.press("q")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await open_editor(pilot, LONG)
        await wait_for(pilot, lambda: whole(pilot), "the key in its editor")
        await wait_for_text(pilot, " Set")

    browse(location, body, size=size)


def test_the_search_in_all_stores_shows_the_whole_of_a_long_key() -> None:
    fill("org.example.long")

    async def body(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "org.example.long")
        await pilot.press("slash")
        screen = await wait_for_screen(pilot, SearchScreen)
        screen.query_one("#search", Input).value = "part000"
        await wait_for(pilot, lambda: whole(pilot), "the key")

    browse(None, body, size=(80, 24))
