"""A search of every interleaving of a few programs, breadth first: the first counterexample is a shortest one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

State = TypeVar("State", bound=Hashable)


class Found(Exception):
    """Raised by a step that must never be taken: what is wrong, and the step."""


def explore(
    initial: State,
    steps: Callable[[State], Iterator[tuple[str, State]]],
    faults: Callable[[State], Iterable[str]] = lambda state: (),
) -> tuple[int, list[str]]:
    """Returns the number of states, and a path to a fault, which is its last element; no path if there is none."""
    before: dict[State, tuple[State, str] | None] = {initial: None}

    def path(state: State) -> list[str]:
        labels: list[str] = []
        while link := before[state]:
            state, label = link
            labels.append(label)
        return labels[::-1]

    queue = [initial]
    # The queue grows while it is read.
    for state in queue:
        for fault in faults(state):
            return len(queue), [*path(state), f"FAULT {fault}"]
        try:
            for label, after in steps(state):
                if after not in before:
                    before[after] = (state, label)
                    queue.append(after)
        except Found as found:
            fault, label = found.args
            return len(queue), [*path(state), label, f"FAULT {fault}"]
    return len(queue), []
