"""Acknowledged writes lost over rounds of kill -9: programs that set values, each killed in the middle of its work.

A write is lost if it was acknowledged and is missing when the store is reopened, unless a later one has replaced it.
A loss in one round is not counted again in the next.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from signal import SIGKILL

from candidates import Candidate, Place, place
from program import Program
from survivor import RING

MOST = 100
"""The number of acknowledged sets after which a program is killed; it may make more until then."""
PAUSE = 2000
"""Microseconds after each set in half of the rounds; the others have no pause."""


@dataclass
class Tally:
    acknowledged: int = 0
    lost: int = 0
    broken: int = 0
    """Stores that could not be opened any more."""
    there: list[int] = field(default_factory=lambda: [-1] * RING)
    """The last known number under each name."""

    def acknowledge(self, number: int) -> None:
        self.acknowledged += 1
        self.there[number % RING] = number

    def compare(self, found: list[str | None]) -> None:
        for index, text in enumerate(found):
            number = int(text) if text and text.isdecimal() else -1
            self.lost += number < self.there[index]
            self.there[index] = number

    def __str__(self) -> str:
        broken = f", {self.broken} × the whole store" if self.broken else ""
        return f"{self.lost:,} of {self.acknowledged:,}{broken}"


def cell(candidate: Candidate, folder: Path, random: Random, rounds: int) -> str:
    if candidate.name == "GSettings":
        of_program = _rounds(candidate, folder / "program", random, rounds, the_program)
        of_service = _rounds(candidate, folder / "service", random, rounds, its_service)
        return f"{of_program} (its service killed: {of_service})"
    if candidate.without_sync:
        without = replace(candidate, command=candidate.without_sync)
        plain = _rounds(without, folder / "without", random, rounds, the_program)
        synced = _rounds(candidate, folder / "with", random, rounds, the_program)
        return f"{plain} ({candidate.driven}: {synced})"
    return str(_rounds(candidate, folder, random, rounds, the_program))


Victim = Callable[[Place, Program], int]
"""The process that is killed."""


def the_program(_: Place, program: Program) -> int:
    return program.process.pid


def its_service(place: Place, _: Program) -> int:
    """The program continues, and exits normally."""
    return place.service()


def _rounds(candidate: Candidate, folder: Path, random: Random, rounds: int, victim: Victim) -> Tally:
    tally, first = Tally(), 0
    with place(candidate, folder) as home:
        for _ in range(rounds):
            with home.open() as program:
                tally.compare(program.get(RING))
                is_broken = not _set_and_kill(home, program, tally, first, random, victim)
            first += RING + random.randrange(RING)
            home.settle()
            if is_broken:
                tally.broken += 1
                home.empty()
        with home.open() as program:
            tally.compare(program.get(RING))
            tally.broken += not program.opened
    return tally


def _set_and_kill(home: Place, program: Program, tally: Tally, first: int, random: Random, victim: Victim) -> int:
    """How many sets were acknowledged: those that had returned when the kill came."""
    last, pause = random.randint(1, MOST), random.choice([0, PAUSE])
    delay = random.choice([0, random.uniform(0, 0.002)])
    width = random.randint(10, 40)
    process, acknowledged = victim(home, program), 0
    for number in program.set(first, 2 * MOST, width, pause):
        tally.acknowledge(number)
        acknowledged += 1
        if acknowledged == last:
            time.sleep(delay)
            os.kill(process, SIGKILL)
    return acknowledged
