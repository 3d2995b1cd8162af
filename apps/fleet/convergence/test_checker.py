"""The checker: it has nothing to say about a right fleet, and finds every fault in a wrong one."""

from __future__ import annotations

import pytest
from checker import check
from model import FAULTS, run_model
from records import Event, Machine, Notice, Round, Row, Snapshot, Write

K = "s.0"


def test_a_right_fleet_has_no_faults() -> None:
    for seed in range(150):
        assert check(run_model(seed)) == [], f"seed {seed}"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_fleet_is_found(fault: str) -> None:
    found = {one.rule for seed in range(40) for one in check(run_model(seed, fault))}
    assert found & FAULTS[fault], f"found by {found}"


def faults(events: list[Event], *machines: Machine, **more: object) -> str:
    """The faults of a round that begins without keys and ends as etcd says."""
    after: dict[str, str] = {}
    for event in events:
        after.pop(event.key, None)
        if event.value is not None:
            after[event.key] = event.value
    found = check(Round(before={}, after=after, events=events, machines=machines, **more))  # type: ignore[arg-type]
    return "\n".join(map(str, found))


def machine(host: str, after: str | None, *changes: tuple[str | None, str | None]) -> Machine:
    """A machine with one key, whose history has these values and tags; those without a tag are written there."""
    old, rows, writes = None, [], []
    for revision, (new, tag) in enumerate(changes, 1):
        rows.append(Row(revision, K, old, new, tag))
        if tag is None:
            number = int(new.partition(":")[2]) if new else 1000 + revision
            writes.append(Write(number, {K: new}, True, revision))
        old = new
    return Machine(host, {}, {} if after is None else {K: after}, writes, rows)


WRITER = machine("a", "a:1", ("a:1", None))
EVENT = Event(1, K, "a:1", "a")


def test_a_change_that_came_is_no_fault() -> None:
    assert faults([EVENT], WRITER, machine("b", "a:1", ("a:1", "fleet:a"))) == ""


def test_a_machine_that_differs_is_found() -> None:
    assert "b differs from etcd: s.0 is None and a:1" in faults([EVENT], WRITER, machine("b", None))


def test_a_change_at_rest_is_found() -> None:
    assert "although all was quiet" in faults([EVENT], WRITER, at_rest=[Event(2, K, "a:1", "a")])


def test_an_acknowledged_write_without_a_trace_is_found() -> None:
    silent = Machine("a", {}, {}, [Write(1, {K: "a:1"}, True, 1)])
    assert "has no trace of it" in faults([], silent)
    unacknowledged = Machine("a", {}, {}, [Write(1, {K: "a:1"}, False)])
    assert faults([], unacknowledged) == ""


def test_writes_that_the_history_folds_to_nothing_are_not_lost() -> None:
    """The key was absent, and is removed again before the history is written."""

    def folded(missing: list[int], *last: Write) -> str:
        writes = [Write(1, {K: "a:1"}, True, 1), Write(2, {K: "a:2"}, True), *last]
        return faults([], Machine("a", {}, {}, writes, missing=missing))

    assert folded([1, 2], Write(3, {K: None}, True, 3)) == ""
    assert "a:1 for s.0, and its history has no trace" in folded([], Write(3, {K: None}, True, 3))
    assert "a:2 for s.0, and its history has no trace" in folded([1], Write(3, {K: None}, True, 3))
    assert "a:2 for s.0, and its history has no trace" in folded([1, 2])
    # A change of the key in between ends the fold.
    rows = [Row(2, K, None, "b:1", "fleet:b")]
    writes = [Write(1, {K: "a:1"}, True, 1), Write(2, {K: None}, True, 3)]
    assert "its history has no trace" in faults([], Machine("a", {}, {}, writes, rows, missing=[1]))


def test_what_etcd_has_of_writes_that_are_folded_to_nothing_is_not_too_early() -> None:
    events = [EVENT, Event(2, K, None, "a"), Event(3, K, "b:1", "b")]
    other = machine("b", "b:1", ("a:1", "fleet:a"), (None, "fleet:a"), ("b:1", None))
    rows = [Row(3, K, None, "b:1", "fleet:b")]

    def wrote(revision: int) -> str:
        writes = [Write(1, {K: "a:1"}, True, revision), Write(2, {K: None}, True, revision + 1)]
        return faults(events, other, Machine("a", {}, {K: "b:1"}, writes, rows, missing=[revision]))

    assert wrote(1) == ""
    writes = [Write(1, {K: "a:1"}, True, 5), Write(2, {K: None}, True, 6)]
    at_the_end = Machine("a", {}, {}, writes, missing=[5])
    assert faults(events[:2], at_the_end, machine("b", None, ("a:1", "fleet:a"), (None, "fleet:a"))) == ""
    assert "came at revision 3 before this machine had written what it replaced" in wrote(4)


CONFLICT = [Event(1, K, "b:1", "b")]
WINNER = machine("b", "b:1", ("b:1", None))


def test_a_lost_change_has_to_be_a_conflict_that_names_the_winner() -> None:
    def lost(tag: str) -> str:
        return faults(CONFLICT, WINNER, machine("a", "b:1", ("a:1", None), ("b:1", tag)))

    assert lost("fleet:b:conflict") == ""
    assert lost("fleet:b,c:conflict") == ""
    assert "a:1 was replaced at revision 2, and is in etcd or a conflict nowhere" in lost("fleet:b")
    assert "does not name b" in lost("fleet:c:conflict")
    assert "does not name b" in lost("fleet:unknown:conflict")
    assert "does not name b" in lost("fleet:a:conflict")


def test_a_change_that_is_lost_to_another_of_the_same_machine_is_found() -> None:
    own = machine("a", "a:1", ("a:1", None), ("a:2", None), ("a:1", "fleet:a,b:conflict"))
    assert "a:2 of a was lost for s.0, at 3, to no other machine" in faults([EVENT], own)


def test_a_winner_may_be_unknown_after_a_compaction() -> None:
    loser = machine("a", "b:1", ("a:1", None), ("b:1", "fleet:unknown:conflict"))
    assert faults(CONFLICT, WINNER, loser, compacted=1) == ""


def test_a_change_that_went_up_is_replaced_without_a_conflict() -> None:
    events = [EVENT, Event(2, K, "b:1", "b")]
    winner = machine("b", "b:1", ("a:1", "fleet:a"), ("b:1", None))
    assert faults(events, winner, machine("a", "b:1", ("a:1", None), ("b:1", "fleet:b"))) == ""


def test_what_comes_twice_or_back_is_found() -> None:
    events = [Event(1, K, "b:1", "b"), Event(2, K, "a:1", "a")]
    other = machine("b", "a:1", ("b:1", None), ("a:1", "fleet:a"))

    def history(*changes: tuple[str | None, str | None]) -> str:
        return faults(events, other, machine("a", "a:1", *changes))

    first = ("b:1", "fleet:b"), ("a:1", None)
    assert history(*first) == ""
    assert "b:1 came twice or late" in history(*first, ("b:1", "fleet:b"), ("a:1", "fleet:a"))


def test_a_value_of_its_own_that_comes_back_is_found() -> None:
    events = [EVENT, Event(2, K, "b:1", "b")]
    other = machine("b", "b:1", ("a:1", "fleet:a"), ("b:1", None))
    echo = ("a:1", None), ("b:1", "fleet:b"), ("a:1", "fleet:a"), ("b:1", "fleet:b")
    assert "its own a:1 came back" in faults(events, other, machine("a", "b:1", *echo))


def test_what_was_sent_and_is_folded_to_nothing_may_come_back_with_a_conflict() -> None:
    writes = [Write(1, {K: "a:1"}, True, 1), Write(2, {K: None}, True, 2)]
    rows = [Row(3, K, None, "a:1", "fleet:b:conflict")]
    assert faults([EVENT], Machine("a", {}, {K: "a:1"}, writes, rows, missing=[1, 2])) == ""


def test_what_comes_from_etcd_may_be_folded_with_commits_of_other_keys() -> None:
    events = [
        Event(1, K, "b:1", "b"),
        Event(2, K, "a:2", "a"),
        Event(2, "s.1", "a:2", "a"),
        Event(3, "s.2", "b:2", "b"),
    ]
    after = {K: "a:2", "s.1": "a:2", "s.2": "b:2"}
    seen = [Row(1, K, None, "b:1", None), Row(2, K, "b:1", "a:2", "fleet:a"), Row(2, "s.1", None, "a:2", "fleet:a")]
    wrote = [Write(1, {K: "b:1"}, True, 1), Write(2, {"s.2": "b:2"}, True, 3)]
    other = Machine("b", {}, after, wrote, [*seen, Row(3, "s.2", None, "b:2", None)])

    def folded(first: Write, missing: list[int]) -> str:
        both = {K: "a:2", "s.1": "a:2"}, {K: "a:3", "s.2": "a:3"}
        writes = [first, Write(2, both[0], True, 3), Write(3, both[1], True, 4)]
        rows = [Row(3, key, None, "a:2", None) for key in both[0]]
        rows += [Row(4, K, "a:2", "a:3", None), Row(4, "s.2", None, "a:3", None)]
        rows += [Row(5, K, "a:3", "a:2", "fleet:a,b:conflict"), Row(5, "s.2", "a:3", "b:2", "fleet:a,b:conflict")]
        return faults(events, Machine("a", {}, after, writes, rows, missing=missing), other)

    assert folded(Write(1, {K: "a:1"}, True, 1), [1, 2]) == ""
    assert "its own a:2 came back at revision 5" in folded(Write(1, {K: "a:1"}, True, 1), [])
    same = Write(1, {K: "a:1", "s.1": "a:1"}, True, 1)
    assert "its own a:2 came back at revision 5" in folded(same, [1, 2])


def test_local_changes_may_be_folded_with_what_replaced_the_last_of_them() -> None:
    events = [Event(1, K, "a:3", "a"), Event(1, "s.1", "a:2", "a"), Event(2, K, "b:1", "b"), Event(3, K, "a:4", "a")]
    after = {K: "a:4", "s.1": "a:2"}
    seen = [Row(1, K, None, "a:3", "fleet:a"), Row(1, "s.1", None, "a:2", "fleet:a"), Row(2, K, "a:3", "b:1", None)]
    other = Machine("b", {}, after, [Write(1, {K: "b:1"}, True, 2)], [*seen, Row(3, K, "b:1", "a:4", "fleet:a")])
    writes = [Write(1, {K: "a:1"}, True, 1), Write(2, dict.fromkeys((K, "s.1"), "a:2"), True, 2)]
    writes += [Write(3, {K: "a:3"}, True, 3), Write(4, {K: "a:4"}, True, 5)]
    rows = [Row(1, K, None, "a:1", None), Row(2, "s.1", None, "a:2", None), Row(4, K, "a:1", "b:1", "fleet:b")]
    rows.append(Row(5, K, "b:1", "a:4", None))
    assert faults(events, Machine("a", {}, after, writes, rows, missing=[2, 3]), other) == ""
    whole = Machine("a", {}, after, writes, rows)
    assert "a:1 was replaced at revision 4, and is in etcd or a conflict nowhere" in faults(events, whole, other)


def test_a_change_that_etcd_takes_after_it_was_given_up_is_found() -> None:
    events = [Event(1, "s.1", "b:1", "b"), Event(2, K, "a:1", "a")]
    both = {K: "a:1", "s.1": "b:1"}
    tag = "fleet:b:conflict"
    rows = [Row(1, K, None, "a:2", None), Row(2, K, "a:2", None, tag), Row(2, "s.1", "a:2", "b:1", tag)]
    rows += [Row(1, "s.1", None, "a:2", None), Row(3, K, None, "a:1", "fleet:a")]
    writes = [Write(1, {K: "a:1"}, True), Write(2, {K: "a:2", "s.1": "a:2"}, True, 1)]
    rows.sort(key=lambda row: row.revision)
    assert "its own a:1 came back at revision 3" in faults(events, Machine("a", {}, both, writes, rows))


def test_a_change_that_is_written_over_unseen_is_found() -> None:
    events = [Event(1, K, "b:1", "b"), Event(2, K, "a:1", "a")]
    other = machine("b", "a:1", ("b:1", None), ("a:1", "fleet:a"))
    blind = machine("a", "a:1", ("a:1", None))
    assert "written over unseen" in faults(events, other, blind)
    assert faults(events, other, blind, local_wins=True) == ""


def test_a_removal_that_the_history_does_not_show_may_be_the_same_as_one_in_etcd() -> None:
    events = [EVENT, Event(2, K, None, "b"), Event(3, K, "a:3", "a")]
    other = machine("b", "a:3", ("a:1", "fleet:a"), (None, None), ("a:3", "fleet:a"))
    rows = [Row(1, K, None, "a:1", None), Row(3, K, "a:1", "a:3", None)]
    writes = [Write(1, {K: "a:1"}, True), Write(2, {K: None}, True), Write(3, {K: "a:3"}, True)]
    assert faults(events, other, Machine("a", {}, {K: "a:3"}, writes, rows)) == ""
    assert "written over unseen" in faults(events, other, Machine("a", {}, {K: "a:3"}, writes[::2], rows))


def test_a_gap_in_a_history_is_found() -> None:
    gap = Machine("b", {}, {K: "a:1"}, (), [Row(1, K, "a:0", "a:1", "fleet:a")])
    assert "None became a:0 without a trace" in faults([EVENT], WRITER, gap)


def test_echoes_in_etcd_are_found() -> None:
    other = machine("b", "a:1", ("a:1", "fleet:a"))
    assert "b has put a:1" in faults([EVENT, Event(2, K, "a:1", "b")], WRITER, other)
    assert "twice or late" in faults([EVENT, Event(2, K, "a:1", "a")], WRITER, other)
    assert "no program had removed it" in faults([EVENT, Event(2, K, None, "b")], machine("b", None))


def test_an_observer_that_is_told_backwards_is_found() -> None:
    events = [EVENT, Event(2, K, "a:2", "a")]
    writer = machine("a", "a:2", ("a:1", None), ("a:2", None))

    def told(*notices: Notice) -> str:
        rows = [Row(1, K, None, "a:1", "fleet:a"), Row(2, K, "a:1", "a:2", "fleet:a")]
        return faults(events, writer, Machine("b", {}, {K: "a:2"}, (), rows, notices))

    first, second = Notice(1, 1, {K: "a:1"}), Notice(2, 2, {K: "a:2"})
    assert told(first, second) == ""
    assert "after a later change" in told(second, Notice(3, 3, {K: "a:1"}))
    assert "told of revision 1 after 2" in told(second, first)
    assert "never was in etcd" in told(Notice(1, 1, {K: "c:9"}))


def test_a_snapshot_of_two_revisions_is_found() -> None:
    both = {"s.1": "a:1", K: "a:1"}
    events = [Event(1, key, "a:1", "a") for key in both] + [Event(2, key, "a:2", "a") for key in both]
    rows = [Row(1, key, None, "a:1", "fleet:a") for key in both] + [Row(2, k, "a:1", "a:2", "fleet:a") for k in both]
    seen = Snapshot(2, {"s.1": "a:1", K: "a:2"})
    reader = Machine("b", {}, {"s.1": "a:2", K: "a:2"}, (), rows, (), [seen])
    assert "which etcd had replaced at 2" in faults(events, reader)


def test_groups_that_differ_are_found() -> None:
    group = (("g.a", "g.b"),)
    torn = Machine("b", {}, {}, snapshots=[Snapshot(1, {"g.a": "a:1"})])
    assert "a snapshot of b at 1: g.a is a:1, g.b is None" in faults([], torn, groups=group)
    told = Machine("b", {}, {}, notices=[Notice(1, 1, {"g.a": "a:1"})])
    assert "the notices of b up to 1" in faults([], told, groups=group)
    assert "etcd, at 1: g.a is a:1, g.b is None" in faults([Event(1, "g.a", "a:1", "a")], groups=group)


def test_a_write_that_goes_up_in_part_is_found() -> None:
    both = {"s.0": "a:1", "s.1": "a:1"}
    rows = [Row(1, key, None, "a:1", None) for key in both]
    writer = Machine("a", {}, both, [Write(1, both, True, 1)], rows)
    apart = [Event(1, "s.0", "a:1", "a"), Event(2, "s.1", "a:1", "a")]
    assert "a:1 came to etcd at 1 for s.0, and not for s.1" in faults(apart, writer)
    together = [Event(1, key, "a:1", "a") for key in both]
    assert faults(together, writer) == ""


def test_a_removal_that_goes_up_apart_is_found() -> None:
    put, there = Event(1, "s.1", "b:1", "b"), {"s.0": "a:1", "s.1": None}

    def parts(absent: tuple[str, ...]) -> str:
        writer = Machine("a", {}, {"s.0": "a:1"}, [Write(1, there, True, 2, absent)])
        return faults([put, Event(2, "s.0", "a:1", "a"), Event(3, "s.1", None, "a")], writer)

    assert "a:1 came to etcd at 2 for s.0, and not for s.1" in parts(())
    assert "and not for s.1" not in parts(("s.1",))
