"""`python -m kept_browse [STORE]`: reads the command line."""

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
    """The options. Those that `kept` has too mean the same there."""
    options = argparse.ArgumentParser(
        prog="kept browse",
        description="Shows and changes settings in a full-screen terminal program. Press ? for help.",
        epilog="Exit status: 0 on success, 2 for wrong usage, 4 if the store cannot be opened or Textual is missing.",
        allow_abbrev=False,
    )
    options.add_argument("store", nargs="?", help="the store; without one, all stores are shown")
    options.add_argument("-s", "--store", dest="named", metavar="LOCATION", help="the store, instead of STORE")
    options.add_argument("--managed", metavar="FILE", help="the administrator's file of prescribed values")
    options.add_argument("--system", metavar="FILE", help="the administrator's file of defaults")
    options.add_argument("--env-prefix", metavar="PREFIX", help="read environment variables with this prefix")
    options.add_argument("--no-layers", action="store_true", help="leave the administrator's files out")
    options.add_argument("--passphrase-file", metavar="FILE", help="a file with the passphrase of the store's secrets")
    options.add_argument("--read-only", action="store_true", help="never allow changes")
    options.add_argument("--search", metavar="TEXT", default="", help="start with a search, such as @modified")
    options.add_argument("--key", metavar="KEY", help="start with the page of a key")
    options.add_argument("--light", action="store_true", help="use dark text on a light background")
    options.add_argument(
        "--ascii", action="store_true", help="draw in ASCII, which is the default in a locale that is not UTF-8"
    )
    options.add_argument("--screenshot", metavar="FILE", help="write a picture (SVG) of the first screen, and exit")
    options.add_argument("--size", metavar="COLUMNSxLINES", default="100x30", help="the size of the picture")
    options.add_argument("--version", action="version", version=f"kept {kept.__version__}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit status."""
    # Before there is a screen, Ctrl+C ends the program at once, and without a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = parser()
    chosen = options.parse_args(arguments)
    size = re.fullmatch(r"(\d{2,3})x(\d{2,3})", chosen.size)
    if size is None:
        options.error("--size must be columns and lines from 10 to 999, such as 100x30")
    if chosen.no_layers and (chosen.managed or chosen.system or chosen.env_prefix):
        options.error("--no-layers cannot be combined with --managed, --system or --env-prefix")
    if chosen.store and chosen.named:
        options.error("give the store once: as STORE or with --store")
    if (found := _textual()) is None or not found.startswith("8."):
        has = "it is not installed" if found is None else f"version {found} is installed"
        return _failed(f"it needs the Python package Textual 8, but {has}; run pip install 'textual>=8,<9'")
    if not chosen.screenshot and not (sys.stdin.isatty() and sys.stderr.isatty()):
        return _failed("it needs a terminal; kept list prints settings for programs and files")
    if not chosen.screenshot and os.environ.get("TERM") == "dumb":
        return _failed("the terminal cannot show it (TERM=dumb); use kept list and kept set instead")

    from ._app import Browser
    from ._plain import speaks_utf8
    from ._session import Layers, own_settings

    # The screen itself marks hidden values. A warning would be printed across it.
    warnings.simplefilter("ignore", kept.ShadowedWarning)
    warnings.simplefilter("ignore", kept.SalvagedWarning)
    own = own_settings()
    browser = Browser(
        chosen.store or chosen.named or os.environ.get("KEPT_STORE") or None,
        layers=Layers(
            chosen.managed,
            chosen.system,
            chosen.env_prefix,
            has_standard=not chosen.no_layers,
            passphrase_file=chosen.passphrase_file or os.environ.get("KEPT_PASSPHRASE_FILE") or None,
        ),
        is_read_only=chosen.read_only,
        is_writing="writing" in own,
        is_ascii=chosen.ascii or not speaks_utf8(),
        is_light=chosen.light or "light" in own,
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
    # A keystroke then waits only briefly for the reading thread.
    sys.setswitchinterval(0.001)
    status = browser.run()
    if status is None:
        return 1  # a bug in this program; the traceback is on the terminal
    return _failed(browser.failure) if browser.failure and status == UNAVAILABLE else status


def _textual() -> str | None:
    """The version of Textual; None if it is not installed. The one in Debian 12 is too old."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("textual")
    except PackageNotFoundError:
        return None


def _failed(sentence: str) -> int:
    print(f"kept browse: {sentence}", file=sys.stderr)
    return UNAVAILABLE


if __name__ == "__main__":
    sys.exit(main())
