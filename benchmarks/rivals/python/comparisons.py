"""How an engine performs a row. Each comparison prepares a store in its folder and yields the turns on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import cycle, islice
from pathlib import Path

from engines.engine import Engine
from names import NAMES, SHUFFLED, Value, values
from rounds import Turn, timed

Comparison = Callable[[type[Engine], Path, Value], AbstractContextManager[Turn]]
"""With values like the example."""


def filled(engine: type[Engine], folder: Path, example: Value) -> Engine:
    """A new store with all the names."""
    folder.mkdir(parents=True)
    opened = engine(folder, type(example))
    opened.set_together(zip(opened.keys(NAMES), values(example)))
    return opened


@contextmanager
def read_again(engine: type[Engine], folder: Path, example: Value) -> Iterator[Turn]:
    """Keys that were read before."""
    with closing(filled(engine, folder, example)) as opened:
        keys = opened.keys(SHUFFLED)
        opened.get(keys)
        ring = cycle(keys)
        yield timed(lambda operations: opened.get(islice(ring, operations)))


@contextmanager
def read_first(engine: type[Engine], folder: Path, example: Value) -> Iterator[Turn]:
    """Keys that were not read since the store was opened; opening is not counted."""
    filled(engine, folder, example).close()

    def turn(operations: int) -> int:
        took = 0
        for left in range(operations, 0, -len(SHUFFLED)):
            with closing(engine(folder, type(example))) as opened:
                took += timed(opened.get)(opened.keys(SHUFFLED[:left]))
        return took

    yield turn


@contextmanager
def write(engine: type[Engine], folder: Path, example: Value) -> Iterator[Turn]:
    """Each set in its own commit."""
    with closing(filled(engine, folder, example)) as opened:
        changes = zip(cycle(opened.keys(SHUFFLED)), values(example))
        yield timed(lambda operations: opened.set(islice(changes, operations)))


@contextmanager
def write_hundred(engine: type[Engine], folder: Path, example: Value) -> Iterator[Turn]:
    """A hundred sets in a commit."""
    with closing(filled(engine, folder, example)) as opened:
        changes = zip(cycle(opened.keys(SHUFFLED)), values(example))

        def commit(operations: int) -> None:
            for left in range(operations, 0, -100):
                opened.set_together(islice(changes, min(left, 100)))

        yield timed(commit)


@contextmanager
def open_and_read(engine: type[Engine], folder: Path, example: Value) -> Iterator[Turn]:
    """From nothing open to the first value; closing is not counted."""
    filled(engine, folder, example).close()

    def turn(operations: int) -> int:
        took = 0
        for _ in range(operations):
            began = time.perf_counter_ns()
            opened = engine(folder, type(example))
            opened.get(opened.keys(SHUFFLED[:1]))
            took += time.perf_counter_ns() - began
            opened.close()
        return took

    yield turn
