"""The library goes where `kept._c.library` looks for it, with pcre2 next to it. PyInstaller finds no file that is
loaded by a computed name.

Where the package has no library of its own, a frozen program uses the system's.
"""

from __future__ import annotations

from pathlib import Path

binaries = [(str(library), "kept") for library in Path(__file__).parents[1].glob("lib*.so.*")]
