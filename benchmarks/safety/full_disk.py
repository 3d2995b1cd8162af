"""A disk that fills up while a program sets texts of 1 KB: is it told, is what was acknowledged there, with the disk
still full and with room again, and does a set work again?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from contestants import Contestant, Place, place
from survivor import RING, text

SIZE, ROOM = 4 << 20, 1 << 20
WIDTH = 1024


def cell(contestant: Contestant, folder: Path, _random: Random, _rounds: int) -> str:
    with small_disk(folder) as ballast, place(contestant, folder) as home:
        with home.open() as program:
            acknowledged = list(program.set(0, RING - 1, RING, WIDTH))
        home.settle()
        while_full = _missing(home, acknowledged)
        ballast.unlink()
        with home.open() as program:
            sets_again = list(program.set(RING - 1, 1, RING, WIDTH)) == [RING - 1]
        home.settle()
        lost = _missing(home, [*acknowledged, RING - 1] if sets_again else acknowledged)
    return ", ".join(
        [
            "told" if program.told else "not told",
            f"lost {lost} of {len(acknowledged)}",
        ]
    )


def _missing(home: Place, numbers: list[int]) -> int | None:
    """How many of the numbers are not there; None if the store does not open."""
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
