"""Backups, restores and differences."""

from __future__ import annotations

from pathlib import Path

from conftest import Kept


def test_a_backup_is_restored_as_one_change(kept: Kept, tmp_path: Path) -> None:
    backup = str(tmp_path / "backup")
    assert kept("set", "player", "a=1", "b=2").status == 0
    assert kept("backup", "player", backup).status == 0
    assert kept("backup", "player", backup).status == 3
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
