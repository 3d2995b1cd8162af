"""The model of ARMv8 gives the outcomes that the literature states for the well-known tests.

.venv/bin/python -m pytest Tests/robustness/models
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from arm import Access, Fence, Order, Program, is_possible

A, Q, L = Order.ACQUIRE, Order.ACQUIRE_PC, Order.RELEASE
PLAIN = Order.PLAIN


def R(word: str, value: int, order: Order = PLAIN) -> Access:
    return Access(word, read=value, order=order)


def W(word: str, value: int, order: Order = PLAIN) -> Access:
    return Access(word, write=value, order=order)


def X(word: str, old: int, new: int, order: Order = A | L) -> Access:
    return Access(word, read=old, write=new, order=order)


DMB, LD, ST = (Access(fence=fence) for fence in (Fence.FULL, Fence.LOAD, Fence.STORE))


def threads(*accesses: list[Access], **final: int) -> Program:
    return Program({f"P{number}": each for number, each in enumerate(accesses)}, final=final)


# The names of herd's catalogue.
POSSIBLE = {
    "MP": threads([W("x", 1), W("y", 1)], [R("y", 1), R("x", 0)]),
    "MP+rel+po": threads([W("x", 1), W("y", 1, L)], [R("y", 1), R("x", 0)]),
    "MP+po+acq": threads([W("x", 1), W("y", 1)], [R("y", 1, A), R("x", 0)]),
    "MP+rel-first+acq": threads([W("x", 1, L), W("y", 1)], [R("y", 1, A), R("x", 0)]),
    "MP+dmb.ld+dmb": threads([W("x", 1), LD, W("y", 1)], [R("y", 1), DMB, R("x", 0)]),
    "SB": threads([W("x", 1), R("y", 0)], [W("y", 1), R("x", 0)]),
    "SB+rel-acqpc": threads([W("x", 1, L), R("y", 0, Q)], [W("y", 1, L), R("x", 0, Q)]),
    "SB+dmb.ld": threads([W("x", 1), LD, R("y", 0)], [W("y", 1), LD, R("x", 0)]),
    # The pair of LDAXR and STLXR is not a fence for a later plain load.
    "SB+rmw-po": threads([X("x", 0, 1), R("y", 0)], [X("y", 0, 1), R("x", 0)]),
    "LB": threads([R("x", 1), W("y", 1)], [R("y", 1), W("x", 1)]),
    "S": threads([W("x", 2), W("y", 1)], [R("y", 1), W("x", 1)], x=2),
    "2+2W": threads([W("x", 1), W("y", 2)], [W("y", 1), W("x", 2)], x=1, y=1),
    "IRIW": threads([W("x", 1)], [W("y", 1)], [R("x", 1), R("y", 0)], [R("y", 1), R("x", 0)]),
    "WRC": threads([W("x", 1)], [R("x", 1), W("y", 1)], [R("y", 1), R("x", 0)]),
    "R+po+dmb": threads([W("x", 1), W("y", 1)], [W("y", 2), DMB, R("x", 0)], y=2),
    "CoRR other order": threads([W("x", 1)], [R("x", 0), R("x", 1)]),
}
IMPOSSIBLE = {
    "MP+rel+acq": threads([W("x", 1), W("y", 1, L)], [R("y", 1, A), R("x", 0)]),
    "MP+rel+acqpc": threads([W("x", 1), W("y", 1, L)], [R("y", 1, Q), R("x", 0)]),
    "MP+dmb.st+dmb.ld": threads([W("x", 1), ST, W("y", 1)], [R("y", 1), LD, R("x", 0)]),
    "MP+rmw+acq": threads([W("x", 1), X("y", 0, 1, L)], [R("y", 1, A), R("x", 0)]),
    "SB+rel-acq": threads([W("x", 1, L), R("y", 0, A)], [W("y", 1, L), R("x", 0, A)]),
    "SB+dmbs": threads([W("x", 1), DMB, R("y", 0)], [W("y", 1), DMB, R("x", 0)]),
    "SB+rmw-acq": threads([X("x", 0, 1), R("y", 0, A)], [X("y", 0, 1), R("x", 0, A)]),
    "LB+acqs": threads([R("x", 1, A), W("y", 1)], [R("y", 1, A), W("x", 1)]),
    "LB+rels": threads([R("x", 1), W("y", 1, L)], [R("y", 1), W("x", 1, L)]),
    "IRIW+acqs": threads([W("x", 1)], [W("y", 1)], [R("x", 1, A), R("y", 0)], [R("y", 1, A), R("x", 0)]),
    "WRC+rel+acq": threads([W("x", 1)], [R("x", 1), W("y", 1, L)], [R("y", 1, A), R("x", 0)]),
    "ISA2+rels+acqs": threads([W("x", 1), W("y", 1, L)], [R("y", 1, A), W("z", 1, L)], [R("z", 1, A), R("x", 0)]),
    "R+dmbs": threads([W("x", 1), DMB, W("y", 1)], [W("y", 2), DMB, R("x", 0)], y=2),
    "CoRR": threads([W("x", 1)], [R("x", 1), R("x", 0)]),
    "CoWR": threads([W("x", 1), R("x", 0)]),
    "CoRW1": threads([R("x", 1), W("x", 1)]),
    "MP+rel-rmw+acq": threads([W("x", 1), W("y", 1, L)], [X("y", 1, 2, PLAIN)], [R("y", 2, A), R("x", 0)]),
    "SB+rmw-rfi-acq+dmb": threads([X("x", 0, 1, PLAIN), R("x", 1, A), R("y", 0)], [W("y", 1), DMB, R("x", 0)]),
    "two exchanges of one value": threads([X("x", 0, 1, PLAIN)], [X("x", 0, 2, PLAIN)]),
    "a value from nowhere": threads([R("x", 1)]),
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_what_arm_allows_is_possible(name: str) -> None:
    assert is_possible(POSSIBLE[name])


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_arm_forbids_is_impossible(name: str) -> None:
    assert not is_possible(IMPOSSIBLE[name])


def interleaves(program: Program) -> bool:
    """Whether the reads return their values in some interleaving of the threads."""
    begun = [(tuple(list(each) for each in program.threads.values()), dict[str, int]())]
    while begun:
        rest, words = begun.pop()
        if not any(rest):
            return True
        for number, (access, *later) in ((n, each) for n, each in enumerate(rest) if each):
            if access.read in (None, words.get(access.word, 0)):
                after = words if access.write is None else {**words, access.word: access.write}
                begun.append(((*rest[:number], later, *rest[number + 1 :]), after))
    return False


def made(chance: random.Random) -> Program:
    """A program of two or three threads with two or three accesses each."""

    def access() -> Access:
        word, value, order = chance.choice("xy"), chance.choice((0, 1, 2)), chance.choice((PLAIN, A, L, A | L))
        if chance.random() < 0.1:
            return X(word, value, value + 1, order)
        return R(word, value, order) if chance.random() < 0.5 else W(word, value, order)

    return threads(*([access() for _ in range(chance.choice((2, 3)))] for _ in range(chance.choice((2, 2, 3)))))


def test_full_order_leaves_only_interleavings_and_less_order_excludes_none() -> None:
    chance = random.Random(37)
    found = set()
    for _ in range(2000):
        program = made(chance)
        fenced = threads(
            *([part for each in accesses for part in (each, DMB)] for accesses in program.threads.values())
        )
        ordered = threads(*([replace(each, order=A | L) for each in accesses] for accesses in program.threads.values()))
        interleaved, possible = interleaves(program), is_possible(program)
        assert is_possible(fenced) == is_possible(ordered) == interleaved, program
        assert possible or not interleaved, program
        found.add((interleaved, possible))
    # The programs are of all three kinds.
    assert found == {(True, True), (False, True), (False, False)}
