"""A store that was damaged while closed, as a program sees it: one byte changed, or its main file truncated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from shutil import copytree, rmtree

from candidates import Candidate, place
from survivor import WIDTH, text

NAMES = 200
Damage = Callable[[list[Path], Random], None]


def flip(files: list[Path], random: Random) -> None:
    """Changes one byte of all the files."""
    position = random.randrange(sum(file.stat().st_size for file in files))
    for file in files:
        if position < file.stat().st_size:
            break
        position -= file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(position)
        [byte] = opened.read(1)
        opened.seek(position)
        opened.write(bytes([byte ^ random.randint(1, 255)]))


def cut(files: list[Path], random: Random) -> None:
    main = max(files, key=lambda file: file.stat().st_size)
    with main.open("r+b") as opened:
        opened.truncate(random.randrange(main.stat().st_size))


def cell(candidate: Candidate, folder: Path, random: Random, rounds: int, damage: Damage) -> str:
    outcomes: Counter[str] = Counter()
    left: Counter[str] = Counter()
    whole = _closed_store(candidate, folder / "whole")
    for turn in range(rounds):
        copy = folder / str(turn)
        copytree(whole, copy / "files")
        damage(sorted(file for file in (copy / "files").rglob("*") if file.is_file()), random)
        outcome, right = _read_all(candidate, copy)
        outcomes[outcome] += 1
        left[outcome] += right
        rmtree(copy)
    return _in_words(outcomes, left)


HARMLESS, REPORTED, WRONG, GONE, CRASHED, HUNG = (
    "harmless",
    "reported",
    "silently wrong",
    "silently gone",
    "crashed",
    "hung",
)


def _closed_store(candidate: Candidate, folder: Path) -> Path:
    with place(candidate, folder) as home, home.open() as program:
        assert len(list(program.set(0, NAMES))) == NAMES, program.reports
    return home.files


def _read_all(candidate: Candidate, folder: Path) -> tuple[str, int]:
    """The result of a program that read every value, and the number of correct values."""
    with place(candidate, folder) as home, home.open() as program:
        found = program.get(NAMES)
    right = sum(found[index] == text(index, WIDTH) for index in range(NAMES))
    if program.crashed:
        return (HUNG if program.hung else CRASHED), right
    if program.reports:
        return REPORTED, right
    if right == NAMES:
        return HARMLESS, right
    return (WRONG if any(found[index] not in (None, text(index, WIDTH)) for index in range(NAMES)) else GONE), right


def _in_words(outcomes: Counter[str], left: Counter[str]) -> str:
    """The results that occurred, the best first; and how much could still be read where values were missing."""
    words = []
    for outcome in (HARMLESS, REPORTED, WRONG, GONE, CRASHED, HUNG):
        if count := outcomes[outcome]:
            of_values = f" ({left[outcome] / count / NAMES:.1%} left)" if outcome in (REPORTED, GONE) else ""
            words.append(f"{count} {outcome}{of_values}")
    return ", ".join(words)
