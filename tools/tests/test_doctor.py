"""Checking a store."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Kept, plant, status_of


def test_a_sound_store_is_well(declared: Kept) -> None:
    done = declared("doctor", "player")
    assert (done.status, done.out.splitlines()[-1]) == (0, "all is well: 0 values and 10 declarations at revision 1")
    findings = json.loads(declared("doctor", "player", "--json").out)
    assert {finding["severity"] for finding in findings} == {"note"}


def test_a_value_that_does_not_fit_wants_attention(kept: Kept) -> None:
    assert kept("set", "player", "a", '"text"').status == 0
    assert kept("declare", "player", "-", input='{"properties":{"a":{"type":"integer"}}}').status == 0
    done = kept("doctor", "player", "--json")
    assert done.status == 1
    assert json.loads(done.out)[0]["severity"] == "attention"


def test_a_damaged_database_is_reported(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    database = tmp_path / "config/kept/player.kept/values.sqlite"
    database.write_bytes(b"nonsense" * 4096)
    done = kept("doctor", "player")
    assert done.status in (1, 4)
    assert "salvaged" in done.out + done.err
    assert kept("doctor", "player", "--repair").status == 0
    assert kept("doctor", "player").status == 0


def test_info_and_stores_say_where_a_store_is(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "com.example.player", "a", "1").status == 0
    facts = json.loads(kept("info", "com.example.player", "--json").out)
    assert facts["folder"] == str(tmp_path / "config/kept/com.example.player.kept")
    assert (facts["values"], facts["revision"], facts["processes"]) == (1, 1, [])
    assert kept("stores").out == "com.example.player\n"


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def settled(kept: Kept, folder: Path) -> Path:
    """The database, with all values in it: those of a restore are not in the journal."""
    assert kept("backup", str(folder), "backup").status == 0
    assert kept("restore", str(folder), "backup").status == 0
    plant(folder / "values.sqlite", "SELECT 1")
    return folder / "values.sqlite"


def layer(folder: Path, text: str, mode: int = 0o600) -> None:
    (folder.parent / "layer").write_text(text)
    (folder.parent / "layer").chmod(mode)


# What is planted into the folder of a store, the status, what is found, and what is to be done.
PLANTED: dict[str, tuple[Callable[[Kept, Path], None], int, str, str]] = {
    "a checksum": (
        lambda kept, s: flip(settled(kept, s), 4096 + 4000),
        1,
        "damaged and salvaged",
        "compare them with a backup",
    ),
    "a page of SQLite": (
        lambda kept, s: plant(s / "values.sqlite", "CREATE TABLE other (a)"),
        4,
        'holds the table "other", which is not Kept\'s',
        "remove it with the sqlite3 shell",
    ),
    "the journal": (
        lambda kept, s: flip(s / "journal", 20),
        1,
        "damaged and salvaged",
        "compare them with a backup",
    ),
    "a value": (
        lambda kept, s: plant(settled(kept, s), "UPDATE entry SET kind = 'what' WHERE key = 'a'"),
        4,
        '"a": its row names the kind "what"',
        "set the key again, or remove it with --repair",
    ),
    "a declaration": (
        lambda kept, s: plant(settled(kept, s), "UPDATE declaration SET schema = '{' WHERE key = 'b'"),
        4,
        '"b": ',
        "with --repair",
    ),
    "a wrong file": (lambda kept, s: layer(s, '{"values": {'), 1, "the system layer: ", "correct the file"),
    "a value of a file": (
        lambda kept, s: layer(s, '{"values": {"b": "x"}}'),
        1,
        '"b": the value "x" is a string; the declared type is integer',
        "correct the file",
    ),
    "rights of a file": (lambda kept, s: layer(s, "{}", 0o666), 1, "other users may write", "chmod go-w"),
    "rights of the folder": (lambda kept, s: s.chmod(0o777), 4, "other users may write to the folder", "chmod go-w it"),
    "rights to read": (lambda kept, s: s.chmod(0o755), 0, "other users may read the folder", "chmod go-rwx"),
}


@pytest.fixture
def store(kept: Kept, tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    assert kept("declare", str(folder), "-", input='{"properties": {"b": {"type": "integer"}}}').status == 0
    assert kept("set", str(folder), "a=1", "b=2", "--undeclared").status == 0
    (tmp_path / "layer").write_text('{"values": {}}')
    (tmp_path / "layer").chmod(0o600)
    assert kept("doctor", str(folder), "--system", "layer").status == 0
    return folder


@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_planted_is_found_once_with_what_to_do(planted: str, kept: Kept, store: Path) -> None:
    action, status, what, remedy = PLANTED[planted]
    action(kept, store)
    # The first program that opens a damaged store reports it, too.
    kept("get", str(store), "a")
    done = kept("doctor", str(store), "--system", "layer")
    shown = done.out or done.err
    assert (done.status, shown.count(what)) == (status, 1), shown + done.err
    assert remedy in shown
    found = kept("doctor", str(store), "--system", "layer", "--json")
    assert found.status == status
    assert sum(what in finding["what"] for finding in json.loads(found.out)) == 1
    assert kept("doctor", str(store), "--system", "layer", "--quiet").out == ""


@pytest.mark.parametrize("planted", ["a checksum", "the journal", "a value", "a declaration"])
def test_a_repair_ends_what_it_can(planted: str, kept: Kept, store: Path) -> None:
    PLANTED[planted][0](kept, store)
    kept("get", str(store), "a")
    dry = kept("doctor", str(store), "--repair", "--dry-run")
    assert dry.out.startswith("· would ")
    assert kept("doctor", str(store)).status != 0
    real = kept("doctor", str(store), "--repair")
    assert (dry.status, real.status, real.out[:2]) == (0, 0, "· ")
    assert kept("doctor", str(store)).status == 0


def test_a_file_that_keeps_programs_out_does_not_hide_the_rest(kept: Kept, store: Path) -> None:
    layer(store, "{")
    done = kept("doctor", str(store), "--managed", "layer")
    assert (done.status, done.out.startswith("✗ the store cannot be opened: ")) == (4, True)
    assert "2 values and 1 declaration at revision 2" in done.out


def test_the_place_and_the_versions_are_named(kept: Kept, store: Path) -> None:
    done = kept("doctor", str(store))
    assert "· kept 0." in done.out and "schema version 0 of the store" in done.out
    assert f"· in {store}, on " in done.out and " free" in done.out


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="this machine has no writable file system in memory")
def test_a_store_in_memory_is_said_to_be_lost_at_a_restart(kept: Kept, tmp_path: Path) -> None:
    folder = Path("/dev/shm") / f"kept-{os.getpid()}"
    try:
        assert kept("set", str(folder), "a", "1").status == 0
        assert "on tmpfs" in kept("doctor", str(folder)).out
        assert "gone when the machine is restarted" in kept("doctor", str(folder)).out
    finally:
        subprocess.run(["rm", "-r", str(folder)], check=True)


def test_the_process_that_has_it_open_is_named(kept: Kept, environment: dict[str, str], store: Path) -> None:
    watching = subprocess.Popen(
        [environment["KEPT_COMMAND"], "watch", str(store), "--initial"], stdout=subprocess.PIPE, env=environment
    )
    assert watching.stdout and watching.stdout.readline()
    assert f"· open in kept ({watching.pid})" in kept("doctor", str(store)).out
    assert f"kept ({watching.pid})" in kept("info", str(store)).out
    assert json.loads(kept("info", str(store), "--json").out)["processes"] == [{"name": "kept", "pid": watching.pid}]
    watching.terminate()
    assert status_of(watching) == 0
