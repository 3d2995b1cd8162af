"""The fate of acknowledged values in Kept and its rivals: safety FOLDER --user-defaults PROGRAM [--quick]
[--only TEXT] [--seed NUMBER]. Prints a line of JSON for each row: its name, and each candidate's cell. Stores are
created in FOLDER. Two candidates are tested at a time, since no test measures time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import gettempdir

import damage
import full_disk
import kills
import processes
from candidates import Candidate, candidates, compile_schema, place
from survivor import RING, WIDTH, name, text

Cell = Callable[[Candidate, Path, Random, int], str]


@dataclass(frozen=True)
class Row:
    title: str
    rounds: int
    cell: Cell


def rows(quick: bool) -> list[Row]:
    killed, flipped, cut = (10, 20, 10) if quick else (50, 100, 50)
    return [
        Row("how it is driven", 0, lambda candidate, *_: candidate.driven),
        Row(f"acknowledged writes lost, {killed} rounds of kill -9", killed, kills.cell),
        Row("acknowledged writes lost, 4 processes at a time", 1, processes.cell),
        Row(f"one byte flipped, {flipped} times", flipped, partial(damage.cell, damage=damage.flip)),
        Row(f"the main file cut off, {cut} times", cut, partial(damage.cell, damage=damage.cut)),
        Row("a full disk", 1, full_disk.cell),
    ]


def run(row: Row, tested: list[Candidate], folder: Path, seed: int) -> None:
    def cell(candidate: Candidate) -> str:
        # Each has its own random numbers, independent of the order.
        random = Random(f"{seed} {row.title} {candidate.name}")
        return row.cell(candidate, folder / row.title / candidate.name, random, row.rounds)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cells = dict(zip([each.name for each in tested], pool.map(cell, tested)))
    print(json.dumps({"safety": row.title, "cells": cells}), flush=True)


def expect_health(candidate: Candidate, folder: Path) -> None:
    """A store that is not installed must not look like one that loses everything."""
    with place(candidate, folder) as home:
        for _ in range(2):
            with home.open() as program:
                sets, found = list(program.set(0, 1)), program.get(1)
            if sets != [0] or found != [text(0, WIDTH)] or program.reports:
                sys.exit(f"safety: {candidate.name} does not work here: {program.reports or found}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--user-defaults", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def own_mounts() -> bool:
    """Restarts in a private mount namespace, if a small disk can be mounted there; returns whether there is one."""
    if "SAFETY_OWN_MOUNTS" in os.environ:
        return True
    for options in (["--mount"], ["--mount", "--map-root-user"]):
        attempt = ["unshare", *options, "mount", "-t", "tmpfs", "attempt", gettempdir()]
        if subprocess.run(attempt, stderr=subprocess.DEVNULL).returncode == 0:
            os.environ["SAFETY_OWN_MOUNTS"] = "yes"
            os.execvp("unshare", ["unshare", *options, sys.executable, *sys.argv])
    return False


def main() -> None:
    can_mount = own_mounts()
    options = arguments()
    chosen = [row for row in rows(options.quick) if options.only in row.title]
    if not can_mount:
        print("safety: nothing can be mounted here, so no disk can be filled", file=sys.stderr)
        chosen = [row for row in chosen if row.cell is not full_disk.cell]
    if not chosen:
        return
    folder = options.folder.absolute() / "safety"
    folder.mkdir()
    compile_schema(folder / "schema", [name(index) for index in range(RING)])
    os.environ["GSETTINGS_SCHEMA_DIR"] = str(folder / "schema")
    tested = candidates(options.user_defaults.absolute())
    for each in tested:
        expect_health(each, folder / "health" / each.name)
    for row in chosen:
        print(f"safety: {row.title}", file=sys.stderr)
        run(row, tested, folder, options.seed)


main()
