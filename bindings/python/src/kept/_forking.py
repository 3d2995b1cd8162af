"""Forks: a child never waits for an import that a thread of its parent had begun.

`import kept` is quick because many modules are imported at their first use. If another thread imports a module during
the fork, the child inherits the module's lock as locked, and blocks forever when it needs the module. So the first fork
of a program with several threads first imports everything, and thereby waits for imports on other threads.
"""

from __future__ import annotations

import os
import sys

LATER = (
    *("_administration", "_changes", "_choices", "_date_types", "_dates", "_datetime_ns", "_differences", "_display"),
    *(
        "_explanation",
        "_history",
        "_import_report",
        "_interrupts",
        "_json",
        "_key_types",
        "_layers",
        "_migrations",
        "_notices",
    ),
    *(
        "_observation",
        "_schemas",
        "_secrets",
        "_setting",
        "_snapshot",
        "_timestamps",
        "_transaction",
        "_types",
        "_verification",
    ),
    *("_views", "_c.administration", "_c.backup", "_c.clearing", "_c.declarations", "_c.display"),
    *("_c.export_and_import", "_c.history", "_c.layers", "_c.migrations", "_c.notices", "_c.observation"),
    *("_c.snapshots", "_c.transactions"),
)
"""The modules of this package that are imported at their first use."""

LATER_OF_PYTHON = (
    *("base64", "binascii", "copy", "dataclasses", "importlib", "random", "re", "threading", "typing", "warnings"),
)
"""The modules of Python that this package imports at their first use. asyncio and logging are not among them: it uses
them only in programs that have imported them."""


def _import_everything() -> None:
    # Each thread that runs Python has a frame. If the library's threads can call back, the closing thread has one.
    if len(sys._current_frames()) == 1:
        return
    for name in LATER_OF_PYTHON:
        __import__(name)
    for name in LATER:
        __import__(f"{__package__}.{name}")


os.register_at_fork(before=_import_everything)
