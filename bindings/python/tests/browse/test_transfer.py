"""Importing, exporting and comparing."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

import kept
from browse.screens import (
    allow_writing,
    app_of,
    browse,
    keys_screen,
    listed,
    screen_lines,
    screen_text,
    session_of,
    text_of,
    toasts,
    wait_for,
    wait_for_screen,
    wait_for_text,
    wait_for_toast,
)
from browse.stores import HOSTILE, SECRET_TEXT, VALUES, Writer
from kept.browse._ask import Ask
from kept.browse._check import Check
from kept.browse._compare_screen import CompareScreen
from kept.browse._comparing import compare, open_other
from kept.browse._export_screen import ExportScreen
from kept.browse._import_screen import ImportScreen
from kept.browse._row_list import RowList
from kept.browse._session import Layers
from kept.browse._work import Cancelled, Work

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
"""Files, with their text, their format, and a change that importing them makes."""


async def try_import(pilot: Pilot[int], path: Path | str, *, replace: bool = False) -> None:
    """Opens the screen that imports, and begins a dry run."""
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
        assert "cannot be imported" in report(pilot)[0]
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "it has values that are refused; mend them, and press Ctrl+R again")
        assert settings.revision() == before
        file.write_text(json.dumps(values | {"audio.balance": 0.5}))
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in report(pilot)[0], "the import")
        assert settings["audio.volume"] == 5 and settings["audio.balance"] == 0.5
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "first press Ctrl+R")
        await pilot.press("escape")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await wait_for(pilot, lambda: "new.[bold]key" in listed(pilot), "the new key")

    browse(filled, body)


def test_what_is_imported_is_what_was_shown(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        # What was shown about one file is not there for another one.
        path = pilot.app.screen.query_one("#path", Input)
        path.value = str(other)
        await wait_for(pilot, lambda: report(pilot) == ["Ctrl+R shows what this would change."], "that it is gone")
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "first press Ctrl+R")
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: str(other) in report(pilot)[0], "the mistake, with the path that was written")
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "the dry run has failed")
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


def test_an_import_is_undone(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5, "new": 1}')

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "u on the list of keys undoes it" in report(pilot)[0], "the import")
        await pilot.press("escape", "u")
        await wait_for_toast(pilot, "undid revision")
        settings = session_of(pilot).settings
        assert settings["audio.volume"] == 30 and "new" not in settings

    browse(filled, body)


def test_an_import_that_changes_nothing_lets_nothing_be_undone(filled: Path, tmp_path: Path, writer: Writer) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5}')
    writer.set("audio.volume", 5)

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "A dry run" in report(pilot)[0], "the report")
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "no value had to be changed" in report(pilot)[0], "the import")
        await pilot.press("escape", "u")
        await wait_for_toast(pilot, "nothing is left to undo")
        assert session_of(pilot).settings["audio.volume"] == 5, "the other process wrote that"

    browse(filled, body)


def test_replacing_removes_what_the_file_does_not_have(filled: Path, tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await try_import(pilot, file, replace=True)
        await wait_for(pilot, lambda: "- ui.font" in report(pilot), "what is removed")
        pilot.app.screen.query_one("#replace", Check).value = False
        await pilot.press("ctrl+s")
        await wait_for_toast(pilot, "first press Ctrl+R")
        assert session_of(pilot).settings["audio.volume"] == 30, "the report was about something else"
        await try_import(pilot, file, replace=True)
        await wait_for(pilot, lambda: "- ui.font" in report(pilot), "what is removed")
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
        await wait_for_toast(pilot, "nothing is changed")
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
                pilot, lambda: len(report(pilot)[0]) > 10 and "Nothing is" not in report(pilot)[0], repr(path)
            )
            assert len(report(pilot)) == 1 and "A dry run" not in report(pilot)[0], path
            assert not set(report(pilot)[0]) & set("\x1b\0")
            app_of(pilot).screen.query_one("#report").update("")  # type: ignore[attr-defined]

    browse(filled, body)


def test_formats_are_found_and_read_as_the_command_does(filled: Path, tmp_path: Path) -> None:
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
        assert "! a: is not an integer of 64 bits" in report(pilot)

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


def test_locks_of_the_files_that_the_browser_reads_hold_for_an_import(filled: Path, tmp_path: Path) -> None:
    managed, file = tmp_path / "managed.json", tmp_path / "values.json"
    managed.write_text('{"locked": ["audio.volume"]}')
    file.write_text('{"audio.volume": 5}')

    async def body(pilot: Pilot[int]) -> None:
        await try_import(pilot, file)
        await wait_for(pilot, lambda: "cannot be imported" in report(pilot)[0], "the refusal")
        assert any(line.startswith("! audio.volume: ") and "locked" in line for line in report(pilot))

    browse(filled, body, layers=Layers(managed=str(managed), has_standard=True))


# --- what takes long


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


def test_secrets_and_backups_are_written_if_that_is_chosen(filled: Path, tmp_path: Path) -> None:
    file, backup = tmp_path / "secrets.json", tmp_path / "copy.backup"

    async def body(pilot: Pilot[int]) -> None:
        await export(pilot, file, secrets=True)
        await wait_for(pilot, lambda: f"wrote {file}" in report(pilot)[0], "the file")
        await export(pilot, backup, backup=True)
        await wait_for(pilot, lambda: "copied revision" in report(pilot)[0], "the backup")

    browse(filled, body)
    assert SECRET_TEXT in file.read_text()
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
        await wait_for_toast(pilot, "give the path")
        for path in (tmp_path / "no" / "folder" / "x.json", "a\0b", "/proc/x"):
            for chosen in ({}, {"backup": True}):
                await export(pilot, path, **chosen)
                await wait_for(pilot, lambda: "JSON is for" not in report(pilot)[0] and report(pilot)[0], "the refusal")
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
        await wait_for(pilot, lambda: len(shown.items) == 3, "the differences")
        assert list(shown.items) == ["misc.note", "only.there", "ui.font"]
        assert "3 differences" in screen_lines(pilot)[0] and "1 secret left out" in screen_lines(pilot)[0]
        lines = [line.split() for line in screen_lines(pilot)]
        assert ["~", "ui.font", '"Mono"', '"Serif"'] in lines
        assert ["-", "misc.note", '"not', 'declared"'] in lines
        assert any(line[:2] == ["+", "only.there"] for line in lines)
        await pilot.press("down")
        await wait_for(pilot, lambda: text_of(pilot, "#detail").startswith("only.there\n- (absent)\n+ "), "both values")
        assert "hunter" not in screen_text(pilot) and "\x1b" not in screen_text(pilot)
        await pilot.press("ctrl+a")
        await wait_for(pilot, lambda: len(shown.items) == len(VALUES), "all keys")
        assert "net.token" not in shown.items and "hunter" not in screen_text(pilot)
        await pilot.press("ctrl+a")
        await wait_for(pilot, lambda: len(shown.items) == 3, "the differences")

    browse(filled, body)


def test_a_store_is_compared_with_a_backup_and_an_export_of_before(
    filled: Path, tmp_path: Path, writer: Writer
) -> None:
    backup, file = tmp_path / "copy.backup", tmp_path / "export.json"
    writer.run(f"settings.backup({str(backup)!r})")
    writer.run(f"settings.export_file({str(file)!r}, declarations=True)")

    async def body(pilot: Pilot[int]) -> None:
        shown = await compare_with(pilot, backup)
        await wait_for(pilot, lambda: "0 differences" in screen_lines(pilot)[0], "the comparison")
        writer.set("audio.volume", 99)
        for other in (backup, file):
            shown = await compare_with(pilot, other)
            await wait_for(pilot, lambda: list(shown.items) == ["audio.volume"], "the difference")  # noqa: B023
            await wait_for_text(pilot, "99")
            assert "hunter" not in screen_text(pilot)

    browse(filled, body)


def test_what_cannot_be_compared_is_refused_with_a_sentence(filled: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no export")
    broken = tmp_path / "broken.backup"
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 100)

    async def body(pilot: Pilot[int]) -> None:
        for other in (tmp_path / "absent", text, broken, "no-such-store", "a\0b", "memory:"):
            pilot.app.clear_notifications()
            await compare_with(pilot, other)
            if other == "memory:":
                await wait_for_text(pilot, "16 keys compared")
            else:
                await wait_for(pilot, lambda: toasts(pilot), "the refusal")
        assert not (tmp_path / "absent").exists()

    browse(filled, body)


def test_a_comparison_leaves_out_what_is_secret_on_either_side(tmp_path: Path) -> None:
    with kept.open("memory:") as left, kept.open("memory:") as right:
        left["a"], right["a"] = 1, 1
        left["b"], right["b"] = 1, 1.0
        left["c"], right["c"] = SECRET_TEXT, SECRET_TEXT
        left["d"] = SECRET_TEXT
        right.declare({"c": {"type": "string", "secret": True}, "d": {"type": "string", "secret": True}})
        right["d"] = SECRET_TEXT
        result = compare(left, right, lambda done, total: None)
        assert [(found.mark, found.key) for found in result.keys] == [(" ", "a"), ("~", "b")]
        assert result.secrets == 2 and [found.key for found in result.differences] == ["b"]
        assert SECRET_TEXT not in repr(result)


def test_a_cancelled_comparison_raises_what_ends_it(filled: Path) -> None:
    def progress(done: int, total: int) -> None:
        raise Cancelled("cancelled")

    with open_other(str(filled)) as left, open_other(str(filled)) as right, pytest.raises(Cancelled):
        compare(left, right, progress)
