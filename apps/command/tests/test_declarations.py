"""Declarations as tables and as JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import SCHEMA, Kept


def test_what_describe_prints_declare_takes(declared: Kept) -> None:
    printed = declared("describe", "player", "--json").out
    assert declared("declare", "copy", "-", input=printed).status == 0
    assert declared("describe", "copy", "--json").out == printed
    one = json.loads(declared("describe", "player", "audio.volume").out)
    assert one == json.loads(SCHEMA)["properties"]["audio.volume"]


def test_a_dry_run_declares_nothing(kept: Kept, tmp_path: Path) -> None:
    schema = tmp_path / "s.json"
    schema.write_text('{"properties": {"a": {"type": "integer"}}}')
    assert kept("set", "player", "a", '"text"').status == 0
    done = kept("declare", "player", str(schema), "--dry-run")
    assert (done.status, '"a"' in done.err) == (0, True)
    assert kept("describe", "player").status == 1


def test_undeclaring_keeps_the_value(declared: Kept) -> None:
    assert declared("set", "player", "audio.volume", "7").status == 0
    assert declared("undeclare", "player", "audio.volume").status == 0
    assert declared("get", "player", "audio.volume").out == "7\n"
    assert declared("undeclare", "player", "audio.volume").status == 1


def test_lint_finds_what_is_wrong_without_a_store(kept: Kept, tmp_path: Path) -> None:
    schema = tmp_path / "s.json"
    schema.write_text('{"properties": {"a": {"type": "integer", "minimun": 1}}}')
    done = kept("lint", str(schema))
    assert (done.status, "minimun" in done.err) == (3, True)
    schema.write_text('{"properties": {"a": {"type": "integer", "summary": "A number"}}}')
    assert kept("lint", str(schema)).status == 0
    assert kept("lint", str(tmp_path / "none")).status == 4


def test_wrong_json_is_shown_with_its_place(declared: Kept) -> None:
    done = declared("set", "player", "tags", "[1,")
    assert done.status == 3
    assert done.err.endswith("\n  [1,\n     ^\n")


def test_a_bare_map_of_keys_is_told_what_it_lacks(kept: Kept, tmp_path: Path) -> None:
    schema = tmp_path / "keys.json"
    schema.write_text('{"audio.volume": {"type": "integer", "default": 50}, "title": {"type": "string"}}')
    for words in (["lint", "keys.json"], ["declare", "player", "keys.json"]):
        done = kept(*words)
        assert done.status == 3
        example = '{"properties":{"audio.volume":{"type":"integer"}}}'
        assert f'has no "properties" object around its keys; write {example}' in done.err
    assert kept("stores").out == ""
    schema.write_text(example)
    assert kept("lint", "keys.json").status == 0


def test_a_file_may_begin_with_a_byte_order_mark_and_end_lines_with_crlf(kept: Kept, tmp_path: Path) -> None:
    text = SCHEMA.replace("\n", "\r\n")
    (tmp_path / "s.json").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert kept("lint", "s.json").status == 0
    assert kept("declare", "player", "-", input=(tmp_path / "s.json").read_bytes()).status == 0
