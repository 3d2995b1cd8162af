"""What scripts/bench has built, and how a measuring program is run."""

from __future__ import annotations

import os
import subprocess
from argparse import Namespace
from pathlib import Path

from instructions import Counter

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/bench"
PROGRAMS = BUILD / "programs"
SWIFT = BUILD / "swift/release"
LIBRARY = BUILD / "prefix/lib/libkept.so.0"
STORES = BUILD / "stores"
COUNTER = Counter(
    PROGRAMS / "operations", PROGRAMS / "guard/delivery", PROGRAMS / "guard/libprofiled.so", library=LIBRARY
)

CHECKED = ROOT / "build/guard/programs"
CHECKED_STORES = ROOT / "build/guard/stores"
CHECKED_COUNTER = Counter(
    CHECKED / "counted", CHECKED / "delivery", CHECKED / "libprofiled.so", library=ROOT / "build/lib/libkept.so.0"
)
"""Those of --check: of the library that scripts/test has built."""


def printed(asked: Namespace, *command: str | Path) -> list[str]:
    """The lines that a measuring program prints: one for each row."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python/src"), "KEPT_LIBRARY": str(LIBRARY)}
    whole = [*map(str, command), "--only", asked.only, *(["--quick"] if asked.quick else [])]
    ran = subprocess.run(whole, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return ran.stdout.splitlines()
