"""`kept browse` when its store is removed, replaced, damaged or locked: it reports that and does not crash."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

import kept
from kept_browse._app import Browser
from kept_browse._ask import Ask
from kept_browse._key_page import KeyPage
from kept_browse._keys import KeysScreen
from kept_browse._session import Layers, Session
from screens import count_looks, settle

# The program itself ignores the warning, which would be printed across the screen.
pytestmark = pytest.mark.filterwarnings("ignore::kept.SalvagedWarning")

# The program waits a hundred times as long as a look for damage took, before the next one.
DEADLINE = 300.0

Steps = Callable[[Browser, Pilot[int]], Awaitable[None]]


def browse(location: Path, steps: Steps, **options: object) -> None:
    """Runs the program without a terminal, and calls `steps` when it has read everything."""
    layers = Layers(**options, has_standard=False)  # type: ignore[arg-type]
    browser = Browser(str(location), layers=layers)

    async def running() -> None:
        async with browser.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: bool(browser.failure) or is_read(browser), "the first screen")
            await steps(browser, pilot)

    asyncio.run(running())


async def until(pilot: Pilot[int], condition: Callable[[], object], what: str) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert pilot.app._exception is None, pilot.app._exception
        assert time.monotonic() < end, f"{what} did not come; the screen is\n{screen(pilot)}"
        await pilot.pause(0.02)
    await settle(pilot)


def screen(pilot: Pilot[int]) -> str:
    """The text of the screen."""
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


def is_read(browser: Browser) -> bool:
    return isinstance(browser.screen, KeysScreen) and browser.screen.session.catalog.is_complete


def banner(browser: Browser) -> str:
    """The sentence above the list, or an empty text."""
    found = browser.screen.query_one("#trouble", Static)
    return str(found.content) if found.display else ""


def told(browser: Browser) -> str:
    """The last message, until it ends."""
    return browser.message[1]


async def edit(browser: Browser, pilot: Pilot[int], key: str, text: str) -> None:
    """Sets a key like a user."""
    if browser.mode_text != "WRITING":
        await pilot.press("w")
    assert isinstance(browser.screen, KeysScreen)
    browser.screen._rows.put_cursor(key)
    await pilot.press("e")
    await until(pilot, lambda: browser.screen.query("#editor"), "the editor")
    editor = browser.screen.query_one("#editor")
    if isinstance(editor, Input):
        editor.value = text
    else:
        assert isinstance(editor, TextArea)
        editor.text = text
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(browser.screen, KeysScreen), "the list")


@pytest.fixture
def filled(location: Path) -> Path:
    """A store with several hundred keys."""
    with kept.open(location) as settings:
        settings.declare({"a.level": {"type": "integer", "default": 1}})
        with settings.transaction() as transaction:
            for number in range(300):
                transaction[f"list.key{number:03}"] = "a value that takes some space " * 5
    return location


# --- another folder, or none


def test_a_look_for_another_folder_is_cheap_and_exact(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held() -> list[str]:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return [link for link in links if os.path.lexists(link) and os.readlink(link).startswith(str(tmp_path))]

    session = Session.begin(str(filled), Layers(has_standard=False))
    monkeypatch.setattr(kept, "place", lambda _: pytest.fail("the whole folder is examined"))
    assert session.moved() is None
    filled.chmod(0)
    assert session.moved() is None, "it is the same folder"
    filled.chmod(0o700)
    filled.rename(tmp_path / "away")
    assert session.moved() == f"{filled} was removed"
    filled.write_text("a file")
    assert session.moved() == f"{filled} was removed"
    filled.unlink()
    filled.mkdir()
    assert session.moved() == f"{filled} was replaced by another folder"
    filled.rmdir()
    shutil.rmtree(tmp_path / "away")
    filled.mkdir()
    assert session.moved() == f"{filled} was replaced by another folder", "it may have the number of the first one"
    session.close()
    assert not held()


def test_a_store_that_is_removed_and_created_again(filled: Path) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        shutil.rmtree(filled)
        await until(pilot, lambda: "was removed;" in banner(browser), "the banner")
        assert "Ctrl+R" in banner(browser)
        assert "list.key003" in screen(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "does not exist" in told(browser), "the reason")
        assert "list.key003" in screen(pilot)
        with kept.open(filled) as settings:
            settings["quite.new"] = True
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "quite.new" in screen(pilot) and is_read(browser), "the new store")
        await until(pilot, lambda: not banner(browser), "a screen without the banner")

    browse(filled, steps)


def test_damage_is_named_when_the_store_is_opened_again(filled: Path) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        assert not banner(browser)
        overwrite(filled / "values", 4096, 1 << 30)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "is damaged" in banner(browser), "the banner")

    browse(filled, steps)


def test_a_store_that_is_replaced(filled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.kept"
    with kept.open(other) as settings:
        settings["from.other"] = 1

    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        filled.rename(tmp_path / "away.kept")
        other.rename(filled)
        await until(pilot, lambda: "replaced by another folder" in banner(browser), "the banner")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "from.other" in screen(pilot), "the other store")
        await until(pilot, lambda: not banner(browser), "a screen without the banner")
        await edit(browser, pilot, "from.other", "22")
        await until(pilot, lambda: "committed as revision" in told(browser).lower(), "the commit")
        with kept.open(filled) as settings:
            assert settings["from.other"] == 22

    browse(filled, steps)


def test_undo_is_not_offered_in_a_store_that_was_replaced(filled: Path, tmp_path: Path) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        await edit(browser, pilot, "a.level", "9")
        await until(pilot, lambda: "undoes it" in told(browser), "the offer")
        filled.rename(tmp_path / "away.kept")
        shutil.copytree(tmp_path / "away.kept", filled)
        before = browser.screen
        await pilot.press("ctrl+r")
        await until(pilot, lambda: browser.screen is not before and is_read(browser), "the other store")
        assert "undoes it" not in told(browser), "the notice is about the store that was moved"

    browse(filled, steps)


def test_a_replaced_store_is_opened_again_on_every_screen_that_advises_it(filled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.kept"
    with kept.open(other) as settings:
        settings.declare({"from.other": {"type": "integer"}})

    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        await pilot.press("w")
        await pilot.press("e")
        await until(pilot, lambda: browser.screen.query("#editor"), "the editor")
        browser.screen.query_one("#editor", Input).value = "5"
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "1 pending change" in screen(pilot), "the pending change")
        filled.rename(tmp_path / "away.kept")
        other.rename(filled)
        await pilot.press("n")
        await until(pilot, lambda: browser.screen.query(Input), "the question")
        browser.screen.query_one(Input).value = "not.known"
        await pilot.press("enter")
        await until(pilot, lambda: "Ctrl+R in the list opens" in screen(pilot).replace("\n", " "), "the advice")
        await pilot.press("escape")
        await pilot.press("a")
        await until(pilot, lambda: browser.screen.query("#edits"), "the pending changes")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "from.other" in screen(pilot), "the other store")
        await until(pilot, lambda: "1 pending change" in screen(pilot), "the pending change")
        await pilot.press("enter")
        await until(pilot, lambda: browser.screen.query("#ladder"), "the page of a key")
        before = browser.screen
        await pilot.press("ctrl+r")
        await until(pilot, lambda: browser.screen is not before and is_read(browser), "the store, opened again")

    browse(filled, steps)


def test_a_store_that_comes_back_needs_no_key(filled: Path, tmp_path: Path) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        filled.rename(tmp_path / "away.kept")
        await until(pilot, lambda: "was removed" in banner(browser), "the banner")
        (tmp_path / "away.kept").rename(filled)
        await until(pilot, lambda: not banner(browser), "a screen without the banner")
        with kept.open(filled) as settings:
            settings["a.level"] = 7
        await until(pilot, lambda: " 7 " in screen(pilot), "the change")

    browse(filled, steps)


def test_pending_changes_survive_opening_again(filled: Path) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        await pilot.press("w")
        await pilot.press("e")
        await until(pilot, lambda: browser.screen.query("#editor"), "the editor")
        browser.screen.query_one("#editor", Input).value = "5"
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "1 pending change" in screen(pilot), "the pending change")
        before = browser.screen
        await pilot.press("ctrl+r")
        await until(pilot, lambda: browser.screen is not before and is_read(browser), "the store, opened again")
        await until(pilot, lambda: "1 pending change" in screen(pilot), "the pending change")
        assert "WRITING" in screen(pilot) and not told(browser)

    browse(filled, steps)


# --- damage


def overwrite(path: Path, start: int, end: int) -> None:
    """Damages a file in place, like a failing disk."""
    size = path.stat().st_size
    with open(path, "r+b") as file:
        for place in range(min(start, size), min(end, size), 16):
            file.seek(place)
            file.write(os.urandom(min(16, size - place)))


@pytest.mark.parametrize("names", [["journal.*"], ["values"], ["journal.*", "values"]])
@pytest.mark.parametrize("writes", [False, True])
def test_damage_of_an_open_store_is_reported_until_it_is_gone(filled: Path, names: list[str], writes: bool) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        with kept.open(filled) as settings:
            for name in names:
                [file] = filled.glob(name)
                overwrite(file, 0, 1 << 30)
            if writes:
                # Refused if it is found before that no program would find the value again.
                with contextlib.suppress(kept.CorruptError):
                    settings["list.key001"] = "new"
        await until(pilot, lambda: "damaged" in banner(browser), "the banner")
        assert isinstance(browser.screen, KeysScreen)
        shown: list[str] = []
        browser.screen._banner.update = lambda text="", **_: shown.append(str(text))  # type: ignore[method-assign]
        looks = count_looks(browser.screen)
        await until(pilot, lambda: len(looks) > 3, "that it was looked for again")
        assert all("damaged" in text for text in shown)

    browse(filled, steps)


def test_damage_of_an_open_store_is_reported_with_the_remedy(filled: Path) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        overwrite(filled / "values", 20_480, 24_576)
        await until(pilot, lambda: "is damaged" in banner(browser), "the banner")
        assert "is damaged: values has a damaged block at byte 20480" in banner(browser)
        # It is not salvaged while the browser has it open.
        assert "quit the browser, too: Ctrl+R does not close the store" in banner(browser)

    browse(filled, steps)


@pytest.mark.parametrize(("start", "end"), [(0, 100), (4096, 1 << 30), (0, 1 << 30)])
def test_a_checkpoint_that_is_damaged_while_it_is_open(filled: Path, start: int, end: int) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        overwrite(filled / "values", start, end)
        assert isinstance(browser.screen, KeysScreen)
        await pilot.press("end", "home", "slash", "k", "escape", "down", "enter")
        await pilot.press("1", "2", "3", "4")
        await pilot.pause(0.2)
        await pilot.press("escape")
        # Either the store is still read from memory, or a sentence gives the reason.
        before = browser.screen
        await pilot.press("ctrl+r")
        await until(pilot, lambda: browser.screen is not before or told(browser), "an answer to Ctrl+R")

    browse(filled, steps)


def test_a_journal_that_is_damaged_while_it_is_open(filled: Path) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        with kept.open(filled) as settings:
            for number in range(50):
                settings[f"list.key{number:03}"] = "another"
            [journal] = filled.glob("journal.*")
            overwrite(journal, 0, 1 << 30)
            await pilot.press("end", "home", "slash", "k", "escape", "down", "enter")
            await pilot.pause(0.2)
            await pilot.press("escape", "ctrl+r")
            await pilot.pause(0.2)

    browse(filled, steps)


def test_a_damaged_store_is_not_opened_and_the_reason_is_shown(filled: Path) -> None:
    overwrite(filled / "values", 0, 1 << 30)

    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        await until(pilot, lambda: browser.failure or banner(browser) or is_read(browser), "an answer")

    browse(filled, steps)


def test_a_salvaged_store_says_so_until_that_is_acknowledged(filled: Path) -> None:
    # The copy of the header at the end of the file stays.
    overwrite(filled / "values", 0, 4096)

    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        await until(pilot, lambda: "was damaged" in banner(browser), "the banner")
        assert "kept doctor names the keys" in banner(browser)
        assert str(filled / "quarantine") in banner(browser)
        # New writes are read nevertheless.
        with kept.open(filled) as settings:
            settings["new"] = 1
        await until(pilot, lambda: "302 keys" in screen(pilot), "the new key")
        await pilot.press("A")
        await until(pilot, lambda: "press w" in told(browser), "how to allow it")
        await pilot.press("w", "A")
        await until(pilot, lambda: isinstance(browser.screen, Ask), "the question")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(browser.screen, KeysScreen), "the list")
        assert banner(browser)
        await pilot.press("A")
        await until(pilot, lambda: isinstance(browser.screen, Ask), "the question")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(browser.screen, KeysScreen) and not banner(browser), "no banner")
        await pilot.press("A")
        await until(pilot, lambda: "no salvage to acknowledge" in told(browser), "that there is nothing more")

    browse(filled, steps)
    with kept.open(filled) as settings:
        assert settings.salvaged is None


def test_a_salvaged_store_says_so_on_the_page_of_a_key_too(filled: Path) -> None:
    overwrite(filled / "values", 0, 1 << 30)
    browser = Browser(str(filled), layers=Layers(has_standard=False), key="a.level")

    async def running() -> None:
        async with browser.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "was damaged" in told(browser), "the sentence")
            assert isinstance(browser.screen, KeyPage)

    asyncio.run(running())


# --- locks


def test_an_edit_that_waits_for_a_lock_leaves_the_screen_responsive(filled: Path) -> None:
    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        await pilot.press("w", "e")
        await until(pilot, lambda: browser.screen.query("#editor"), "the editor")
        browser.screen.query_one("#editor", Input).value = "9"
        with open(filled / "pulse", "r+b", 0) as pulse:
            # The write lock: the holder with the number 1 has its byte, and is the owner.
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, (1 << 40) + 2, 1, 0)
            fcntl.fcntl(pulse, fcntl.F_OFD_SETLK, lock)
            os.pwrite(pulse.fileno(), (1).to_bytes(8, sys.byteorder), 384)
            await pilot.press("ctrl+s")
            await until(pilot, lambda: "waiting for another program" in screen(pilot), "that it waits")
            await until(pilot, lambda: "held the write lock" in screen(pilot), "the refusal")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "committed as revision" in told(browser).lower(), "the commit")

    browse(filled, steps)


# --- the administrator's file


def test_a_managed_file_that_is_broken_for_a_while(filled: Path, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text('{"values": {"a.level": 4}}')

    def replace(text: str) -> None:
        new = tmp_path / "managed.json.new"
        new.write_text(text)
        new.replace(managed)

    async def steps(browser: Browser, pilot: Pilot[int]) -> None:
        assert " 4 " in screen(pilot)
        replace('{"values": {"a.level": ')
        await until(pilot, lambda: "managed.json" in banner(browser), "the banner")
        replace('{"values": {"a.level": 5}}')
        await until(pilot, lambda: " 5 " in screen(pilot), "the new value")
        await until(pilot, lambda: not banner(browser), "a screen without the banner")

    browse(filled, steps, managed=str(managed))
