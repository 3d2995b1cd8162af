"""Declarations as tables and as JSON Schema."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

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


SECRET = '{"properties":\n {"token":{"type":"string","s\\u0065cret":true,"default":"hush hush"}}}'


@pytest.mark.parametrize("words", [["lint", "-"], ["declare", "player", "-"], ["generate", "-", "--c"]], ids=str)
def test_wrong_json_of_a_file_of_declarations_is_only_named_by_its_place(kept: Kept, words: list[str]) -> None:
    for end in range(1, len(SECRET), 1 if words[0] == "lint" else 20):
        done = kept(*words, input=SECRET[:end] + "\x01")
        assert done.status == 3 and "hush" not in done.err, done.err
        assert re.search(r" \(line [12], column [0-9]+\)\n$", done.err), done.err


def test_a_wrong_declaration_of_a_secret_does_not_show_it(kept: Kept) -> None:
    for rules in (
        {"type": "integer", "default": "hush"},
        {"type": "string", "default": "hush", "maxLength": 2},
        {"type": "string", "default": "hush", "pattern": "^x(hush"},
        {"type": "string", "enum": ["hush", "hush"]},
        {"type": "string", "enum": "hush"},
        {"type": "string", "const": ["hush"], "default": "hush"},
        {"type": "string", "default": "hush", "renamedFrom": ""},
    ):
        done = kept("lint", "-", input=json.dumps({"properties": {"token": rules | {"secret": True}}}))
        assert done.status == 3 and "hush" not in done.err, done.err


def test_a_file_that_is_too_large_is_not_read(kept: Kept, tmp_path: Path) -> None:
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate((16 << 20) + 1)
    for words in (["lint", "large.json"], ["lint", "keys.json", "--against", "large.json"]):
        (tmp_path / "keys.json").write_text('{"properties": {}}')
        done = kept(*words)
        assert (done.status, done.err) == (3, "kept: large.json is larger than 16 MiB; use a smaller file\n")
    done = kept("generate", "-", "--c", input=b" " * ((16 << 20) + 1))
    assert done.status == 3 and "standard input is larger than 16 MiB" in done.err


def test_an_empty_path_is_named(kept: Kept) -> None:
    for words in (["lint", ""], ["lint", "-", "--against", ""], ["generate", "", "--c"], ["declare", "player", ""]):
        done = kept(*words, input='{"properties": {}}')
        assert done.status == 3 and "a path is empty" in done.err, done.err
    done = kept("lint", "-", "--against", "-", input='{"properties": {}}')
    assert done.status == 2 and "standard input can be only one of the two files" in done.err


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


def declare(kept: Kept, store: str, keys: str) -> None:
    done = kept("declare", store, "-", "--quiet", input=f'{{"properties":{{{keys}}}}}')
    assert (done.status, done.err) == (0, "")


RENAMED = '"audio.volume":{"type":"integer","renamedFrom":"volume","summary":"s"}'


def test_a_moved_value_is_tagged(kept: Kept) -> None:
    assert kept("set", "player", "volume", "7").status == 0
    declare(kept, "player", RENAMED)
    line = kept("log", "player", "audio.volume").out
    assert "(renamed)" in line and kept("get", "player", "audio.volume").out == "7\n"


def test_what_describe_prints_with_both_names_of_a_key_declare_takes(kept: Kept) -> None:
    old = '"volume":{"type":"integer"}'
    declare(kept, "player", old)
    declare(kept, "player", RENAMED)
    declare(kept, "player", RENAMED.replace("audio.volume", "other"))
    printed = kept("describe", "player", "--json").out
    assert '"volume"' in printed and '"other"' in printed
    assert kept("declare", "copy", "-", input=printed).status == 0
    assert kept("describe", "copy", "--json").out == printed


def test_a_former_name_leads_to_the_new_one(kept: Kept, tmp_path: Path) -> None:
    declare(kept, "player", RENAMED)
    now = '; it is now "audio.volume"'
    for command in (["set", "player", "volume", "7"], ["set", "player", "volume=7"], ["reset", "player", "volume"]):
        done = kept(*command)
        assert done.status == 3 and now in done.err, command
    looking = (["get"], ["explain"], ["log"], ["watch", "--timeout", "0"])
    for command in looking:
        assert now in kept(*command, "player", "volume").err, command
    assert now in kept("undeclare", "player", "volume").err
    # An older program has declared it.
    declare(kept, "player", '"volume":{"type":"integer"}')
    for command in looking:
        assert now in kept(*command, "player", "volume").err, command
    done = kept("set", "player", "volume", "7")
    assert (done.status, done.err) == (0, f'kept: "volume": is a former name{now}\n')
    assert kept("set", "player", "audio.volume", "8").err == ""
    # A default, or the value of another layer.
    assert kept("reset", "player", "volume").status == 0
    (tmp_path / "system.json").write_text('{"values": {"volume": 5}}')
    (tmp_path / "system.json").chmod(0o600)
    declare(kept, "player", '"volume":{"type":"integer","default":4}')
    for options, value in (([], "4\n"), (["--system", str(tmp_path / "system.json")], "5\n")):
        done = kept("get", "player", "volume", *options)
        assert (done.out, done.err) == (value, f'kept: "volume": is a former name{now}\n')
        assert kept("explain", "player", "volume", *options).err == done.err
        assert kept("get", "player", "volume", "--quiet", *options).err == ""


def test_lint_finds_other_names_that_are_probably_wrong(kept: Kept, tmp_path: Path) -> None:
    def lint(**keys: str) -> list[str]:
        members = (f'"{key}":{{"type":"integer","summary":"s"{words}}}' for key, words in keys.items())
        (tmp_path / "s.json").write_text(f'{{"properties":{{{",".join(members)}}}}}')
        done = kept("lint", "s.json")
        assert done.status == 0
        return done.err.splitlines()

    replaced = ',"deprecated":true,"replacedBy":'
    assert lint(old=f'{replaced}"level"', level="") == []
    assert lint(old=f'{replaced}"levle"', level="") == [
        'kept: "old": is replaced by "levle", which the file does not declare; did you mean "level"?'
    ]
    former = ',"renamedFrom":"old"'
    assert lint(level=former) == []
    assert lint(level=former, old="") == [
        'kept: "level": has the former name "old", which the file declares too; leave out the older declaration'
    ]
    assert lint(level=former, loudness=former) == [
        'kept: "loudness": has the former name "old", as "level" has; leave it out of one, or both get the value'
    ]
    (tmp_path / "s.json").write_text('{"properties":{"level":{"type":"integer","renamedFrom":"level"}}}')
    done = kept("lint", "s.json")
    assert done.status == 3 and "its own name" in done.err
    declared = {"level": {"type": "integer", "renamedFrom": "old"}, "old": {"type": "integer", "renamedFrom": "level"}}
    (tmp_path / "s.json").write_text(json.dumps({"properties": declared}))
    done = kept("lint", "s.json")
    assert done.status == 3 and 'with the former name "old", which the list declares' in done.err
