"""The programs that scripts/bench has built, and how a measuring program is run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

from instructions import Counter

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/bench"
PROGRAMS = BUILD / "programs"
SWIFT = BUILD / "swift/release"
LIBRARY = BUILD / "prefix/lib/libkept.so.0"
GIO_MODULES = BUILD / "prefix/lib/gio/modules"
"""The folder of the GSettings backend."""
STORES = BUILD / "stores"
COUNTER = Counter(
    operations=PROGRAMS / "operations",
    guard=PROGRAMS / "guard",
    face=SWIFT / "face",
    library=LIBRARY,
    stores=STORES,
)

CHECKED = ROOT / "build/guard"
CHECKED_COUNTER = Counter(
    operations=CHECKED / "programs/counted",
    guard=CHECKED / "programs",
    face=SWIFT / "face",
    library=ROOT / "build/lib/libkept.so.0",
    # The same in every checkout: each folder above a store costs instructions when the store is opened.
    stores=Path("/tmp"),
)
"""The build for --check: of the library that scripts/test has built."""


def printed(options: Namespace, *command: str | Path) -> list[str]:
    """The lines that a measuring program prints, one for each row. Prints its time; the limit is twenty minutes."""
    began = time.monotonic()
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "bindings/python/src"),
        "KEPT_LIBRARY": str(LIBRARY),
        "KEPT_GIO_MODULES": str(GIO_MODULES),
    }
    whole = [*map(str, command), "--only", options.only, *(["--quick"] if options.quick else [])]
    ran = subprocess.run(whole, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    print(f"bench: {time.monotonic() - began:.0f} s for {' '.join(whole)}", file=sys.stderr)
    return ran.stdout.splitlines()
