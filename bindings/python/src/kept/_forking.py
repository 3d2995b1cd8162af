"""Forks: a child never waits for an import that a thread of its parent had begun.

`import kept` is quick because much is imported at its first use. If another thread imports a module at the moment of
the fork, the child inherits the module's lock as taken, and waits for ever where it needs the module. So the first fork
of a program with several threads imports everything before, and thereby waits for the imports of the others.
"""

from __future__ import annotations

import os
import sys

LATER = (
    *("_changes", "_explanation", "_import_report", "_migrations", "_notices", "_observation", "_schemas", "_setting"),
    *("_snapshot", "_c.backup", "_c.declarations", "_c.export_and_import", "_c.migrations", "_c.notices"),
    *("_c.observation", "_c.snapshots"),
)
"""The modules of this package that are imported at their first use."""

LATER_OF_PYTHON = ("base64", "binascii", "copy", "dataclasses", "importlib", "json", "random", "re")
"""The modules of Python that this package imports at their first use. Not asyncio and logging, which it only uses in
programs that have imported them."""


def _import_everything() -> None:
    # Each thread that runs Python has a frame. Where the library's threads can call back, the closing thread has one.
    if len(sys._current_frames()) == 1:
        return
    for name in LATER_OF_PYTHON:
        __import__(name)
    for name in LATER:
        __import__(f"{__package__}.{name}")


os.register_at_fork(before=_import_everything)
