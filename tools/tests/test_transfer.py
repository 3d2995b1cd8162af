"""Exports and imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Kept


def test_an_export_moves_a_store(declared: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "audio.volume=7", "title=a\nb").status == 0
    exported = declared("export", "player", "--declarations")
    assert declared("import", "other", "-", "--declarations", input=exported.out).status == 0
    assert declared("diff", "player", "other").status == 0
    again = declared("import", "other", "-", "--declarations", input=exported.out)
    assert "0 changed" in again.out
    assert declared("export", "player", "--output", str(tmp_path / "e.json")).status == 0
    assert (tmp_path / "e.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("format", "text", "key", "value"),
    [
        ("json", '{"a.b": 1}', "a.b", "1"),
        ("nested-json", '{"a": {"b": 1}}', "a.b", "1"),
        ("env", "# comment\nA=1\n", "A", None),
        ("ini", "[a]\nb = 1\n", "a.b", None),
        ("dconf", "[org/example]\nb=1\n", "org.example.b", None),
        ("plist", '<?xml version="1.0"?><plist><dict><key>a</key><integer>1</integer></dict></plist>', "a", "1"),
    ],
)
def test_the_format_is_found_and_said(kept: Kept, format: str, text: str, key: str, value: str | None) -> None:
    done = kept("import", "player", "-", input=text)
    assert f"read as {format};" in done.err
    assert done.status == 0, done.err
    listed = json.loads(kept("list", "player", "--json").out)
    assert list(listed) == [key] or format == "dconf"
    if value is not None:
        assert kept("get", "player", key).out == value + "\n"


def test_a_dry_run_reports_what_would_be_refused(declared: Kept) -> None:
    text = '{"audio.volume": 700, "title": "x"}'
    done = declared("import", "player", "-", "--dry-run", input=text)
    assert (done.status, '+ title: "x"' in done.out, "audio.volume" in done.err) == (3, True, True)
    assert declared("import", "player", "-", input=text).status == 3
    assert declared("get", "player", "title").status == 1
