"""Which outcomes of a few accesses to shared words ARMv8 allows: its published model, evaluated exhaustively.

A program is some accesses for each thread, with the value that each read returns. `is_possible` looks for an execution
where the reads return these values: it tries every choice of the write that each read takes its value from, and every
order of the writes of a word. An execution is possible if it satisfies the three axioms of `aarch64.cat`, the model
that Arm maintains with the tool herd; the comments give its names. Leaving parts of the model out here only makes more
executions possible, so an execution that is impossible here is impossible there too:

- dependencies (`dob`): that a read decides the next access, or a written value, orders nothing;
- the order that CASAL, SWPAL and LDADDAL add to the pair of LDAXR and STLXR (`[range([A];amo;[L])]; po`), because
  processors before ARMv8.1 have only the pair;
- `lws`, the order of a write after earlier accesses of its thread to the same word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from graphlib import CycleError, TopologicalSorter


class Order(Flag):
    """The other accesses that an access orders."""

    PLAIN = 0
    ACQUIRE = auto()  # A: LDAR, LDAXR, and the read of CASAL
    ACQUIRE_PC = auto()  # Q: LDAPR, which an earlier release does not precede
    RELEASE = auto()  # L: STLR, STLXR, and the write of CASAL


class Fence(Enum):
    """The kinds of DMB ISH."""

    FULL = auto()
    LOAD = auto()
    STORE = auto()


@dataclass(frozen=True)
class Access:
    """A read, a write, or with both an exchange that succeeds; or a fence."""

    word: str = ""
    read: int | None = None
    write: int | None = None
    order: Order = Order.PLAIN
    fence: Fence | None = None
    # The orders without which a test expects the outcome to be possible.
    needed: Order | bool = False


@dataclass(frozen=True)
class Program:
    """The accesses of each thread, the words that do not begin as 0, and the values that words must end with."""

    threads: Mapping[str, Sequence[Access]]
    initial: Mapping[str, int] = field(default_factory=dict)
    final: Mapping[str, int] = field(default_factory=dict)


Pairs = set[tuple["Event", "Event"]]


@dataclass(frozen=True, eq=False)
class Event:
    """One read or write of a thread; an exchange has two."""

    thread: str
    place: int
    word: str
    value: int
    is_write: bool
    order: Order

    def precedes(self, other: Event) -> bool:
        """Whether it is before another of its thread: `po`."""
        return self.thread == other.thread and (self.place, self.is_write) < (other.place, other.is_write)


def is_possible(program: Program) -> bool:
    """Whether an execution lets every read return its value, and leaves the final values in the words."""
    threads = program.threads
    events = [event for name, accesses in threads.items() for event in _events(name, accesses)]
    program_order = {(a, b) for a in events for b in events if a.precedes(b)}
    local = {(a, b) for a, b in program_order if _is_kept(a, b, threads[a.thread])}
    exchanges = {(a, b) for a, b in program_order if a.place == b.place}
    reads = [event for event in events if not event.is_write]
    words = {event.word: program.initial.get(event.word, 0) for event in events}
    writes = {word: [event for event in events if event.is_write and event.word == word] for word in words}
    # None is the initial value.
    sources = [[a for a in writes[b.word] if a.value == b.value] + [None] * (words[b.word] == b.value) for b in reads]
    orders = [[order for order in itertools.permutations(each) if _is_in_order(order)] for each in writes.values()]
    for chosen in itertools.product(*sources):
        for coherence in itertools.product(*orders):
            last = words | {order[-1].word: order[-1].value for order in coherence if order}
            if any(last[word] != value for word, value in program.final.items()):
                continue
            rf = {(a, b) for a, b in zip(chosen, reads) if a}
            co = {pair for order in coherence for pair in itertools.combinations(order, 2)}
            fr = {(b, c) for a, b in zip(chosen, reads) for c in writes[b.word] if a is None or (a, c) in co}
            if _is_allowed(program_order, local, exchanges, rf, co, fr):
                return True
    return False


def _is_in_order(writes: Sequence[Event]) -> bool:
    return not any(b.precedes(a) for a, b in itertools.combinations(writes, 2))


def _events(name: str, accesses: Sequence[Access]) -> Iterator[Event]:
    for place, access in enumerate(accesses):
        if access.read is not None:
            yield Event(name, place, access.word, access.read, False, access.order & ~Order.RELEASE)
        if access.write is not None:
            yield Event(name, place, access.word, access.write, True, access.order & Order.RELEASE)


def _is_kept(a: Event, b: Event, accesses: Sequence[Access]) -> bool:
    """Whether all processors see two accesses of a thread in this order: `bob`, and `rmw` of `aob`."""
    fences = {access.fence for access in accesses[a.place : b.place]}
    return (
        a.place == b.place
        or Fence.FULL in fences
        or (not a.is_write and Fence.LOAD in fences)
        or (a.is_write and b.is_write and Fence.STORE in fences)
        or bool(a.order & (Order.ACQUIRE | Order.ACQUIRE_PC))
        or (Order.RELEASE in a.order and Order.ACQUIRE in b.order)
        or Order.RELEASE in b.order
    )


def _is_allowed(po: Pairs, local: Pairs, rmw: Pairs, rf: Pairs, co: Pairs, fr: Pairs) -> bool:
    """The three axioms, with the names of the model: reads-from, coherence and from-reads."""
    # Internal visibility: a thread sees its own accesses to one word in order.
    if not _is_acyclic({(a, b) for a, b in po if a.word == b.word} | rf | co | fr):
        return False
    # Atomicity: no other thread writes between the two halves of an exchange.
    external = {(a, b) for a, b in rf | co | fr if a.thread != b.thread}
    if any((read, other) in external and (other, write) in external for read, write in rmw for _, other in fr):
        return False
    # External visibility. The last part is `[range(rmw)]; rfi; [A | Q]` of `aob`.
    exchanged = {write for _, write in rmw}
    own = {(a, b) for a, b in rf - external if a in exchanged and b.order}
    return _is_acyclic(local | own | external)


def _is_acyclic(pairs: Iterable[tuple[Event, Event]]) -> bool:
    sorter: TopologicalSorter[Event] = TopologicalSorter()
    for before, after in pairs:
        sorter.add(after, before)
    try:
        sorter.prepare()
    except CycleError:
        return False
    return True
