"""What a program pays for `import kept`: it loads what a plain get needs, and the rest when it is first asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kept
from kept._forking import LATER, LATER_OF_PYTHON

HEAVY = (
    *("asyncio", "base64", "collections", "contextlib", "copy", "dataclasses", "datetime", "enum", "functools"),
    *("inspect", "ipaddress", "json", "logging", "math", "pathlib", "queue", "random", "re", "threading", "typing"),
    "warnings",
)
"""Modules of Python that a program may be long in loading."""
PACKAGE = Path(kept.__file__).parent
# The hook is PyInstaller's.
MODULES = [file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).parts[0] != "_pyinstaller"]
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef
UNWANTED = {*HEAVY, *(f"kept.{module}" for module in (*LATER, "_c.prepared_keys"))}


def loaded_by(program: str, *arguments: str) -> set[str]:
    """The modules that a program loads in a fresh interpreter, but for those that the interpreter itself has."""
    # What a distribution's own start-up hooks load says nothing of Kept: -S leaves them out, -P the working folder.
    code = f"import sys; before = {{*sys.modules}}; {program}; print(*{{*sys.modules}} - before)"
    run = subprocess.run([sys.executable, "-S", "-P", "-c", code, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_importing_loads_only_what_a_get_needs() -> None:
    loaded = loaded_by("import kept")
    assert "kept._store" in loaded
    assert not loaded & UNWANTED


def test_a_get_and_a_set_load_nothing_more(location: Path) -> None:
    program = "import kept; s = kept.open(sys.argv[1]); s['a'] = 1; k = kept.Key('a', int, default=2); assert s[k] == 1"
    assert not loaded_by(program, f"{location}/") & UNWANTED


def imported_in_functions() -> Iterator[str]:
    """The modules of Python that functions of the package import."""
    for file in MODULES:
        functions = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, FUNCTIONS))
        for node in (each for function in functions for each in ast.walk(function)):
            if isinstance(node, ast.Import):
                yield from (name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield str(node.module)


def test_a_fork_loads_all_that_is_loaded_later() -> None:
    files = (file.relative_to(PACKAGE).with_suffix("") for file in MODULES if file.stem != "__init__")
    later = {f"kept.{'.'.join(file.parts)}" for file in files} - loaded_by("import kept")
    # Nothing imports it.
    assert {f"kept.{module}" for module in LATER} == later - {"kept._c.prepared_keys"}
    assert {*LATER_OF_PYTHON} == {*imported_in_functions()} - {"asyncio", "logging"}


def test_names_that_are_loaded_later_are_the_same_each_time() -> None:
    assert kept.Change is kept.Change
    assert set(kept.__all__) <= set(dir(kept))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'kept' has no attribute 'Nonsense'"):
        kept.Nonsense  # type: ignore[attr-defined]


def test_a_star_import_offers_every_name() -> None:
    names = set(kept.__all__)
    assert loaded_by(f"from kept import *; assert {names!r} <= set(globals())") >= {"kept._transfer", "kept._setting"}
