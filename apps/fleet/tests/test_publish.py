"""Publishing: the same checks as on the machines, before any of them hears of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import (
    IDENTIFIER,
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


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_what_is_published_is_in_etcd_and_on_the_machine(etcd: Etcd, fleet: Fleet, machine: Machine) -> None:
    done = fleet("publish", "--managed", "-", input=VOLUME_30)
    assert (done.status, done.err) == (0, "")
    assert done.out == f"+ managed audio.volume: 30\nrevision {etcd.revision(key('managed'))}\n"
    assert etcd.get(key("managed")) == VOLUME_30
    machine.wait_until(machine.managed, VOLUME_30)
    done = fleet("publish", "--managed", "-", input=VOLUME_40)
    assert done.out.splitlines()[:2] == ["~ managed audio.volume: 30 → 40", "+ managed lock of audio.theme"]
    machine.wait_until(machine.managed, VOLUME_40)
    assert fleet("publish", "--remove", "managed").status == 0
    machine.wait_until(machine.managed, None)


def test_the_same_again_changes_nothing(etcd: Etcd, fleet: Fleet) -> None:
    assert fleet("publish", "--managed", "-", input=VOLUME_30).status == 0
    revision = etcd.revision()
    assert fleet("publish", "--managed", "-", input=VOLUME_30).out == "nothing has changed\n"
    assert etcd.revision() == revision


def test_a_wrong_document_is_refused_and_nothing_is_published(etcd: Etcd, fleet: Fleet, tmp_path: Path) -> None:
    assert fleet("publish", "--declarations", "-", input=SCHEMA).status == 0
    revision = etcd.revision()
    for text, word in [
        ("{", "at byte"),
        ('{"values": {"audio.volume": 101}}', "audio.volume"),
        ('{"values": {"audio.volumee": 1}}', "not declared"),
        (json.dumps({"values": {"audio.theme": "x" * (1 << 21)}}), "bytes"),
    ]:
        done = fleet("publish", "--managed", "-", "--system", written(tmp_path, "s", "{}"), input=text)
        assert (done.status, done.out, word in done.err) == (3, "", True), done.err
    # Declarations that the published document does not match.
    assert fleet("publish", "--managed", "-", input=VOLUME_30).status == 0
    narrow = SCHEMA.replace("100", "20")
    assert fleet("publish", "--declarations", "-", input=narrow).status == 3
    assert etcd.revision() == revision + 1
    assert fleet("publish", "--undeclared", "--managed", "-", input='{"values": {"b": 1}}').status == 0


def test_a_refusal_of_a_long_member_is_short(fleet: Fleet) -> None:
    done = fleet("publish", "--managed", "-", input=json.dumps({"x" * 1_000_000: 1}))
    assert (done.status, len(done.err) < 1_000) == (3, True), done.err[:1_000]


def test_it_is_refused_if_another_administrator_was_faster(etcd: Etcd, fleet: Fleet) -> None:
    assert fleet("publish", "--managed", "-", "--if-revision", "0", input=VOLUME_30).status == 0
    revision = etcd.revision()
    done = fleet("publish", "--managed", "-", "--if-revision", "0", input=VOLUME_40)
    assert (done.status, f"revision {revision}" in done.err) == (3, True)
    assert fleet("publish", "--managed", "-", "--if-revision", str(revision), input=VOLUME_40).status == 0


def test_a_dry_run_names_the_machines_that_would_refuse(
    etcd: Etcd, fleet: Fleet, start_machine: StartMachine, tmp_path: Path
) -> None:
    start_machine(etcd, host="desk1")
    start_machine(etcd, "--prefix", "/kept", "--prefix", "/kiosk", host="kiosk1")
    etcd.put(key("declarations", "/kiosk"), SCHEMA)
    wait_for(lambda: report(etcd, "kiosk1").get("prefixes") == ["/kept", "/kiosk"], "kiosk1 has reported")
    wait_for(lambda: report(etcd, "desk1") != {}, "desk1 has reported")
    loud = '{"values": {"audio.volume": 500}}'
    done = fleet("publish", "--dry-run", "--managed", "-", input=loud)
    assert done.status == 3
    lines = done.out.splitlines()
    assert lines[0] == "+ managed audio.volume: 500"
    assert lines[1].startswith("kiosk1 would refuse managed under /kept: ")
    assert lines[2] == "1 of 2 machines would accept it"
    assert etcd.get(key("managed")) == ""
    done = fleet("publish", "--dry-run", "--managed", "-", input=VOLUME_30)
    assert (done.status, done.out.splitlines()[-1]) == (0, "2 of 2 machines would accept it")
    # For a group, the documents of all its prefixes are checked together.
    done = fleet("publish", "--prefix", "/kept", "--prefix", "/kiosk", "--managed", "-", input=loud)
    assert done.status == 3


def test_keys_that_differ_in_their_normal_form_are_shown_apart(etcd: Etcd, fleet: Fleet) -> None:
    composed, decomposed = "n\u00f6", "no\u0308"

    def document(first: object, second: object) -> str:
        return json.dumps({"values": {composed: first, decomposed: second}, "locked": [composed, decomposed]})

    done = fleet("publish", "--managed", "-", input=document(1, 2))
    assert done.out.splitlines()[:-1] == [
        "+ managed lock of " + decomposed, "+ managed lock of " + composed,
        f"+ managed {decomposed}: 2", f"+ managed {composed}: 1",
    ]  # fmt: skip
    done = fleet("publish", "--managed", "-", "--dry-run", input=document(2, 2))
    assert done.out.splitlines()[0] == f"~ managed {composed}: 1 → 2"
    assert fleet("publish", "--managed", "-", input=document(composed, 2)).status == 0
    done = fleet("publish", "--managed", "-", "--dry-run", input=document(decomposed, 2))
    assert done.out.splitlines()[0] == f'~ managed {composed}: "{composed}" → "{decomposed}"'


def test_a_secret_is_not_published(etcd: Etcd, fleet: Fleet, machine: Machine) -> None:
    document = '{"values": {"token": "hunter2"}}'
    assert fleet("publish", "--declarations", "-", input=SCHEMA).status == 0
    done = fleet("publish", "--managed", "-", "--undeclared", input=document)
    assert (done.status, done.out) == (3, "") and "token" in done.err and "in plain" in done.err
    assert "hunter2" not in done.err and etcd.get(key("managed")) == ""
    # Nor does a machine take it, if another program has put it there.
    etcd.put(key("managed"), document)
    wait_for_refusal(etcd, "managed", "declared secret")
    assert not machine.managed.exists()
    done = fleet("publish", "--managed", "-", input="{}")
    assert "- managed token: (secret)" in done.out and "hunter2" not in done.out + machine.log


def test_status_shows_who_has_what(etcd: Etcd, fleet: Fleet, start_machine: StartMachine) -> None:
    done = fleet("status")
    assert (done.status, "no machine has reported" in done.out) == (0, True)
    first = start_machine(etcd, host="web1")
    second = start_machine(etcd, host="web2")
    assert fleet("publish", "--managed", "-", input=VOLUME_30).status == 0
    revision = etcd.revision(key("managed"))

    def applied(host: str) -> int:
        return int(report(etcd, host).get("documents", {}).get("managed", {}).get("revision", 0))

    wait_for(lambda: applied("web1") == applied("web2") == revision, "both have it")
    done = fleet("status", "--json")
    assert done.status == 0
    machines = json.loads(done.out)
    assert [one["host"] for one in machines] == ["web1", "web2"]
    assert [one["behind"] for one in machines] == [0, 0]
    assert all(one["documents"]["managed"]["revision"] == revision for one in machines)
    # One is dead, and two publications later it is behind by two.
    second.kill()
    assert fleet("publish", "--managed", "-", input=VOLUME_40).status == 0
    assert fleet("publish", "--managed", "-", input=VOLUME_30).status == 0
    wait_for(lambda: applied("web1") == etcd.revision(key("managed")), "web1 has it")
    done = fleet("status", "--json")
    assert (done.status, [one["behind"] for one in json.loads(done.out)]) == (1, [0, 2])
    # Wrong documents are refused, with the reason.
    etcd.put(key("managed"), "[]")
    wait_for(lambda: "refused" in report(etcd), "web1 has refused it")
    done = fleet("status")
    assert (done.status, "managed: " in done.out) == (1, True)
    first.kill()


def test_the_status_of_this_machine(etcd: Etcd, machine: Machine) -> None:
    def status(*more: str) -> tuple[int, str, str]:
        done = run([program(), "status", "--status-file", str(machine.status_file), *more])
        return done.status, done.out, done.err

    code, out, _ = status()
    assert (code, f"connected to {etcd.urls[0]}" in out) == (0, True)
    etcd.put(key("managed"), "[]")
    wait_for(lambda: status()[0] == 1, "a refused document wants attention")
    assert json.loads(status("--json")[1])["refused"][0]["document"] == "managed"
    etcd.kill()
    wait_for(lambda: status()[0] == 4, "without etcd it is unavailable")
    assert "not connected" in status()[1]
    machine.kill()
    assert (status()[0], "has ended" in status()[2]) == (4, True)


def test_wrong_usage_is_told(etcd: Etcd, fleet: Fleet) -> None:
    assert fleet("publish").status == 2
    assert fleet("publish", "--remove", "everything").status == 2
    assert run([program(), "status", IDENTIFIER, "--etcd", "localhost:2379"]).status == 2
    assert run([program(), "publish", IDENTIFIER, "--remove", "managed"]).status == 2
    assert run([program(), "follow", "a/b", "--etcd", etcd.urls[0]]).status == 2
    assert run([program(), "status", IDENTIFIER, "--etcd", "http://127.0.0.1:1"]).status == 4


@pytest.mark.parametrize("output", [">/dev/full", ">&-"])
@pytest.mark.parametrize(
    ("words", "status", "is_published"),
    [
        ("publish {id} --managed - --dry-run", 4, False),
        ("publish {id} --managed -", 5, True),
        ("status {id}", 4, False),
        ("--version", 4, False),
    ],
)
def test_output_that_cannot_be_written_has_a_status(
    words: str, status: int, is_published: bool, output: str, etcd: Etcd
) -> None:
    target = "" if words == "--version" else f"--etcd {etcd.urls[0]}"
    shell = f"{program()} {words.format(id=IDENTIFIER)} {target} {output}"
    done = run(["sh", "-c", shell], '{"values":{"a":1}}')
    assert done.status == status and "the output cannot be written" in done.err, done
    assert bool(etcd.get(key("managed"))) == is_published
