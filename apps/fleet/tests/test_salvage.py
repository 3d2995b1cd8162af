"""A store that was damaged is opened anew, which salvages it; what the damage has left is kept the same as before."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import PATIENCE, Etcd, Fleet, StartSync, SyncMachine, kept, report, run, wait_for, wait_until_same

PREFIX = "/kept-users/anna"
BLOCK = 4096


def overwrite(file: Path) -> None:
    """Leaves no block as it was, in the file that is open elsewhere."""
    with file.open("r+b") as open_file:
        open_file.write(b"damaged" * (file.stat().st_size // 7))


def overwrite_all(folder: Path) -> None:
    overwrite(folder / "values")


def cut(folder: Path) -> None:
    os.truncate(folder / "values", BLOCK)


def remove(folder: Path) -> None:
    (folder / "values").unlink()


def replace(folder: Path) -> None:
    shutil.copy(folder / "pulse", folder / "new")
    (folder / "new").rename(folder / "pulse")


def remove_journal(folder: Path) -> None:
    [journal] = folder.glob("journal.*")
    journal.unlink()


DAMAGE = [overwrite_all, cut, remove, replace, remove_journal, shutil.rmtree]


def wait_for_end(machine: SyncMachine) -> None:
    """Waits until the program has ended, with the status and the sentence that are documented."""
    assert machine.process is not None
    process, machine.process = machine.process, None
    assert process.wait(PATIENCE) == 4, machine.log
    assert "restart kept-fleet" in machine.log.splitlines()[-1], machine.log


@pytest.mark.parametrize("is_connected", [True, False])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_a_store_that_is_open_ends_the_program(
    damage: Callable[[Path], None], is_connected: bool, etcd: Etcd, start_sync: StartSync
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "2"})
    wait_until_same(etcd, PREFIX, one, other)
    if not is_connected:
        etcd.kill()
        wait_for(lambda: not one.status()["connected"], f"etcd is away: {one.log}")
    damage(one.store)
    wait_for_end(one)
    if is_connected:
        problems = report(etcd, "one", PREFIX).get("problems", [])
        assert any("restart kept-fleet" in problem for problem in problems), problems
    else:
        etcd.start()
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "1", "b": "2"}
    # What could be salvaged only from a journal may have had declarations.
    assert kept("set", str(one.store), "c", "3", "--undeclared").status == 0
    wait_for(lambda: other.get("c") == "3", f"it goes on: {one.log}")


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_what_was_agreed_ends_the_program(
    damage: Callable[[Path], None], etcd: Etcd, start_sync: StartSync
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "2"})
    wait_until_same(etcd, PREFIX, one, other)
    damage(one.folder / "state" / "agreed.kept")
    wait_for_end(one)
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    one.set("a", "3")
    wait_for(lambda: other.values() == {"a": "3", "b": "2"}, f"it goes on: {one.log}")


def test_a_state_that_is_removed_ends_the_program(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    shutil.rmtree(one.folder / "state")
    wait_for_end(one)
    one.start()
    one.set("a", "3")
    wait_until_same(etcd, PREFIX, one)


def big(text: str) -> str:
    """A value so large that no two are in one block."""
    return json.dumps(text * 3_000)


def destroy(store: Path, *texts: str, is_header_whole: bool = False) -> None:
    """Overwrites the blocks with these values in a store that no process has open, and the header before them."""
    # The last program that closes the store makes a checkpoint of a journal of this length.
    assert kept("set", str(store), "last", big("long")).status == 0
    assert kept("reset", str(store), "last").status == 0
    values = store / "values"
    content = bytearray(values.read_bytes())
    starts = [] if is_header_whole else [0]
    for text in texts:
        at = content.find(text.encode() * 3_000)
        assert at >= 0, f"{text} is in the checkpoint"
        starts.append(at - at % BLOCK)
    for start in starts:
        content[start : start + BLOCK] = b"damaged " * (BLOCK // 8)
    values.write_bytes(content)


def conflicts(machine: SyncMachine) -> set[str]:
    return {change["key"] for change in machine.history() if (change.get("tag") or "").endswith(":conflict")}


@pytest.mark.parametrize("opened_by", ["sync", "another", "acknowledged"])
def test_after_a_salvage_only_the_lost_values_come_from_etcd(
    opened_by: str, etcd: Etcd, fleet: Fleet, start_sync: StartSync
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({key: big(key) for key in "abcdefg"})
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    # Not sent: a change, a new key, and a change that is lost. The other machine changes two keys, too.
    one.set("a", big("A"))
    one.set("new", big("N"))
    one.set("b", big("B"))
    one.set("f", big("F"))
    other.set("c", big("C"))
    other.set("f", '"theirs"')
    wait_until_same(etcd, PREFIX, other)
    destroy(one.store, "B", "d")
    if opened_by != "sync":
        assert one.get("e") == big("e")
    if opened_by == "another":
        # A removal after the salvage is one.
        one.reset("g")
    if opened_by == "acknowledged":
        assert kept("doctor", str(one.store), "--repair").status == 0
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    expected = {key: big(key) for key in "bdeg"} | {"a": big("A"), "new": big("N"), "c": big("C"), "f": '"theirs"'}
    if opened_by == "another":
        del expected["g"]
    assert one.values() == expected, one.log
    assert conflicts(one) == {"f"}
    assert "was damaged" in one.log
    local = [os.environ["KEPT_FLEET"], "status", "--status-file", str(one.status_file)]
    if opened_by != "acknowledged":
        assert any("quarantine" in problem for problem in one.status()["problems"]), one.status()
        wait_for(lambda: "quarantine" in str(report(etcd, "one", PREFIX).get("problems")), "it is reported")
        assert (run(local).status, fleet("status", "--prefix", PREFIX).status) == (1, 1)
        assert kept("doctor", str(one.store), "--repair").status == 0
    wait_for(lambda: "problems" not in one.status(), f"it was acknowledged: {one.log}")
    assert run(local).status == 0
    wait_for(lambda: fleet("status", "--prefix", PREFIX).status == 0, "nothing needs attention")
    # A later removal is a removal everywhere.
    one.kill()
    one.reset("e")
    one.start()
    wait_for(lambda: other.get("e") == "", f"it is removed: {one.log}")


def test_damage_that_the_opening_does_not_meet_is_found_too(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({key: big(key) for key in "abc"})
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    one.set("c", big("C"))
    destroy(one.store, "b", is_header_whole=True)
    one.start()
    wait_for_end(one)
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": big("a"), "b": big("b"), "c": big("C")}
