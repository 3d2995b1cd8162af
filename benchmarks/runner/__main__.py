"""Runs every measuring program and prints one table; scripts/bench has built all that it needs.

A measuring program makes its stores in the folder that it is given and prints a line of JSON a row (rows.py). To add
one, in Swift or in another language, add it to `measure`.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

import guard
import instructions
import machine
import profiling
import rows
import safety
import table
from asked import arguments
from programs import BUILD, CHECKED_COUNTER, COUNTER, LIBRARY, PROGRAMS, ROOT, STORES, SWIFT, printed
from rows import KEPT, Measured, Row
from safety import Safety


def run(asked: Namespace, *command: str | Path) -> list[Row]:
    return rows.read(printed(asked, *command))


def size() -> Row:
    measured = Measured(KEPT, "contestant", [LIBRARY.stat().st_size])
    return Row("Opening and loading", "size of the library, stripped", "bytes", ["<= 8 MB"], [measured])


def measure(asked: Namespace) -> list[Row]:
    return [
        *run(asked, PROGRAMS / "bench", STORES),
        *run(asked, PROGRAMS / "hearing", STORES),
        *run(asked, PROGRAMS / "observing", STORES),
        *run(asked, PROGRAMS / "sizes", STORES),
        *run(asked, PROGRAMS / "starting", STORES),
        *run(asked, PROGRAMS / "copies", STORES),
        *run(asked, SWIFT / "face", STORES),
        *(row for row in [size()] if asked.only in row.row),
        *run(asked, sys.executable, ROOT / "benchmarks/python/rows.py", STORES),
        *instructions.rows(COUNTER, asked.only),
    ]


def put_to_the_test(asked: Namespace) -> list[Safety]:
    program = ROOT / "benchmarks/safety"
    return safety.read(printed(asked, sys.executable, program, STORES, "--user-defaults", SWIFT / "survivor"))


def circumstances(asked: Namespace, others: float) -> dict[str, Any]:
    return {
        "command": "scripts/bench --quick" if asked.quick else "scripts/bench",
        "date": machine.today(),
        "processor": machine.processor(),
        "cores": os.cpu_count(),
        "used by other programs": f"{others:.0%}",
        "versions": machine.versions(ROOT / "include/kept.h"),
    }


def main() -> int:
    asked = arguments()
    if asked.check:
        return guard.check(CHECKED_COUNTER, ROOT / "benchmarks/instructions.json", asked.accept)
    if asked.profile:
        print(profiling.profile(COUNTER))
        return 0
    load = machine.Load()
    measured, tests = measure(asked), put_to_the_test(asked)
    seen = circumstances(asked, load.of_others())
    parts = [table.as_text(table.sections(measured)), safety.as_text(tests), table.in_words(seen)]
    print("", *filter(None, parts), sep="\n\n")
    results = {**seen, "rows": [row.as_json() for row in measured], "safety": [asdict(test) for test in tests]}
    (BUILD / "results.json").write_text(json.dumps(results, indent=1))
    if asked.write:
        import publishing   # --check does without what it draws with

        publishing.publish(ROOT, measured, tests, seen)
    return 0


sys.exit(main())
