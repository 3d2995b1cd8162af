"""The programs in the guides for C, C++ and Python print what the guides say.

Each C block of docs/guide/c.md and C++ block of cxx.md that has a `main` is a program, with a home folder of its own.
The Python of docs/guide/python.md is one program. Needs libkept.so: the one that `KEPT_LIBRARY` names, or the one in
build/. Run by scripts/test, or alone:

    .venv/bin/python -m pytest Tests/docs/readme/test_guides.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from guides import (
    C_GUIDE,
    CXX_GUIDE,
    HEADERS,
    PYTHON_GUIDE,
    c_programs,
    promised_by_c,
    promised_by_python,
    python_program,
    wide_lines,
)
from swift_package import ROOT

LIBRARY = Path(os.environ.get("KEPT_LIBRARY", ROOT / "build/lib/libkept.so")).resolve()
PROGRAMS = c_programs(C_GUIDE, "c")
CXX_PROGRAMS = c_programs(CXX_GUIDE, "cpp")


def lines_of(*command: str | Path, home: Path) -> list[str]:
    """The lines that a command prints, with a home folder of its own."""
    variables = {
        "XDG_CONFIG_HOME": str(home),
        "KEPT_LIBRARY": str(LIBRARY),
        "PYTHONPATH": str(ROOT / "bindings/python/src"),
    }
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}"
    return done.stdout.splitlines()


def check(promised: list[str], printed: list[str]) -> None:
    rest = list(printed)
    for line in promised:
        assert line in rest, f"{line}\nis not among what it prints:\n" + "\n".join(printed)
        rest.remove(line)


def check_program(text: str, source: Path, *compiler: str) -> None:
    binary, home = source.with_suffix(""), source.parent / "home"
    source.write_text(text, "utf-8")
    home.mkdir()
    flags = ["-pedantic", "-Wall", "-Wextra", "-Werror", *(f"-I{folder}" for folder in HEADERS)]
    lines_of(*compiler, *flags, "-o", binary, source, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", home=home)
    check(promised_by_c(text), lines_of(binary, home=home))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_c_program_prints_what_the_guide_says(name: str, tmp_path: Path) -> None:
    check_program(PROGRAMS[name], tmp_path / "guide.c", "cc", "-std=c99")


@pytest.mark.parametrize("name", CXX_PROGRAMS)
def test_a_cxx_program_prints_what_the_guide_says(name: str, tmp_path: Path) -> None:
    check_program(CXX_PROGRAMS[name], tmp_path / "guide.cpp", "c++", "-std=c++17")


def test_the_python_guide_prints_what_it_says(tmp_path: Path) -> None:
    script, home = tmp_path / "guide.py", tmp_path / "home"
    script.write_text(python_program(), "utf-8")
    home.mkdir()
    check(promised_by_python(python_program()), lines_of(sys.executable, script, home=home))


def test_the_guides_say_what_they_print() -> None:
    assert len(PROGRAMS) >= 9
    assert sum(len(promised_by_c(text)) for text in PROGRAMS.values()) >= 20
    assert len(CXX_PROGRAMS) >= 9
    assert sum(len(promised_by_c(text)) for text in CXX_PROGRAMS.values()) >= 20
    assert len(promised_by_python(python_program())) >= 20


@pytest.mark.parametrize("page", [C_GUIDE, CXX_GUIDE, PYTHON_GUIDE], ids=lambda page: page.stem)
def test_the_code_of_a_guide_fits_the_page(page: Path) -> None:
    assert wide_lines(page) == []
