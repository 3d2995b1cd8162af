"""More than gRPC takes in one answer: everything is read in pages, and what is too large for etcd is named."""

from __future__ import annotations

import base64
import json
import os
import signal

import pytest

from conftest import IDENTIFIER, Etcd, Fleet, StartMachine, StartSync, key, run, wait_for, wait_until_same

PREFIX = "/kept-users/anna"


def large(number: int, size: int = 1_000_000) -> str:
    return json.dumps(f"{number}" + "x" * size)


def test_a_users_values_of_many_megabytes_arrive_on_a_new_machine_and_after_a_restart(
    etcd: Etcd, start_sync: StartSync
) -> None:
    one = start_sync(etcd, host="one")
    for number in range(24):
        one.set(f"v{number}", large(number))
    wait_until_same(etcd, PREFIX, one)
    other = start_sync(etcd, host="other")
    wait_until_same(etcd, PREFIX, one, other)
    other.kill()
    one.set("late", "1")
    for number in range(24):
        one.set(f"v{number}", large(number + 1))
    wait_until_same(etcd, PREFIX, one)
    other.start()
    wait_for(lambda: other.get("late") == "1", f"it has arrived: {other.log[:2000]}")
    wait_until_same(etcd, PREFIX, one, other)
    for machine in (one, other):
        machine.kill()
        machine.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert other.values() == {"late": "1"} | {f"v{number}": large(number + 1) for number in range(24)}


def test_megabytes_that_changed_while_a_machine_was_stopped_arrive(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    assert other.process is not None
    other.process.send_signal(signal.SIGSTOP)
    for number in range(24):
        one.set(f"v{number}", large(number))
    wait_until_same(etcd, PREFIX, one)
    other.process.send_signal(signal.SIGCONT)
    wait_until_same(etcd, PREFIX, one, other)


def test_ten_thousand_values_arrive(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    one.transaction({f"{'k' * 500}.{number}": f'"{"x" * 100}"' for number in range(10_000)})
    wait_until_same(etcd, PREFIX, one)
    other = start_sync(etcd, host="other")
    wait_until_same(etcd, PREFIX, one, other)
    assert len(other.values()) == 10_000


def test_documents_that_are_larger_together_are_followed(etcd: Etcd, fleet: Fleet, start_machine: StartMachine) -> None:
    prefixes = ["/one", "/two", "/three", "/four"]
    arguments = [word for prefix in prefixes for word in ("--prefix", prefix)]

    def document(prefix: str, number: int) -> str:
        return json.dumps({"values": {prefix: json.loads(large(number, 1_400_000))}})

    for prefix in prefixes:
        etcd.put(key("managed", prefix), document(prefix, 1))
        etcd.put(key("system", prefix), document(prefix, 1))
    machine = start_machine(etcd, *arguments)

    def has(number: int) -> bool:
        values = json.loads(machine.managed.read_text())["values"]
        return bool(values == {prefix: json.loads(large(number, 1_400_000)) for prefix in prefixes})

    wait_for(lambda: has(1), f"all are in the file: {machine.log}")
    for prefix in prefixes:
        done = fleet("publish", "--prefix", prefix, "--managed", "-", input=document(prefix, 2))
        assert done.status == 0, done.err
    wait_for(lambda: has(2), f"all are in the file: {machine.log}")
    machine.kill()
    machine.start()
    machine.wait_until_connected()
    assert fleet("status", "--prefix", "/four").status == 0


@pytest.mark.parametrize("size", [1_600_000, 20_000_000])
def test_a_document_that_is_too_large_is_refused_by_name(etcd: Etcd, fleet: Fleet, size: int) -> None:
    done = fleet("publish", "--managed", "-", input=json.dumps({"values": {"a": "x" * size}}))
    assert done.status == 3
    assert "managed has" in done.err and "bytes; etcd takes 1568768" in done.err


def test_what_etcd_refuses_is_not_shown_as_a_change(start_etcd: object) -> None:
    assert callable(start_etcd)
    etcd = start_etcd(1, "--max-request-bytes", "20000")
    etcd.wait_until_ready()
    command = [os.environ["KEPT_FLEET"], "publish", IDENTIFIER, "--etcd", etcd.urls[0], "--managed", "-"]
    done = run(command, json.dumps({"values": {"a": "x" * 100_000}}))
    assert (done.status != 0, done.out) == (True, ""), done


def test_a_value_in_etcd_that_is_too_large_to_be_read_is_named(start_etcd: object, start_sync: StartSync) -> None:
    assert callable(start_etcd)
    etcd = start_etcd(1, "--max-request-bytes", "40000000")
    etcd.wait_until_ready()
    name = f"{PREFIX}/{IDENTIFIER}/user/vast"
    key, value = (base64.b64encode(text.encode()).decode() for text in (name, large(1, 20_000_000)))
    etcd.call("kv/put", key=key, value=value)
    one = start_sync(etcd, host="one", wait=False)
    wait_for(lambda: "has a value of over 16 MiB" in str(one.status().get("lastError")), f"it is named: {one.log}")
    assert f"{PREFIX}/{IDENTIFIER}/user/" in one.status()["lastError"]["message"]
    etcd.delete(name)
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one)
