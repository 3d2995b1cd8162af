"""`python -m kept.browse [STORE]`: reads the command line."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

UNAVAILABLE = 4
"""The exit status of `kept` if a store cannot be reached."""


def parser() -> argparse.ArgumentParser:
    """The options, which are those of `kept` where both have them."""
    options = argparse.ArgumentParser(
        prog="kept browse",
        description="Shows settings on the whole terminal, and changes them. Press ? there for its keys.",
        epilog="Exit status 0: it was left; 2: wrong usage; 4: the store cannot be opened, or Textual is missing.",
        allow_abbrev=False,
    )
    options.add_argument("store", nargs="?", help="the store; without one, all stores are shown")
    options.add_argument("-s", "--store", dest="named", metavar="LOCATION", help="the store, in place of the word")
    options.add_argument("--managed", metavar="FILE", help="the administrator's file of prescribed values")
    options.add_argument("--system", metavar="FILE", help="the administrator's file of defaults")
    options.add_argument("--env-prefix", metavar="PREFIX", help="read environment variables with this prefix")
    options.add_argument("--no-layers", action="store_true", help="leave the administrator's files out")
    options.add_argument("--read-only", action="store_true", help="allow no changes, and no key that allows them")
    options.add_argument("--search", metavar="TEXT", default="", help="begin with a search, such as @modified")
    options.add_argument("--key", metavar="KEY", help="begin with the page of a key")
    options.add_argument("--light", action="store_true", help="dark letters on a light ground")
    options.add_argument("--ascii", action="store_true", help="draw in ASCII, as in a locale that is not UTF-8")
    options.add_argument("--screenshot", metavar="FILE", help="write a picture (SVG) of the first screen, and end")
    options.add_argument("--size", metavar="COLUMNSxLINES", default="100x30", help="the size of the picture")
    options.add_argument("--version", action="version", version=f"kept {kept.__version__}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit status."""
    options = parser()
    chosen = options.parse_args(arguments)
    size = re.fullmatch(r"(\d{2,3})x(\d{2,3})", chosen.size)
    if size is None:
        options.error("--size is columns and lines, such as 100x30")
    if chosen.no_layers and (chosen.managed or chosen.system or chosen.env_prefix):
        options.error("--no-layers goes with none of --managed, --system and --env-prefix")
    if chosen.store and chosen.named:
        options.error("give the store once: as a word or with --store")
    if (found := _textual()) is None or not found.startswith("8."):
        has = "is not installed" if found is None else f"has version {found} here"
        return _failed(f"it needs Textual 8, a Python package that {has}; pip install 'textual>=8,<9'")
    if not chosen.screenshot and not (sys.stdin.isatty() and sys.stderr.isatty()):
        return _failed("it needs a terminal; kept list prints settings for programs and files")
    if not chosen.screenshot and os.environ.get("TERM") == "dumb":
        return _failed("the terminal cannot be drawn on (TERM=dumb); kept list and kept set work there")

    from ._app import Browser
    from ._plain import speaks_utf8
    from ._session import Layers

    # The screen says so when a value is hidden. A warning would be written across it.
    warnings.simplefilter("ignore", kept.ShadowedWarning)
    warnings.simplefilter("ignore", kept.SalvagedWarning)
    browser = Browser(
        chosen.store or chosen.named or os.environ.get("KEPT_STORE") or None,
        layers=Layers(chosen.managed, chosen.system, chosen.env_prefix, has_standard=not chosen.no_layers),
        is_read_only=chosen.read_only,
        is_ascii=chosen.ascii or not speaks_utf8(),
        is_light=chosen.light,
        query=chosen.search,
        key=chosen.key,
    )
    if chosen.screenshot:
        from ._screenshot import write

        try:
            if write(browser, (int(size[1]), int(size[2])), Path(chosen.screenshot)):
                return 0
        except OSError as error:
            return _failed(f"the picture cannot be written: {error}")
        return _failed(browser.failure or "nothing was shown")
    # So that a keystroke waits only a moment for the thread that reads.
    sys.setswitchinterval(0.001)
    status = browser.run()
    if status is None:
        return 1  # by a mistake in this program; the traceback is on the terminal
    return _failed(browser.failure) if browser.failure and status == UNAVAILABLE else status


def _textual() -> str | None:
    """The version of Textual; None if there is none. Debian 12 has one that is too old."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("textual")
    except PackageNotFoundError:
        return None


def _failed(sentence: str) -> int:
    print(f"kept browse: {sentence}", file=sys.stderr)
    return UNAVAILABLE


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)  # before the first screen
