"""--all-stores: every store of the user, for list and watch."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import Kept, on_terminal, status_of


@pytest.fixture
def stores(kept: Kept) -> Kept:
    assert kept("set", "com.example.a", "color=1", "size=2").status == 0
    assert kept("set", "com.example.b", "color", "3").status == 0
    return kept


def broken(tmp_path: Path) -> None:
    """Puts a store between the others that cannot be opened, and a folder without a store."""
    folder = tmp_path / "config/kept"
    (folder / "com.example.aa.kept").write_text("")
    (folder / "com.example.empty.kept").mkdir()


def test_each_format_of_a_list_names_the_store(stores: Kept, environment: dict[str, str]) -> None:
    lines = "com.example.a color=1\ncom.example.a size=2\ncom.example.b color=3\n"
    assert stores("list", "--all-stores").out == stores("list", "-A", "", more={"KEPT_STORE": "other"}).out == lines
    assert stores("list", "-A", "size").out == "com.example.a size=2\n"
    assert stores("list", "-A", "--match", "*ol*").out == "com.example.a color=1\ncom.example.b color=3\n"
    fields = "com.example.a\0color\x001\0com.example.a\0size\x002\0com.example.b\0color\x003\0"
    assert stores("list", "-A", "--null").out == fields
    tree = "com.example.a\n  color = 1\n  size = 2\ncom.example.b\n  color = 3\n"
    assert stores("list", "-A", "--tree").out == tree
    table = on_terminal(environment | {"NO_COLOR": "1"}, ["list", "-A"], [])[1].splitlines()
    assert table[0].split()[:2] == ["STORE", "KEY"]
    assert [line.split()[:2] for line in table[1:]] == [line.split("=")[0].split() for line in lines.splitlines()]


def test_json_has_an_object_for_each_store(stores: Kept) -> None:
    listed = json.loads(stores("list", "-A", "--json").out)
    assert listed == {
        name: json.loads(stores("list", name, "--json").out) for name in ["com.example.a", "com.example.b"]
    }
    assert listed["com.example.b"]["color"]["value"] == 3
    # A store without such a key is left out.
    assert list(json.loads(stores("list", "-A", "size", "--json").out)) == ["com.example.a"]
    assert stores("list", "-A", "none", "--json").out == "{}\n"


def test_a_store_that_cannot_be_opened_is_named_and_the_others_are_listed(stores: Kept, tmp_path: Path) -> None:
    before = stores("list", "-A")
    assert before.status == 0
    broken(tmp_path)
    done = stores("list", "-A")
    assert (done.status, done.out) == (4, before.out)
    assert done.err.count("\n") == 1 and '"com.example.aa": ' in done.err
    assert list(json.loads(stores("list", "-A", "--json").out)) == ["com.example.a", "com.example.b"]


def test_without_a_store_the_list_is_empty(kept: Kept) -> None:
    done = kept("list", "-A")
    assert (done.status, done.out, done.err) == (0, "", "")
    assert kept("list", "-A", "--json").out == "{}\n"


@pytest.mark.parametrize("command", ["list", "watch"])
def test_one_store_and_all_stores_are_refused(command: str, stores: Kept) -> None:
    assert stores(command, "-A", "--store", "com.example.a").status == 2
    assert stores(command, "-A", "com.example.a", "color").status == 2


def watching(environment: dict[str, str], *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [environment["KEPT_COMMAND"], "watch", "--all-stores", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )


def change_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    found = json.loads(process.stdout.readline())
    assert isinstance(found, dict)
    return found


def test_changes_of_all_stores_arrive_with_their_store(stores: Kept, environment: dict[str, str]) -> None:
    with watching(environment, "color", "--json", "--initial", "--count", "2") as process:
        first = {change["store"]: change["new"] for change in (change_of(process), change_of(process))}
        assert first == {"com.example.a": 1, "com.example.b": 3}
        for store in first:
            assert stores("set", store, "color=9", "size=9").status == 0
            change = change_of(process)
            assert (change["store"], change["key"], change["new"]) == (store, "color", 9)
    assert process.returncode == 0


def test_a_store_that_appears_is_watched_with_its_first_values(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "com.example.first", "a", "0").status == 0
    # A command runs for it, too, and reads from it.
    reading = '"$KEPT_COMMAND" get "$KEPT_KEY" >"$HOME/read" && echo "$KEPT_STORE $KEPT_OLD $KEPT_NEW" >&2'
    with watching(environment, "--json", "--initial", "--count", "2", "--exec", reading) as process:
        assert change_of(process)["store"] == "com.example.first"
        assert kept("set", "com.example.late", "a", "1").status == 0
        change = change_of(process)
        assert (change["store"], change["key"], change["new"]) == ("com.example.late", "a", 1)
        assert kept("set", "com.example.late", "a", "2").status == 0
        assert change_of(process)["new"] == 2
        assert process.stderr is not None
        lines = ["com.example.first  0", "com.example.late  1", "com.example.late 1 2"]
        assert process.stderr.read().splitlines() == lines
    assert process.returncode == 0


def test_a_store_that_is_removed_and_made_again_is_watched_again(
    stores: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "config/kept/com.example.b.kept"
    with watching(environment, "color", "--json", "--initial") as process:
        assert {change_of(process)["store"] for _ in range(2)} == {"com.example.a", "com.example.b"}
        opened = Path(f"/proc/{process.pid}/fd")

        def is_open() -> bool:
            found = False
            for file in opened.iterdir():
                try:
                    found |= os.readlink(file).startswith(str(folder))
                except FileNotFoundError:
                    continue
            return found

        assert is_open()
        folder.rename(tmp_path / "away")
        # It follows the folder's name in the links.
        folder = tmp_path / "away"
        while is_open():
            pass
        assert stores("set", "com.example.b", "color", "5").status == 0
        change = change_of(process)
        assert (change["store"], change["new"]) == ("com.example.b", 5)
        process.terminate()
        assert status_of(process) != 0


def test_watch_names_a_store_that_cannot_be_opened_and_watches_the_others(
    stores: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    broken(tmp_path)
    with watching(environment, "color", "--json", "--initial", "--count", "1") as process:
        assert {change_of(process)["store"] for _ in range(2)} == {"com.example.a", "com.example.b"}
        assert stores("set", "com.example.b", "color", "4").status == 0
        assert change_of(process)["new"] == 4
        assert process.stderr is not None
        errors = process.stderr.read()
    assert (process.returncode, errors.count("\n"), "com.example.aa" in errors) == (4, 1, True)


def test_completion_offers_no_store_after_all_stores(stores: Kept) -> None:
    assert stores("complete", "kept", "list", "com").out != ""
    assert stores("complete", "kept", "list", "--all-stores", "com").out == ""
    assert "--all-stores\n" in stores("complete", "kept", "watch", "--all").out


def test_a_store_that_can_be_opened_later_is_watched_then(
    stores: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "config/kept/com.example.b.kept"
    folder.chmod(0o777)
    with watching(environment, "color", "--json", "--initial", "--count", "2") as process:
        assert process.stderr is not None
        assert change_of(process)["store"] == "com.example.a"
        assert "com.example.b" in process.stderr.readline()
        folder.chmod(0o700)
        assert (change := change_of(process))["store"] == "com.example.b", change
        assert stores("set", "com.example.b", "color", "4").status == 0
        assert change_of(process)["new"] == 4
        assert process.stderr.read() == ""
