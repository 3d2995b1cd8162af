"""Syncing: the settings of a user are the same on all machines and in etcd."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import IDENTIFIER, Etcd, StartSync, SyncMachine, kept, program, report, run, wait_for, wait_until_same

PREFIX = "/kept-users/anna"


def name(key: str) -> str:
    return f"{PREFIX}/{IDENTIFIER}/user/{key}"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def wait_for_refusal(machine: SyncMachine, key: str, word: str) -> None:
    def is_so() -> bool:
        return any(one["key"] == key and word in one["reason"] for one in machine.status().get("refused", []))

    wait_for(is_so, f"{key} is refused because of {word}: {machine.log}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("audio.volume", "30"),
        ("ui.scale", "1.0"),
        ("text", '"a\\"b\\n\\u0000"'),
        ("list", '[1,2.5,"x",{"a":null}]'),
        ("date", '{"$date":"2026-11-25T08:00:00Z"}'),
        ("bytes", '{"$binary":{"base64":"AAECAw==","subType":"00"}}'),
        ("big", '{"$numberULong":"18446744073709551615"}'),
        ("a/b c\nd", "true"),
        ("e\u0301", "1"),
        ("\u0301x", "2"),
        ("k" * 1024, "3"),
    ],
)
def test_a_value_is_in_etcd_and_on_the_other_machine(etcd: Etcd, start_sync: StartSync, key: str, value: str) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set(key, value)
    wait_for(lambda: etcd.get(name(key)) == one.get(key), f"etcd has {key}: {one.log}")
    wait_for(lambda: other.get(key) == one.get(key), f"the other has {key}: {other.log}")


def test_keys_that_look_the_same_are_two(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("\u00e9", "1")
    one.set("e\u0301", "2")
    wait_for(lambda: [other.get(key) for key in ("\u00e9", "e\u0301")] == ["1", "2"], f"both are there: {other.log}")
    one.reset("\u00e9")
    wait_for(lambda: [other.get(key) for key in ("\u00e9", "e\u0301")] == ["", "2"], f"one is there: {other.log}")


def test_a_removal_arrives(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("a", "1")
    wait_for(lambda: other.get("a") == "1", "it has arrived")
    other.reset("a")
    wait_for(lambda: one.get("a") == "" and etcd.get(name("a")) == "", f"it is gone: {one.log}")
    etcd.put(name("a"), "2")
    wait_for(lambda: one.get("a") == other.get("a") == "2", "it is there again")
    etcd.delete(name("a"))
    wait_for(lambda: one.get("a") == other.get("a") == "", "it is gone again")


def test_observers_can_tell_which_machine_has_changed_a_value(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("a", "1")
    wait_for(lambda: other.get("a") == "1", "it has arrived")
    assert other.history("a")[0]["tag"] == "fleet:one"
    etcd.put(name("a"), "2")
    wait_for(lambda: other.get("a") == "2", "it has arrived")
    assert other.history("a")[0]["tag"] == "fleet:unknown"
    # What a machine has sent does not come back.
    assert [change["tag"] for change in one.history("a")] == ["fleet:unknown", "kept"]


def test_a_transaction_is_one_of_etcd(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({f"key.{number}": str(number) for number in range(100)})
    wait_until_same(etcd, PREFIX, one, other)
    assert len({etcd.revision(name(f"key.{number}")) for number in range(0, 100, 9)}) == 1
    assert len({change["revision"] for change in other.history("key.")}) == 1


def test_more_than_a_transaction_of_etcd_goes_in_parts(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({f"key.{number}": '"' + "x" * 5_000 + '"' for number in range(1_000)})
    wait_until_same(etcd, PREFIX, one, other)
    assert len(other.values()) == 1_000


def test_what_changed_while_the_program_did_not_run_goes_up(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    for key in ("a", "b", "c"):
        one.set(key, "1")
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    one.set("a", "2")
    one.set("a", "3")
    one.reset("b")
    one.set("d", "4")
    other.set("c", "5")
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert other.values() == {"a": "3", "c": "5", "d": "4"}
    assert one.status()["conflicts"] == other.status()["conflicts"] == 0


def test_a_new_machine_downloads_before_it_uploads(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one)
    other = start_sync(etcd, host="other", wait=False, start=False)
    other.set("a", "2")
    other.set("b", "3")
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "1", "b": "3"}
    lost = other.history("a")[0]
    assert (lost["old"], lost["new"], lost["tag"]) == (2, 1, "fleet:one:conflict")
    assert [change["tag"] for change in one.history("a")] == ["kept"]


@pytest.fixture
def apart(etcd: Etcd, start_sync: StartSync) -> tuple[SyncMachine, SyncMachine]:
    """Two machines that have changed a key in different ways while they received nothing from each other."""
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "1", "c": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    other.kill()
    one.set("a", "2")
    other.transaction({"a": "3", "b": "3"})
    one.start()
    wait_until_same(etcd, PREFIX, one)
    return one, other


def test_of_two_changes_that_of_etcd_wins_and_the_other_is_in_the_history(
    etcd: Etcd, apart: tuple[SyncMachine, SyncMachine]
) -> None:
    one, other = apart
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    # Keys that were changed together lose together.
    assert one.values() == {"a": "2", "b": "1", "c": "1"}
    for key, lost in (("a", 3), ("b", 3)):
        change = other.history(key)[0]
        assert change["old"] == lost and change["tag"].endswith(":conflict") and "one" in change["tag"]
    assert "a changed on both sides; kept the value from one" in other.log
    assert "b was changed together with a key that changed on both sides; the change from one won" in other.log
    status = other.status()
    shown = run([program(), "status", "--status-file", str(other.status_file)]).out
    assert ": a; the change from one won\n" in shown
    assert status["conflicts"] == 2
    assert {"a": "one"}.items() <= {one["key"]: one["winner"] for one in status["lastConflicts"]}.items()
    wait_for(lambda: report(etcd, "other", PREFIX)["sync"]["conflicts"] == 2, "the conflicts are reported")


@pytest.mark.parametrize("is_stopped", [False, True])
@pytest.mark.parametrize("is_together_at_first", [False, True])
def test_a_key_that_was_changed_long_before_does_not_lose_with_another(
    etcd: Etcd, start_sync: StartSync, is_stopped: bool, is_together_at_first: bool
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    first = {"k": "1", "k2": "1", "alone": "1"}
    if is_together_at_first:
        one.transaction(first)
    else:
        for key, value in first.items():
            one.set(key, value)
    wait_until_same(etcd, PREFIX, one, other)
    assert other.process is not None
    other.process.send_signal(signal.SIGSTOP if is_stopped else signal.SIGKILL)
    one.set("k", "2")
    wait_for(lambda: etcd.get(name("k")) == "2", "it is in etcd")

    def wait_beyond_the_fold() -> None:
        # Changes within a short time count as made together, by the times in the history.
        at = time.time()
        wait_for(lambda: time.time() - at > 3, "the time is over")

    wait_beyond_the_fold()
    other.set("alone", "3")
    wait_beyond_the_fold()
    other.transaction({"k": "3", "k2": "3"})
    wait_beyond_the_fold()
    other.set("alone2", "3")
    if is_stopped:
        other.process.send_signal(signal.SIGCONT)
    else:
        other.process.wait()
        other.process = None
        other.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"k": "2", "k2": "1", "alone": "3", "alone2": "3"}, other.history()
    lost = [row["key"] for row in other.history() if (row.get("tag") or "").endswith(":conflict")]
    assert sorted(lost) == ["k", "k2"]


def test_a_key_that_was_changed_right_after_another_does_not_lose_with_it(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    other.kill()
    one.set("a", "2")
    wait_until_same(etcd, PREFIX, one)
    other.set("before", "3")
    other.transaction({"a": "3", "b": "3", "together": "3"})
    other.set("after", "3")
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "2", "b": "1", "before": "3", "after": "3"}
    assert other.status()["conflicts"] == 3


# Commits one line of standard input after the other; null removes a key.
WRITER = """
import json, sys, kept
with kept.open(sys.argv[1]) as store:
    for line in sys.stdin:
        with store.transaction() as transaction:
            for key, value in json.loads(line).items():
                if value is None:
                    transaction.reset(key)
                else:
                    transaction[key] = value
        print("committed", flush=True)
"""


@contextmanager
def one_program(machine: SyncMachine) -> Iterator[Callable[[dict[str, int | None]], None]]:
    """Commits from one program, which the history may fold."""
    root = Path(__file__).parents[3]
    paths = {"PYTHONPATH": f"{root}/bindings/python/src", "KEPT_LIBRARY": f"{root}/build/lib/libkept.so.0"}
    command = [sys.executable, "-c", WRITER, str(machine.store)]
    with subprocess.Popen(
        command, env=os.environ | paths, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        written, answers = process.stdin, process.stdout

        def commit(changes: dict[str, int | None]) -> None:
            written.write(json.dumps(changes) + "\n")
            assert answers.readline() == "committed\n"

        yield commit


def test_a_key_that_is_folded_to_nothing_wins_or_loses_with_the_others(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "1", "c": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    other.kill()
    one.set("b", "5")
    wait_until_same(etcd, PREFIX, one)
    with one_program(other) as commit:
        commit({"a": 2, "b": 2})
        commit({"a": 3, "b": 1})
    other.set("c", "3")
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    # The history has one change of a, and none of b, which became what it was.
    assert one.values() == {"a": "1", "b": "5", "c": "3"}, other.history()


def test_a_removal_that_is_folded_to_nothing_wins_or_loses_with_the_others(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "c": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    with one_program(other) as commit:
        commit({"a": 2, "b": 2})
        wait_for(lambda: etcd.get(name("b")) == "2", "it is in etcd")
        other.kill()
        # If this comes within a second, the history has no change of b.
        commit({"a": 3, "b": None})
    wait_until_same(etcd, PREFIX, one)
    one.set("a", "5")
    wait_until_same(etcd, PREFIX, one)
    other.set("c", "3")
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "5", "b": "2", "c": "3"}, other.history()


def test_a_new_key_that_loses_with_another_names_the_machine_that_won(
    etcd: Etcd, apart: tuple[SyncMachine, SyncMachine]
) -> None:
    one, other = apart
    other.transaction({"a": "4", "new": "4"})
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert "new" not in other.values()
    assert other.history("new")[0]["tag"] == "fleet:one:conflict"
    assert {one["winner"] for one in other.status()["lastConflicts"]} == {"one"}


def test_only_what_has_lost_is_called_a_conflict(etcd: Etcd, apart: tuple[SyncMachine, SyncMachine]) -> None:
    one, other = apart
    one.transaction({"c": "4", "d": "4"})
    wait_until_same(etcd, PREFIX, one)
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "2", "b": "1", "c": "4", "d": "4"}
    tags = {key: other.history(key)[0]["tag"] for key in "abcd"}
    assert tags == {"a": "fleet:one:conflict", "b": "fleet:one:conflict", "c": "fleet:one", "d": "fleet:one"}


def test_a_removal_of_a_machine_has_its_name_on_one_that_was_away(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    third = start_sync(etcd, host="third")
    one.transaction({key: "1" for key in "abcdef"})
    wait_until_same(etcd, PREFIX, one, other, third)
    third.kill()
    one.reset("a")
    wait_until_same(etcd, PREFIX, one, other)
    other.reset("b")
    other.set("x", "1")
    wait_until_same(etcd, PREFIX, one, other)
    etcd.delete(name("c"))
    # A key that is deleted twice was deleted by the last.
    one.reset("d")
    wait_until_same(etcd, PREFIX, one, other)
    other.set("d", "2")
    wait_until_same(etcd, PREFIX, one, other)
    other.reset("d")
    wait_until_same(etcd, PREFIX, one, other)
    for number in range(50):
        etcd.put("elsewhere", str(number))
    third.start()
    wait_until_same(etcd, PREFIX, one, other, third)
    assert third.values() == {"e": "1", "f": "1", "x": "1"}
    # They come in one commit.
    assert {third.history(key)[0]["tag"] for key in "abcd"} == {"fleet:one,other,unknown"}
    third.kill()
    one.reset("e")
    wait_until_same(etcd, PREFIX, one, other)
    third.start()
    wait_until_same(etcd, PREFIX, one, other, third)
    assert third.history("e")[0]["tag"] == "fleet:one"
    third.kill()
    one.reset("f")
    wait_until_same(etcd, PREFIX, one, other)
    etcd.put("elsewhere", "50")
    etcd.compact()
    third.start()
    wait_until_same(etcd, PREFIX, one, other, third)
    assert third.history("f")[0]["tag"] == "fleet:unknown"


def test_removals_of_keys_that_look_the_same_have_the_names_of_both_machines(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    third = start_sync(etcd, host="third")
    one.transaction({"\u00e9": "1", "e\u0301": "2", "a": "3"})
    wait_until_same(etcd, PREFIX, one, other, third)
    third.kill()
    one.reset("\u00e9")
    wait_until_same(etcd, PREFIX, one, other)
    other.reset("e\u0301")
    wait_until_same(etcd, PREFIX, one, other)
    etcd.put("elsewhere", "1")
    third.start()
    wait_until_same(etcd, PREFIX, one, other, third)
    assert third.values() == {"a": "3"}
    assert {third.history(key)[0]["tag"] for key in ("\u00e9", "e\u0301")} == {"fleet:one,other"}


def test_the_log_has_no_value_and_no_line_of_others(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, "--log-level", "trace", host="one")
    one.declare('{"properties": {"a": {"type": "integer", "maximum": 100}, "b": {"type": "string", "maxLength": 5}}}')
    forged = "x\n2026-01-01T00:00:00+0000 notice kept-fleet: all is well"
    etcd.put(name(forged), '"PRIVATE1')
    etcd.put(name("a"), "73191")
    etcd.put(name("b"), '"PRIVATE2"')
    etcd.put(name("turned\u202e"), "[PRIVATE3]")
    etcd.put(name(""), '{"keys": "k", "host": "h\u001b[2J"}')
    wait_for(lambda: len(one.status().get("refused", [])) == 4, f"all are refused: {one.log}")
    etcd.put(name("c"), '"PRIVATE4"')
    wait_for(lambda: one.get("c") == '"PRIVATE4"', "it has arrived")
    for text in ("PRIVATE", "73191", "\u202e", "\u001b"):
        assert text not in one.log, text
    assert all(line.startswith("20") and " kept-fleet" in line for line in one.log.splitlines()), one.log
    assert not any("notice kept-fleet: all is well" in line[:60] for line in one.log.splitlines())
    assert "x\\n2026-01-01" in one.log
    # The status has the reasons, for this user alone.
    assert "73191" in one.status_file.read_text()
    assert one.status_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "rule", [["--conflicts", "local"], ["--conflicts-for", "a=local", "--conflicts-for", "b=etcd"]]
)
def test_the_rules_for_conflicts_can_be_turned_round(
    etcd: Etcd, apart: tuple[SyncMachine, SyncMachine], rule: list[str]
) -> None:
    one, other = apart
    other.more += rule
    other.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "3", "b": "3", "c": "1"}
    assert one.history("a")[0]["tag"] == "fleet:other"
    wait_for(lambda: other.status()["conflicts"] == 1, "it is counted")


def test_a_secret_that_etcd_has_already_is_reported(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"token": '"hunter2"', "a": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    declared = '{"properties": {"token": {"type": "string"%s}}}'
    one.declare(declared % ', "secret": true')
    wait_for_refusal(one, "token", "secret")
    wait_for(lambda: len(report(etcd, "one", PREFIX)["sync"].get("refused", [])) == 1, "it is reported")
    assert "token is refused" in one.log and "hunter2" not in one.log, one.log
    assert run([os.environ["KEPT_FLEET"], "status", "--status-file", str(one.status_file)]).status == 1
    # It is deleted where it has to be deleted, and stays on the machines that have declared it.
    other.declare(declared % ', "secret": true')
    wait_for_refusal(other, "token", "secret")
    etcd.delete(name("token"))
    wait_for(lambda: not one.status().get("refused") and not other.status().get("refused"), "it is deleted")
    assert one.get("token") == other.get("token") == '"hunter2"'
    # Nor is it removed when it is not a secret any more.
    one.kill()
    one.declare(declared % "")
    one.start()
    wait_for(lambda: etcd.get(name("token")) == '"hunter2"', f"it is in etcd again: {one.log}")
    assert one.get("token") == '"hunter2"'


def test_secrets_stay_on_the_machine(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    for machine in (one, other):
        machine.declare('{"properties": {"token": {"type": "string", "secret": true}, "a": {"type": "integer"}}}')
    one.set("token", "hunter2")
    one.set("a", "1")
    wait_for(lambda: other.get("a") == "1", "the change after it has arrived")
    assert etcd.get(name("token")) == "" == other.get("token")
    assert "hunter2" not in one.log + one.status_file.read_text() + etcd.ctl("get", "--prefix", "/").out


@pytest.mark.parametrize(
    ("value", "word"),
    [("{", "at byte"), ("null", "null"), ('"loud"', "integer"), ("101", "maximum 100")],
)
def test_a_value_that_is_wrong_is_refused_and_the_others_arrive(
    etcd: Etcd, start_sync: StartSync, value: str, word: str
) -> None:
    one = start_sync(etcd, host="one")
    one.declare('{"properties": {"audio.volume": {"type": "integer", "maximum": 100}, "b": {"type": "integer"}}}')
    one.set("audio.volume", "30")
    wait_until_same(etcd, PREFIX, one)
    etcd.put(name("audio.volume"), value)
    etcd.put(name("b"), "1")
    wait_for(lambda: one.get("b") == "1", f"the other has arrived: {one.log}")
    wait_for_refusal(one, "audio.volume", word)
    assert one.get("audio.volume") == "30"
    wait_for(lambda: bool(report(etcd, "one", PREFIX)["sync"].get("refused")), "it is reported")
    etcd.put(name("audio.volume"), "40")
    wait_for(lambda: one.get("audio.volume") == "40", "the correct value arrives")
    wait_for(lambda: not one.status().get("refused"), "nothing is refused any more")


def test_a_change_of_a_refused_key_goes_up(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one)
    etcd.put(name("a"), "{")
    wait_for_refusal(one, "a", "at byte")
    one.set("a", "2")
    wait_until_same(etcd, PREFIX, one)
    assert etcd.get(name("a")) == "2"


def test_names_that_are_no_keys_are_refused(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    long = "k" * 1025
    etcd.put(name(long), "1")
    etcd.put(name("a"), "1")
    wait_for(lambda: one.get("a") == "1", "the other has arrived")
    shown = "k" * 100 + "\u2026 (1025 bytes)"
    wait_for_refusal(one, shown, "1024")
    assert shown in one.log
    assert long not in one.log
    etcd.delete(name(long))
    wait_for(lambda: not one.status().get("refused"), f"nothing is refused any more: {one.log}")


def test_all_refused_keys_are_counted_though_some_are_listed(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    count = 25
    puts = [{"request_put": {"key": encoded(name(f"k{number:02}")), "value": encoded("{")}} for number in range(count)]
    etcd.call("kv/txn", success=puts)
    wait_for(lambda: one.status().get("refusedTotal") == count, f"all are refused: {one.log}")
    assert [refusal["key"] for refusal in one.status()["refused"]] == [f"k{number:02}" for number in range(20)]
    wait_for(lambda: report(etcd, "one", PREFIX)["sync"].get("refusedTotal") == count, "all are reported")
    local = run([os.environ["KEPT_FLEET"], "status", "--status-file", str(one.status_file)])
    assert f"refused: {count} keys" in local.out
    fleet = [os.environ["KEPT_FLEET"], "status", IDENTIFIER, "--prefix", PREFIX, "--etcd", etcd.urls[0]]
    done = run(fleet)
    assert done.status == 1
    assert f" {count} " in done.out and "(and 24 more)" in done.out
    assert json.loads(run([*fleet, "--json"]).out)[0]["sync"]["refusedTotal"] == count
    etcd.call("kv/txn", success=[{"request_delete_range": {"key": put["request_put"]["key"]}} for put in puts])
    wait_for(lambda: "refusedTotal" not in one.status(), f"nothing is refused: {one.log}")


def test_keys_of_etcd_that_are_not_utf_8_are_told_and_the_others_arrive(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    strange = base64.b64encode(name("x").encode() + b"\xff'").decode()
    etcd.call("kv/put", key=strange, value=encoded("1"))
    wait_for(lambda: "x\\xff\\x27" in "".join(one.status().get("problems", [])), f"it is told: {one.log}")
    assert "a key under" in one.status()["problems"][0]
    etcd.put(name("a"), "1")
    wait_for(lambda: one.get("a") == "1", "the other arrives")
    assert (one.status()["missed"], one.status()["connections"]) == (0, 1)
    etcd.call("kv/deleterange", key=strange)
    wait_for(lambda: "problems" not in one.status(), f"nothing is told any more: {one.log}")


def test_what_is_remembered_is_for_the_user_alone(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one)
    files = [path for path in [*(one.folder / "state").rglob("*"), *one.store.rglob("*")] if path.is_file()]
    assert {"fleet", "machine", "place.json"} <= {path.name for path in files}
    assert {path.name: oct(path.stat().st_mode & 0o077) for path in files if path.stat().st_mode & 0o077} == {}


def test_a_folder_that_others_may_change_is_told(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, start=False)
    (one.folder / "state").mkdir()
    (one.folder / "state").chmod(0o777)
    one.start()
    wait_for(lambda: f"other users can write to the folder {one.folder}/state" in one.log, "it is told")


def test_a_value_that_is_too_large_for_etcd_stays_and_is_told(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("large", json.dumps("x" * 2_000_000))
    one.set("a", "1")
    wait_for(lambda: other.get("a") == "1", "the other has arrived")
    wait_for_refusal(one, "large", "bytes")
    one.set("large", '"small"')
    wait_for(lambda: other.get("large") == '"small"', "the smaller value arrives")
    wait_for(lambda: not one.status().get("refused"), "nothing is refused any more")


def test_what_an_administrator_has_locked_stays(etcd: Etcd, start_sync: StartSync, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text('{"values": {"a": 5}, "locked": ["a"]}')
    one = start_sync(etcd, "--managed", str(managed), host="one")
    etcd.put(name("a"), "1")
    etcd.put(name("b"), "1")
    wait_for(lambda: one.get("b") == "1", "the other has arrived")
    wait_for_refusal(one, "a", "locked")
    managed.write_text("{}")
    wait_for(lambda: one.get("a") == "1", f"it arrives when it is not locked any more: {one.log}")


def test_compaction_loses_nothing(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one, other)
    for machine in (one, other):
        assert machine.process is not None
        machine.process.send_signal(signal.SIGSTOP)
    one.set("b", "1")
    other.set("c", "1")
    etcd.put(name("d"), "1")
    etcd.delete(name("a"))
    etcd.compact()
    for machine in (one, other):
        assert machine.process is not None
        machine.process.send_signal(signal.SIGCONT)
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"b": "1", "c": "1", "d": "1"}


def test_an_etcd_that_has_lost_everything_gets_it_again(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("a", "1")
    one.set("b", "1")
    wait_until_same(etcd, PREFIX, one, other)
    etcd.wipe()
    etcd.start()
    etcd.wait_until_ready()
    # It has more revisions than before when the machines come back.
    for number in range(20):
        etcd.put("other", str(number))
    one.set("c", "2")
    wait_for(lambda: [etcd.get(name(key)) for key in ("a", "b", "c")] == ["1", "1", "2"], "etcd has everything")
    wait_until_same(etcd, PREFIX, one, other)


@pytest.mark.parametrize("offline", [None, "2"])
def test_a_restored_etcd_that_gives_a_revision_again_is_noticed(
    etcd: Etcd, start_sync: StartSync, tmp_path: Path, offline: str | None
) -> None:
    """The value has the revision that was agreed, and is another one."""
    one = start_sync(etcd)
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one)
    assert etcd.get(name("a")) == "1"
    one.kill()
    if offline:
        one.set("a", offline)
    revision = etcd.revision(of=name("a"))
    etcd.restore(snapshot)
    while etcd.revision() < revision - 1:
        etcd.put("/other", "1")
    etcd.put(name("a"), "55")
    assert etcd.revision(of=name("a")) == revision
    one.start()
    wait_for(lambda: one.get("a") == "55", "the value of the restored etcd")
    assert any("conflict" in (change["tag"] or "") for change in one.history("a"))


def test_a_restored_etcd_that_has_come_beyond_what_was_agreed_removes_nothing(
    etcd: Etcd, start_sync: StartSync, tmp_path: Path
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"changed": "1", "gone": "1", "kept": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    one.set("new", "2")
    other.set("new2", "3")
    one.set("changed", "2")
    wait_until_same(etcd, PREFIX, one, other)
    for machine in (one, other):
        machine.kill()
    etcd.restore(snapshot)
    etcd.delete(name("gone"))
    for number in range(30):
        etcd.put("elsewhere", str(number))
    other.start()
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"changed": "2", "kept": "1", "new": "2", "new2": "3"}, one.log + other.log
    # That "changed" is not what etcd has is a conflict for the machine that sends it again.
    assert sum(machine.status()["conflicts"] for machine in (one, other)) >= 1, one.log + other.log


def test_a_value_that_was_set_in_a_restored_etcd_is_not_replaced_by_an_older_one(
    etcd: Etcd, start_sync: StartSync, tmp_path: Path
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("volume", "1")
    wait_until_same(etcd, PREFIX, one, other)
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    for value in ("2", "3", "4", "5"):
        other.set("volume", value)
        wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    etcd.restore(snapshot)
    wait_until_same(etcd, PREFIX, other)
    assert other.values() == {"volume": "5"}, other.log
    other.transaction({"volume": "100", "balance": "100"})
    wait_until_same(etcd, PREFIX, other)
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"volume": "100", "balance": "100"}, one.log
    assert one.status()["conflicts"] == 1, one.log


@pytest.mark.parametrize("loss", ["restored", "wiped", "deleted"])
def test_what_another_machine_sends_again_is_no_change_of_it(
    etcd: Etcd, start_sync: StartSync, tmp_path: Path, loss: str
) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("elsewhere", "1")
    wait_until_same(etcd, PREFIX, one, other)
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    one.transaction({"changed": "1", "removed": "1", "same": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    one.transaction({"changed": "2", "new": "1"})
    one.reset("removed")
    if loss == "deleted":
        assert etcd.ctl("del", "--prefix", name("")).status == 0
    else:
        other.kill()
        if loss == "restored":
            etcd.restore(snapshot)
        else:
            etcd.wipe()
            etcd.start()
            etcd.wait_until_ready()
        # It has passed the agreed revision.
        for number in range(30):
            etcd.put("elsewhere", str(number))
        other.start()
    wait_for(lambda: etcd.get(name("removed")) == "1", f"the other machine sends it again: {other.log}")
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"changed": "2", "elsewhere": "1", "new": "1", "same": "1"}, one.log + other.log
    assert one.status()["conflicts"] == other.status()["conflicts"] == 0, one.log + other.log


def test_what_a_restored_etcd_lacks_is_not_lost_with_a_conflict(
    etcd: Etcd, start_sync: StartSync, tmp_path: Path
) -> None:
    one = start_sync(etcd)
    one.set("volume", "1")
    wait_until_same(etcd, PREFIX, one)
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    for value in ("2", "3", "4"):
        one.set("volume", value)
        wait_until_same(etcd, PREFIX, one)
    one.set("lacking", "1")
    wait_until_same(etcd, PREFIX, one)
    one.kill()
    etcd.restore(snapshot)
    etcd.put(name("volume"), "100")
    one.start()
    wait_until_same(etcd, PREFIX, one)
    assert one.values() == {"lacking": "1", "volume": "100"}, one.log


def test_keys_that_were_all_deleted_in_etcd_are_there_again(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "1"})
    wait_until_same(etcd, PREFIX, one, other)
    assert etcd.ctl("del", "--prefix", name("")).status == 0
    wait_for(lambda: etcd.get(name("a")) == etcd.get(name("b")) == "1", f"etcd has everything: {one.log}")
    wait_until_same(etcd, PREFIX, one, other)
    assert one.values() == {"a": "1", "b": "1"}


def test_a_store_that_was_removed_is_filled_and_empties_nothing(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    shutil.rmtree(one.store)
    for number in range(20):
        one.set("b", str(number))
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert other.values() == {"a": "1", "b": "19"}


def test_a_damaged_store_is_filled_and_empties_nothing(etcd: Etcd, start_sync: StartSync) -> None:
    one, other = start_sync(etcd, host="one"), start_sync(etcd, host="other")
    one.transaction({"a": "1", "b": "2"})
    wait_until_same(etcd, PREFIX, one, other)
    one.kill()
    for file in one.store.iterdir():
        if file.is_file() and file.name != "fleet":
            file.write_bytes(b"damaged" * 5_000)
    one.start()
    wait_until_same(etcd, PREFIX, one, other)
    assert (one.store / "quarantine").is_dir()
    assert one.values() == {"a": "1", "b": "2"}


def test_a_store_that_is_replaced_ends_the_program(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one)
    shutil.rmtree(one.store)
    one.set("b", "1")
    assert one.process is not None
    process, one.process = one.process, None
    assert process.wait(120) == 4, one.log
    assert "replaced" in one.log
    one.start()
    wait_until_same(etcd, PREFIX, one)
    assert one.values() == {"a": "1", "b": "1"}


def test_a_full_etcd_is_told_and_what_waits_goes_up_later(start_etcd: Any, start_sync: StartSync) -> None:
    etcd = start_etcd(1, "--quota-backend-bytes", str(2 << 20))
    etcd.wait_until_ready()
    one = start_sync(etcd, host="one")
    while etcd.ctl("put", "fill", input="x" * 500_000).status == 0:
        pass
    one.set("a", "1")
    wait_for(lambda: any("no space" in text for text in one.status().get("problems", [])), f"it is told: {one.log}")
    wait_for(lambda: one.status()["pending"] == 1, f"it waits: {one.log}")
    etcd.delete("fill")
    etcd.compact()
    for command in ("defrag", "alarm"):
        arguments = [command] if command == "defrag" else [command, "disarm"]
        assert etcd.ctl(*arguments).status == 0
    wait_until_same(etcd, PREFIX, one)
    wait_for(lambda: "problems" not in one.status(), "nothing keeps it back")


def test_a_full_disk_is_told_and_what_waits_comes_down_later(etcd: Etcd, start_sync: StartSync, tmp_path: Path) -> None:
    small = tmp_path / "one"
    small.mkdir()
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=755", "tmpfs", str(small)])
    assert mounted.status == 0, f"a small disk needs root: {mounted.err}"
    status = tmp_path / "status.json"
    one: SyncMachine | None = None
    try:
        one = start_sync(etcd, "--status-file", str(status), wait=False)
        wait_for(lambda: status.exists() and json.loads(status.read_text())["connected"], "it is connected")
        filler = small / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(4096))
        large = json.dumps("x" * 500_000)
        etcd.put(name("a"), large)
        wait_for(lambda: "problems" in json.loads(status.read_text()), f"it is told: {one.log}")
        filler.unlink()
        wait_for(lambda: one.get("a") == large, f"it comes down: {one.log}")
    finally:
        if one is not None:
            one.kill()
        assert run(["umount", str(small)]).status == 0


def test_two_programs_for_one_store_are_refused(etcd: Etcd, start_sync: StartSync) -> None:
    one = start_sync(etcd, host="one")
    again = run(one.command())
    assert (again.status, "another kept-fleet" in again.err) == (4, True)
    again = run([*one.command(), "--state", str(one.folder / "elsewhere")])
    assert (again.status, f"another kept-fleet is using {one.store}" in again.err) == (4, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--conflicts", "mine"],
        ["--conflicts-for", "a"],
        ["--conflicts-for", "a=mine"],
        ["--host", "a,b"],
        ["--host", ""],
        ["--prefix", ""],
        ["--check-every", "0"],
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str]) -> None:
    done = run([os.environ["KEPT_FLEET"], "sync", IDENTIFIER, "--etcd", "http://127.0.0.1:1", *arguments])
    assert done.status in (2, 3)
    assert done.err.startswith("kept-fleet: ")


def test_the_status_and_the_metrics_tell_of_it(etcd: Etcd, start_sync: StartSync, tmp_path: Path) -> None:
    metrics = tmp_path / "kept.prom"
    one = start_sync(etcd, "--metrics-file", str(metrics), host="one")
    one.set("a", "1")
    wait_until_same(etcd, PREFIX, one)
    done = run([os.environ["KEPT_FLEET"], "status", "--status-file", str(one.status_file)])
    assert done.status == 0, done.out + done.err
    assert "pending keys: 0" in done.out
    everywhere = run([os.environ["KEPT_FLEET"], "status", IDENTIFIER, "--prefix", PREFIX, "--etcd", etcd.urls[0]])
    assert everywhere.status == 0, everywhere.out + everywhere.err
    assert "one" in everywhere.out
    wait_for(
        lambda: 'kept_fleet_sent_total{identifier="com.example.player"} 1' in metrics.read_text(), "a value was sent"
    )
    assert kept("info", str(one.store)).status == 0
