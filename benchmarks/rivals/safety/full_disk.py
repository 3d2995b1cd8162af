"""A disk that fills up while a program sets texts of 1 KB: does the program receive an error, are the acknowledged
values there while the disk is full and when there is room again, and does a set work then?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from candidates import Candidate, Place, place
from survivor import RING, text

SIZE, ROOM = 4 << 20, 1 << 19
WIDTH = 1024
PAUSE = 2000
"""Microseconds after each set, which give a store that writes in the background time to do so."""
LAST = RING - 1
"""The number that is set when there is room again."""


def cell(candidate: Candidate, folder: Path, _random: Random, _rounds: int) -> str:
    with small_disk(folder) as ballast, place(candidate, folder) as home:
        with home.open() as program:
            acknowledged = list(program.set(0, LAST, WIDTH, PAUSE))
        home.settle()
        while_full = _missing(home, acknowledged)
        ballast.unlink()
        with home.open() as later:
            sets_again = list(later.set(LAST, 1, WIDTH)) == [LAST]
        home.settle()
        afterwards = _missing(home, acknowledged + [LAST] * sets_again)
    if program.hung:
        return "hangs"
    said = ["reported" if program.reports else "not reported"]
    if while_full != afterwards:
        said.append("cannot be read while full" if while_full is None else f"{while_full} not there while full")
    said.append("does not open any more" if afterwards is None else f"{afterwards} of {len(acknowledged)} lost")
    return ", ".join(said if sets_again else [*said, "no further set"])


def _missing(home: Place, numbers: list[int]) -> int | None:
    """How many of the numbers are missing; None if the store does not open."""
    with home.open() as program:
        found = program.get(RING)
    return sum(found[number] != text(number, WIDTH) for number in numbers) if program.opened else None


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of its own, and a file that leaves little room on it."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "survivor", folder], check=True)
    try:
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(SIZE - ROOM))
        yield ballast
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
