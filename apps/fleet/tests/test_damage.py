"""Values that a store cannot read stay behind alone, and a program that was killed at any time continues."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from conftest import Etcd, Fleet, StartSync, SyncMachine, kept, report, wait_for, wait_until_same

PREFIX = "/kept-users/anna"


def checksum(data: bytes) -> int:
    """CRC-32C."""
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ (0x82F63B78 if total & 1 else 0)
    return total ^ 0xFFFFFFFF


def damage(store: Path, *keys: str) -> None:
    """Makes values unreadable in a store that no process has open."""
    change(store, *[("UPDATE entry SET kind = 'array', value = '[1,' WHERE key = ?", key) for key in keys])


def change(store: Path, *statements: tuple[str, str], size: int = 4096) -> None:
    """Changes one row each in a store that no process has open; the pages keep right checksums."""
    # A writer that closes the store moves the journal into the database.
    assert kept("set", str(store), "last", "1", "--undeclared").status == 0
    assert kept("reset", str(store), "last").status == 0
    database = store / "values.sqlite"
    with sqlite3.connect(database) as connection:
        changed = [connection.execute(sql, [key]).rowcount for sql, key in statements]
    connection.close()
    assert changed == [1] * len(statements)
    content = database.read_bytes()
    salt = content[size - 8 : size - 4]
    pages = [content[at : at + size - 8] + salt for at in range(0, len(content), size)]
    sums = [checksum(number.to_bytes(4, "big") + page) for number, page in enumerate(pages, 1)]
    database.write_bytes(b"".join(page + sum_.to_bytes(4, "big") for page, sum_ in zip(pages, sums, strict=True)))


def refused(machine: SyncMachine) -> dict[str, str]:
    return {one["key"]: one["reason"] for one in machine.status().get("refused", [])}


def test_a_value_that_the_store_cannot_read_stays_behind_alone(etcd: Etcd, fleet: Fleet, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"})
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    damage(one.store, "b", "d")
    one.start()
    one.set("c", "6")
    other.transaction({"a": "7", "d": "8"})
    wait_for(lambda: other.get("c") == "6" and one.get("a") == "7", f"the others have arrived: {one.log}")
    wait_for(lambda: set(refused(one)) == {"b", "d"}, f"they are refused: {one.log}")
    assert all("cannot be read" in reason for reason in refused(one).values()), refused(one)
    assert (one.status()["pending"], one.status()["connections"]) == (0, 1), one.log
    assert other.values() == {"a": "7", "b": "2", "c": "6", "d": "8", "e": "5"}
    wait_for(lambda: len(report(etcd, "one", PREFIX)["sync"].get("refused", [])) == 2, "they are reported")
    assert fleet("status", "--prefix", PREFIX).status == 1
    # Setting it again is a change like any other.
    one.set("b", "9")
    one.set("d", "10")
    wait_until_same(etcd, PREFIX, one, other)
    wait_for(lambda: refused(one) == {}, f"nothing is refused: {one.log}")
    assert (other.values()["b"], other.values()["d"]) == ("9", "8")


def test_a_secret_whose_declaration_is_lost_stays_on_the_machine(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    declared = '{"properties": {"a": {"type": "integer"}, "token": {"type": "string"%s}}}'
    one.declare(declared % ', "secret": true')
    one.transaction({"token": '"hunter2"', "a": "1"})
    wait_for(lambda: other.get("a") == "1" and one.status()["withheld"] == 1, f"all but the secret: {one.log}")
    one.kill()
    one.set("token", "hunter3")
    # What a salvage leaves that could not read the declaration.
    change(one.store, ("UPDATE declaration SET schema = '{\"lost\":true}' WHERE key = ?", "token"))
    one.set("a", "2")
    one.start()
    wait_for(lambda: other.get("a") == "2", f"it goes on: {one.log}")
    assert "hunter" not in etcd.ctl("get", "--prefix", "/").out + other.get("token")
    one.declare(declared % "")
    wait_for(lambda: other.get("token") == '"hunter3"', f"it is not a secret any more: {one.log}")


def test_what_may_have_lost_its_declaration_is_not_sent_unless_it_was(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    one.set("a", "2")
    one.set("new", '"hunter2"')
    other.transaction({"b": "3", "c": "3"})
    wait_until_same(etcd, PREFIX, other)
    # What a salvage leaves that could not read the declarations.
    lost = "INSERT INTO declaration (key, schema, revision) VALUES (?, '{\"lost\":true}', 0)"
    change(one.store, *[(lost, key) for key in ("a", "b", "new")])
    one.start()
    wait_for(lambda: other.get("a") == "2" and one.get("c") == "3", f"the others arrive: {one.log}")
    wait_for(lambda: {refusal["key"] for refusal in one.status().get("refused", [])} == {"b", "new"}, one.log)
    assert all("declaration" in refusal["reason"] for refusal in one.status()["refused"])
    assert other.get("new") == "" and one.get("b") == "1"
    # When it is known that they have none, they go on.
    for key in ("a", "b", "new"):
        assert kept("undeclare", str(one.store), key).status == 0
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "2", "b": "3", "c": "3", "new": '"hunter2"'}
    wait_for(lambda: "refused" not in one.status(), "nothing is refused")


def test_what_was_agreed_and_cannot_be_read_is_compared_anew(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "2", "c": "3"})
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    damage(one.folder / "state" / "agreed.kept", "a", "b")
    other.set("a", "4")
    one.set("c", "5")
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "4", "b": "2", "c": "5"}


@pytest.mark.parametrize("has_come", [True, False])
def test_a_machine_that_was_killed_between_the_store_and_the_agreement_has_no_conflict(
    etcd: Etcd, start_sync: StartSync, has_come: bool
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    values = {"a": json.dumps("x" * 90_000), "gone": "1", "both": "1"}
    one.transaction(values)
    wait_until_same(etcd, PREFIX, one, other)
    other.kill()
    agreed = other.folder / "agreed"
    shutil.copytree(other.folder / "state", agreed)
    after = max(change["revision"] for change in other.history())
    one.transaction({"a": json.dumps("y" * 90_000), "both": "2"})
    one.reset("gone")
    wait_until_same(etcd, PREFIX, one)
    revisions = {key: etcd.revision(f"{PREFIX}/com.example.player/user/{key}") for key in ("a", "both")}
    if has_come:
        other.start()
        wait_until_same(etcd, PREFIX, one, other)
        other.kill()
    # What a kill has left, between the commit of the store and the agreement.
    shutil.rmtree(other.folder / "state")
    agreed.rename(other.folder / "state")
    (other.folder / "state" / "taking.json").write_text(json.dumps({"after": after, "keys": {**revisions, "gone": 0}}))
    other.set("a", '"mine"')
    other.set("gone", '"mine"')
    one.set("both", "3")
    wait_until_same(etcd, PREFIX, one)
    other.set("both", '"mine"')
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    lost = {change["key"] for change in other.history() if (change.get("tag") or "").endswith(":conflict")}
    if has_come:
        assert one.values() == {"a": '"mine"', "gone": '"mine"', "both": "3"}
        assert lost == {"both"}
    else:
        assert one.values() == {"a": json.dumps("y" * 90_000), "both": "3"}
        assert lost == {"a", "gone", "both"}


def test_what_is_about_to_come_down_is_written_down_before(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one, other)
    obstacle = other.folder / "state" / "taking.json"
    obstacle.mkdir()
    one.set("a", "2")
    wait_for(lambda: "taking.json" in str(other.status().get("problems")), f"it is told: {other.log}")
    assert other.get("a") == "1"
    obstacle.rmdir()
    wait_until_same(etcd, PREFIX, one, other)
    assert not obstacle.exists()
