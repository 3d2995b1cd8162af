"""What a storm must leave behind: no acknowledged change lost, and one order of values for every key."""

from __future__ import annotations

import graphlib
from dataclasses import dataclass

SHARED = [f"shared{number}" for number in range(4)]
GSETTINGS = [f"g{number}" for number in range(8)]
PYTHON = ["p0", "p1"]
SWIFT = ["s0", "s1"]
KEYS = [*SHARED, *GSETTINGS, *PYTHON, *SWIFT]
INITIAL = "nobody:0"


@dataclass(frozen=True)
class Event:
    verb: str
    key: str
    value: str


def number_of(value: str) -> int:
    return int(value.partition(":")[2])


@dataclass
class Storm:
    """What the programs have noted, each from a start to a death, and what the store has in the end."""

    logs: list[list[Event]]
    final: dict[str, str]
    errors: list[str]


def values(storm: Storm, verb: str, key: str) -> list[str]:
    return [event.value for log in storm.logs for event in log if (event.verb, event.key) == (verb, key)]


def find_lost(storm: Storm, key: str) -> list[str]:
    """An acknowledged change that the store has not, nor a later one of the same writer."""
    final = storm.final[key]
    by_writer = max(
        (number_of(v) for v in values(storm, "ack", key) if v.split(":")[0] == final.split(":")[0]), default=0
    )
    if final != INITIAL and final not in values(storm, "try", key):
        return [f"{key} is {final}, which no program has set"]
    if key not in SHARED and final == INITIAL:
        by_writer = max(map(number_of, values(storm, "ack", key)), default=0)
    return (
        [f"{key} is {final}, but change {by_writer} was acknowledged: it is lost"]
        if number_of(final) < by_writer
        else []
    )


def find_half(storm: Storm, key: str) -> list[str]:
    """A shared key whose writer's own key is older, although both are set as one."""
    writer, _, number = storm.final[key].partition(":")
    if key not in SHARED or storm.final[key] == INITIAL or number_of(storm.final[writer]) >= int(number):
        return []
    return [f"{key} is {storm.final[key]}, but {writer} is {storm.final[writer]}: half of a change is lost"]


def find_disorder(storm: Storm, key: str) -> list[str]:
    """Values that two observers, or an observer and a writer, have in another order; or one that follows the last."""
    known = {INITIAL, *values(storm, "try", key)}
    before: dict[str, set[str]] = {}
    latest: dict[str, str] = {}
    problems = []
    for log in storm.logs:
        seen = [event.value for event in log if (event.verb, event.key) == ("saw", key)]
        problems += [f"{key}: {value} was seen, which no program has set" for value in seen if value not in known]
        for earlier, later in zip(seen, seen[1:]):
            if earlier != later:
                before.setdefault(later, set()).add(earlier)
        for event in log:
            if (event.verb, event.key) == ("try", key):
                writer = event.value.split(":")[0]
                before.setdefault(event.value, set()).add(latest.get(writer, INITIAL))
                latest[writer] = event.value
    try:
        list(graphlib.TopologicalSorter(before).static_order())
    except graphlib.CycleError as error:
        problems.append(f"{key}: seen in another order: {' before '.join(error.args[1])}")
    final = storm.final[key]
    problems += [
        f"{key}: {value} was seen after {final}, which the store has in the end"
        for value, earlier in before.items()
        if final in earlier and value in values(storm, "saw", key)
    ]
    return problems


def find_problems(storm: Storm) -> list[str]:
    searches = (find_lost, find_half, find_disorder)
    return [*storm.errors, *(problem for search in searches for key in KEYS for problem in search(storm, key))]
