"""Values whose declaration is lost stay behind alone, and a program that was killed at any time continues."""

from __future__ import annotations

import json
import shutil

import pytest

from conftest import Etcd, StartSync, kept, lose_declarations, wait_for, wait_until_same

PREFIX = "/kept-users/anna"


def test_a_secret_whose_declaration_is_lost_stays_on_the_machine(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    declared = '{"properties": {"a": {"type": "integer"}, "token": {"type": "string"%s}}}'
    one.declare(declared % ', "secret": true')
    one.transaction({"token": '"hunter2"', "a": "1"})
    wait_for(lambda: other.get("a") == "1" and one.status()["withheld"] == 1, f"all but the secret: {one.log}")
    one.kill()
    one.set("token", "hunter3")
    lose_declarations(one.store, "token")
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
    lose_declarations(one.store, "a", "b", "new")
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
