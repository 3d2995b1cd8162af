"""Checking files without opening a store."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Kept, status_of


@pytest.fixture
def store(kept: Kept, tmp_path: Path) -> Path:
    """A store, and the file `copy`, a backup of it."""
    folder = tmp_path / "store"
    assert kept("set", str(folder), "a=1", "b=2", "--undeclared").status == 0
    assert kept("backup", str(folder), "copy").status == 0
    return folder


def flip(file: Path, needle: bytes) -> None:
    data = bytearray(file.read_bytes())
    data[data.index(needle) + len(needle)] ^= 1
    file.write_bytes(data)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_stores_copies_and_backups_are_checked_and_nothing_is_changed(kept: Kept, store: Path) -> None:
    other = Path(shutil.copytree(store, store.parent / "other"))
    (other / "pulse").unlink()
    before = contents(store), contents(other)
    done = kept("verify", str(store), str(other), "copy")
    assert done.status == 0
    assert done.out.splitlines() == [f"{place}: all is well" for place in (store, other, "copy")]
    assert kept("verify", "copy", "--quiet").out == ""
    assert json.loads(kept("verify", str(store), "--json").out) == []
    assert before == (contents(store), contents(other))


def test_each_damage_is_one_sentence_with_its_place_its_key_and_what_to_do(kept: Kept, store: Path) -> None:
    journal = next(store.glob("journal.*"))
    flip(journal, b"a" + (1).to_bytes(8, "little"))
    flip(store.parent / "copy", b"b" + (2).to_bytes(8, "little")[:7])
    before = contents(store)
    done = kept("verify", str(store), "copy")
    assert done.status == 4
    first, remedy, second, advice = done.out.splitlines()
    assert first.startswith(f"✗ {store}: {journal.name} has a damaged commit at byte 512; it concerns ")
    assert remedy.startswith("  end the programs that use the store") and remedy.endswith(
        f"kept doctor {store} --repair"
    )
    assert "copy has a damaged block at byte 4096" in second and advice == "  use another backup"
    found = json.loads(kept("verify", str(store), "copy", "none", "--json").out)
    assert [(each["store"], each["severity"]) for each in found] == [(str(store), "damage"), ("copy", "damage")]
    assert kept("verify", str(store), "--quiet").status == 4
    assert before == contents(store)
    assert kept("doctor", str(store), "--repair").status == 0
    assert kept("verify", str(store)).status == 0


def test_a_place_that_cannot_be_checked_does_not_hide_the_others(kept: Kept, store: Path) -> None:
    done = kept("verify", "none", str(store), "memory:")
    assert (done.status, done.out) == (4, f"{store}: all is well\n")
    assert "there is no store none" in done.err and "memory: has no files with checksums" in done.err


def test_a_store_that_programs_change_is_well(kept: Kept, environment: dict[str, str], store: Path) -> None:
    command = environment["KEPT_COMMAND"]
    script = f'for n in $(seq 60); do {command} set {store} a=$n "b=\\"$(printf "%06000d" $n)\\""; done'
    writing = subprocess.Popen(["sh", "-c", script], env=environment, stdout=subprocess.DEVNULL)
    while writing.poll() is None:
        done = kept("verify", str(store))
        assert (done.status, done.err) == (0, ""), done
    assert status_of(writing) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_checked(kept: Kept, store: Path) -> None:
    store.chmod(0o500)
    try:
        assert kept("verify", str(store)).status == 0
    finally:
        store.chmod(0o700)
