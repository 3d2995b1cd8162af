"""The past of a store on the command line: log, undo, times, and the last good state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import Kept, on_terminal


@pytest.fixture
def changed(kept: Kept) -> Kept:
    for value in ("1", "2", "3"):
        assert kept("set", "player", "volume", value).status == 0
    assert kept("set", "player", "view.size=10", "view.dark=true").status == 0
    return kept


def test_a_mistyped_key_has_no_past_but_a_suggestion(declared: Kept) -> None:
    done = declared("log", "player", "audio.volum")
    assert done.status == 1 and 'did you mean "audio.volume"?' in done.err
    assert "did you mean" not in declared("log", "player", "audio.volume").err


def test_log_has_each_change_with_its_tag_the_newest_first(changed: Kept) -> None:
    lines = changed("log", "player").out.splitlines()
    assert [line.split()[0] for line in lines] == ["4", "4", "3", "2", "1"]
    assert lines[0].endswith("view.dark: – → true (kept)")
    assert lines[2].endswith("volume: 2 → 3 (kept)")
    assert changed("log", "player", "volume", "--limit", "1").out.count("\n") == 1
    assert changed("log", "player", "view.").out.count("\n") == 2
    change = json.loads(changed("log", "player", "volume", "--json", "-n", "1").out)
    assert (change["key"], change["old"], change["new"], change["tag"]) == ("volume", 2, 3, "kept")


def test_an_empty_log_is_exit_status_1(changed: Kept) -> None:
    done = changed("log", "player", "never")
    assert (done.status, done.out) == (1, "")
    assert "no changes" in done.err
    assert changed("set", "new", "a", "1").status == 0 and changed("log", "new", "other").err == "kept: no changes\n"
    assert changed("log", "nowhere").status == 4
    assert changed("log", "player", "--limit", "0").status == 2


def test_undo_takes_the_newest_change_back_or_the_one_that_is_named(changed: Kept) -> None:
    dry = changed("undo", "player", "3", "--dry-run")
    assert (dry.status, dry.out) == (0, "~ volume: 3 → 2\n")
    assert changed("get", "player", "volume").out == "3\n"
    assert changed("undo", "player").out == "- view.size: 10\n- view.dark: true\n"
    assert changed("get", "player", "view.size").status == 1
    assert changed("undo", "player", "@3").status == 0
    assert changed("get", "player", "volume").out == "2\n"
    assert changed("log", "player", "-n", "1").out.endswith("(kept undo)\n")
    assert changed("undo", "player", "--quiet").out == ""
    assert changed("get", "player", "volume").out == "3\n"


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_undo_is_refused_with_a_list_if_a_key_has_changed_since(changed: Kept, dry: list[str]) -> None:
    done = changed("undo", "player", "1", *dry)
    assert done.status == 3
    assert "these keys have changed since: volume" in done.err and done.err.count("volume") == 1
    assert changed("undo", "player", "77", *dry).status == 4
    assert changed("undo", "player", "x", *dry).status == 2


def test_a_time_is_compared_with_the_present_or_with_another(changed: Kept) -> None:
    done = changed("diff", "player", "@2")
    assert (done.status, done.out) == (1, "+ view.dark: true\n+ view.size: 10\n~ volume: 2 → 3\n")
    assert changed("diff", "player", "@1", "@2").out == "~ volume: 1 → 2\n"
    assert changed("diff", "player", "@4").status == 0
    assert changed("diff", "player", "@1d").out.startswith("+ view.dark")
    assert changed("diff", "player", "@99").status == 4
    for wrong in ("@", "@x", "@5w", "@2026-13-01"):
        done = changed("diff", "player", wrong)
        assert done.status == 2 and "is not a valid time" in done.err, wrong


def test_a_value_of_the_past_is_printed(changed: Kept) -> None:
    assert changed("get", "player", "volume", "--at", "@1").out == "1\n"
    assert changed("get", "player", "view.dark", "--at", "@1").status == 1
    assert changed("get", "player", "volume", "--at", "1").status == 2


def test_a_key_without_a_value_then_is_no_mistake_in_its_name(kept: Kept) -> None:
    assert kept("set", "player", "a", "1").status == 0
    assert kept("set", "player", "b", "2").status == 0
    done = kept("get", "player", "b", "--at", "@1")
    assert (done.status, done.err) == (1, 'kept: "b": had no value then; kept log shows its changes\n')


def program(environment: dict[str, str], code: str) -> str:
    """What a program of the Python package prints."""
    root = Path(__file__).parents[3]
    library = os.environ.get("KEPT_LIBRARY", str(root / "build/lib/libkept.so.0"))
    more = {"KEPT_LIBRARY": str(Path(library).absolute()), "PYTHONPATH": str(root / "bindings/python/src")}
    done = subprocess.run(
        [sys.executable, "-c", f"import kept\n{code}"],
        capture_output=True,
        text=True,
        cwd=environment["HOME"],
        env=environment | more,
        timeout=120,
        check=True,
    )
    return done.stdout


WRITE_QUICKLY = """
with kept.open("./fold.kept") as settings:
    missing = ()
    while not missing:
        for number in range(100):
            settings["a"] = number
        missing = settings.history().missing
    print(missing[-1][0], missing[-1][-1])
"""


def test_a_revision_that_is_a_part_of_a_change_is_refused(kept: Kept, environment: dict[str, str]) -> None:
    first, last = (int(word) for word in program(environment, WRITE_QUICKLY).split())
    before, after = kept("get", "./fold.kept", "a", "--at", f"@{first - 1}"), f"@{last + 1}"
    assert before.status in (0, 1)
    assert kept("get", "./fold.kept", "a", "--at", after).out == "99\n"
    assert kept("diff", "./fold.kept", f"@{first - 1}", after).status == 1
    for words in (["get", "./fold.kept", "a", "--at", f"@{last}"], ["diff", "./fold.kept", f"@{last}", after]):
        done = kept(*words)
        assert (done.status, done.out) == (4, ""), words
        assert f"the history does not have revision {last}" in done.err
        assert f"use {first - 1} or {last + 1}" in done.err


@pytest.mark.parametrize("limit", ["changes", "changesPerKey", "days", "bytes"])
def test_a_store_without_a_history_has_no_past(changed: Kept, environment: dict[str, str], limit: str) -> None:
    program(environment, f"with kept.open('player') as s: s.history_limits = {{'{limit}': 0}}")
    assert changed("set", "player", "volume", "9").status == 0
    for time in ("@0", "@3", "@4", "@1d"):
        for words in (["get", "player", "volume", "--at", time], ["diff", "player", time, "--quiet"]):
            done = changed(*words)
            first = "after revision 5" in done.err or "use 5 or a later revision" in done.err
            assert (done.status, done.out) == (4, "") and first, (words, done)
    assert changed("get", "player", "volume", "--at", "@5").out == "9\n"
    assert "no change is known after revision 5" in changed("log", "player").err


def test_a_secret_is_in_the_log_without_its_value(kept: Kept) -> None:
    schema = json.dumps({"properties": {"pin": {"type": "string", "secret": True}}})
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("declare", "player", "-", input=schema).status == 0
    for pin in ("first-pin", "second-pin"):
        assert kept("set", "player", "pin", pin).status == 0
    shown = kept("log", "player").out + kept("log", "player", "--json").out + kept("list", "player", "--json").out
    assert "-pin" not in shown and "(secret) → (secret)" in shown
    done = kept("undo", "player")
    assert done.status != 0 and "secret" in done.err and "-pin" not in done.err


def test_list_says_when_and_by_whom(changed: Kept) -> None:
    listed = json.loads(changed("list", "player", "--json").out)
    assert listed["volume"]["tag"] == "kept"
    assert listed["volume"]["changed"].endswith("Z")


def test_the_last_good_state_comes_back(changed: Kept) -> None:
    nothing = changed("restore", "player", "--last-good")
    assert nothing.status == 4 and "nothing is marked as good" in nothing.err
    assert changed("mark", "good", "player").out.startswith("revision 4 is marked as good")
    assert changed("set", "player", "volume", "99").status == 0
    assert changed("restore", "player", "--last-good", "--dry-run").out == "~ volume: 99 → 3\n"
    assert changed("restore", "player", "--last-good").status == 0
    assert changed("get", "player", "volume").out == "3\n"
    assert changed("mark", "player").status == 2


def test_a_change_of_a_secret_shows_no_value_after_its_declaration_is_removed(kept: Kept) -> None:
    schema = json.dumps({"properties": {"pin": {"type": "string", "secret": True}}})
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("declare", "player", "-", input=schema).status == 0
    for pin in ("first-pin", "second-pin"):
        assert kept("set", "player", "pin", pin).status == 0
    assert kept("undeclare", "player", "pin").status == 0
    newest = kept("log", "player", "pin", "--limit", "1")
    assert newest.status == 0 and "pin: (secret) → (secret)" in newest.out and "-pin" not in newest.out
    assert "-pin" not in kept("log", "player", "pin", "--limit", "1", "--json").out


@pytest.mark.parametrize("revision", [["99"], []])
def test_what_is_not_in_the_history_cannot_be_undone(
    revision: list[str], changed: Kept, environment: dict[str, str]
) -> None:
    program(environment, "with kept.open('player') as s: s.history_limits = {'changes': 0}; s.history_limits = {}")
    assert changed("undo", "player", *revision).status == 4


def test_redo_takes_back_the_undos_the_last_one_first(changed: Kept) -> None:
    assert (changed("redo", "player").status, changed("redo", "player", "x").status) == (4, 2)
    assert changed("undo", "player", "4").status == changed("undo", "player", "3").status == 0
    dry = changed("redo", "player", "--dry-run")
    assert (dry.status, dry.out) == (0, "~ volume: 2 → 3\n")
    assert changed("get", "player", "volume").out == "2\n"
    assert changed("redo", "player").out == dry.out
    assert changed("log", "player", "-n", "1").out.endswith("volume: 2 → 3 (kept redo)\n")
    assert changed("redo", "player", "--quiet").out == ""
    assert changed("get", "player", "volume", "view.size", "view.dark").out == "3\n10\ntrue\n"
    assert "nothing to redo" in changed("redo", "player").err
    # What was redone can be undone and redone.
    assert changed("undo", "player").out == "- view.size: 10\n- view.dark: true\n"
    assert changed("redo", "player").out == "+ view.size: 10\n+ view.dark: true\n"
    assert changed("redo", "player").status == 4


def test_redo_takes_back_an_undo_of_the_browser(changed: Kept, environment: dict[str, str]) -> None:
    assert changed("undo", "player", "4").status == 0
    program(environment, "kept.open('player').undo(3, tag='kept browse undo')")
    assert changed("get", "player", "volume").out == "2\n"
    assert changed("redo", "player").out == "~ volume: 2 → 3\n"
    assert changed("redo", "player").out == "+ view.size: 10\n+ view.dark: true\n"


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_redo_is_refused_if_a_key_has_changed_since(changed: Kept, dry: list[str]) -> None:
    assert changed("undo", "player", "4").status == 0
    assert changed("set", "player", "volume", "9").status == 0
    assert changed("redo", "player", "--dry-run").status == 0
    assert changed("set", "player", "view.size", "11").status == 0
    before = changed("log", "player").out
    done = changed("redo", "player", *dry)
    assert (done.status, done.out, "view.size" in done.err) == (3, "", True)
    assert changed("log", "player").out == before


def test_a_store_is_restored_to_a_time_in_one_change_that_can_be_undone(changed: Kept) -> None:
    assert changed("reset", "player", "volume").status == 0
    assert changed("set", "player", "other", "1").status == 0
    now = changed("export", "player").out
    dry = changed("restore", "player", "@2", "--dry-run")
    expected = ["+ volume: 2", "- other: 1", "- view.dark: true", "- view.size: 10"]
    assert (dry.status, sorted(dry.out.splitlines())) == (0, sorted(expected))
    assert changed("export", "player").out == now
    done = changed("restore", "player", "@2")
    assert (done.status, done.out, done.err) == (0, "the store has the values of revision 2, at revision 7\n", "")
    assert changed("list", "player").out == "volume=2\n"
    assert changed("diff", "player", "@2").status == 0
    assert changed("restore", "player", "@2", "--quiet").out == ""
    assert changed("undo", "player").status == 0
    assert json.loads(changed("export", "player").out)["values"] == json.loads(now)["values"]
    assert changed("restore", "player", "@1d").status == 0
    assert changed("list", "player").out == ""


def test_of_a_key_and_its_former_name_the_newer_value_is_restored(kept: Kept) -> None:
    schema = '{"properties": {"new": {"type": "integer", "renamedFrom": "old"}}}'
    assert kept("declare", "player", "-", input=schema).status == 0
    for key, value in (("new", "1"), ("old", "2"), ("new", "3")):
        assert kept("set", "player", key, value, "--undeclared").status == 0
    middle, last = json.loads(kept("log", "player", "--json", "-n", "2").out.splitlines()[1])["revision"], 4
    assert kept("restore", "player", f"@{middle}").status == 0
    assert kept("list", "player").out == "old=2\n"
    assert kept("declare", "player", "-", input=schema).status == 0
    assert kept("list", "player").out == "new=2\n"
    assert kept("restore", "player", f"@{last}").status == 0
    assert kept("list", "player").out == "new=3\n"


def test_a_time_that_the_history_does_not_have_restores_nothing(changed: Kept) -> None:
    before = changed("log", "player").out
    for words, status in ((["@99"], 4), (["@x"], 2), (["@1", "@2"], 2), (["@1", "--last-good"], 2)):
        assert changed("restore", "player", *words).status == status, words
    assert changed("restore", "none", "@1").status == 4
    assert changed("log", "player").out == before


def test_values_that_are_not_admitted_any_more_refuse_the_whole_restoration(changed: Kept) -> None:
    assert (
        changed("declare", "player", "-", input='{"properties":{"volume":{"type":"integer","minimum":3}}}').status == 0
    )
    before = changed("log", "player").out
    done = changed("restore", "player", "@1")
    assert (done.status, done.out, "volume" in done.err) == (3, "", True)
    assert changed("log", "player").out == before


def test_values_that_the_history_does_not_keep_stay_and_are_named(declared: Kept) -> None:
    assert declared("set", "player", "token=first", "title=a", "icon=aWNvbg==").status == 0
    revision = declared("log", "player").out.split()[0]
    assert declared("set", "player", "title", "b").status == 0
    assert declared("restore", "player", f"@{revision}").status == 0
    for key, value in (("token", "hunter2"), ("icon", "A" * 100_000)):
        assert declared("set", "player", "title", "c").status == 0
        assert declared("set", "player", key, value).status == 0
        for options in (["--dry-run"], ["--quiet"]):
            done = declared("restore", "player", f"@{revision}", *options)
            assert (done.status, f'"{key}": is left as it is' in done.err, "hunter2" in done.err) == (1, True, False)
        assert declared("get", "player", "title").out == "a\n"
        assert declared("get", "player", key, "--reveal").out == f"{value}\n"
    assert ", except 2 keys, at revision " in declared("restore", "player", f"@{revision}").out
    assert declared("undo", "player").status == 0
    assert declared("get", "player", "title").out == "c\n"


def test_migrate_status_shows_the_schema_version(changed: Kept) -> None:
    assert changed("migrate-status", "player").out == "schema version 0\n"
    assert json.loads(changed("migrate-status", "player", "--json").out) == {"schemaVersion": 0}


def test_a_store_that_is_younger_than_the_time_had_no_values_then(declared: Kept) -> None:
    assert declared("set", "player", "audio.volume", "7").status == 0
    done = declared("diff", "player", "@1d")
    assert (done.status, done.out) == (1, "+ audio.volume: 7\n")
    assert declared("get", "player", "audio.volume", "--at", "@1d").status == 1


def test_times_have_the_same_number_of_digits(changed: Kept) -> None:
    times = [line.split()[1] for line in changed("log", "player").out.splitlines()]
    times.append(changed("watch", "player", "volume", "--initial", "--timeout", "0").out.split()[0])
    assert {len(time) for time in times} == {len("2026-11-24T10:00:00.000Z")}


@pytest.mark.parametrize(("zone", "offset"), [("XST-5:30", "+05:30"), ("XST+3", "-03:00"), ("UTC", "Z")])
def test_people_see_times_in_their_time_zone_and_programs_in_utc(
    zone: str, offset: str, changed: Kept, environment: dict[str, str]
) -> None:
    def shown(*words: str) -> list[str]:
        return changed(*words, more={"TZ": zone}).out.split()

    local = shown("log", "player", "volume", "-n", "1")[1]
    utc = json.loads(changed("log", "player", "volume", "-n", "1", "--json", more={"TZ": zone}).out)["time"]
    assert local.endswith(offset) and utc.endswith("Z")
    assert timedelta() <= datetime.fromisoformat(utc) - datetime.fromisoformat(local) < timedelta(milliseconds=1)
    assert f"{local}," in shown("explain", "player", "volume")
    assert shown("watch", "player", "volume", "--initial", "--timeout", "0")[0].endswith(offset)
    assert f" {local[:16]} " in on_terminal(environment | {"TZ": zone}, ["list", "player"], [])[1]


@pytest.mark.parametrize("offset", ["+05:30", "-03:00"])
def test_a_time_may_have_an_offset(offset: str, changed: Kept) -> None:
    zone = datetime.fromisoformat(f"2026-11-24T00:00:00{offset}").tzinfo
    for minutes, status in ((-1, 1), (1, 0)):
        time = (datetime.now(zone) + timedelta(minutes=minutes)).isoformat()
        assert changed("get", "player", "volume", "--at", f"@{time}").status == status, time
    for wrong in ("+0100", "+25:00", "+1:00", "+01:00Z", "01:00"):
        assert changed("get", "player", "volume", "--at", f"@2026-11-24T10:00:00{wrong}").status == 2, wrong


def test_a_day_begins_at_midnight_in_the_time_zone_of_the_user(changed: Kept) -> None:
    day = f"@{datetime.now(UTC).date()}"
    assert changed("get", "player", "volume", "--at", day).status == 1
    # There it has not begun yet.
    assert changed("get", "player", "volume", "--at", day, more={"TZ": "XST+24"}).out == "3\n"


LARGE = "x" * 70_000


def test_a_value_that_is_known_to_differ_is_a_difference_though_it_is_not_kept(kept: Kept) -> None:
    assert kept("set", "player", "a", LARGE, "--string").status == 0
    assert kept("set", "player", "a", "1").status == 0
    done = kept("diff", "player", "@1")
    assert (done.status, done.out, done.err) == (1, "~ a: (not kept) → 1\n", "")
    assert kept("diff", "player", "@1", "--json").out == '{"key":"a","new":1,"notKept":["old"]}\n'
    assert kept("diff", "player", "@1", "--quiet").status == 1
    assert kept("diff", "player", "@2", "@1").out == "~ a: 1 → (not kept)\n"
    assert kept("reset", "player", "a").status == 0
    done = kept("diff", "player", "@1")
    assert (done.status, done.out) == (1, "- a: (not kept)\n")


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_values_that_may_be_the_same_cannot_be_compared(kept: Kept, quiet: list[str]) -> None:
    for value in (LARGE, LARGE + "y"):
        assert kept("set", "player", "a", value, "--string").status == 0
    done = kept("diff", "player", "@1", *quiet)
    assert (done.status, done.out) == (4, "")
    assert '"a" cannot be compared, and may differ' in done.err
    assert bool(quiet) or '"a": is left out, because the history has not kept its value' in done.err
    # A value known to differ is a difference all the same.
    assert kept("set", "player", "b", "1").status == 0
    assert kept("diff", "player", "@1", *quiet).status == 1


def test_a_secret_of_the_past_cannot_be_compared_unless_there_was_or_is_none(kept: Kept) -> None:
    schema = json.dumps({"properties": {"pin": {"type": "string", "secret": True}}})
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("declare", "player", "-", input=schema).status == 0
    for pin in ("first-pin", "second-pin"):
        assert kept("set", "player", "pin", pin).status == 0
    done = kept("diff", "player", "@2")
    assert (done.status, done.out) == (4, "") and '"pin"' in done.err and "-pin" not in done.err
    assert kept("diff", "player", "@1").out == "+ pin: (secret)\n"
    assert kept("reset", "player", "pin").status == 0
    for more in ([], ["--reveal"]):
        done = kept("diff", "player", "@2", *more)
        assert (done.status, done.out) == (1, f"- pin: {'(not kept)' if more else '(secret)'}\n")
    assert kept("diff", "player", "@2", "--json").out == '{"key":"pin","secret":true}\n'
    assert "keeps no secrets" in kept("get", "player", "pin", "--at", "@2", "--reveal").err


def test_a_key_whose_first_changes_are_forgotten_may_have_had_no_value(
    changed: Kept, environment: dict[str, str]
) -> None:
    program(environment, "with kept.open('player') as s: s.history_limits = {'changesPerKey': 1}")
    for time in ("@0", "@1d"):
        done = changed("get", "player", "volume", "--at", time)
        assert (done.status, done.out) == (4, "")
        assert '"volume": may have had a value at revision 0' in done.err
    assert changed("get", "player", "volume", "--at", "@1").status == 4
    assert changed("get", "player", "volume", "--at", "@2").out == "2\n"
    assert changed("diff", "player", "@1", "@3", "--quiet").status == 4
    assert changed("diff", "player", "@0", "@2").out == ""
    assert changed("diff", "player", "@2", "@3").out == "~ volume: 2 → 3\n"


def test_a_comparison_from_after_the_time_finds_differences_or_cannot_be_made(
    changed: Kept, environment: dict[str, str]
) -> None:
    # Its changes are forgotten.
    program(environment, "with kept.open('player') as s: s.history_limits = {'changes': 0}; s.history_limits = {}")
    done = changed("diff", "player", "@1d", "--quiet")
    assert (done.status, done.out) == (4, "") and "there may be earlier ones" in done.err
    assert changed("set", "player", "volume", "9").status == 0
    done = changed("diff", "player", "@1d")
    assert (done.status, done.out) == (1, "~ volume: 3 → 9\n") and "begins later, after revision 4" in done.err


def test_get_has_another_status_for_a_revision_that_is_not_there_than_for_a_key(changed: Kept) -> None:
    assert changed("get", "player", "volume", "--at", "@0").status == 1
    assert changed("get", "player", "volume", "--at", "@0", "--default", "none").out == "none\n"
    for words in (["--at", "@99"], ["--at", "@99", "--quiet"], ["--at", "@99", "--default", "none"]):
        done = changed("get", "player", "volume", *words)
        assert (done.status, done.out) == (4, "") and "the store is at revision 4" in done.err, words


def test_a_backup_is_not_mistaken_for_a_store(changed: Kept) -> None:
    assert changed("backup", "player", "old.backup").status == 0
    assert changed("export", "player", "--output", "./export").status == 0
    for file in ("old.backup", "./old.backup", "./export"):
        for words in (["diff", file, "@2"], ["log", file], ["get", file, "volume"], ["set", f"./{file}", "a", "1"]):
            done = changed(*words)
            assert done.status == 4 and " is a file" in done.err, words
            assert "kept diff A B compares backups and exports" in done.err, words
        assert changed("diff", file, "player").status == 0


def test_the_removal_of_a_secret_is_told_from_a_change(kept: Kept) -> None:
    schema = json.dumps({"properties": {"pin": {"type": "string", "secret": True}}})
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("declare", "player", "-", input=schema).status == 0
    assert kept("set", "player", "pin", "hunter2").status == 0
    assert kept("undo", "player", "--dry-run").out == "- pin: (secret)\n"
    assert kept("set", "player", "pin", "hunter3").status == 0
    assert kept("reset", "player", "pin").status == 0
    lines = [line.split(" ", 2)[2] for line in kept("log", "player").out.splitlines()]
    assert lines == [f"pin: {change} (kept)" for change in ("(secret) → –", "(secret) → (secret)", "– → (secret)")]
    changes = [json.loads(line) for line in kept("log", "player", "--json").out.splitlines()]
    assert [change["notKept"] for change in changes] == [["old"], ["old", "new"], ["new"]]
    assert all(change["secret"] and not {"old", "new"} & change.keys() for change in changes)
    assert "the history keeps no secrets" in kept("undo", "player").err


@pytest.mark.parametrize("value", ["hunter2", "A" * 100_000])
def test_undo_and_redo_name_the_keys_whose_values_cannot_be_restored(value: str, declared: Kept) -> None:
    key = "token" if value == "hunter2" else "icon"
    assert declared("set", "player", "title", "a").status == 0
    assert declared("set", "player", f"{key}={value}", "title=b").status == 0
    for options in (["--dry-run"], []):
        done = declared("undo", "player", *options)
        assert (done.status, done.err.count("kept: ")) == (0, 1), done
        assert f'"{key}": the replaced value cannot be restored' in done.err and value not in done.err
    assert declared("redo", "player").status == 3
    assert declared("set", "player", "title", "b").status == 0
    assert declared("undo", "player").err == ""
