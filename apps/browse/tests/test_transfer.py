"""Import, export and comparison."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

import kept
from kept_browse._ask import Ask
from kept_browse._check import Check
from kept_browse._compare_screen import CompareScreen
from kept_browse._comparing import compare, open_other
from kept_browse._export_screen import ExportScreen
from kept_browse._import_screen import ImportScreen
from kept_browse._row_list import RowList
from kept_browse._session import Layers
from kept_browse._work import Cancelled, Work
from screens import (
    allow_writing,
    app_of,
    browse,
    keys_screen,
    listed,
    messages,
    screen_lines,
    screen_text,
    session_of,
    text_of,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
    wait_until_gone,
)
from stores import HOSTILE, SECRET_TEXT, VALUES, Writer

FILES = {
    "a.json": ('{"audio.volume": 5}', "json", "audio.volume  30 -> 5"),
    "nested.json": ('{"audio": {"volume": 5}}', "nested-json", "audio.volume  30 -> 5"),
    "comments.jsonc": ('{"audio.volume": 5, // loud\n}', "json", "audio.volume  30 -> 5"),
    "export.json": ('{"kept": 1, "values": {"audio.volume": 5}}', "kept", "audio.volume  30 -> 5"),
    "a.plist": ("<plist><dict><key>new</key><real>5</real></dict></plist>", "plist", "new  5.0"),
    "a.toml": ("[audio]\nvolume = 5", "toml", "audio.volume  30 -> 5"),
    "a.yaml": ("audio:\n  volume: 5", "yaml", "audio.volume  30 -> 5"),
    ".env": ("audio.volume=5", "env", "audio.volume  30 -> 5"),
    "a.ini": ("\ufeff[audio]\r\nvolume = 5", "ini", "audio.volume  30 -> 5"),
    "a.dconf": ("[audio]\nvolume=5", "dconf", "audio.volume  30 -> 5"),
    "dump.ini": ("[/]\nnew=true\n[audio/left]\nsize=24\ntitle='x'", "dconf", "audio.left.size  24"),
    "none": ("[audio]\nvolume: 5", "ini", "audio.volume  30 -> 5"),
}
"""Files with their text, their format, and a change that their import makes."""


async def try_import(pilot: Pilot[int], path: Path | str, *, replace: bool = False) -> None:
    """Opens the import screen and starts a dry run."""
    if not isinstance(pilot.app.screen, ImportScreen):
        await pilot.press("i")
        await wait_for_screen(pilot, ImportScreen)
    screen = pilot.app.screen
    screen.query_one("#path", Input).value = str(path)
    screen.query_one("#replace", Check).value = replace
    screen.query_one("#report", Static).update("")
    await pilot.press("ctrl+r")
    await wait_for(pilot, lambda: report(pilot) != [""], "the report of the dry run")


def report(pilot: Pilot[int]) -> list[str]:
    return text_of(pilot, "#report").split("\n")


# --- import


def test_a_dry_run_is_shown_before_anything_is_imported(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    values = {
        "audio.volume": 5, "audio.balance": 7, "ui.font": "[red]Serif[/red]", "new.[bold]key": "\u202e\x1b",
        "net.token": "hunter3",
    }  # fmt: skip
    file.write_text(json.dumps(values))

    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        before = settings.revision()
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        lines = report(pilot)
        assert "refused" in lines[1] and any(line.startswith("! audio.balance: ") for line in lines)
        assert "~ audio.volume  30 -> 5" in lines and '~ ui.font  "Mono" -> "[red]Serif[/red]"' in lines
        assert '+ new.[bold]key  "\\u202e\\u001b"' in lines and "~ net.token  (secret)" in lines
        await wait_for_text(pilot, "[red]Serif[/red]")
        assert "hunter" not in screen_text(pilot) and settings.revision() == before
        assert "Correct the refused values" in report(pilot)[0]
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "some values are refused; correct them, and press Ctrl+R again")
        assert settings.revision() == before
        file.write_text(json.dumps(values | {"audio.balance": 0.5}))
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in report(pilot)[0], "the import")
        assert settings["audio.volume"] == 5 and settings["audio.balance"] == 0.5
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "press Ctrl+R first")
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await wait_for(pilot, lambda: "new.[bold]key" in listed(pilot), "the new key")

    browse(filled, body)


def test_an_import_does_what_the_report_showed(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    file, other = tmp_path / "values.json", tmp_path / "other.json"
    file.write_text('{"audio.volume": 5}')
    other.write_text("{")

    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "~ audio.volume  30 -> 5" in report(pilot), "the report")
        # The report about one file disappears when another one is chosen.
        path = pilot.app.screen.query_one("#path", Input)
        path.value = str(other)
        await wait_for(pilot, lambda: report(pilot) == ["Ctrl+R shows the changes."], "that it is gone")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "press Ctrl+R first")
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: str(other) in report(pilot)[0], "the mistake, with the path that was written")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "the dry run failed")
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "~ audio.volume  30 -> 5" in report(pilot), "the report")
        file.write_text('{"audio.volume": 6, "ui.font": "not shown"}')
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in report(pilot)[0], "the import")
        assert settings["audio.volume"] == 5 and settings["ui.font"] == "Mono"
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        (copy,) = scratch.iterdir()
        assert stat.S_IMODE(copy.stat().st_mode) == 0o700
        await pilot.press("escape")
        await wait_for(pilot, lambda: not list(scratch.iterdir()), "that the copy is removed")

    browse(filled, body)


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("audio.volume", "~ audio.volume  31 -> 5"),  # another old value
        ("net.token", "- net.token"),  # a secret, whose values are not shown
        ("ui.font", "- ui.font"),
        ("misc.later", "- misc.later"),
    ],
)
def test_changes_since_the_dry_run_are_shown_before_they_are_lost(
    filled: Path, tmp_path: Path, writer: Writer, key: str, line: str
) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        settings = session_of(pilot).settings
        await allow_writing(pilot)
        await try_import(pilot, file, replace=True)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        writer.set(key, 31 if key == "audio.volume" else "later")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Nothing was imported" in report(pilot)[0], "what has changed")
        assert line in report(pilot) and key in settings
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in report(pilot)[0], "the import")
        assert list(settings) == ["audio.volume"] and settings["audio.volume"] == 5

    browse(filled, body)


def test_an_unrelated_change_does_not_stop_an_import(filled: Path, tmp_path: Path, writer: Writer) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        writer.set("ui.font", "Serif")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in report(pilot)[0], "the import")

    browse(filled, body)


def test_an_import_is_undone(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5, "new": 1}')

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "u in the list undoes it" in report(pilot)[0], "the import")
        await pilot.press("escape", "u")
        await wait_for_message(pilot, "undid revision")
        settings = session_of(pilot).settings
        assert settings["audio.volume"] == 30 and "new" not in settings

    browse(filled, body)


@pytest.mark.parametrize("what", ["removed", "replaced"])
def test_an_import_into_a_moved_store_is_refused(filled: Path, tmp_path: Path, what: str) -> None:
    file, away = tmp_path / "values.json", tmp_path / "away"
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        filled.rename(away)
        if what == "replaced":
            shutil.copytree(away, filled)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: f"was {what}" in report(pilot)[0], "the refusal")
        assert "nothing was imported" in report(pilot)[0]
        assert filled.exists() == (what == "replaced")

    browse(filled, body)
    # This process no longer has the moved store open.
    for store in (filled, away):
        if store.exists():
            with kept.open(store) as settings:
                assert settings["audio.volume"] == 30


def command_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str) -> None:
    """Replaces the command by one that runs something after each import that is not a dry run."""
    command = tmp_path / "kept"
    command.write_text(
        f'#!/bin/sh\n"{os.environ["KEPT_COMMAND"]}" "$@"; status=$?\n'
        f'case "$*" in *--dry-run*) ;; *) {then};; esac\nexit $status\n'
    )
    command.chmod(0o755)
    monkeypatch.setenv("KEPT_COMMAND", str(command))


@pytest.mark.parametrize("what", ["moved", "damaged"])
def test_undo_is_not_offered_if_it_is_impossible(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    file, away = tmp_path / "values.json", tmp_path / "away"
    file.write_text('{"audio.volume": 5}')
    values = filled / "values"
    steps = {"moved": f"mv '{filled}' '{away}'", "damaged": f"yes | head -c 40960 | dd of='{values}' conv=notrunc"}
    command_that(tmp_path, monkeypatch, f"{steps[what]} 2>/dev/null")

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: report(pilot) != [""] and "A dry run" not in report(pilot)[0], "what came of it")
        assert "undoes it" not in report(pilot)[0]
        if what == "moved":
            assert "was removed" in report(pilot)[0] and not session_of(pilot).commits
        else:
            assert "It cannot be undone: " in report(pilot)[0]

    browse(filled, body)


def test_an_import_clears_the_notice_of_an_earlier_commit(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        app_of(pilot).tell("committed as revision 9; u in the list undoes it")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in report(pilot)[0], "the import")
        assert not messages(pilot)

    browse(filled, body)


def test_an_import_without_changes_cannot_be_undone(filled: Path, tmp_path: Path, writer: Writer) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5}')
    writer.set("audio.volume", 5)

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "no values changed" in report(pilot)[0], "the import")
        await pilot.press("escape", "u")
        await wait_for_message(pilot, "no commits to undo")
        assert session_of(pilot).settings["audio.volume"] == 5, "the other process wrote that"

    browse(filled, body)


def test_replacing_removes_keys_that_the_file_lacks(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file, replace=True)
        await wait_for(pilot, lambda: "- ui.font" in report(pilot), "the removed keys")
        screen = await wait_for_screen(pilot, ImportScreen)
        screen.query_one("#replace", Check).value = False
        screen.action_import()  # before the message about the choice
        await wait_for_message(pilot, "press Ctrl+R first")
        assert session_of(pilot).settings["audio.volume"] == 30, "the report was about something else"
        await try_import(pilot, file, replace=True)
        await wait_for(pilot, lambda: "- ui.font" in report(pilot), "the removed keys")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in report(pilot)[0], "the import")
        assert "ui.font" not in list(session_of(pilot).settings)

    browse(filled, body)


def test_read_only_tries_but_does_not_import(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "nothing is changed")
        assert session_of(pilot).settings["audio.volume"] == 30

    browse(filled, body)


def test_a_file_that_cannot_be_imported_is_refused_with_a_sentence(filled: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong[red].json"
    wrong.write_text('{"a": \x1b[31m')
    not_utf8 = tmp_path / "bytes.json"
    not_utf8.write_bytes(b"\xff\xfe\x00")

    async def body(pilot: Pilot[int]) -> None:
        for path in (tmp_path / "absent.json", tmp_path, "", wrong, not_utf8, "a\0b", "/dev/null", "~nobody-x/y"):
            await try_import(pilot, path)
            await wait_for(
                pilot, lambda: len(report(pilot)[0]) > 10 and "A dry run" not in report(pilot)[0], repr(path)
            )
            assert len(report(pilot)) == 1 and "A dry run" not in report(pilot)[0], path
            assert not set(report(pilot)[0]) & set("\x1b\0")
            app_of(pilot).screen.query_one("#report").update("")  # type: ignore[attr-defined]

    browse(filled, body)


def test_formats_are_detected_and_read_like_the_command(filled: Path, tmp_path: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        for name, (text, format, change) in FILES.items():
            (tmp_path / name).write_bytes(text.encode())
            await try_import(pilot, tmp_path / name)
            await wait_for(pilot, lambda: f"A dry run of format {format}. " in report(pilot)[0], name)  # noqa: B023
            assert any(line[2:] == change for line in report(pilot)), report(pilot)
        file = tmp_path / "some.plist"
        file.write_text("<plist><dict><key>a</key><integer>none</integer><key>b</key><true/></dict></plist>")
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "+ b  true" in report(pilot), "the value that can be imported")
        assert "! a: is not a 64-bit integer" in report(pilot)

    browse(filled, body)


def test_the_command_is_needed_to_import(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "values.json"
    file.write_text("{}")
    monkeypatch.delenv("KEPT_COMMAND", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    async def body(pilot: Pilot[int]) -> None:
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "install the package kept" in report(pilot)[0], "the reason")

    browse(filled, body)


def test_an_import_respects_locks_in_the_files_that_the_browser_reads(filled: Path, tmp_path: Path) -> None:
    managed, file = tmp_path / "managed.json", tmp_path / "values.json"
    managed.write_text('{"locked": ["audio.volume"]}')
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "Correct the refused values" in report(pilot)[0], "the refusal")
        assert any(line.startswith("! audio.volume: ") and "locked" in line for line in report(pilot))

    browse(filled, body, layers=Layers(managed=str(managed), has_standard=True))


def test_a_key_that_is_declared_secret_is_covered_in_a_report(filled: Path, tmp_path: Path, writer: Writer) -> None:
    writer.declare({"misc.wide": {"type": "string", "maxLength": 9}})
    file = tmp_path / "values.json"
    file.write_text('{"misc.note": "shown as new", "misc.wide": "too long to be taken", "misc.later": "shown, too"}')

    async def body(pilot: Pilot[int]) -> None:
        await try_import(pilot, file)
        await wait_for(pilot, lambda: '~ misc.note  "not declared" -> "shown as new"' in report(pilot), "the report")
        assert any(line.startswith("! misc.wide: ") for line in report(pilot))
        writer.declare({key: {"type": "string", "secret": True} for key in ("misc.note", "misc.wide", "misc.later")})
        await wait_for(pilot, lambda: "~ misc.note  (secret)" in report(pilot), "a covered value")
        assert "+ misc.later  (secret)" in report(pilot)
        assert "! misc.wide: its value is refused" in report(pilot)
        await wait_until_gone(pilot, "shown")

    browse(filled, body)


# --- long calls


def test_a_long_call_shows_its_progress_and_is_cancelled(filled: Path) -> None:
    results: list[Any] = []
    is_running, is_cancelled = threading.Event(), threading.Event()

    def call(progress: Callable[[int, int], object]) -> str:
        while True:
            progress(3, 10)
            is_running.set()
            is_cancelled.wait(0.01)

    async def body(pilot: Pilot[int]) -> None:
        pilot.app.push_screen(Work("Working on [red]it[/red]", call), results.append)
        await wait_for_screen(pilot, Work)
        await wait_for(pilot, is_running.is_set, "the call")
        await wait_for_text(pilot, "30%")
        assert "Working on [red]it[/red]" in screen_text(pilot)
        await pilot.press("escape")
        await wait_for(pilot, lambda: results, "its end")

    browse(filled, body)
    assert isinstance(results[0], Cancelled) and "nothing was changed" in str(results[0])


def test_the_result_of_a_call_waits_for_the_answer_to_a_question_that_covers_it(filled: Path) -> None:
    may_end = threading.Event()
    results: list[Any] = []

    async def body(pilot: Pilot[int]) -> None:
        work = Work("Working", lambda _: may_end.wait(20))
        pilot.app.push_screen(work, results.append)
        await wait_for_screen(pilot, Work)
        pilot.app.push_screen(Ask("Quit?", []))
        await wait_for_screen(pilot, Ask)
        may_end.set()
        await wait_for(pilot, lambda: work._result, "the end of the call")  # noqa: SLF001
        assert isinstance(pilot.app.screen, Ask) and not results
        await pilot.press("n")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body)
    assert results == [True]


def test_the_list_follows_changes_while_a_call_runs(filled: Path, writer: Writer) -> None:
    may_end = threading.Event()

    async def body(pilot: Pilot[int]) -> None:
        pilot.app.push_screen(Work("Working", lambda _: may_end.wait(20)))
        await wait_for_screen(pilot, Work)
        writer.set("audio.volume", 88)
        await wait_for(pilot, lambda: session_of(pilot).catalog.rows["audio.volume"].value == "88", "the change")
        may_end.set()
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")

    browse(filled, body)


# --- export


async def export(pilot: Pilot[int], path: Path | str, **chosen: bool) -> None:
    if not isinstance(pilot.app.screen, ExportScreen):
        await pilot.press("x")
        await wait_for_screen(pilot, ExportScreen)
    pilot.app.screen.query_one("#path", Input).value = str(path)
    for name in ("declarations", "secrets", "backup"):
        pilot.app.screen.query_one(f"#{name}", Check).value = chosen.get(name, False)
    await pilot.press("ctrl+s")


def test_an_export_has_no_secrets_and_only_its_owner_can_read_it(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "out[red].json"

    async def body(pilot: Pilot[int]) -> None:
        await export(pilot, file)
        await wait_for(pilot, lambda: f"wrote {file}" in report(pilot)[0], "the file")
        assert "READ-ONLY" == app_of(pilot).mode_text, "it does not change the store"

    browse(filled, body)
    assert SECRET_TEXT not in file.read_text() and "net.token" in json.loads(file.read_text())["omitted"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_backup_is_written_if_chosen(filled: Path, tmp_path: Path) -> None:
    backup = tmp_path / "copy.backup"

    async def body(pilot: Pilot[int]) -> None:
        # It has the secrets in any case, and no passphrase is asked for.
        await export(pilot, backup, backup=True, secrets=True)
        await wait_for(pilot, lambda: "copied revision" in report(pilot)[0], "the backup")

    browse(filled, body)
    with kept.open("memory:") as store:
        store.restore(backup)
        assert set(store) == set(VALUES)


def test_a_file_is_replaced_only_after_a_second_key(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_text("mine")

    async def body(pilot: Pilot[int]) -> None:
        await export(pilot, file)
        await wait_for_screen(pilot, Ask)
        await pilot.press("enter", "ctrl+s", "n")
        await wait_for_screen(pilot, ExportScreen)
        assert file.read_text() == "mine"
        await export(pilot, file)
        await wait_for_screen(pilot, Ask)
        await pilot.press("y")
        await wait_for_screen(pilot, ExportScreen)
        await wait_for(pilot, lambda: f"wrote {file}" in report(pilot)[0], "the file")

    browse(filled, body)
    assert "kept" in json.loads(file.read_text())


def test_a_file_that_cannot_be_written_is_reported(filled: Path, tmp_path: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await export(pilot, "")
        await wait_for_message(pilot, "enter the path")
        for path in (tmp_path / "no" / "folder" / "x.json", "a\0b", "/proc/x"):
            for chosen in ({}, {"backup": True}):
                await export(pilot, path, **chosen)
                await wait_for(pilot, lambda: "JSON can be" not in report(pilot)[0] and report(pilot)[0], "the refusal")
                assert "wrote" not in report(pilot)[0] and "copied" not in report(pilot)[0]
                app_of(pilot).screen.query_one("#report").update("")  # type: ignore[attr-defined]

    browse(filled, body)


# --- compare


async def compare_with(pilot: Pilot[int], other: Path | str) -> RowList:
    if not isinstance(pilot.app.screen, CompareScreen):
        await pilot.press("c")
        await wait_for_screen(pilot, CompareScreen)
    box = pilot.app.screen.query_one("#other", Input)
    box.value = str(other)
    box.focus()
    screen = pilot.app.screen
    await pilot.press("enter")
    await wait_for(pilot, lambda: isinstance(pilot.app.screen, CompareScreen), "the end of the comparison")
    return screen.query_one("#rows", RowList)


def other_store(tmp_path: Path) -> Path:
    location = tmp_path / "other.kept"
    with kept.open(location) as store:
        for key, value in VALUES.items():
            if key != "net.token":
                store[key] = value
        store["ui.font"] = "Serif"
        store["only.there"] = f"{HOSTILE}\x1b"
        store["net.token"] = "hunter-there"
        store.reset("misc.note")
    return location


def test_two_stores_are_shown_side_by_side(filled: Path, tmp_path: Path) -> None:
    other = other_store(tmp_path)

    async def body(pilot: Pilot[int]) -> None:
        shown = await compare_with(pilot, other)
        await wait_for(pilot, lambda: len(shown.items) == 4, "the differences")
        assert list(shown.items) == ["misc.note", "net.token", "only.there", "ui.font"]
        assert "4 differences" in screen_lines(pilot)[0]
        lines = [line.split() for line in screen_lines(pilot)]
        assert ["~", "ui.font", '"Mono"', '"Serif"'] in lines
        assert ["-", "misc.note", '"not', 'declared"'] in lines
        assert any(line[:2] == ["+", "only.there"] for line in lines)
        assert ["~", "net.token", "(secret)", "(secret)"] in lines
        await pilot.press("down", "down")
        await wait_for(pilot, lambda: text_of(pilot, "#detail").startswith("only.there\n- (absent)\n+ "), "both values")
        assert "hunter" not in screen_text(pilot) and "\x1b" not in screen_text(pilot)
        await pilot.press("ctrl+a")
        await wait_for(pilot, lambda: len(shown.items) == len(VALUES) + 1, "all keys")
        assert "hunter" not in screen_text(pilot)
        await pilot.press("ctrl+a")
        await wait_for(pilot, lambda: len(shown.items) == 4, "the differences")

    browse(filled, body)


def test_a_key_that_is_declared_secret_is_covered_in_a_comparison(filled: Path, tmp_path: Path, writer: Writer) -> None:
    other = other_store(tmp_path)

    async def body(pilot: Pilot[int]) -> None:
        shown = await compare_with(pilot, other)
        await wait_for(pilot, lambda: len(shown.items) == 4, "the differences")
        await pilot.press("end")
        await wait_for(pilot, lambda: text_of(pilot, "#detail") == 'ui.font\n- "Mono"\n+ "Serif"', "both values")
        writer.declare({key: {"type": "string", "secret": True} for key in ("ui.font", "misc.note")})
        await wait_for(pilot, lambda: text_of(pilot, "#detail") == "ui.font\n- (secret)\n+ (secret)", "covered values")
        lines = [line.split() for line in screen_lines(pilot)]
        assert ["~", "ui.font", "(secret)", "(secret)"] in lines and ["-", "misc.note", "(secret)"] in lines
        assert not any(word in screen_text(pilot) for word in ("Mono", "Serif", "not declared"))

    browse(filled, body)


def test_a_store_is_compared_with_an_earlier_backup_and_export(filled: Path, tmp_path: Path, writer: Writer) -> None:
    backup, file = tmp_path / "copy.backup", tmp_path / "export.json"
    writer.run(f"settings.backup({str(backup)!r})")
    writer.run(f"settings.export_file({str(file)!r}, declarations=True)")

    async def body(pilot: Pilot[int]) -> None:
        shown = await compare_with(pilot, backup)
        await wait_for(pilot, lambda: "0 differences" in screen_lines(pilot)[0], "the comparison")
        assert "Their stored values are equal." in screen_text(pilot)
        writer.set("audio.volume", 99)
        for other in (backup, file):
            shown = await compare_with(pilot, other)
            expected = ["audio.volume"] if other == backup else ["audio.volume", "net.token"]
            await wait_for(pilot, lambda: list(shown.items) == expected, "the difference")  # noqa: B023
            await wait_for_text(pilot, "99")
            assert "hunter" not in screen_text(pilot)

    browse(filled, body)


def test_an_impossible_comparison_is_refused_with_the_reason(filled: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no export")
    broken = tmp_path / "broken.backup"
    broken.write_bytes(b"KeptVals" + b"x" * 100)

    async def body(pilot: Pilot[int]) -> None:
        for other in (tmp_path / "absent", text, broken, "no-such-store", "a\0b", "memory:"):
            await compare_with(pilot, other)
            if other == "memory:":
                await wait_for_text(pilot, "17 keys compared")
            else:
                await wait_for(pilot, lambda: messages(pilot), "the refusal")
        assert not (tmp_path / "absent").exists()

    browse(filled, body)


def test_keys_that_an_export_omits_are_not_called_equal(filled: Path, tmp_path: Path, writer: Writer) -> None:
    file = tmp_path / "export.json"
    writer.run(f"settings.export_file({str(file)!r})")

    async def body(pilot: Pilot[int]) -> None:
        shown = await compare_with(pilot, file)
        await wait_for(pilot, lambda: list(shown.items) == ["net.token"], "the secret")
        assert ["?", "net.token", "(secret)", "(not", "compared)"] in [line.split() for line in screen_lines(pilot)]
        title = screen_lines(pilot)[0]
        assert "0 differences" in title and "16 keys compared" in title and "1 not compared" in title
        assert "equal" not in screen_text(pilot) and "hunter" not in screen_text(pilot)

    browse(filled, body)


def test_a_comparison_covers_a_secret_of_either_side(tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    text = '{"kept":1,"omitted":["d","g","h"],"unreadable":["u","v"],"values":{"a":1,"b":1.0,"c":"x","f":1}}'
    export.write_text(text)
    with kept.open("memory:") as left, kept.open("memory:") as right, open_other(str(export)) as file:
        left["a"], right["a"] = 1, 1
        left["b"], right["b"] = 1, 1.0
        left["c"], right["c"] = SECRET_TEXT, SECRET_TEXT
        left["d"], right["d"] = SECRET_TEXT, f"{SECRET_TEXT} 2"
        right.declare({key: {"type": "string", "secret": True} for key in "cdefg"})
        left["e"], right["f"] = SECRET_TEXT, SECRET_TEXT
        result = compare(left, right, lambda done, total: None)
        assert [(result[key].mark, key) for key in result.keys] == [
            (" ", "a"), ("~", "b"), (" ", "c"), ("~", "d"), ("-", "e"), ("+", "f"),
        ]  # fmt: skip
        assert SECRET_TEXT not in repr([result[key] for key in result.keys])
        # A key that an export leaves out is only known to differ if the other side has no value.
        left["h"], left["u"] = SECRET_TEXT, 1
        result = compare(left, file, lambda done, total: None)
        assert [(result[key].mark, key) for key in result.keys] == [
            (" ", "a"), ("~", "b"), ("~", "c"), ("?", "d"), ("-", "e"), ("+", "f"), ("+", "g"), ("?", "h"), ("?", "u"),
            ("?", "v"),
        ]  # fmt: skip
        assert [result[key].left for key in "dhu"] == ["(secret)", "(secret)", "1"]


def test_a_cancelled_comparison_goes_no_further(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def progress(done: int, total: int) -> None:
        raise Cancelled("cancelled")

    monkeypatch.setattr(kept, "differences", lambda *_: pytest.fail("the stores are compared"))
    with kept.open(filled) as left, open_other(str(filled)) as right, pytest.raises(Cancelled):
        compare(left, right, progress)


def test_a_comparison_that_takes_long_is_left_at_once(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, find = threading.Event(), threading.Event(), kept.differences

    def differences(*sides: Any) -> kept.Differences:
        begun.set()
        go_on.wait()
        return find(*sides)

    async def body(pilot: Pilot[int]) -> None:
        try:
            await pilot.press("c")
            (await wait_for_screen(pilot, CompareScreen)).query_one("#other", Input).value = "memory:"
            await pilot.press("enter")
            await wait_for_screen(pilot, Work)
            await wait_for(pilot, begun.is_set, "the comparison")
            await pilot.press("escape")
            await wait_for_message(pilot, "cancelled; nothing was changed")
            await wait_for_screen(pilot, CompareScreen)
        finally:
            go_on.set()
        monkeypatch.setattr(kept, "differences", find)
        await compare_with(pilot, filled)
        await wait_for_text(pilot, "17 keys compared")

    monkeypatch.setattr(kept, "differences", differences)
    browse(filled, body)


def test_a_comparison_reads_a_store_once(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = kept.differences
    with kept.open(filled) as left, open_other(str(filled)) as right:

        def differences(*sides: Any) -> kept.Differences:
            found = find(*sides)
            left["audio.volume"] = 99
            left["new"] = 1
            return found

        monkeypatch.setattr(kept, "differences", differences)
        result = compare(left, right, lambda done, total: None)
    assert "new" not in result.keys and not result.differing
    assert (result["audio.volume"].mark, result["audio.volume"].left) == (" ", "30")


def is_value(line: Input, text: str) -> bool:
    return line.value == text


def test_tab_completes_paths_and_identifiers(filled: Path, tmp_path: Path) -> None:
    for name in ("export-one.json", "export-two.json", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    kept.open("org.example.other").close()

    async def body(pilot: Pilot[int]) -> None:
        await pilot.press("i")
        line = (await wait_for_screen(pilot, ImportScreen)).query_one("#path", Input)
        for typed, completed in [
            ("ex", "export-"),
            ("export-t", "export-two.json"),
            ("fo", "folder/"),
            (".h", ".hidden"),
        ]:
            line.value = f"{tmp_path}/{typed}"
            await pilot.press("tab")
            await wait_for(pilot, partial(is_value, line, f"{tmp_path}/{completed}"), completed)
        await pilot.press("tab")
        await wait_for(pilot, lambda: not line.has_focus, "the next field, as the path is complete")
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await pilot.press("c")
        other = (await wait_for_screen(pilot, CompareScreen)).query_one("#other", Input)
        await pilot.press(*"org.ex", "tab")
        await wait_for(pilot, lambda: other.value == "org.example.other", "the identifier")

    browse(filled, body)
