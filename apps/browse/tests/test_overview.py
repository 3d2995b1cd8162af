"""The screen with all stores."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Input

import kept
from kept_browse._ask import AskText
from kept_browse._help import Help
from kept_browse._key_page import KeyPage
from kept_browse._overview import Overview, SearchScreen
from kept_browse._places import size_text
from screens import (
    app_of,
    browse,
    is_loaded,
    keys_screen,
    line_with,
    listed,
    messages,
    screen_lines,
    screen_text,
    text_of,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
)
from stores import Writer, fill


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder with three stores, one of them damaged, and a store with only administrator's files."""
    folder = tmp_path / "configuration/kept"
    folder.mkdir(parents=True)
    fill(folder / "org.example.app.kept")
    with kept.open(folder / "org.small.kept") as store:
        store["a"] = 1
    (folder / "broken.kept").mkdir()
    (folder / "broken.kept/values").write_bytes(b"x" * 5000)
    (folder / "[red]odd.kept").mkdir()
    (folder / "no store").mkdir()
    (folder / "file.kept").write_text("no folder")
    find, managed = kept.places, dataclasses.replace(kept.place("org.managed"), state="absent")
    monkeypatch.setattr(kept, "places", lambda: (*find(folder), managed))
    return folder


async def examined(pilot: Pilot[int]) -> None:
    """Waits until every store has been examined."""
    screen = await wait_for_screen(pilot, Overview)
    await wait_for(pilot, lambda: len(screen._places) == 6, "the stores")
    await wait_for(pilot, lambda: not [w for w in pilot.app.workers if not w.is_finished], "the end of the reading")
    await pilot.pause()


def cells(pilot: Pilot[int], name: str) -> list[str]:
    table = pilot.app.screen.query_one(DataTable)
    return [str(cell) for cell in table.get_row(name)]


def findings(pilot: Pilot[int], name: str) -> list[kept.Finding]:
    assert isinstance(pilot.app.screen, Overview)
    return pilot.app.screen._findings[name]


def test_w_reports_whether_stores_can_be_changed() -> None:
    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("w")
        await wait_for_message(pilot, "changes are allowed in every store that you open")
        await pilot.press("w")
        await wait_for_message(pilot, "changes are off in every store that you open")

    browse(None, body)


def test_all_stores_are_shown_with_size_keys_health_and_who_has_them_open(stores: Path, process: Writer) -> None:
    process.open(stores / "org.example.app.kept")

    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        name, size, keys, health, programs = cells(pilot, "org.example.app")
        assert keys == "21" and health == "OK" and size.endswith("B") and f"({process.pid})" in programs
        assert cells(pilot, "org.small")[2:] == ["1", "OK", ""]
        assert cells(pilot, "org.managed") == ["org.managed", "", "", "only administrator's files", ""]
        assert cells(pilot, "broken")[3] != "OK" and cells(pilot, "file")[3] != "OK"
        # It is not an identifier, so it is listed by its path.
        odd = str(stores / "[red]odd.kept")
        assert "a folder without a store" in "\n".join(finding.what for finding in findings(pilot, odd))
        assert "[red]odd" in screen_text(pilot) and str(stores) in screen_lines(pilot)[0]

    browse(None, body, size=(120, 30))
    process.open(None)


def test_the_problems_of_a_store_are_listed(stores: Path, process: Writer) -> None:
    process.open(stores / "org.example.app.kept")
    process.set("audio.extra", "text [red]")
    process.declare({"audio.extra": {"type": "integer"}})

    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        assert cells(pilot, "org.example.app")[3].startswith("attention: ")
        table = pilot.app.screen.query_one(DataTable)
        table.move_cursor(row=table.get_row_index("org.example.app"))
        await wait_for(pilot, lambda: 'the value of "audio.extra" does not match' in text_of(pilot, "#detail"),
                       "the finding")  # fmt: skip
        table.move_cursor(row=table.get_row_index("broken"))
        await wait_for(pilot, lambda: "damage" in text_of(pilot, "#detail") or "attention" in text_of(pilot, "#detail"),
                       "the damage")  # fmt: skip

    browse(None, body)
    process.open(None)


def test_the_list_and_its_search_change_no_store(stores: Path) -> None:
    def files() -> dict[Path, tuple[int, int]]:
        return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in stores.rglob("*")}

    before = files()

    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        assert cells(pilot, "broken")[3].startswith("damage: ")
        await pilot.press("slash", *"vol")
        await wait_for_text(pilot, "Search in 2 stores  ·  1 key  ·  3 stores cannot be read")

    browse(None, body)
    assert files() == before


def test_a_store_is_opened_and_left(stores: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        table = pilot.app.screen.query_one(DataTable)
        table.move_cursor(row=table.get_row_index("org.small"))
        await pilot.press("enter")
        await wait_for(pilot, lambda: is_loaded(app_of(pilot)), "the keys")
        assert listed(pilot) == ["a"] and "org.small" in screen_lines(pilot)[0]
        await pilot.press("q")
        await wait_for_screen(pilot, Overview)
        table.move_cursor(row=table.get_row_index("file"))
        await pilot.press("enter")
        await wait_for(pilot, lambda: messages(pilot), "the refusal")

    browse(None, body)


def test_another_store_is_opened_by_its_path(stores: Path, filled: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        await pilot.press("o")
        ask = await wait_for_screen(pilot, AskText)
        ask.query_one(Input).value = "/no/such/[red]store"
        await pilot.press("enter")
        await wait_for(pilot, lambda: "there is no store /no/such/[red]store" in text_of(pilot, "#problem"), "why not")
        assert pilot.app.screen is ask and ask.query_one(Input).value == "/no/such/[red]store", "it can be corrected"
        ask.query_one(Input).value = str(filled)
        await pilot.press("enter")
        await wait_for(pilot, lambda: is_loaded(app_of(pilot)), "the keys")
        assert "audio.volume" in listed(pilot)

    browse(None, body)


def test_a_store_created_by_another_process_is_found_by_a_refresh(stores: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        with kept.open(stores / "later.kept") as store:
            store["a"] = 1
        await pilot.press("ctrl+r")
        await wait_for_text(pilot, "later")
        await pilot.press("question_mark")
        await wait_for_screen(pilot, Help)
        await pilot.press("q")
        await wait_for_screen(pilot, Overview)
        await pilot.press("q")

    assert browse(None, body).return_value == 0


def test_without_stores_it_says_how_to_open_one() -> None:
    async def body(pilot: Pilot[int]) -> None:
        await wait_for_text(pilot, "Press o to open one by its path")
        await pilot.press("enter", "up", "down", "ctrl+r")
        await wait_for_text(pilot, "Press o")

    browse(None, body)


def test_a_click_opens_a_store(stores: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        table = pilot.app.screen.query_one(DataTable)
        row = table.get_row_index("org.example.app")
        table.move_cursor(row=row)
        await pilot.click(DataTable, offset=(3, row + 1))
        await wait_for(pilot, lambda: is_loaded(app_of(pilot)), "the keys")
        assert line_with(pilot, "audio.volume")

    browse(None, body)


# --- without the interface


def test_sizes() -> None:
    texts = [size_text(count) for count in (0, 999, 1000, 1_500_000, 2_000_000_000)]
    assert texts == ["0 B", "999 B", "1 KB", "1.5 MB", "2.0 GB"]


def test_it_is_left_while_stores_are_examined(stores: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await wait_for_screen(pilot, Overview)
        await pilot.press("q")

    for _ in range(5):
        assert browse(None, body).return_value == 0


def test_a_search_over_all_stores_opens_what_it_finds(stores: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        await pilot.press("slash", *"vol")
        await wait_for_screen(pilot, SearchScreen)
        await wait_for_text(pilot, "Search in 2 stores  ·  1 key  ·  3 stores cannot be read")
        line = line_with(pilot, "audio.volume")
        assert "30" in line and "org.example.app" in line
        await pilot.press("enter", "enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "How loud it is")
        assert "Reveal" not in screen_text(pilot), "it is not a secret"
        await pilot.press("q")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        assert keys_screen(pilot).key == "audio.volume"
        await pilot.press("q")
        screen = await wait_for_screen(pilot, SearchScreen)
        await wait_for_text(pilot, "audio.volume")
        screen.query_one(Input).value = "hunter"
        await wait_for_text(pilot, "No key matches.")
        screen.query_one(Input).value = "@secret"
        await wait_for_text(pilot, "(secret)")
        await pilot.press("escape")
        await wait_for_screen(pilot, Overview)

    browse(None, body)
