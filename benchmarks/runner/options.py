"""The options of scripts/bench."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Compares Kept with its rivals.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--write", action="store_true", help="bring docs/internals/performance.md, the README and the charts up to date"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only the rows that have this in their name")
    parser.add_argument("--profile", action="store_true", help="only show where the instructions of get and set go")
    parser.add_argument("--check", action="store_true", help="only count instructions: 1 if an operation's have grown")
    parser.add_argument("--accept", action="store_true", help="with --check: from now on compare with these counts")
    options = parser.parse_args(given)
    if options.write and options.only:
        parser.error("--write prints the whole table; leave out --only")
    if options.accept and not options.check:
        parser.error("--accept belongs to --check")
    return options
