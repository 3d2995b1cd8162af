"""`kept browse` where a user may not read or write: it reports the reason, and nothing is lost."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

import kept
from kept_browse._app import Browser
from kept_browse._compare_screen import CompareScreen
from kept_browse._export_screen import ExportScreen
from kept_browse._key_page import KeyPage
from kept_browse._overview import Overview
from kept_browse._pending import Edit
from kept_browse._session import Session
from screens import (
    allow_writing,
    app_of,
    browse,
    count_looks,
    go_to,
    keys_screen,
    line_with,
    messages,
    screen_text,
    session_of,
    text_of,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
)

DENIED = "Permission denied; check"


class Capabilities(ctypes.Structure):
    """The argument of `capset`: 32 bits each of a thread's effective, permitted and inheritable capabilities."""

    _fields_ = (("first", ctypes.c_uint32 * 3), ("second", ctypes.c_uint32 * 3))


@pytest.fixture(autouse=True)
def user() -> Iterator[None]:
    """Drops root's capabilities to read and write everything, so that file permissions apply as for any user. The
    threads of the test inherit that."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    before, without = Capabilities(), Capabilities()
    for capabilities in (before, without):
        assert libc.capget(header, ctypes.byref(capabilities)) == 0
    without.first[0] &= ~(1 << 1 | 1 << 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, ctypes.byref(without)) == 0
    yield
    assert libc.capset(header, ctypes.byref(before)) == 0


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder whose permissions can be removed."""
    folder = tmp_path / "closed"
    folder.mkdir()
    yield folder
    folder.chmod(0o700)


def close(folder: Path) -> None:
    """Removes all permissions, and proves that they are needed."""
    folder.chmod(0)
    with pytest.raises(PermissionError):
        os.listdir(folder)


def banner(pilot: Pilot[int]) -> str:
    trouble = keys_screen(pilot)._banner
    return str(trouble.content) if trouble.display else ""


# --- stores


def test_writing_stays_allowed_in_other_stores_that_can_be_written(filled: Path, tmp_path: Path) -> None:
    other, sealed = tmp_path / "other.kept", tmp_path / "sealed.kept"
    for location in (other, sealed):
        kept.open(location).close()
    sealed.chmod(0o500)

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await app_of(pilot).open_store(str(other))
        await wait_for_text(pilot, "other.kept")
        assert "WRITING" in screen_text(pilot) and not messages(pilot)
        await app_of(pilot).open_store(str(sealed))
        await wait_for_message(pilot, "nothing can be changed")
        await wait_for_text(pilot, "READ-ONLY")
        await pilot.press("n")
        await wait_for_message(pilot, "nothing is changed")
        assert "is readable but not writable" in messages(pilot)[0]
        await pilot.press("w")
        await wait_for_message(pilot, "changes are off in every store that you open")
        await app_of(pilot).open_store(str(other))
        await wait_for_text(pilot, "other.kept")
        assert "READ-ONLY" in screen_text(pilot)
        await allow_writing(pilot)
        await app_of(pilot).open_store(str(sealed))
        await wait_for_message(pilot, "nothing can be changed")
        await app_of(pilot).open_store(str(other))
        await wait_for_text(pilot, "WRITING")
        await pilot.press("w")
        await app_of(pilot).open_store(str(filled))
        await wait_for_text(pilot, "READ-ONLY")

    browse(filled, body)


def test_the_question_whether_a_store_can_be_written_changes_nothing_and_blocks_nothing(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    ask = Session._refusal

    def counted(session: Session) -> str | None:
        threads.append(threading.current_thread())
        return ask(session)

    monkeypatch.setattr(Session, "_refusal", counted)

    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        before = settings.revision(), settings.history()
        await allow_writing(pilot)
        assert (settings.revision(), settings.history()) == before
        assert threads and threading.main_thread() not in threads

    browse(filled, body)


@pytest.mark.parametrize("what", ["folder", "files", "both"])
def test_a_store_that_cannot_be_written_is_read(filled: Path, what: str) -> None:
    if what != "folder":
        for file in filled.iterdir():
            file.chmod(0o400)
    if what != "files":
        filled.chmod(0o500)

    async def body(pilot: Pilot[int]) -> None:
        assert "30" in line_with(pilot, "audio.volume") and not banner(pilot)
        await pilot.press("w")
        await wait_for_message(pilot, "is readable but not writable; check")
        assert app_of(pilot).mode_text == "READ-ONLY"
        await go_to(pilot, "audio.volume")
        await pilot.press("e")
        await wait_for_message(pilot, "nothing is changed")
        assert keys_screen(pilot).is_current

    browse(filled, body)
    with kept.open(filled) as settings:
        assert settings["audio.volume"] == 30


@pytest.mark.parametrize("what", ["above", "folder", "values", "journal.1"])
def test_a_store_that_cannot_be_read_is_not_opened(filled: Path, closed: Path, what: str) -> None:
    if what == "above":
        location = closed / filled.name
        shutil.move(filled, location)
        close(closed)
    else:
        location = filled
        (filled if what == "folder" else filled / what).chmod(0)

    browser = Browser(str(location))

    async def running() -> None:
        async with browser.run_test() as pilot:
            await wait_for(pilot, lambda: browser.failure, "the reason")

    asyncio.run(running())
    if what == "folder":
        filled.chmod(0o700)
    assert browser.failure and DENIED in browser.failure and "Errno" not in browser.failure


@pytest.mark.parametrize("what", ["above", "folder", "files"])
def test_nothing_is_lost_when_a_store_becomes_unreadable(filled: Path, closed: Path, what: str) -> None:
    location = closed / filled.name
    shutil.move(filled, location)

    async def body(pilot: Pilot[int]) -> None:
        session_of(pilot).pending.add(Edit("ui.font", "Mono", "Serif", 1))
        changed = {"above": [closed], "folder": [location], "files": list(location.iterdir())}[what]
        modes = {path: path.stat().st_mode & 0o777 for path in changed}
        looks = count_looks(keys_screen(pilot))
        for path in changed:
            path.chmod(0)
        await wait_for(pilot, lambda: len(looks) > 2, "that it was looked for")
        # The open store can still be read and written.
        assert "removed" not in banner(pilot) and "Errno" not in banner(pilot)
        await allow_writing(pilot)
        await go_to(pilot, "audio.volume")
        await pilot.press("d")
        await wait_for_text(pilot, "Remove 1 stored value?")
        await pilot.press("y")
        await wait_for_message(pilot, "committed as revision")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "> declared")
        for path, mode in modes.items():
            path.chmod(mode)
        before = session_of(pilot)
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: session_of(pilot) is not before, "the store, opened again")
        await wait_for(pilot, lambda: session_of(pilot).catalog.is_complete and not banner(pilot), "everything")
        assert session_of(pilot).pending.get("ui.font")

    browse(location, body)
    with kept.open(location) as settings:
        assert "audio.volume" not in list(settings) and settings["ui.font"] == "Mono"


@pytest.fixture
def denied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """While this list has a sentence, the history cannot be read for that reason. The values are in memory."""
    reasons: list[str] = []
    read = kept.Store.history

    def history(settings: kept.Store, *arguments: str) -> kept.History:
        if reasons:
            raise kept.DeniedError(reasons[0])
        return read(settings, *arguments)

    monkeypatch.setattr(kept.Store, "history", history)
    return reasons


def test_the_page_of_a_key_shows_its_readable_parts(filled: Path, denied: list[str]) -> None:
    async def body(pilot: Pilot[int]) -> None:
        denied.append("could not open it; check its mode")
        await go_to(pilot, "audio.volume")
        await pilot.press("enter")
        await wait_for_screen(pilot, KeyPage)
        await wait_for_text(pilot, "> user")
        await pilot.press("3")
        await wait_for_text(pilot, "could not open it; check its mode")
        denied.clear()
        await pilot.press("w")
        await wait_for_text(pilot, "(absent) -> 30")

    browse(filled, body)


def test_an_unreadable_history_is_read_later(filled: Path, denied: list[str]) -> None:
    async def body(pilot: Pilot[int]) -> None:
        before = session_of(pilot)
        denied.append("could not open it; check its mode")
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: session_of(pilot) is not before, "the store, opened again")
        await wait_for(pilot, lambda: denied[0] in banner(pilot), "the banner")
        denied.clear()
        await wait_for(pilot, lambda: session_of(pilot).catalog.is_complete and not banner(pilot), "everything")

    browse(filled, body)


# --- other files


def test_an_inaccessible_file_does_not_end_the_program(filled: Path, closed: Path) -> None:
    unreadable = closed.parent / "unreadable.json"
    unreadable.write_text("{}")
    unreadable.chmod(0)
    close(closed)

    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("x")
        screen: ExportScreen | CompareScreen = await wait_for_screen(pilot, ExportScreen)
        screen.query_one("#path", Input).value = str(closed / "file.json")
        await pilot.press("ctrl+s")
        await wait_for_text(pilot, "Replace")
        await pilot.press("y")
        await wait_for(pilot, lambda: "Permission denied" in text_of(pilot, "#report"), "the reason")
        assert "Errno" not in text_of(pilot, "#report")
        await pilot.press("escape")
        for path in (closed / "file.json", unreadable):
            await pilot.press("c")
            screen = await wait_for_screen(pilot, CompareScreen)
            screen.query_one(Input).value = str(path)
            await pilot.press("enter")
            await wait_for_message(pilot, "Permission denied")
            assert "Errno" not in "".join(messages(pilot))
            await pilot.press("escape")
            await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body)


def test_a_folder_of_stores_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "configuration/kept"
    folder.mkdir(parents=True)
    close(folder)

    async def body(pilot: Pilot[int]) -> None:
        await wait_for_screen(pilot, Overview)
        await wait_for(pilot, lambda: DENIED in text_of(pilot, "#title"), "the reason")

    browse(None, body)
    folder.chmod(0o700)
