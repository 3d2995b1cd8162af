"""More than gRPC takes in one answer: everything is read in pages, and values that are too large for etcd are named."""

from __future__ import annotations

import base64
import json
import os
import signal
import time

import pytest

from conftest import IDENTIFIER, Etcd, Fleet, StartMachine, StartSync, kept, key, run, wait_for, wait_until_same

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
    assert "managed is" in done.err and "bytes long; at most 1568768 are allowed" in done.err


def test_what_etcd_refuses_is_not_shown_as_a_change(start_etcd: object) -> None:
    assert callable(start_etcd)
    etcd = start_etcd(1, "--max-request-bytes", "20000")
    etcd.wait_until_ready()
    command = [os.environ["KEPT_FLEET"], "publish", IDENTIFIER, "--etcd", etcd.urls[0], "--managed", "-"]
    done = run(command, json.dumps({"values": {"a": "x" * 100_000}}))
    assert (done.status != 0, done.out) == (True, ""), done


def test_a_value_in_etcd_that_is_too_large_to_be_read_is_refused_alone(
    start_etcd: object, start_sync: StartSync
) -> None:
    assert callable(start_etcd)
    etcd = start_etcd(1, "--max-request-bytes", "40000000")
    etcd.wait_until_ready()
    name = f"{PREFIX}/{IDENTIFIER}/user/vast"
    key, value = (base64.b64encode(text.encode()).decode() for text in (name, large(1, 20_000_000)))
    etcd.call("kv/put", key=key, value=value)
    etcd.put(name + "er", "1")
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("a", "1")
    wait_for(lambda: other.values() == {"a": "1", "vaster": "1"}, f"the others arrive: {other.log}")

    def is_named() -> bool:
        return any(
            one["key"] == "vast" and "larger than 16 MiB" in one["reason"] for one in other.status().get("refused", [])
        )

    wait_for(is_named, f"it is named: {other.log}")
    # The watch cannot bring another one.
    etcd.call("kv/put", key=key, value=value)
    wait_for(lambda: "sent a response larger than 16 MiB" in other.log, "it is told")
    one.set("a", "2")
    wait_for(lambda: other.get("a") == "2", f"the others arrive: {other.log}")
    wait_for(is_named, f"it is named: {other.log}")
    etcd.delete(name)
    wait_until_same(etcd, PREFIX, one, other)
    wait_for(lambda: "refused" not in other.status(), "nothing is refused any more")


def test_many_removals_arrive_at_a_machine_that_was_away(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({f"t.{number}": "1" for number in range(5_000)} | {"last": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    other.kill()
    assert kept("reset", str(one.store), "t.", "--prefix").status == 0
    wait_until_same(etcd, PREFIX, one)
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert (other.values(), other.status()["connections"]) == ({"last": "1"}, 1), other.log
    assert other.history("t.0")[0]["tag"] == "fleet:one"


def test_a_new_machine_takes_many_changes_whose_past_is_compacted_away(etcd: Etcd, start_sync: StartSync) -> None:
    encoded = [base64.b64encode(f"{PREFIX}/{IDENTIFIER}/user/k{number}".encode()).decode() for number in range(1_000)]
    for name in encoded:
        etcd.call("kv/put", key=name, value="MQ==")
    etcd.compact()
    one = start_sync(etcd)
    wait_until_same(etcd, PREFIX, one)
    assert (len(one.values()), one.status()["connections"]) == (1_000, 1), one.log


def test_many_changes_one_after_the_other_need_no_new_connection(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    for number in range(400):
        etcd.call("kv/put", key=base64.b64encode(f"{PREFIX}/{IDENTIFIER}/user/a".encode()).decode(), value="MQ==")
        if number % 4 == 0:
            one.set("b", str(number))
    wait_until_same(etcd, PREFIX, one, other)
    assert [machine.status()["connections"] for machine in (one, other)] == [1, 1], one.log + other.log


def test_a_document_that_is_too_large_to_be_read_is_refused_alone(
    start_etcd: object, start_machine: StartMachine
) -> None:
    assert callable(start_etcd)
    etcd = start_etcd(1, "--max-request-bytes", "40000000")
    etcd.wait_until_ready()
    vast, text = key("managed", "/vast"), json.dumps({"values": {"a": "x" * 20_000_000}})
    etcd.put(vast, '{"values": {"b": 1}}')
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/vast")
    wait_for(lambda: machine.managed.exists(), f"the document is in the file: {machine.log}")
    etcd.call("kv/put", key=base64.b64encode(vast.encode()).decode(), value=base64.b64encode(text.encode()).decode())
    etcd.put(key("managed", "/all"), '{"values": {"a": 1}}')
    wait_for(lambda: json.loads(machine.managed.read_text())["values"] == {"a": 1, "b": 1}, f"both: {machine.log}")
    wait_for(lambda: "refused" in machine.status(), "the status names it")
    [refused] = machine.status()["refused"]
    assert refused["prefix"] == "/vast" and "larger than 16 MiB" in refused["reason"]
    done = run(
        [
            os.environ["KEPT_FLEET"],
            "publish",
            IDENTIFIER,
            "--etcd",
            etcd.urls[0],
            "--prefix",
            "/vast",
            "--managed",
            "-",
        ],
        '{"values": {"b": 2}}',
    )
    assert done.status == 0, done.err
    wait_for(
        lambda: json.loads(machine.managed.read_text())["values"] == {"a": 1, "b": 2}, f"it goes on: {machine.log}"
    )
    wait_for(lambda: "refused" not in machine.status(), "nothing is refused any more")


@pytest.mark.parametrize(
    ("more", "is_whole"),
    [({f"k{number}": str(number) for number in range(11_000)}, True), ({"long": large(1, 100_000)}, False)],
    ids=["many", "long"],
)
def test_what_loses_and_does_not_fit_into_the_history_is_in_a_file(
    etcd: Etcd, start_sync: StartSync, more: dict[str, str], is_whole: bool
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("a", "0")
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    one.transaction({"a": "1"} | more)
    other.set("a", "2")
    wait_until_same(etcd, PREFIX, other)
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "2"}
    [file] = (one.folder / "state").glob("conflict-*")
    assert file.stat().st_mode & 0o777 == 0o600
    assert set(json.loads(file.read_text())["values"]) == set(more) | ({"a"} if is_whole else set())
    wait_for(lambda: file.name in str(one.status().get("problems")), "the status names it")
    assert kept("import", str(one.store), str(file), "--quiet").status == 0
    wait_until_same(etcd, PREFIX, one, other)
    assert other.values() == {"a": "1" if is_whole else "2"} | more
    file.unlink()
    wait_for(lambda: "problems" not in one.status(), "the problem is over")


def test_values_that_lose_never_replace_the_file_of_others(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("long", large(0, 100_000))
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    one.set("long", large(1, 100_000))
    other.set("long", "2")
    wait_until_same(etcd, PREFIX, other)
    # The files of other conflicts in each of the next seconds.
    begin, state = int(time.time()), one.folder / "state"
    taken = {f"conflict-{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(begin + n))}" for n in range(600)}
    for name in taken:
        (state / f"{name}.json").write_text("")
        (state / f"{name}-2.json").write_text("")
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    [file] = [path for path in state.glob("conflict-*") if path.stat().st_size > 0]
    assert file.stem.removesuffix("-3") in taken
    assert json.loads(file.read_text())["values"] == {"long": json.loads(large(1, 100_000))}
    assert len(list(state.glob("conflict-*"))) == 2 * len(taken) + 1
