"""The screen with all stores."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Input

import kept
from browse.screens import (
    app_of,
    browse,
    is_loaded,
    line_with,
    listed,
    screen_lines,
    screen_text,
    text_of,
    toasts,
    wait_for,
    wait_for_screen,
    wait_for_text,
)
from browse.stores import Writer, fill
from kept.browse._ask import AskText
from kept.browse._health import Finding
from kept.browse._help import Help
from kept.browse._overview import Overview
from kept.browse._places import all_stores, folder_of, is_identifier, location_of, processes, size_of, size_text


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    """The user's folder with three stores, one of them damaged, and one that only the administrator knows."""
    folder = tmp_path / "configuration/kept"
    folder.mkdir(parents=True)
    fill(folder / "org.example.app.kept")
    with kept.open(folder / "org.small.kept") as store:
        store["a"] = 1
    (folder / "broken.kept").mkdir()
    (folder / "broken.kept/values.sqlite").write_bytes(b"x" * 5000)
    (folder / "[red]odd.kept").mkdir()
    (folder / "no store").mkdir()
    (folder / "file.kept").write_text("no folder")
    (tmp_path / "etc/org.managed").mkdir(parents=True)
    return folder


async def examined(pilot: Pilot[int]) -> None:
    """Waits until every store was looked at."""
    screen = await wait_for_screen(pilot, Overview)
    await wait_for(pilot, lambda: len(screen._places) == 6, "the stores")
    await wait_for(pilot, lambda: not [w for w in pilot.app.workers if not w.is_finished], "the end of the reading")
    await pilot.pause()


def cells(pilot: Pilot[int], name: str) -> list[str]:
    table = pilot.app.screen.query_one(DataTable)
    return [str(cell) for cell in table.get_row(name)]


def findings(pilot: Pilot[int], name: str) -> list[Finding]:
    assert isinstance(pilot.app.screen, Overview)
    return pilot.app.screen._findings[name]


def test_without_variables_the_user_database_has_the_folder_of_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda user: SimpleNamespace(pw_dir=f"/home/{user}"))
    monkeypatch.setattr(os, "geteuid", lambda: 42)
    for name in ("XDG_CONFIG_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert folder_of("com.example.player") == Path("/home/42/.config/kept/com.example.player.kept")
    for name in ("XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, "relative")
    assert folder_of("com.example.player") == Path("/home/42/.config/kept/com.example.player.kept")
    monkeypatch.setenv("HOME", "/elsewhere")
    assert folder_of("com.example.player") == Path("/elsewhere/.config/kept/com.example.player.kept")


def test_all_stores_are_shown_with_size_keys_health_and_who_has_them_open(stores: Path, process: Writer) -> None:
    process.open(stores / "org.example.app.kept")

    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        name, size, keys, health, programs = cells(pilot, "org.example.app")
        assert keys == "21" and health == "well" and size.endswith("B") and f"({process.pid})" in programs
        assert cells(pilot, "org.small")[2:] == ["1", "well", ""]
        assert cells(pilot, "org.managed") == ["org.managed", "", "", "only files of the administrator", ""]
        assert cells(pilot, "broken")[3] != "well" and cells(pilot, "file")[3] != "well"
        assert "not an identifier" in "\n".join(finding.what for finding in findings(pilot, "[red]odd"))
        assert "[red]odd" in screen_text(pilot) and str(stores) in screen_lines(pilot)[0]

    browse(None, body, size=(120, 30))
    process.open(None)


def test_what_is_wrong_with_a_store_is_said(stores: Path, process: Writer) -> None:
    process.open(stores / "org.example.app.kept")
    process.set("audio.extra", "text [red]")
    process.declare({"audio.extra": {"type": "integer"}})

    async def body(pilot: Pilot[int]) -> None:
        await examined(pilot)
        assert cells(pilot, "org.example.app")[3].startswith("attention: ")
        table = pilot.app.screen.query_one(DataTable)
        table.move_cursor(row=table.get_row_index("org.example.app"))
        await wait_for(pilot, lambda: '"audio.extra" has a stored value that does not fit' in text_of(pilot, "#detail"),
                       "the finding")  # fmt: skip
        table.move_cursor(row=table.get_row_index("broken"))
        await wait_for(pilot, lambda: "damage" in text_of(pilot, "#detail") or "attention" in text_of(pilot, "#detail"),
                       "the damage")  # fmt: skip

    browse(None, body)
    process.open(None)


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
        await wait_for(pilot, lambda: toasts(pilot), "the refusal")

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


def test_a_store_that_another_process_makes_is_found_when_it_is_read_again(stores: Path) -> None:
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


def test_stores_are_found_by_their_names(stores: Path) -> None:
    found = {place.location: (place.is_stored, place.is_managed) for place in all_stores()}
    assert found["org.example.app"] == (True, False) and found["org.managed"] == (False, True)
    assert "no store" not in found and "org.managed" not in str(all_stores(stores / "absent"))


def test_the_processes_that_have_a_store_open(stores: Path, process: Writer) -> None:
    folder = stores / "org.example.app.kept"
    assert process.pid not in [pid for pid, _ in processes(folder)]
    process.open(folder)
    assert process.pid in [pid for pid, _ in processes(folder)]
    process.open(None)
    assert process.pid not in [pid for pid, _ in processes(folder)] and processes(stores / "absent") == []


def test_sizes(tmp_path: Path) -> None:
    assert size_of(tmp_path / "absent") == 0
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    assert 100_000 <= size_of(tmp_path) < 300_000
    texts = [size_text(count) for count in (0, 999, 1000, 1_500_000, 2_000_000_000)]
    assert texts == ["0 B", "999 B", "1 KB", "1.5 MB", "2.0 GB"]


@pytest.mark.parametrize(
    ("location", "folder"),
    [
        ("org.app", "configuration/kept/org.app.kept"),
        ("/a/b", "/a/b"),
        ("./b", "./b"),
        ("a/b:c", "a/b:c"),
        ("dir:/a/b", "/a/b"),
        ("memory:", None),
        ("etcd://host/x", None),
    ],
)
def test_the_folder_of_a_location(tmp_path: Path, location: str, folder: str | None) -> None:
    expected = None if folder is None else tmp_path / folder if folder.startswith("conf") else Path(folder)
    assert folder_of(location) == expected


def test_the_path_of_a_users_store_is_its_identifier(stores: Path, filled: Path) -> None:
    assert location_of(str(stores / "org.example.app.kept")) == "org.example.app"
    assert location_of(str(filled)) == str(filled)
    assert location_of("org.app") == "org.app" and is_identifier("org.app") and not is_identifier("memory:")
    assert location_of("/absent/x.kept") == "/absent/x.kept" and location_of("a\0/b.kept") == "a\0/b.kept"


def test_it_is_left_while_stores_are_examined(stores: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await wait_for_screen(pilot, Overview)
        await pilot.press("q")

    for _ in range(5):
        assert browse(None, body).return_value == 0
