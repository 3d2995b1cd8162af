"""The atomic operations of Sources/CPlatform as compilers emit them for ARMv8, and programs of them with less order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from arm import Access, Fence, Order, Program

A, Q, L = Order.ACQUIRE, Order.ACQUIRE_PC, Order.RELEASE

FENCE = Access(fence=Fence.FULL)  # kept_fence: DMB ISH
ACQUIRE_FENCE = Access(fence=Fence.LOAD)  # __atomic_thread_fence(__ATOMIC_ACQUIRE): DMB ISHLD


def load(word: str, value: int) -> Access:
    """`kept_load64`: LDAR."""
    return Access(word, read=value, order=A)


def acquire(word: str, value: int) -> Access:
    """`__ATOMIC_ACQUIRE`: LDAR, or from ARMv8.3 on LDAPR, which orders less."""
    return Access(word, read=value, order=Q)


def store(word: str, value: int) -> Access:
    """`kept_store64`, and `__ATOMIC_RELEASE`: STLR."""
    return Access(word, write=value, order=L)


def exchange(word: str, old: int, new: int) -> Access:
    """`kept_exchange64` that succeeds, `kept_swap32`, `kept_add64`: LDAXR and STLXR, or CASAL."""
    return Access(word, read=old, write=new, order=A | L)


def subtract(word: str, old: int, new: int) -> Access:
    """`kept_subtract64`: LDXR and STLXR."""
    return Access(word, read=old, write=new, order=L)


def copied(word: str, value: int) -> Access:
    """A plain read, or one by the kernel."""
    return Access(word, read=value)


def written(word: str, value: int) -> Access:
    """A plain write, or one by the kernel."""
    return Access(word, write=value)


def needed(access: Access, order: Order | None = None) -> Access:
    return replace(access, needed=True if order is None else order)


def program(**parts: int | list[Access]) -> Program:
    """The threads, and the words that do not begin as 0."""
    return Program(
        {name: part for name, part in parts.items() if isinstance(part, list)},
        {word: part for word, part in parts.items() if isinstance(part, int)},
    )


def weakened(complete: Program) -> Iterator[tuple[str, bool, Program]]:
    """The program without each of its orders: the missing order, whether it is needed, and the remaining program."""
    for name, accesses in complete.threads.items():
        for place, access in enumerate(accesses):
            for weaker, is_needed in _weakened(access):
                left = [*accesses[:place], *weaker, *accesses[place + 1 :]]
                yield f"{name}: {access}", is_needed, replace(complete, threads={**complete.threads, name: left})


def _weakened(access: Access) -> Iterator[tuple[list[Access], bool]]:
    if access.fence:
        yield [], access.needed is True
    for order in access.order:
        is_needed = access.needed if isinstance(access.needed, bool) else order in access.needed
        yield [replace(access, order=access.order & ~order)], is_needed


def disordered(complete: Program) -> Program:
    """The program with plain accesses only: a read and a write for each exchange."""
    return replace(
        complete,
        threads={
            name: [part for each in accesses for part in _parts(each)] for name, accesses in complete.threads.items()
        },
    )


def _parts(access: Access) -> Iterator[Access]:
    if access.read is not None:
        yield copied(access.word, access.read)
    if access.write is not None:
        yield written(access.word, access.write)
