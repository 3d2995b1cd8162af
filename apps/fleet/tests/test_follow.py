"""Following: the files of a machine are what etcd has, and a document that is wrong changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import (
    IDENTIFIER,
    PATIENCE,
    SCHEMA,
    VOLUME_30,
    VOLUME_40,
    Etcd,
    Fleet,
    Machine,
    StartMachine,
    key,
    program,
    report,
    run,
    wait_for,
    wait_for_refusal,
)


def test_a_document_becomes_a_file_and_goes_with_it(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    status = machine.managed.stat()
    assert (status.st_mode & 0o7777, status.st_uid) == (0o644, os.geteuid())
    etcd.put(key("system"), '{"values": {"a": 1}}')
    machine.wait_until(machine.system, '{"values": {"a": 1}}')
    etcd.delete(key("managed"))
    machine.wait_until(machine.managed, None)
    assert machine.system.exists()


def test_what_is_published_already_is_there_after_the_start(etcd: Etcd, start_machine: StartMachine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine = start_machine(etcd)
    assert machine.managed.read_text() == VOLUME_30


@pytest.mark.parametrize(
    ("document", "text", "word"),
    [
        ("managed", "{", "at byte"),
        ("managed", '{"valeus": {}}', "valeus"),
        ("managed", '{"values": {"audio.volume": null}}', "null"),
        ("system", '{"locked": ["a"]}', "only the managed layer can lock"),
        ("managed", '{"values": {"audio.volume": 101}}', "audio.volume"),
        ("system", '{"values": {"audio.theme": "pink"}}', "audio.theme"),
    ],
)
def test_a_wrong_document_is_refused_and_the_last_good_one_stays(
    etcd: Etcd, machine: Machine, document: str, text: str, word: str
) -> None:
    etcd.put(key("declarations"), SCHEMA)
    good = '{"values": {"audio.volume": 7}}'
    etcd.put(key(document), good)
    path = machine.folder / f"{document}.json"
    machine.wait_until(path, good)
    revision = etcd.revision(key(document))
    etcd.put(key(document), text)
    wait_for_refusal(etcd, document, word)
    assert path.read_text() == good
    reported = report(etcd)
    assert (reported["host"], reported["documents"][document]["revision"]) == ("web1", revision)
    # When it is mended, it goes on.
    etcd.put(key(document), VOLUME_30)
    machine.wait_until(path, VOLUME_30)
    wait_for(lambda: "refused" not in report(etcd), "nothing is refused")


def test_the_last_good_document_is_written_again_while_a_wrong_one_is_in_etcd(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    etcd.put(key("managed"), "{")
    wait_for_refusal(etcd, "managed", "at byte")
    machine.managed.unlink()
    machine.wait_until(machine.managed, VOLUME_30)
    machine.managed.write_text(VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_30)
    # Also when the program has been started again.
    machine.kill()
    machine.managed.unlink()
    machine.start()
    machine.wait_until(machine.managed, VOLUME_30)


def test_bytes_that_are_no_text_are_refused(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    command = ["etcdctl", "--endpoints", etcd.urls[0], "put", key("managed")]
    subprocess.run(command, input=b"\xff\xfe{}", check=True, env=os.environ | {"ETCDCTL_API": "3"}, capture_output=True)
    wait_for_refusal(etcd, "managed", "UTF-8")
    assert machine.managed.read_text() == VOLUME_30


def test_the_log_has_no_value_of_a_document(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("declarations"), SCHEMA)
    for text in (
        '{"values": {"audio.theme": "PRIVATE"}}',
        '{"PRIVATE": 1}',
        '{"values": {"a": PRIVATE}}',
        '["PRIVATE"]',
    ):
        etcd.put(key("managed"), VOLUME_30)
        machine.wait_until(machine.managed, VOLUME_30)
        wait_for(lambda: "refused" not in report(etcd), "nothing is refused")
        etcd.put(key("managed"), text)
        wait_for_refusal(etcd, "managed", "")
    assert "PRIVATE" not in machine.log
    assert machine.log.count("is refused; see the status of this machine") == 4


def test_wrong_declarations_hold_up_documents_until_they_are_mended(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    etcd.put(key("declarations"), '{"properties": {"audio.volume": {"type": "volume"}}}')
    wait_for_refusal(etcd, "declarations", "audio.volume")
    etcd.put(key("managed"), VOLUME_40)
    etcd.put(key("declarations"), SCHEMA)
    machine.wait_until(machine.managed, VOLUME_40)


def test_later_prefixes_win_and_locks_are_united(etcd: Etcd, start_machine: StartMachine) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("managed", "/all"), '{"values": {"a": 1, "b": 1}, "locked": ["x"]}')
    machine.wait_until(machine.managed, '{"values": {"a": 1, "b": 1}, "locked": ["x"]}')
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 2}, "locked": ["y"], "lockedPrefixes": ["net."]}')
    both = {"values": {"a": 1, "b": 2}, "locked": ["x", "y"], "lockedPrefixes": ["net."]}
    wait_for(lambda: json.loads(machine.managed.read_text()) == both, "both documents are in the file")
    etcd.delete(key("managed", "/kiosk"))
    machine.wait_until(machine.managed, '{"values": {"a": 1, "b": 1}, "locked": ["x"]}')


def has(machine: Machine, **members: Any) -> Callable[[], bool]:
    return lambda: machine.managed.exists() and json.loads(machine.managed.read_text()) == members


def refusing(machine: Machine) -> list[str]:
    """The prefixes of the documents that a machine refuses, from its status."""
    return [one["prefix"] for one in machine.status().get("refused", [])]


def test_a_wrong_document_holds_up_no_other_prefix(etcd: Etcd, start_machine: StartMachine) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("managed", "/all"), '{"values": {"a": 1}}')
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 1}, "locked": ["b"]}')
    wait_for(has(machine, values={"a": 1, "b": 1}, locked=["b"]), "both documents are in the file")
    revision = etcd.revision(key("managed", "/kiosk"))
    etcd.put(key("managed", "/kiosk"), "[]")
    wait_for_refusal(etcd, "managed", "array", prefix="/kiosk")
    etcd.put(key("managed", "/all"), '{"values": {"a": 2}}')
    # What the wrong one has locked stays locked, also after a restart.
    wait_for(has(machine, values={"a": 2, "b": 1}, locked=["b"]), "the other document is in the file")
    machine.kill()
    etcd.put(key("managed", "/all"), '{"values": {"a": 3}}')
    machine.start()
    wait_for(has(machine, values={"a": 3, "b": 1}, locked=["b"]), "the other document is in the file")
    assert f"{key('managed', '/kiosk')} is refused" in machine.log
    wait_for(lambda: refusing(machine) == ["/kiosk"], "the status names it")
    applied = etcd.revision(key("managed", "/all"))
    wait_for(lambda: report(etcd, prefix="/all")["documents"]["managed"]["revision"] == applied, "it is reported")
    assert "refused" not in report(etcd, prefix="/all")
    assert report(etcd, prefix="/kiosk")["documents"]["managed"]["revision"] == revision
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 2}}')
    wait_for(has(machine, values={"a": 3, "b": 2}), "it goes on")


def test_wrong_declarations_hold_up_the_documents_of_their_prefix_alone(
    etcd: Etcd, start_machine: StartMachine
) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("declarations", "/kiosk"), SCHEMA)
    etcd.put(key("managed", "/kiosk"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    etcd.put(key("declarations", "/kiosk"), "[]")
    wait_for_refusal(etcd, "declarations", "object", prefix="/kiosk")
    etcd.put(key("managed", "/kiosk"), VOLUME_40)
    etcd.put(key("managed", "/all"), '{"values": {"a": 1}}')
    wait_for(has(machine, values={"a": 1, "audio.volume": 30}), "the other document is in the file")
    assert "refused" not in report(etcd, prefix="/all")
    # A reason in the declarations of another prefix names that.
    etcd.put(key("declarations", "/kiosk"), SCHEMA)
    etcd.put(key("managed", "/all"), '{"values": {"audio.volume": 101}}')
    wait_for_refusal(etcd, "managed", "declared under /kiosk", prefix="/all")
    wait_for(
        has(machine, values={"a": 1, "audio.volume": 40}, locked=["audio.theme"]), "the other document is in the file"
    )


def test_a_new_machine_takes_what_is_right(etcd: Etcd, start_machine: StartMachine) -> None:
    etcd.put(key("managed", "/all"), VOLUME_30)
    etcd.put(key("managed", "/kiosk"), "{")
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    assert machine.managed.read_text() == VOLUME_30
    assert refusing(machine) == ["/kiosk"]


@pytest.mark.parametrize("again", ["/kiosk", "/kiosk/"])
def test_a_prefix_that_is_given_twice_is_named(tmp_path: Path, again: str) -> None:
    prefixes = ["--prefix", "/all", "--prefix", "/kiosk", "--prefix", again]
    command = [program(), "follow", IDENTIFIER, "--folder", str(tmp_path / "f"), "--etcd", "http://127.0.0.1:1"]
    done = run([*command, *prefixes])
    assert "the prefix /kiosk is given twice" in done.err, done
    assert done.status == 2


def test_nothing_is_written_when_nothing_has_changed(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    before = machine.managed.stat()
    # The same again, another key under the prefix, and a new start.
    etcd.put(key("managed"), VOLUME_30)
    etcd.put(key("other"), "1")
    etcd.put(key("system"), "{}")
    machine.wait_until(machine.system, "{}")
    machine.kill()
    machine.start()
    machine.wait_until_connected()
    after = machine.managed.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_file_of_an_administrator_stays_where_nothing_is_published(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    (tmp_path / "web1").mkdir()
    (tmp_path / "web1" / "managed.json").write_text(VOLUME_40)
    machine = start_machine(etcd)
    etcd.put(key("system"), "{}")
    machine.wait_until(machine.system, "{}")
    assert machine.managed.read_text() == VOLUME_40


def test_a_document_that_changed_while_the_machine_was_dead_arrives(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    machine.kill()
    etcd.put(key("managed"), VOLUME_40)
    etcd.compact()
    machine.start()
    machine.wait_until(machine.managed, VOLUME_40)
    machine.kill()
    etcd.delete(key("managed"))
    machine.start()
    machine.wait_until(machine.managed, None)


def test_files_stay_while_etcd_is_away_and_follow_when_it_is_back(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    etcd.kill()
    wait_for(lambda: not machine.status()["connected"], "the loss is noticed")
    assert machine.managed.read_text() == VOLUME_30
    assert "is unavailable" in machine.status()["lastError"]["message"]
    etcd.start()
    etcd.wait_until_ready()
    etcd.put(key("managed"), VOLUME_40)
    etcd.compact()
    machine.wait_until(machine.managed, VOLUME_40)


def test_a_member_that_is_silent_is_not_trusted(etcd: Etcd, machine: Machine) -> None:
    etcd.members[0].send(signal.SIGSTOP)
    wait_for(lambda: not machine.status()["connected"], "the silence is noticed")
    etcd.members[0].send(signal.SIGCONT)
    machine.wait_until_connected()
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)


def test_an_etcd_that_has_lost_everything_unlocks_nothing(etcd: Etcd, machine: Machine) -> None:
    etcd.put("x", "1")
    etcd.put(key("managed"), VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_40)
    wait_for(lambda: report(etcd) != {}, "it has reported")
    etcd.wipe()
    etcd.start()
    etcd.wait_until_ready()
    machine.wait_until_connected()
    wait_for(lambda: "publish the document again" in str(machine.status().get("problems")), "the loss is a problem")
    # The revision of the new one grows beyond that of the old one, which proves nothing.
    for number in range(10):
        etcd.put("x", str(number))
    machine.kill()
    machine.start()
    wait_for(lambda: "publish the document again" in str(machine.status().get("problems")), "the loss is a problem")
    assert machine.managed.read_text() == VOLUME_40
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    wait_for(lambda: "problems" not in machine.status(), "the problem is over")
    etcd.delete(key("managed"))
    machine.wait_until(machine.managed, None)


def test_a_restored_etcd_that_has_come_beyond_a_document_unlocks_nothing(
    etcd: Etcd, machine: Machine, tmp_path: Path
) -> None:
    etcd.put(key("system"), VOLUME_30)
    machine.wait_until(machine.system, VOLUME_30)
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    etcd.put(key("managed"), VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_40)
    machine.kill()
    etcd.restore(snapshot)
    etcd.delete(key("system"))
    for number in range(30):
        etcd.put("elsewhere", str(number))
    machine.start()
    wait_for(lambda: "publish the document again" in str(machine.status().get("problems")), "the loss is a problem")
    assert machine.managed.read_text() == VOLUME_40
    machine.wait_until(machine.system, None)


def test_what_is_in_a_file_is_remembered_before(etcd: Etcd, start_machine: StartMachine) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("managed", "/all"), '{"values": {"a": 1}}')
    wait_for(has(machine, values={"a": 1}), "the first document is in the file")
    for number in range(5):
        etcd.put(key("managed", "/kiosk"), f'{{"values": {{"b": "value {number}"}}}}')
        end = time.monotonic() + PATIENCE
        while f"value {number}" not in machine.managed.read_text():
            assert time.monotonic() < end, "the second document is in the file"
        # A process that is killed now knows it at its next start, when etcd may have lost it.
        assert f"value {number}" in (machine.folder / ".kept-fleet.json").read_text()


def test_a_restored_etcd_does_not_unlock_what_one_of_several_prefixes_had_locked(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("managed", "/all"), '{"values": {"a": 1}}')
    wait_for(has(machine, values={"a": 1}), "the first document is in the file")
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 1}, "locked": ["b"]}')
    wait_for(has(machine, values={"a": 1, "b": 1}, locked=["b"]), "both documents are in the file")
    machine.kill()
    etcd.restore(snapshot)
    for number in range(30):
        etcd.put("elsewhere", str(number))
    etcd.put(key("managed", "/all"), '{"values": {"a": 2}}')
    for _ in range(2):
        machine.start()
        wait_for(has(machine, values={"a": 2, "b": 1}, locked=["b"]), "the lock stays")
        wait_for(lambda: "publish the document again" in str(machine.status().get("problems")), "the loss is a problem")
        machine.kill()
    machine.start()
    etcd.put(key("managed", "/kiosk"), "{}")
    wait_for(has(machine, values={"a": 2}), "an empty document unlocks it")
    wait_for(lambda: "problems" not in machine.status(), "the problem is over")


@pytest.mark.parametrize("puts", [0, 30])
@pytest.mark.parametrize("is_killed", [False, True], ids=["running", "killed"])
def test_a_restored_etcd_brings_back_no_older_document(
    etcd: Etcd, machine: Machine, fleet: Fleet, tmp_path: Path, is_killed: bool, puts: int
) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    older = etcd.revision(key("managed"))
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    for text in (VOLUME_30, None, "{}", VOLUME_40):
        if text is None:
            etcd.delete(key("managed"))
        else:
            etcd.put(key("managed"), text)
        machine.wait_until(machine.managed, text)
    newer = etcd.revision(key("managed"))
    if is_killed:
        machine.kill()
    etcd.restore(snapshot)
    for number in range(puts):
        etcd.put("elsewhere", str(number))
    if is_killed:
        machine.start()
    machine.wait_until_connected()
    kept = f"keeps the document of revision {newer} under "
    restored = f"because etcd was restored and has revision {older};"
    for _ in range(2):
        wait_for(lambda: restored in str(machine.status().get("problems")), "the older one is a problem")
        assert machine.managed.read_text() == VOLUME_40
        wait_for(lambda: kept in str(report(etcd).get("problems")), "it is reported")
        machine.kill()
        machine.start()
        machine.wait_until_connected()
    # A document that is published again is applied, also when it is the same as the older one.
    assert fleet("publish", "--managed", "-", input=VOLUME_30).out.startswith("revision ")
    machine.wait_until(machine.managed, VOLUME_30)
    wait_for(lambda: "problems" not in machine.status() and report(etcd).get("problems") is None, "the problem is over")
    assert fleet("publish", "--managed", "-", input=VOLUME_30).out == "nothing has changed\n"
    etcd.put(key("managed"), VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_40)
    # A second restore of the same.
    machine.kill()
    etcd.restore(snapshot)
    machine.start()
    wait_for(lambda: restored in str(machine.status().get("problems")), "the older one is a problem")
    etcd.delete(key("managed"))
    machine.wait_until(machine.managed, None)


def test_an_older_document_under_one_prefix_holds_up_no_other(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 1}}')
    wait_for(has(machine, values={"b": 1}), "the document is in the file")
    snapshot = tmp_path / "snapshot"
    assert etcd.ctl("snapshot", "save", str(snapshot)).status == 0
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 1}, "locked": ["b"]}')
    etcd.put(key("managed", "/all"), '{"values": {"a": 1}}')
    wait_for(has(machine, values={"a": 1, "b": 1}, locked=["b"]), "both documents are in the file")
    etcd.restore(snapshot)
    etcd.put(key("managed", "/all"), '{"values": {"a": 2}}')
    wait_for(has(machine, values={"a": 2, "b": 1}, locked=["b"]), "the other document is in the file")
    wait_for(
        lambda: "under /kiosk, because etcd was" in str(machine.status().get("problems")), "the older one is a problem"
    )
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 2}}')
    wait_for(has(machine, values={"a": 2, "b": 2}), "it goes on")
    wait_for(lambda: "problems" not in machine.status(), "no problem is left")


def test_a_new_etcd_may_have_a_document_that_an_old_one_had(etcd: Etcd, machine: Machine) -> None:
    for text in (VOLUME_30, VOLUME_40):
        etcd.put(key("managed"), text)
        machine.wait_until(machine.managed, text)
    for number in range(30):
        etcd.put("x", str(number))
    etcd.put(key("managed"), "{}")
    machine.wait_until(machine.managed, "{}")
    etcd.wipe()
    etcd.start()
    etcd.wait_until_ready()
    for number in range(10):
        etcd.put("x", str(number))
    etcd.put(key("managed"), VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_40)
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    wait_for(lambda: "problems" not in machine.status(), "no problem is left")


def lose_memory(machine: Machine, memory: bytes | None) -> None:
    """Removes or damages what a machine remembers of its files."""
    state = machine.folder / ".kept-fleet.json"
    if memory is None:
        state.unlink()
    else:
        state.write_bytes(memory)


@pytest.mark.parametrize("memory", [None, b"", b"garbage"])
def test_a_file_whose_origin_is_unknown_stays_while_a_document_is_wrong(
    etcd: Etcd, start_machine: StartMachine, memory: bytes | None
) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 1}, "locked": ["b"]}')
    wait_for(has(machine, values={"b": 1}, locked=["b"]), "the document is in the file")
    etcd.put(key("managed", "/kiosk"), "[]")
    wait_for(lambda: refusing(machine) == ["/kiosk"], "the status names it")
    machine.kill()
    lose_memory(machine, memory)
    etcd.put(key("managed", "/all"), '{"values": {"a": 2}}')
    machine.start()
    wait_for(lambda: "stays unchanged" in str(machine.status().get("problems")), "it is a problem")
    assert json.loads(machine.managed.read_text()) == {"values": {"b": 1}, "locked": ["b"]}
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 2}}')
    wait_for(has(machine, values={"a": 2, "b": 2}), "it goes on")


@pytest.mark.parametrize("memory", [None, b"", b"[]"])
@pytest.mark.parametrize("ends", ["published", "removed"])
def test_a_file_whose_origin_is_unknown_stays_while_a_document_is_absent(
    etcd: Etcd, start_machine: StartMachine, memory: bytes | None, ends: str
) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("managed", "/all"), '{"values": {"a": 1}}')
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 1}, "locked": ["b"]}')
    wait_for(has(machine, values={"a": 1, "b": 1}, locked=["b"]), "both documents are in the file")
    machine.kill()
    lose_memory(machine, memory)
    etcd.delete(key("managed", "/kiosk"))
    etcd.put(key("managed", "/all"), '{"values": {"a": 2}}')
    # The state of the other file says nothing about this one.
    etcd.put(key("system", "/all"), '{"values": {"c": 1}}')
    for _ in range(2):
        machine.start()
        machine.wait_until(machine.system, '{"values": {"c": 1}}')
        wait_for(lambda: "document under /kiosk can be used" in str(machine.status().get("problems")), "a problem")
        assert has(machine, values={"a": 1, "b": 1}, locked=["b"])()
        assert run([program(), "status", "--status-file", str(machine.status_file)]).status == 1
        machine.kill()
    machine.start()
    if ends == "published":
        etcd.put(key("managed", "/kiosk"), "{}")
    else:
        machine.managed.unlink()
    wait_for(has(machine, values={"a": 2}), "it goes on")
    wait_for(lambda: "problems" not in machine.status(), "the problem is over")


@pytest.mark.parametrize("ends", ["published", "removed"])
def test_a_file_whose_origin_is_unknown_is_reported_while_etcd_has_no_document(
    etcd: Etcd, machine: Machine, ends: str
) -> None:
    etcd.put(key("managed"), VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_40)
    machine.kill()
    lose_memory(machine, None)
    etcd.delete(key("managed"))
    machine.start()
    wait_for(lambda: "document under /kept can be used" in str(report(etcd).get("problems")), "it is reported")
    assert machine.managed.read_text() == VOLUME_40
    if ends == "published":
        etcd.put(key("managed"), VOLUME_30)
        machine.wait_until(machine.managed, VOLUME_30)
    else:
        machine.managed.unlink()
    wait_for(lambda: "problems" not in machine.status(), "the problem is over")


@pytest.mark.parametrize("other", [None, "[]"])
def test_a_file_whose_origin_is_unknown_takes_what_removes_nothing(
    etcd: Etcd, start_machine: StartMachine, other: str | None
) -> None:
    machine = start_machine(etcd, "--prefix", "/all", "--prefix", "/kiosk")
    etcd.put(key("managed", "/all"), VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_40)
    machine.kill()
    lose_memory(machine, None)
    if other is not None:
        etcd.put(key("managed", "/kiosk"), other)
    more = '{"values": {"audio.volume": 40, "a": 1}, "locked": ["a", "audio.theme"]}'
    etcd.put(key("managed", "/all"), more)
    machine.start()
    machine.wait_until(machine.managed, more)
    wait_for(lambda: "problems" not in machine.status(), "no problem is left")
    etcd.put(key("managed", "/all"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)


def test_a_program_hears_of_a_change(etcd: Etcd, machine: Machine, tmp_path: Path) -> None:
    command = os.environ.get("KEPT_COMMAND")
    if not command:
        pytest.fail("KEPT_COMMAND must name the program kept, such as build/bin/kept")
    environment = os.environ | {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    assert run([command, "set", IDENTIFIER, "audio.volume", "1"], environment=environment).status == 0
    watching = subprocess.Popen(
        [command, "watch", IDENTIFIER, "audio.volume", "--initial", "--json", "--managed", str(machine.managed)],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert watching.stdout is not None
    try:
        assert json.loads(watching.stdout.readline())["new"] == 1
        etcd.put(key("managed"), VOLUME_30)
        change = json.loads(watching.stdout.readline())
        assert (change["origin"], change["old"], change["new"]) == ("layer", 1, 30)
    finally:
        watching.kill()
        watching.communicate()


def test_a_second_follower_into_the_same_folder_ends(machine: Machine) -> None:
    second = run([program(), "follow", IDENTIFIER, "--folder", str(machine.folder), "--etcd", machine.etcd[0]])
    assert second.status == 4
    assert "another kept-fleet" in second.err


def test_a_full_disk_is_a_problem_until_there_is_space(etcd: Etcd, start_machine: StartMachine, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs", str(small)]).status != 0:
        pytest.skip("a small disk needs root")
    machine: Machine | None = None
    try:
        status = tmp_path / "status.json"
        machine = start_machine(etcd, "--folder", str(small), "--status-file", str(status), wait=False)
        etcd.put(key("managed"), VOLUME_30)
        machine.wait_until(small / "managed.json", VOLUME_30)
        filler = small / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(1024))
        large = json.dumps({"values": {"audio.volume": 1, "text": "x" * 9000}})
        etcd.put(key("managed"), large)
        wait_for(lambda: "No space" in str(json.loads(status.read_text()).get("problems")), "the disk is full")
        assert (small / "managed.json").read_text() == VOLUME_30
        filler.unlink()
        machine.wait_until(small / "managed.json", large)
    finally:
        if machine is not None:
            machine.kill()
        run(["umount", str(small)])


def test_systemd_is_told_of_the_start_the_life_and_the_end(etcd: Etcd, start_machine: StartMachine) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0kept-fleet-test-" + str(os.getpid()))
        manager.settimeout(60)
        machine = start_machine(etcd, wait=False)
        machine.kill()
        machine.start({"NOTIFY_SOCKET": "@kept-fleet-test-" + str(os.getpid()), "WATCHDOG_USEC": "200000"})
        heard: set[bytes] = set()
        while not {b"READY=1", b"WATCHDOG=1"} <= heard:
            heard.add(manager.recv(100))
        assert machine.process is not None
        machine.process.terminate()
        while b"STOPPING=1" not in heard:
            heard.add(manager.recv(100))
        assert machine.process.wait(60) == 0


def test_it_is_ready_without_etcd(start_machine: StartMachine, tmp_path: Path) -> None:
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(60)
        machine = start_machine(["http://127.0.0.1:1"], wait=False)
        machine.kill()
        machine.start({"NOTIFY_SOCKET": str(path)})
        assert manager.recv(100) == b"READY=1"


def test_a_prefix_is_escaped_in_metrics(etcd: Etcd, start_machine: StartMachine, tmp_path: Path) -> None:
    metrics = tmp_path / "kept.prom"
    start_machine(etcd, "--metrics-file", str(metrics), "--prefix", '/a"b\\c\nd')
    wait_for(lambda: metrics.exists() and ',prefix="/a\\"b\\\\c\\nd",' in metrics.read_text(), "it is escaped")


def test_metrics_are_there_for_prometheus(etcd: Etcd, start_machine: StartMachine, tmp_path: Path) -> None:
    metrics = tmp_path / "kept.prom"
    machine = start_machine(etcd, "--metrics-file", str(metrics))
    etcd.put(key("managed"), VOLUME_30)
    revision = etcd.revision(key("managed"))
    label = f'identifier="{IDENTIFIER}"'
    line = f'kept_fleet_applied_revision{{{label},prefix="/kept",document="managed"}} {revision}\n'
    wait_for(lambda: line in metrics.read_text(), "the revision is there")
    assert f"kept_fleet_connected{{{label}}} 1\n" in metrics.read_text()
    etcd.kill()
    wait_for(lambda: f"kept_fleet_connected{{{label}}} 0\n" in metrics.read_text(), "the loss is there")
    if checker := shutil.which("promtool"):
        assert run([checker, "check", "metrics"], metrics.read_text()).status == 0
    machine.kill()


def test_a_file_that_is_changed_on_the_machine_is_written_again(etcd: Etcd, machine: Machine) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    before = machine.log
    machine.managed.unlink()
    machine.wait_until(machine.managed, VOLUME_30)
    machine.managed.write_text(VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_30)
    machine.managed.chmod(0o666)
    wait_for(lambda: machine.managed.stat().st_mode & 0o777 == 0o644, "its mode is the same again")
    warning = "managed.json was changed or removed on this machine"
    wait_for(lambda: machine.log.removeprefix(before).count(warning) == 3, "each change is in its log")
    # The administrator of the machine has written the other file, and etcd has none.
    machine.system.write_text(VOLUME_40)
    wait_for(lambda: report(etcd).get("documents") is not None, "it has reported")
    heard = machine.status()["heard"]
    wait_for(lambda: machine.status()["heard"] > heard, "it has compared again")
    assert machine.system.read_text() == VOLUME_40


def test_a_folder_that_is_removed_ends_the_program(etcd: Etcd, machine: Machine, tmp_path: Path) -> None:
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    machine.folder.rename(tmp_path / "away")
    assert machine.process is not None
    process, machine.process = machine.process, None
    assert process.wait(PATIENCE) == 4, machine.log
    assert "restart kept-fleet" in machine.log.splitlines()[-1], machine.log
    machine.start()
    machine.wait_until(machine.managed, VOLUME_30)
