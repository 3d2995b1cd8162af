"""Backups, restores and differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Kept


def test_a_backup_is_restored_as_one_change(kept: Kept, tmp_path: Path) -> None:
    backup = str(tmp_path / "backup")
    assert kept("set", "player", "a=1", "b=2").status == 0
    assert kept("backup", "player", backup).status == 0
    refused = kept("backup", "player", backup)
    assert (refused.status, refused.err) == (3, f"kept: {backup} already exists; use another path, or --replace\n")
    assert kept("backup", "player", backup, "--replace").status == 0
    assert kept("set", "player", "a=9", "c=3").status == 0
    assert kept("diff", "player", backup).out == "~ a: 9 → 1\n- c: 3\n"
    assert kept("restore", "player", backup, "--dry-run").out == "~ a: 9 → 1\n- c: 3\n"
    assert kept("get", "player", "a").out == "9\n"
    assert kept("restore", "player", backup).status == 0
    assert kept("diff", "player", backup).status == 0
    assert kept("restore", "player", str(tmp_path / "none")).status == 4


def test_differences_are_a_status(kept: Kept) -> None:
    assert kept("set", "one", "a=1").status == 0
    assert kept("set", "other", "a=2", "b=3").status == 0
    done = kept("diff", "one", "other", "--json")
    assert (done.status, done.out) == (1, '{"key":"a","new":2,"old":1}\n{"key":"b","new":3}\n')
    assert kept("diff", "one", "none").status == 4


def test_stores_backups_and_exports_are_compared_with_each_other(kept: Kept, tmp_path: Path) -> None:
    """Each kind of contents, old and new, in all pairs."""
    kinds: dict[str, list[str]] = {}
    for age, pairs in (("old", ["a=1", "b=2"]), ("new", ["a=9", "c=3"])):
        assert kept("set", age, *pairs).status == 0
        assert kept("set", str(tmp_path / f"{age}.store"), *pairs).status == 0
        assert kept("backup", age, f"{age}.backup").status == 0
        assert kept("export", age, "--output", f"{age}.export").status == 0
        kinds[age] = [age, str(tmp_path / f"{age}.store"), f"{age}.backup", f"{age}.export"]
    for old in kinds["old"]:
        for new in kinds["new"]:
            done = kept("diff", old, new)
            assert (done.status, done.out) == (1, "~ a: 1 → 9\n- b: 2\n+ c: 3\n"), (old, new)
        assert all(kept("diff", old, same).status == 0 for same in kinds["old"])
    assert kept("diff", "old", "new", "--quiet").out == ""


def test_the_last_good_state_is_the_last_that_was_marked(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    assert kept("mark", "good", "player").status == 0
    assert kept("set", "player", "a", "2").status == 0
    assert kept("mark", "good", "player", "--dry-run").out == "~ a: 1 → 2\n"
    assert kept("mark", "good", "player", "--quiet").out == ""
    assert kept("set", "player", "a=3", "b=4").status == 0
    restored = kept("restore", "player", "--last-good")
    good = str(tmp_path / "config/kept/player.kept.good")
    [aside] = (tmp_path / "config/kept/player.kept/quarantine").iterdir()
    assert (restored.status, restored.out) == (
        0,
        f"the store has the contents of {good}, at revision 4\nwhat it had before is in {aside}\n",
    )
    assert kept("list", "player").out == "a=2\n"
    assert kept("stores").out == "player\n"


NOT_COMPARED = "kept: the declarations are not compared, because an export has none; see kept export --declarations\n"


def test_declarations_are_compared_where_both_sides_have_them(declared: Kept, tmp_path: Path) -> None:
    assert declared("export", "player", "--declarations", "--output", "whole").status == 0
    assert declared("export", "player", "--output", "values").status == 0
    assert declared("diff", "player", "whole").status == 0
    schema = '{"properties": {"audio.muted": {"type": "boolean", "summary": "x"}, "more": {"type": "date"}}}'
    assert declared("declare", "player", "-", input=schema).status == 0
    assert declared("undeclare", "player", "tags").status == 0
    done = declared("diff", "whole", "player")
    assert (done.status, done.out.splitlines()) == (
        1,
        [
            '~ declaration of audio.muted: {"type":"boolean"} → {"summary":"x","type":"boolean"}',
            '+ declaration of more: {"type":"date"}',
            '- declaration of tags: {"items":{"type":"string"},"type":"array"}',
        ],
    )
    found = [json.loads(line) for line in declared("diff", "whole", "player", "--json").out.splitlines()]
    assert found[1] == {"key": "more", "newDeclaration": {"type": "date"}}
    assert found[2]["oldDeclaration"]["type"] == "array"
    assert declared("diff", "whole", "player", "--quiet").status == 1
    without = declared("diff", "player", "values")
    assert (without.status, without.out, without.err) == (0, "", NOT_COMPARED)
    # The word may also be in a value.
    assert declared("set", "player", "--undeclared", "note", '{"declarations": 1}').status == 0
    assert declared("export", "player", "--output", "values").status == 0
    without = declared("diff", "player", "values")
    assert (without.status, without.out, without.err) == (0, "", NOT_COMPARED)


@pytest.mark.parametrize(
    ("export", "has"),
    [
        ('{"kept":1,"values":{"title":"the word \\"declarations\\""}}', False),
        ('{"kept":1,"values":{"declarations":"x","title":["declarations"]}}', False),
        ('{"declarations":{},"kept":1,"values":{}}', True),
        ('{"kept": 1, "values": {}, "declar\\u0061tions": {}}', True),
    ],
)
def test_the_word_declarations_in_a_value_is_no_member(export: str, has: bool, declared: Kept, tmp_path: Path) -> None:
    (tmp_path / "export").write_text(export)
    done = declared("diff", "player", "export")
    assert (done.status, done.err) == (1, "" if has else NOT_COMPARED)
    assert ('- declaration of title: {"type":"string"}' in done.out.splitlines()) == has


def test_a_comparison_that_cannot_be_made_is_no_difference(declared: Kept) -> None:
    for words in (["player", "@99"], ["player", "nowhere"], ["player", "/nowhere"]):
        assert declared("diff", *words).status == 4, words


def test_a_copy_that_was_cut_off_is_named(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a=1", "b=2").status == 0
    (tmp_path / "export.json").write_text(kept("export", "player").out[:40])
    done = kept("diff", "player", "export.json")
    assert (done.status, done.out) == (3, "")
    assert done.err == "kept: export.json: the JSON text ends inside a string; close it with a double quote\n"
    assert kept("backup", "player", "backup").status == 0
    (tmp_path / "backup").write_bytes((tmp_path / "backup").read_bytes()[:9000])
    for command in (["diff", "player", "backup"], ["restore", "other", "backup"]):
        done = kept(*command)
        assert (done.status, done.out) == (4, "")
        assert done.err == "kept: the backup backup cannot be read: it is damaged or truncated; use another backup\n"


def test_secrets_that_an_export_leaves_out_are_named_and_not_compared(declared: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "token=hunter2", "title=x").status == 0
    export = tmp_path / "export.json"
    export.write_text(declared("export", "player", "--declarations").out)
    for words in (["player", str(export)], [str(export), "player"]):
        done = declared("diff", *words)
        assert (done.status, done.out) == (4, "")
        assert done.err.splitlines() == [
            'kept: "token": is left out, because the export leaves out secrets; see kept export --secrets',
            'kept: no differences were found, but "token" cannot be compared, and may differ',
        ]
    # A secret that only the export had is a difference.
    assert declared("reset", "player", "token").status == 0
    done = declared("diff", str(export), "player")
    assert (done.status, done.out) == (1, "- token: (secret)\n"), done.err
