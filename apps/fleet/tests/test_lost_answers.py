"""A call is lost, before or after etcd has applied it: whichever it is, no change is lost, sent twice, or comes back.

One machine changes keys, and one of its calls is lost. Before it reaches etcd again, it is killed or not, and the keys
change again on one side or both. A model says what both sides must have in the end.
"""

from __future__ import annotations

import base64
import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from calls import CallProxy

from conftest import (
    IDENTIFIER,
    VOLUME_30,
    VOLUME_40,
    Etcd,
    Machine,
    StartSync,
    SyncMachine,
    key,
    program,
    reports,
    run,
    wait_for,
    wait_until_same,
)


def values_in_etcd(etcd: Etcd, name: str) -> list[tuple[int, str]]:
    """The values that a key has had since it was last absent, with their revisions, the newest first."""
    values: list[tuple[int, str]] = []
    revision = 0
    while True:
        found = etcd.call("kv/range", key=base64.b64encode(name.encode()).decode(), revision=str(revision)).get("kvs")
        if not found:
            return values
        changed = int(found[0]["mod_revision"])
        values.append((changed, base64.b64decode(found[0]["value"]).decode()))
        revision = changed - 1


@dataclass(frozen=True)
class Case:
    since: str
    """Whether calls are counted from the `start` of the program, or when it is `connected`."""
    number: int
    when: str
    then: str
    """What changes before the machine reaches etcd again."""
    is_killed: bool

    def __str__(self) -> str:
        end = "-killed" if self.is_killed else ""
        return f"{self.since}-{self.number}-{self.when}-{self.then}{end}"


class Run:
    """A machine with a proxy of its own."""

    def __init__(self, etcd: Etcd, folder: Path, case: Case) -> None:
        self.etcd, self.case = etcd, case
        self.proxy = CallProxy(etcd.members[0].client)
        self.prefix = f"/kept-users/{case}"
        self.machine = SyncMachine(folder / str(case), "m", [self.proxy.url], self.prefix, [])
        self.machine.folder.mkdir()

    def name(self, key: str) -> str:
        return f"{self.prefix}/{IDENTIFIER}/user/{key}"

    def set(self, number: int) -> None:
        self.machine.transaction({"k": str(number), "j": str(number)})

    def close(self) -> None:
        self.machine.kill()
        self.proxy.close()

    def lose(self) -> bool:
        """Runs until a call is lost; returns false if there are fewer."""
        self.set(1)
        if self.case.since == "start":
            self.proxy.lose(self.case.number, self.case.when)
        self.machine.start()
        if self.case.since == "connected":
            wait_until_same(self.etcd, self.prefix, self.machine)
            self.proxy.lose(self.case.number, self.case.when)
        self.set(2)
        has_reported = [False]

        def is_over() -> bool:
            status = self.machine.status()
            has_reported[0] = has_reported[0] or bool(reports(self.etcd, self.prefix))
            is_quiet = status.get("pending") == 0 and self.etcd.get(self.name("j")) == "2"
            return self.proxy.lost.is_set() or is_quiet and has_reported[0]

        wait_for(is_over, f"{self.case}: a call is lost, or all is quiet: {self.machine.log}")
        return self.proxy.lost.is_set()

    def go_on(self) -> None:
        """Changes what the case says, lets the machine reach etcd again, and checks what comes of it."""
        case, machine = self.case, self.machine
        was_sent = self.etcd.get(self.name("k")) == "2"
        if case.is_killed:
            machine.kill()
        expected = {"k": "2", "j": "2"}
        if case.then in ("newer", "conflict", "other"):
            self.set(3)
            expected = {"k": "3", "j": "3"}
        if case.then == "removed":
            machine.reset("k")
            del expected["k"]
        if case.then == "other":
            self.etcd.put(self.name("o"), "9")
            expected["o"] = "9"
        if case.then in ("conflict", "overwritten"):
            self.etcd.put(self.name("k"), '"x"')
            expected["k"] = '"x"'
        self.proxy.mend()
        if case.is_killed:
            machine.start()
        wait_until_same(self.etcd, self.prefix, machine)
        found = machine.values()
        rows = machine.history()
        lost = [row for row in rows if (row.get("tag") or "").endswith(":conflict")]
        told = f"{case}: {found}, {rows}: {machine.log}"
        if case.then == "conflict" or case.then == "overwritten" and not was_sent:
            assert found["k"] == '"x"', told
            # The changes made with it may have lost, too.
            assert "k" in [row["key"] for row in lost], told
        else:
            assert found == expected, told
            assert not lost, told
            changes = values_in_etcd(self.etcd, self.name("j"))
            numbers = [int(text) for _, text in changes]
            assert numbers == sorted(set(numbers), reverse=True), f"{told}: {numbers}"
            if case.then in ("newer", "nothing", "other"):
                # Keys that were changed together change together at every revision.
                assert values_in_etcd(self.etcd, self.name("k")) == changes, told
        wait_for(lambda: bool(reports(self.etcd, self.prefix)), f"it has reported: {told}")
        assert len(reports(self.etcd, self.prefix)) == 1, told


def run_case(etcd: Etcd, folder: Path, case: Case) -> bool:
    one = Run(etcd, folder, case)
    try:
        if not one.lose():
            return False
        one.go_on()
        return True
    finally:
        one.close()


THEN = ["newer", "removed", "nothing", "other", "overwritten", "conflict"]


@pytest.mark.parametrize("then", THEN)
def test_an_answer_that_is_lost_loses_nothing(etcd: Etcd, tmp_path: Path, then: str) -> None:
    cases = [
        Case(since, number, when, then, is_killed)
        for since, most in (("start", 12), ("connected", 5))
        for number, when, is_killed in itertools.product(range(1, most + 1), ("before", "after"), (False, True))
    ]
    with ThreadPoolExecutor(8) as pool:
        were_lost = list(pool.map(lambda case: run_case(etcd, tmp_path, case), cases))
    # Of the first calls none is left out.
    assert were_lost[:20] == [True] * 20
    assert sum(were_lost) > 24


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_cannot_be_written_after_a_lost_answer_goes_up_later(
    etcd: Etcd, start_sync: StartSync, is_killed: bool
) -> None:
    one = start_sync(etcd, start=False)
    proxy = CallProxy(etcd.members[0].client)
    one.etcd = [proxy.url]
    name = f"/kept-users/anna/{IDENTIFIER}/user/k"
    try:
        one.set("k", "0")
        one.start()
        wait_until_same(etcd, "/kept-users/anna", one)
        number = 1
        while etcd.get(name) != "1":
            # The call that sends it is one of the next.
            proxy.lose(number, "after")
            one.set("k", "1")
            wait_for(lambda: proxy.lost.is_set() or etcd.get(name) == "1", "a call is lost")
            number += 1
        if is_killed:
            one.kill()
        etcd.call("maintenance/alarm", action="ACTIVATE", alarm="NOSPACE")
        one.set("k", "2")
        proxy.mend()
        if is_killed:
            one.start()
        wait_for(lambda: "no space left" in str(one.status()), f"it cannot be written: {one.log}")
        assert one.get("k") == "2"
        etcd.call("maintenance/alarm", action="DEACTIVATE", alarm="NOSPACE")
        wait_until_same(etcd, "/kept-users/anna", one)
        assert (one.get("k"), etcd.get(name)) == ("2", "2"), one.log
        assert [row["new"] for row in one.history("k")] in ([2, 1, 0], [2, 0], [2]), one.history("k")
    finally:
        proxy.close()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_follower_whose_answers_are_lost_has_the_files_and_one_report(etcd: Etcd, tmp_path: Path, when: str) -> None:
    def follow(number: int) -> None:
        prefix = f"/kept/{number}"
        proxy = CallProxy(etcd.members[0].client)
        machine = Machine(tmp_path / str(number), "m", [proxy.url], ["--prefix", prefix])
        machine.folder.mkdir()
        try:
            etcd.put(key("managed", prefix), VOLUME_30)
            proxy.lose(number, when)
            machine.start()
            wait_for(lambda: proxy.lost.is_set() or bool(reports(etcd, prefix)), f"lost: {machine.log}")
            proxy.mend()
            etcd.put(key("managed", prefix), VOLUME_40)
            machine.wait_until(machine.managed, VOLUME_40)
            revision = etcd.revision(key("managed", prefix))

            def has_reported() -> bool:
                return [one["documents"]["managed"]["revision"] for one in reports(etcd, prefix)] == [revision]

            wait_for(has_reported, f"one report has it: {reports(etcd, prefix)}, {machine.log}")
            assert "another machine" not in machine.log
        finally:
            machine.kill()
            proxy.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(follow, range(1, 9)))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_publication_whose_answer_is_lost_is_repeated_without_harm(etcd: Etcd, when: str) -> None:
    for number in range(1, 4):
        proxy = CallProxy(etcd.members[0].client)
        text = f'{{"values": {{"a": {number}}}}}'
        command = [program(), "publish", IDENTIFIER, "--managed", "-", "--timeout", "2", "--etcd"]
        proxy.lose(number, when)
        done = run([*command, proxy.url], text)
        assert (done.status, done.err != "") == (4, True) if proxy.lost.is_set() else (0, False), done
        if etcd.get(key("managed")) == text and done.status != 0:
            assert "publish again" in done.err
        assert run([*command, etcd.urls[0]], text).status == 0
        assert etcd.get(key("managed")) == text
        proxy.close()
