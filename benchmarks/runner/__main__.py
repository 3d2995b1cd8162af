"""Runs every measuring program and prints one table; scripts/bench has built all that it needs.

A measuring program makes its stores in the folder that it is given and prints a line of JSON a row (rows.py). To add
one, in Swift or in another language, add it to `measure`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import instructions
import machine
import note
import profiling
import rows
import safety
import table
from rows import KEPT, Measured, Row

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/bench"
PROGRAMS = BUILD / "programs"
FACE = BUILD / "swift/release/face"
SURVIVOR = BUILD / "swift/release/survivor"
LIBRARY = BUILD / "prefix/lib/libkept.so.0"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures Kept beside its rivals.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: under two minutes")
    parser.add_argument("--write", action="store_true", help="print the table into docs/performance.md too")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the rows that have this in their name")
    parser.add_argument("--profile", action="store_true", help="only show where the instructions of get and set go")
    asked = parser.parse_args()
    if asked.write and asked.only:
        parser.error("--write prints the whole table; leave out --only")
    return asked


def said(asked: argparse.Namespace, *command: str | Path) -> list[str]:
    """The lines that a program prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python/src"), "KEPT_LIBRARY": str(LIBRARY)}
    whole = [*map(str, command), "--only", asked.only, *(["--quick"] if asked.quick else [])]
    return subprocess.run(whole, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout.splitlines()


def run(asked: argparse.Namespace, *command: str | Path) -> list[Row]:
    """The rows that a measuring program prints."""
    return rows.read(said(asked, *command))


def test(asked: argparse.Namespace, stores: Path) -> list[safety.Row]:
    program = ROOT / "benchmarks/safety"
    return safety.read(said(asked, sys.executable, program, stores, "--user-defaults", SURVIVOR))


def size() -> Row:
    measured = Measured(KEPT, "contestant", [LIBRARY.stat().st_size])
    return Row("Opening and loading", "size of the library, stripped", "bytes", ["<= 7 MB"], [measured])


def measure(asked: argparse.Namespace, stores: Path) -> list[Row]:
    return [
        *run(asked, PROGRAMS / "bench", stores),
        *run(asked, PROGRAMS / "hearing", stores),
        *run(asked, FACE, stores),
        *(row for row in [size()] if asked.only in row.row),
        *run(asked, sys.executable, ROOT / "benchmarks/python/rows.py", stores),
        *instructions.rows(PROGRAMS / "operations", stores, asked.only),
    ]


def circumstances(asked: argparse.Namespace, others: float) -> dict[str, Any]:
    return {
        "command": "scripts/bench --quick" if asked.quick else "scripts/bench",
        "date": machine.today(),
        "cores": os.cpu_count(),
        "used by other programs": f"{others:.0%}",
        "versions": machine.versions(ROOT / "include/kept.h"),
    }


def in_words(seen: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in seen["versions"].items())
    return (
        f"`{seen['command']}` on {seen['date']}, {seen['cores']} cores, of which other programs used "
        f"{seen['used by other programs']} meanwhile.\n{versions}."
    )


def main() -> None:
    asked = arguments()
    stores = BUILD / "stores"
    if asked.profile:
        print(profiling.profile(PROGRAMS / "operations", stores))
        return
    load = machine.Load()
    measured, tested = measure(asked, stores), test(asked, stores)
    seen = circumstances(asked, load.of_others())
    print(f"\n{table.as_text(measured)}\n\n{safety.as_text(tested)}\n\n{in_words(seen)}")
    results = {**seen, "rows": [row.as_json() for row in measured], "safety": tested}
    (BUILD / "results.json").write_text(json.dumps(results, indent=1))
    if asked.write:
        tables = f"{table.as_markdown(measured)}\n\n{safety.as_markdown(tested)}"
        note.write(ROOT / "docs/performance.md", f"{in_words(seen)}\n\n{tables}")


main()
