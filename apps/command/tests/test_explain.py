"""Why a program uses a value."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import SCHEMA, Kept


def test_every_layer_is_shown_as_the_program_reads_it(declared: Kept) -> None:
    assert declared("set", "player", "audio.volume", "7").status == 0
    explain = ("explain", "player", "audio.volume", "--json", "--env-prefix", "P_")
    found = json.loads(declared(*explain, "--", "-audio.volume", "30", more={"P_AUDIO_VOLUME": "20"}).out)
    assert (found["value"], found["layer"]) == (30, "arguments")
    outcomes = {layer["layer"]: layer["outcome"] for layer in found["layers"]}
    assert (outcomes["environment"], outcomes["user"], outcomes["declared"]) == ("hidden", "hidden", "hidden")


def test_what_the_administrator_locks_is_refused_and_explained(kept: Kept, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text('{"values": {"a": 1}, "locked": ["b"]}')
    managed.chmod(0o600)
    assert kept("set", "player", "a", "2").status == 0
    refused = kept("set", "player", "b", "2", "--managed", str(managed))
    assert refused.status == 3
    assert str(managed) in refused.err
    explained = kept("explain", "player", "a", "--managed", str(managed))
    assert (explained.status, "→  managed     1" in explained.out) == (0, True)
    assert kept("get", "player", "a", "--managed", str(managed)).out == "1\n"
    assert kept("get", "player", "a").out == "2\n"


def test_the_administrators_files_are_explained_before_a_program_has_made_the_store(kept: Kept, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    assert kept("explain", "player", "a", "--managed", str(managed)).status == 4
    managed.write_text('{"values": {"a": 1}, "locked": ["a"]}')
    done = kept("explain", "player", "a", "--managed", str(managed))
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"locked by the administrator's file {managed}, which sets it\n")
    assert kept("explain", "player", "b", "--managed", str(managed)).status == 1
    assert "there is no store player" in kept("get", "player", "a").err


def test_a_damaged_store_is_explained_as_it_is_read(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    values = tmp_path / "config/kept/player.kept/values"
    data = bytearray(values.read_bytes())
    data[20] ^= 1
    values.write_bytes(data)
    done = kept("explain", "player", "a")
    assert (done.status, done.out.splitlines()[0]) == (0, "the stored value applies")
    read = kept("get", "player", "a")
    assert (read.out, read.err) == ("1\n", done.err) and "was damaged and salvaged" in done.err


def test_a_key_without_a_value_is_explained_with_status_1(declared: Kept) -> None:
    done = declared("explain", "player", "title")
    assert (done.status, done.err) == (1, "")


def test_a_mistyped_key_is_answered_with_the_one_that_was_meant(declared: Kept) -> None:
    done = declared("explain", "player", "audio.volum")
    assert done.status == 1 and 'did you mean "audio.volume"?' in done.err
    watched = declared("watch", "player", "audio.volum", "--timeout", "0")
    assert watched.status == 0 and 'did you mean "audio.volume"?' in watched.err
    assert declared("watch", "player", "audio.volume", "--timeout", "0").err == ""


def test_the_path_of_a_users_store_has_the_files_of_its_identifier(declared: Kept, tmp_path: Path) -> None:
    path = tmp_path / "config/kept/player.kept"
    (tmp_path / "link.kept").symlink_to(path)
    by_name = declared("explain", "player", "audio.volume").out
    assert "/etc/kept/player/managed.json" in by_name
    for given in (str(path), f"{path}/"):
        assert declared("explain", given, "audio.volume").out == by_name
    assert "/etc/kept" not in declared("explain", str(tmp_path / "link.kept"), "audio.volume").out


@pytest.fixture
def locked(declared: Kept, tmp_path: Path) -> Iterator[str]:
    """A store whose key `title` the administrator has locked, in the fixed place."""
    store = f"org.kept.test.{os.getpid()}"
    folder = Path("/etc/kept") / store
    try:
        folder.mkdir(parents=True)
    except OSError:
        pytest.skip("only root can put the administrator's files in their place")
    try:
        (folder / "managed.json").write_text('{"values": {"title": "fixed"}}')
        assert declared("declare", store, "-", input=SCHEMA).status == 0
        yield store
    finally:
        shutil.rmtree(folder)


def test_storing_a_locked_value_is_said_and_found(locked: str, declared: Kept) -> None:
    assert declared("set", locked, "title", "x").status == 3
    done = declared("set", locked, "title=x", "audio.volume=7", "--no-layers")
    assert (done.status, done.err.count("\n")) == (0, 1)
    assert '"title": is stored, but locked by /etc/kept/' in done.err
    found = declared("doctor", locked)
    assert (found.status, f"  kept reset --no-layers {locked} title\n" in found.out) == (0, True)
    assert '· the stored value of "title" is ignored' in found.out and "all is well: " in found.out
    refused = declared("undo", locked)
    assert refused.status == 3 and "--no-layers" in refused.err
    assert declared("undo", locked, "--dry-run").status == 3
    undone = declared("undo", locked, "--no-layers")
    assert (undone.status, undone.err) == (0, "")
    assert declared("doctor", locked).status == 0


def test_a_locked_key_refuses_the_restoration_of_a_time(locked: str, declared: Kept) -> None:
    assert declared("set", locked, "audio.volume", "7").status == 0
    revision = declared("log", locked).out.split()[0]
    assert declared("set", locked, "title=x", "audio.volume=8", "--no-layers").status == 0
    before = declared("log", locked).out
    for options in ([], ["--dry-run"]):
        done = declared("restore", locked, f"@{revision}", *options)
        assert (done.status, done.out) == (3, "") and '"title": ' in done.err and "locked" in done.err
    assert declared("log", locked).out == before
    assert declared("get", locked, "audio.volume").out == "8\n"


def test_the_first_sentence_says_what_decides(declared: Kept, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text('{"values": {"title": "fixed"}, "locked": ["audio.volume"]}')
    managed.chmod(0o600)
    assert declared("set", "player", "title=x", "audio.volume=7", "audio.muted=true").status == 0

    def sentence(key: str, *more: str) -> str:
        return declared("explain", "player", key, *more).out.splitlines()[0]

    files = ("--managed", str(managed))
    locked = f"locked by the administrator's file {managed}"
    assert sentence("title", *files) == f"{locked}, which sets it; ignored: user"
    assert sentence("audio.volume", *files) == f"{locked}; the declared default applies; ignored: user"
    assert sentence("audio.muted") == "the stored value applies"
    assert sentence("audio.theme") == "nothing is stored, so the declared default applies"
    assert sentence("tags") == "no layer has a value"
    arguments = ("--", "-audio.volume", "9")
    assert sentence("audio.volume", *arguments) == "the argument -audio.volume sets it; overridden: user, declared"


def test_a_value_under_a_former_name_says_so(kept: Kept, tmp_path: Path) -> None:
    keys = '{"properties":{"audio.volume":{"type":"integer","renamedFrom":"volume"}}}'
    assert kept("declare", "player", "-", input=keys).status == 0
    system = tmp_path / "system.json"
    system.write_text('{"values": {"volume": 7}}')
    system.chmod(0o600)
    shown = kept("explain", "player", "audio.volume", "--system", str(system)).out.splitlines()
    says = f'{system} under the former name "volume"'
    assert shown[0] == f"nothing is stored, so the default of the administrator's file {says} applies"
    assert shown[4].endswith(f"{system}, formerly volume")


def test_the_stored_value_says_which_change_it_is_from(declared: Kept) -> None:
    assert declared("set", "player", "audio.volume", "7").status == 0
    revision, time = declared("log", "player").out.split()[:2]
    row = declared("explain", "player", "audio.volume").out.splitlines()[3]
    assert row.split(maxsplit=3) == ["→", "user", "7", f"revision {revision}, {time}, kept"]


def test_a_variable_for_no_declared_key_is_reported_with_the_name_that_was_meant(kept: Kept) -> None:
    assert kept("declare", "player", "-", input='{"properties":{"audio.maxVolume":{"type":"integer"}}}').status == 0
    variable = {"P_AUDIO_MAX_VOLUME": "30"}
    layers = ("--env-prefix", "P_")
    report = (
        'kept: "audio.maxVolume": the environment variable P_AUDIO_MAX_VOLUME sets another key, which is not declared'
    )
    meant = "the name for this key is P_AUDIO_MAX_x56OLUME"
    for words in (["list", "player"], ["explain", "player", "audio.maxVolume"], ["doctor", "player"]):
        done = kept(*words, *layers, more=variable)
        assert report in done.err and meant in done.err, words
    assert meant in kept("explain", "player", "audio.maxVolume", *layers, more=variable).out
    assert 'did you mean "audio.maxVolume"' in kept("explain", "player", "audio.max.volume", *layers, more=variable).out
    doctor = kept("doctor", "player", "--json", *layers, more=variable)
    found = [finding for finding in json.loads(doctor.out) if meant in finding["what"]]
    assert doctor.status == 1 and [finding["remedy"] for finding in found] == ["correct the variable"]
    right = {"P_AUDIO_MAX_x56OLUME": "30"}
    assert kept("get", "player", "audio.maxVolume", *layers, more=right).out == "30\n"
    assert kept("list", "player", *layers, more=right).err == ""
