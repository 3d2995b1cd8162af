"""Writes lost when four programs set their own names in one store at the same time."""

from __future__ import annotations

from pathlib import Path
from random import Random
from threading import Thread

from candidates import Candidate, place
from program import Program
from survivor import RING, WIDTH, text

PROGRAMS = 4
EACH = RING // PROGRAMS


def cell(candidate: Candidate, folder: Path, _random: Random, _rounds: int) -> str:
    with place(candidate, folder) as home:
        # The store exists before: creating it concurrently is a different test.
        with home.open() as first:
            first.get(1)
        programs = [home.open() for _ in range(PROGRAMS)]
        acknowledged: set[int] = set()
        threads = [Thread(target=_set, args=(each, who, acknowledged)) for who, each in enumerate(programs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with home.open() as reader:
            found = reader.get(RING)
    lost = sum(found[number] != text(number, WIDTH) for number in acknowledged)
    refused = RING - len(acknowledged)
    return f"{lost} of {len(acknowledged):,}" + (f", {refused} refused" if refused else "")


def _set(program: Program, who: int, acknowledged: set[int]) -> None:
    acknowledged.update(program.set(who * EACH, EACH))
    program.end()
