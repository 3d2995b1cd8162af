"""Reports: each machine has its own, it is judged by when it changed, and nothing in one ends the command."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import (
    IDENTIFIER,
    VOLUME_30,
    VOLUME_40,
    Etcd,
    Fleet,
    Machine,
    StartMachine,
    StartSync,
    key,
    program,
    report,
    reports,
    run,
    wait_for,
    wait_until_same,
)

CLOCK = Path(__file__).parents[1] / "convergence/clock.c"


def machines(fleet: Fleet, *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(fleet("status", "--json", *more).out)
    return found


def test_two_machines_of_one_name_have_a_row_each(
    etcd: Etcd, fleet: Fleet, start_machine: StartMachine, tmp_path: Path
) -> None:
    first = start_machine(etcd, host="node")
    second = start_machine(etcd, "--folder", str(tmp_path / "second"), "--host", "node", host="second")
    etcd.put(key("managed"), VOLUME_30)
    first.wait_until(first.managed, VOLUME_30)
    second.wait_until(tmp_path / "second" / "managed.json", VOLUME_30)
    revision = etcd.revision(key("managed"))

    def applied() -> list[int]:
        return [one["documents"]["managed"]["revision"] for one in reports(etcd)]

    wait_for(lambda: applied() == [revision, revision], "both have reported")
    # The second one cannot write any more, and the first one can.
    shutil.rmtree(tmp_path / "second")
    (tmp_path / "second").touch()
    etcd.put(key("managed"), VOLUME_40)
    wait_for(lambda: sorted("problems" in one for one in reports(etcd)) == [False, True], "one has a problem")
    wait_for(lambda: sorted(one["behind"] for one in machines(fleet)) == [0, 1], "one is behind")
    lines = fleet("status").out.splitlines()
    rows = [line.split()[0] for line in lines if line.startswith("node:")]
    assert sorted(rows) == sorted(f"node:{one['machine']}" for one in reports(etcd)), lines


def test_a_machine_keeps_its_row_when_it_starts_again(etcd: Etcd, machine: Machine) -> None:
    wait_for(lambda: len(reports(etcd)) == 1, "it has reported")
    before = reports(etcd)[0]
    machine.kill()
    machine.start()
    wait_for(lambda: reports(etcd)[0]["process"] != before["process"], "it has reported again")
    assert [one["machine"] for one in reports(etcd)] == [before["machine"]]


def test_a_copy_of_a_machine_takes_an_identity_of_its_own(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    first = start_machine(etcd, "--report-every", "1", host="web1")
    wait_for(lambda: len(reports(etcd)) == 1, "it has reported")
    copy = tmp_path / "web2"
    shutil.copytree(first.folder, copy)
    second = start_machine(etcd, "--report-every", "1", "--host", "web1", host="web2")
    wait_for(lambda: len({one["machine"] for one in reports(etcd)}) == 2, f"{reports(etcd)}: {first.log}{second.log}")
    assert (first.log + second.log).count("has the same identity") == 1


def test_copies_of_a_users_machine_send_their_changes_all_the_same(
    etcd: Etcd, start_sync: StartSync, tmp_path: Path
) -> None:
    prefix = "/kept-users/anna"
    one = start_sync(etcd, host="one")
    one.set("a", "0")
    wait_until_same(etcd, prefix, one)
    one.kill()
    shutil.copytree(one.folder, tmp_path / "two")
    one.start()
    two = start_sync(etcd, host="two")
    for number in range(1, 7):
        (one, two)[number % 2].set(f"k{number % 2}", str(number))
        wait_until_same(etcd, prefix, one, two)
    assert one.values() == {"a": "0", "k0": "6", "k1": "5"}
    assert one.status()["conflicts"] == two.status()["conflicts"] == 0
    wait_for(lambda: len({one["machine"] for one in reports(etcd, prefix)}) == 2, f"{one.log}{two.log}")


@pytest.fixture
def wrong_clock(tmp_path: Path) -> dict[int, dict[str, str]]:
    """The environment of a program whose clock is wrong by a number of seconds."""
    library = tmp_path / "clock.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(CLOCK), "-ldl"], check=True)
    environments = {}
    for seconds in (172_800, -3_600):
        file = tmp_path / f"clock{seconds}"
        file.write_bytes((seconds * 10**9).to_bytes(8, sys.byteorder, signed=True))
        environments[seconds] = {"LD_PRELOAD": str(library), "FLEET_CLOCK": str(file)}
    return environments


def test_a_machine_is_judged_by_when_its_report_changed_and_not_by_its_clock(
    etcd: Etcd, fleet: Fleet, start_machine: StartMachine, wrong_clock: dict[int, dict[str, str]]
) -> None:
    for seconds, host in ((172_800, "ahead"), (-3_600, "behind")):
        machine = start_machine(etcd, "--report-every", "1", host=host, wait=False)
        machine.kill()
        machine.start(wrong_clock[seconds])
        if host == "ahead":
            wait_for(lambda: len(reports(etcd)) == 1, "it has reported")
            machine.kill()
            killed = time.monotonic()

    def states() -> dict[str, tuple[bool, int]]:
        return {one["host"]: (one["connected"], one["age"]) for one in machines(fleet)}

    wait_for(lambda: "behind" in states(), "it has reported")
    reported = {one["host"]: one["time"] for one in reports(etcd)}
    assert reported["ahead"] > reported["behind"]
    # A report is overdue after twice the second, and half a minute.
    wait_for(lambda: not states()["ahead"][0], f"it is silent: {states()}")
    assert time.monotonic() - killed > 30
    is_connected, age = states()["behind"]
    assert is_connected and age < 30
    assert 30 < states()["ahead"][1] < 60 + time.monotonic() - killed


@pytest.mark.parametrize("seconds", [10_000, 2**63 - 1, -(2**63)])
def test_a_report_with_a_time_that_etcd_has_not_had_is_no_proof_of_life(
    seconds: int, etcd: Etcd, fleet: Fleet, machine: Machine
) -> None:
    wait_for(lambda: bool(report(etcd)), "it has reported")
    changed = report(etcd)
    machine.kill()
    changed["clock"]["seconds"] = seconds
    etcd.put(key(f"status/{changed['host']}:{changed['machine']}"), json.dumps(changed))
    assert [one["connected"] for one in machines(fleet)] == [False]


def test_a_report_does_not_become_younger_when_another_member_leads(
    start_etcd: Callable[..., Etcd], start_machine: StartMachine
) -> None:
    etcd = start_etcd(3)
    etcd.wait_until_ready()
    machine = start_machine(etcd, "--report-every", "1")
    # The age of the lease has to come to this again.
    wait_for(lambda: [one for one in reports(etcd) if one["clock"]["seconds"] >= 4] != [], "it has reported")
    machine.kill()
    leader, other = leader_and_other(etcd)
    assert run([*leader, "move-leader", other], environment=os.environ | {"ETCDCTL_API": "3"}).status == 0
    ages: list[int] = []

    def is_old() -> bool:
        members = [word for url in etcd.urls for word in ("--etcd", url)]
        done = run([program(), "status", IDENTIFIER, "--json", *members])
        if done.status in (0, 1):
            ages.append(json.loads(done.out)[0]["age"])
        return bool(ages) and ages[-1] > 8

    wait_for(is_old, "it is old")
    assert ages == sorted(ages)


def leader_and_other(etcd: Etcd) -> tuple[list[str], str]:
    """The command that reaches the leader, and the number of another member."""
    found = json.loads(etcd.ctl("endpoint", "status", "-w", "json").out)
    numbers = {one["Endpoint"]: one["Status"]["header"]["member_id"] for one in found}
    leader = found[0]["Status"]["leader"]
    endpoint = next(url for url, number in numbers.items() if number == leader)
    other = next(number for number in numbers.values() if number != leader)
    return ["etcdctl", "--endpoints", endpoint], f"{other:x}"


EXTREMES = [-(2**63), -1, 0, 2**63 - 1]


def test_a_report_with_extreme_numbers_ends_nothing(etcd: Etcd, fleet: Fleet, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    wait_for(lambda: len(reports(etcd)) == 1, "it has reported")
    for number in EXTREMES:
        for other in EXTREMES:
            stamp = {"revision": number, "version": other}
            report = {
                "host": "x\u202e\ny", "machine": "m\u001b[2J", "time": "0000-01-01T00:00:00Z", "interval": number,
                "clock": {"term": other, "seconds": number}, "prefixes": ["/kept", "\n"],
                "documents": {"managed": stamp, "system": stamp, "declarations": stamp},
                "refused": [{"document": "managed", "revision": other, "reason": "\u009b31m"}],
                "sync": {"pending": number, "conflicts": number, "withheld": other}, "problems": ["\r"],
            }  # fmt: skip
            etcd.put(key(f"status/x{number}{other}"), json.dumps(report))
            del report["sync"]
            etcd.put(key(f"status/y{number}{other}"), json.dumps(report))
    for command in (["status"], ["status", "--json"], ["publish", "--dry-run", "--remove", "managed"]):
        done = fleet(*command)
        assert done.status in (0, 1, 3), done
        assert done.err == "", done.err
        if "--json" not in command:
            assert not set(done.out) & set("\u202e\u001b\u009b\r"), ascii(done.out)
    assert len(machines(fleet)) == 33


def test_what_is_no_report_is_named_by_its_key(etcd: Etcd, fleet: Fleet, machine: Machine) -> None:
    wait_for(lambda: len(reports(etcd)) == 1, "it has reported")
    assert fleet("status").status == 0
    etcd.put(key("status/bad\u202e"), "{")
    etcd.put(key("status/other"), '{"host": 1}')
    strange = base64.b64encode(key("status/").encode() + b"\xff").decode()
    etcd.call("kv/put", key=strange, value="")
    for command in (["status"], ["status", "--json"], ["publish", "--dry-run", "--remove", "managed"]):
        done = fleet(*command)
        assert done.status == (1 if command[0] == "status" else 0), done
        assert len(done.err.splitlines()) == 3, done.err
        for name in ("bad\\u{202E}", "other", "\\xff"):
            assert f"/status/{name} is not a report" in done.err, done.err
    assert [one["host"] for one in machines(fleet)] == ["web1"]


def test_an_interval_without_bounds_becomes_overdue_and_the_future_is_not_the_past(etcd: Etcd, fleet: Fleet) -> None:
    def put(host: str, interval: int, ago: int) -> None:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))
        etcd.put(key(f"status/{host}"), json.dumps({"host": host, "time": moment, "interval": interval}))

    for interval in (10**18, 2**63 - 1, -1):
        put(f"long{interval}", interval, 1_000)
    put("right", 600, 1_000)
    put("early", 300, -7_200)
    put("soon", 300, -100)
    found = {one["host"]: one for one in machines(fleet)}
    silent = {host for host, one in found.items() if not one["connected"]}
    assert silent == {f"long{10**18}", f"long{2**63 - 1}", "long-1", "early"}
    assert -7_200 <= found["early"]["age"] < -7_000
    row = next(line for line in fleet("status").out.splitlines() if line.startswith("early"))
    assert "in 7" in row


def test_thousands_of_reports_are_listed_in_seconds(etcd: Etcd, fleet: Fleet) -> None:
    count = 15_000
    stamp = {"revision": 1, "version": 1}
    puts = []
    for number in range(count):
        report = {
            "host": f"machine{number:05}", "machine": f"{number:016x}", "process": f"{number:016x}",
            "time": "2026-01-01T00:00:00Z", "interval": 300, "prefixes": ["/kept"], "version": "0.1.0",
            "documents": dict.fromkeys(("managed", "system", "declarations"), stamp),
        }  # fmt: skip
        texts = (key(f"status/{number:05}"), json.dumps(report))
        put = dict(zip(("key", "value"), (base64.b64encode(text.encode()).decode() for text in texts), strict=True))
        puts.append({"request_put": put})
    for start in range(0, count, 100):
        etcd.call("kv/txn", success=puts[start : start + 100])
    begin = time.monotonic()
    done = fleet("status")
    seconds = time.monotonic() - begin
    assert (done.status, done.err) == (1, ""), done.err
    assert len(done.out.splitlines()) == count + 2
    assert len(machines(fleet)) == count
    # A second on an idle machine; far longer if it grew with the square.
    assert seconds < 30, seconds


def test_a_status_from_another_namespace_of_processes_counts_while_it_is_renewed(
    etcd: Etcd, machine: Machine, tmp_path: Path
) -> None:
    def status(path: Path) -> tuple[int, str]:
        done = run([program(), "status", "--status-file", str(path)])
        return done.status, done.err

    assert status(machine.status_file) == (0, "")
    text = machine.status_file.read_text()
    other = json.loads(text) | {"namespace": "pid:[1]", "process": 2**31 - 1}
    copy = tmp_path / "copy.json"
    copy.write_text(json.dumps(other))
    assert status(copy) == (0, "")
    # As one that has ended has left it.
    copy.write_text(json.dumps(other | {"uptime": other["uptime"] - 60}))
    assert status(copy)[0] == 4
    # The number of the process belongs to another one by now.
    copy.write_text(json.dumps(json.loads(text) | {"started": "1"}))
    assert status(copy)[0] == 4
    for process in EXTREMES:
        copy.write_text(json.dumps(json.loads(text) | {"process": process}))
        assert status(copy)[0] == 4
        copy.write_text(json.dumps(other | {"interval": process, "uptime": process}))
        assert status(copy)[0] == 4


def test_a_program_in_a_container_is_known_to_run(etcd: Etcd, start_machine: StartMachine, tmp_path: Path) -> None:
    """It has the number 1 or 2 there, which is another process here."""
    folder = tmp_path / "boxed"
    folder.mkdir()
    status = tmp_path / "boxed.json"
    box = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        box += ["--user", "--map-root-user"]
    command = [program(), "follow", IDENTIFIER, "--folder", str(folder), "--etcd", etcd.urls[0], "--check-every", "2"]
    with (tmp_path / "boxed.log").open("wb") as log:
        boxed = subprocess.Popen([*box, *command, "--status-file", str(status)], stdout=log, stderr=log)
    try:

        def is_known() -> bool:
            return run([program(), "status", "--status-file", str(status)]).status == 0

        wait_for(is_known, "it is known to run")
    finally:
        boxed.kill()
        boxed.wait()
    wait_for(lambda: not is_known(), "it is known to have ended")


def test_etcd_that_comes_back_without_leases_has_reports_again(etcd: Etcd, fleet: Fleet, machine: Machine) -> None:
    wait_for(lambda: len(reports(etcd)) == 1, "it has reported")
    etcd.wipe()
    etcd.start()
    etcd.wait_until_ready()
    wait_for(lambda: len(reports(etcd)) == 1, "it has reported again")
    assert [one["connected"] for one in machines(fleet)] == [True]


@pytest.mark.parametrize("option", ["--status-file", "--metrics-file"])
@pytest.mark.parametrize("command", ["follow", "sync"])
def test_only_a_regular_file_is_replaced(option: str, command: str, tmp_path: Path) -> None:
    pipe, link, folder = tmp_path / "pipe", tmp_path / "link", tmp_path / "folder"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    folder.mkdir()
    for path in (pipe, link, folder):
        done = run([program(), command, IDENTIFIER, "--etcd", "http://127.0.0.1:1", option, str(path)])
        assert (done.status, f"{path} is not a regular file" in done.err) == (2, True), done.err
    assert pipe.is_fifo() and link.is_symlink()


@pytest.mark.parametrize("option", ["--status-file", "--metrics-file"])
def test_no_file_is_among_those_that_the_program_keeps(option: str, tmp_path: Path) -> None:
    folder, state, store, link = (tmp_path / name for name in ("folder", "state", "store.kept", "link"))
    link.symlink_to(folder)
    refused = [
        (["follow", "--folder", folder], [folder / "managed.json", link / ".kept-fleet.json"]),
        (["sync", "--state", state, "--store", store], [state / "place.json", store / "values"]),
    ]
    for (command, *more), paths in refused:
        for path in paths:
            done = run(
                [
                    program(),
                    str(command),
                    IDENTIFIER,
                    "--etcd",
                    "http://127.0.0.1:1",
                    *map(str, more),
                    option,
                    str(path),
                ]
            )
            assert (done.status, f"{option} {path} is in" in done.err) == (3, True), done
