"""Exporting and importing from Python; the scenarios check which texts are refused."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import kept


def text_of(values: dict[str, Any], **members: Any) -> str:
    return json.dumps({"kept": 1, "values": values, **members})


def test_options_say_what_is_exported(settings: kept.Store) -> None:
    settings.declare({"t.token": {"type": "string", "secret": True}})
    settings.update({"t.token": "hidden", "other": 1})
    exported = json.loads(settings.export(prefix="t."))
    assert (exported["omitted"], exported["values"], exported["prefix"]) == (["t.token"], {}, "t.")
    exported = json.loads(
        settings.export(prefix="t.", secrets=True, plain=True, declarations=True, skip_unreadable=True)
    )
    assert exported["values"] == {"t.token": "hidden"}
    assert exported["declarations"] == {"t.token": {"secret": True, "type": "string"}}
    assert exported["unreadable"] == [] and "omitted" not in exported


def test_an_exported_file_is_private_and_can_be_imported(settings: kept.Store, tmp_path: Path) -> None:
    settings.update({"a": 1, "b": 2})
    settings.export_file(tmp_path / "export.json")
    assert stat.S_IMODE((tmp_path / "export.json").stat().st_mode) == 0o600
    settings.clear()
    assert len(settings.import_file(str(tmp_path / "export.json")).changed) == 2
    assert dict(settings) == {"a": 1, "b": 2}
    with pytest.raises(kept.UnavailableError):
        settings.import_file(tmp_path / "none.json")
    with pytest.raises(kept.InvalidError):
        settings.export_file("/dev/null")


def test_a_report_has_every_member(settings: kept.Store) -> None:
    settings.declare({"n": {"type": "integer"}, "s": {"type": "string", "secret": True}})
    settings.update({"a": 1, "n": 1, "s": "hidden"})
    text = text_of({"n": "x", "s": "other", "b": [2]}, declarations={"b": {"type": "array"}}, omitted=[])
    report = settings.import_text(text, replace=True, dry_run=True, declarations=True)
    assert report.changed == (
        kept.ImportChange("b", None, [2], False),
        kept.ImportChange("n", 1, "x", False),
        kept.ImportChange("s", None, None, True),
    )
    assert report.removed == ("a",)
    assert set(report.declared) == {"b", "n"}, "n's would be taken away; s stays a secret"
    assert "a" in settings and "b" not in settings


def test_refusals_name_the_key_and_nothing_is_imported(settings: kept.Store) -> None:
    settings.declare({"n": {"type": "integer"}})
    with pytest.raises(kept.WrongTypeError, match='"n".*1 key is refused'):
        settings.import_text(text_of({"a": 1, "n": "x"}))
    report = settings.import_text(text_of({"a": 1, "n": "x"}), dry_run=True)
    assert [refusal.key for refusal in report.refused] == ["n"] and "string" in report.refused[0].reason
    with pytest.raises(kept.InvalidError) as caught:
        settings.import_text("{")
    assert caught.value.offset == 1
    assert len(settings) == 0


def test_other_formats_are_imported(settings: kept.Store) -> None:
    report = settings.import_text('{"b": {"c": 1}}', format="json", prefix="app.")
    assert dict(settings) == {"app.b": {"c": 1}} and not report.not_carried
    report = settings.import_text('{"x": {"y": null, "z": 1}}', format="nested_json", separator="/")
    assert settings["x/z"] == 1
    assert report.not_carried[0].place == "x/y" and report.not_carried[0].reason
    report = settings.import_text('{"big": 18446744073709551616, "small": 2}', format="json")
    assert settings["small"] == 2 and [lost.place for lost in report.not_carried] == ["big"]
    with pytest.raises(kept.InvalidError, match="nested_json"):
        settings.import_text("", format="toml")  # type: ignore[arg-type]


def test_progress_is_reported_and_an_exception_stops_the_transfer(settings: kept.Store) -> None:
    text, calls = text_of({f"key {number}": number for number in range(500)}), []
    settings.import_text(text, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (len(text), len(text)) and len(calls) > 10

    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == total:
            raise Stop

    with pytest.raises(Stop):
        settings.import_text(text_of({"new": 1}), progress=stop)
    assert "new" not in settings
    with pytest.raises(Stop):
        settings.export(progress=stop)


def test_bad_arguments_are_refused(settings: kept.Store) -> None:
    for bad in ("\ud800", "a\0b"):
        with pytest.raises(kept.InvalidError):
            settings.export(prefix=bad)
        with pytest.raises(kept.InvalidError):
            settings.import_file(bad)
    for text in ('{"kept":1,"x\ud800', '{"kept":1,"x\0'):
        with pytest.raises(kept.InvalidError) as caught:
            settings.import_text(text)
        assert caught.value.offset == 12
    with pytest.raises(kept.InvalidError):
        settings.import_text(5)  # type: ignore[arg-type]
    settings.close()
    with pytest.raises(kept.ClosedError):
        settings.export()


WRITE_ON = """
import sys, kept
with kept.open(sys.argv[1]) as settings:
    for number in range(1 << 60):
        settings["other"] = number
        if number == 0:
            print("begun", flush=True)
"""


def test_an_import_is_made_beside_a_program_that_keeps_writing(location: Path) -> None:
    """Long before it is prepared, what it was compared with has changed."""
    with (
        kept.open(location) as settings,
        subprocess.Popen([sys.executable, "-c", WRITE_ON, str(location)], stdout=subprocess.PIPE) as writer,
    ):
        try:
            assert writer.stdout is not None and writer.stdout.readline() == b"begun\n"
            report = settings.import_text(text_of({f"many.{number}": number for number in range(20_000)}))
            assert len(report.changed) == 20_000
            assert settings.remove_all("many.") == 20_000
        finally:
            writer.kill()


def test_many_keys_are_committed_beside_large_values(settings: kept.Store) -> None:
    large = "x" * ((16 << 20) - 100)
    with settings.transaction() as transaction:
        for number in range(100_000):
            transaction[f"many.{number}"] = number
        for number in range(8):
            settings[f"large{number}"] = large
        begun = time.monotonic()
    assert time.monotonic() - begun < 60
    assert settings["many.99999"] == 99_999


def test_a_lost_declaration_is_imported_and_keeps_the_value_hidden(settings: kept.Store) -> None:
    text = text_of({"a": "hunter2"}, declarations={"a": {"lost": True}})
    report = settings.import_text(text, declarations=True)
    assert (report.declared, report.changed[0].secret, settings["a"]) == (("a",), True, "hunter2")
    assert json.loads(settings.export())["omitted"] == ["a"]
    assert json.loads(settings.export(declarations=True, secrets=True, plain=True))["declarations"] == {
        "a": {"lost": True}
    }
    with pytest.raises(kept.InvalidError, match="declare the key as before"):
        settings.declare({"a": {"lost": True}})
