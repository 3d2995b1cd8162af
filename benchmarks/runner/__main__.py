"""Runs every measuring program and prints one table; scripts/bench has built everything.

A measuring program creates its stores in the folder that is passed to it and prints a line of JSON for each row
(rows.py). To add one, in Swift or in another language, add it to `measure`.
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
from options import arguments
from programs import BUILD, CHECKED_COUNTER, COUNTER, LIBRARY, PROGRAMS, ROOT, STORES, SWIFT, printed
from rows import KEPT, Measured, Row
from safety import Safety


def run(options: Namespace, *command: str | Path) -> list[Row]:
    return rows.read(printed(options, *command))


def size() -> Row:
    measured = Measured(KEPT, "candidate", [LIBRARY.stat().st_size])
    return Row("Opening and loading", "size of the library, stripped", "bytes", ["<= 8 MB"], [measured])


def measure(options: Namespace) -> list[Row]:
    return [
        *run(options, PROGRAMS / "bench", STORES),
        *run(options, PROGRAMS / "notification", STORES),
        *run(options, PROGRAMS / "backends", STORES),
        *run(options, PROGRAMS / "observing", STORES),
        *run(options, PROGRAMS / "sizes", STORES),
        *run(options, PROGRAMS / "starting", STORES),
        *run(options, PROGRAMS / "copies", STORES),
        *run(options, SWIFT / "face", STORES),
        *(row for row in [size()] if options.only in row.row),
        *run(options, sys.executable, ROOT / "benchmarks/rivals/python/rows.py", STORES),
        *instructions.rows(COUNTER, options.only),
    ]


def put_to_the_test(options: Namespace) -> list[Safety]:
    program = ROOT / "benchmarks/rivals/safety"
    return safety.read(printed(options, sys.executable, program, STORES, "--user-defaults", SWIFT / "survivor"))


def circumstances(options: Namespace, others: float) -> dict[str, Any]:
    return {
        "command": "scripts/bench --quick" if options.quick else "scripts/bench",
        "date": machine.today(),
        "processor": machine.processor(),
        "cores": os.cpu_count(),
        "used by other programs": f"{others:.0%}",
        "versions": machine.versions(ROOT / "include/kept.h"),
    }


def main() -> int:
    options = arguments()
    if options.check:
        return guard.check(CHECKED_COUNTER, ROOT / "benchmarks/guard/instructions.json", options.accept)
    if options.profile:
        print(profiling.profile(COUNTER))
        return 0
    load = machine.Load()
    measured, tests = measure(options), put_to_the_test(options)
    seen = circumstances(options, load.of_others())
    parts = [table.as_text(table.sections(measured)), safety.as_text(tests), table.in_words(seen)]
    print("", *filter(None, parts), sep="\n\n")
    results = {**seen, "rows": [row.as_json() for row in measured], "safety": [asdict(test) for test in tests]}
    (BUILD / "results.json").write_text(json.dumps(results, indent=1))
    if options.write:
        import publishing  # --check does not need the drawing libraries

        publishing.publish(ROOT, measured, tests, seen)
    return 0


sys.exit(main())
