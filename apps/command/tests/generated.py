"""Generates code with the command, and compiles, checks and runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from swift_programs import ROOT, executables

from conftest import Kept

LIBRARY = Path(os.environ.get("KEPT_LIBRARY", ROOT / "build" / "lib" / "libkept.so")).resolve()
PYTHON = ROOT / "bindings" / "python" / "src"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{ROOT / 'include'}"]
COMPILERS = [
    *(["gcc", "-std=c99"], ["clang", "-std=c99"], ["g++", "-std=c++17", "-xc++"], ["clang++", "-std=c++17", "-xc++"]),
]
CXX_COMPILERS = [
    [name, f"-std={standard}", "-Wconversion", "-Wshadow"]
    for name in ("g++", "clang++")
    for standard in ("gnu++17", "c++20")
]
SUFFIXES = {"c": "h", "cxx": "hpp", "python": "py", "swift": "swift"}


def generate(kept: Kept, folder: Path, name: str, keys: dict[str, Any], language: str) -> Path:
    """The generated file, `NAME.h`, `NAME.hpp`, `NAME.py` or `NAME.swift`."""
    folder.mkdir(exist_ok=True)
    schema, file = folder / f"{name}.schema.json", folder / f"{name}.{SUFFIXES[language]}"
    schema.write_text(json.dumps({"properties": keys}), "utf-8")
    done = kept("generate", str(schema), f"--{language}", "-o", str(file))
    assert (done.status, done.out, done.err) == (0, "", ""), done.err
    return file


def run(*command: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A command that has to end; a compiler takes minutes on a busy machine."""
    variables = {"KEPT_LIBRARY": str(LIBRARY), "PYTHONPATH": str(PYTHON), "MYPYPATH": str(PYTHON)}
    variables |= {"LLVM_PROFILE_FILE": os.devnull} | (env or {})
    return subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, timeout=1200, check=False
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command that failed has printed; "" if it has not failed."""
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-3000:] or f"status {done.returncode}"


# MARK: C


def c_errors(source: str, folder: Path, compiler: list[str] | None = None) -> str:
    """The errors and warnings of a C program that includes generated headers of the folder."""
    file = folder / "program.c"
    file.write_text(source, "utf-8")
    name, *flags = compiler or COMPILERS[0]
    return said(run(name, *flags, *WARNINGS, f"-I{folder}", "-fsyntax-only", file))


def c_program(source: str, folder: Path) -> Path:
    """The executable of a C program."""
    (folder / "program.c").write_text(source, "utf-8")
    files = [str(file) for file in ("-o", folder / "program", folder / "program.c", LIBRARY)]
    done = run("gcc", "-std=c99", *WARNINGS, f"-I{folder}", *files, f"-Wl,-rpath,{LIBRARY.parent}")
    assert not said(done), said(done)
    return folder / "program"


def compilers(known: list[list[str]] = COMPILERS) -> list[list[str]]:
    return [compiler for compiler in known if shutil.which(compiler[0])]


# MARK: C++


def cxx_errors(source: str, folder: Path, compiler: list[str] | None = None) -> str:
    """The errors and warnings of a C++ program that includes generated headers of the folder."""
    file = folder / "program.cpp"
    file.write_text(source, "utf-8")
    return said(run(*(compiler or CXX_COMPILERS[0]), *WARNINGS, f"-I{folder}", "-fsyntax-only", file))


def cxx_program(source: str, folder: Path) -> Path:
    """The executable of a C++ program."""
    binary, file = folder / "cxx", folder / "program.cpp"
    file.write_text(source, "utf-8")
    linked: list[str | Path] = ["-o", binary, file, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}"]
    done = run(*CXX_COMPILERS[0], *WARNINGS, f"-I{folder}", *linked)
    assert not said(done), said(done)
    return binary


# MARK: Python


def python_errors(*files: Path) -> str:
    """What mypy says about modules, with the settings that a program has without any."""
    return said(run(sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", *files))


# MARK: Swift


def swift_program(files: dict[str, str]) -> Path:
    """The executable of Swift files."""
    return executables("generated", {"GeneratedCopy": files}) / "GeneratedCopy"


@cache
def swift_modules() -> Path:
    """The compiled modules of Kept."""
    done = run(ROOT / "scripts" / "swiftpm", "build", "--product", "Kept")
    assert not said(done), said(done)
    return ROOT / ".build" / "debug" / "Modules"


def swift_errors(*files: Path) -> str:
    """The errors and warnings of Swift files, in Swift 6 mode."""
    headers = ("include", "Sources/CPlatform", "Sources/CPCRE2", "Sources/CSodium")
    folders = [swift_modules(), *(ROOT / name for name in headers)]
    included = [f"-I{folder}" for folder in folders]
    return said(run("swiftc", "-swift-version", "6", "-warnings-as-errors", "-typecheck", *included, *files))


# MARK: Formatters

MARKS = ["/* clang-format off */", "// clang-format off", "// swift-format-ignore-file", "# fmt: off", "# ruff: noqa"]
"""The lines that keep formatters and linters away from a file."""


def without_marks(file: Path) -> None:
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if line.rstrip("\n") not in MARKS), "utf-8")


def changes_by_formatter(file: Path, **configurations: str) -> str:
    """What the formatter of its language would change in a file, and its linter says; "" for nothing.

    A configuration is that of the formatter for the suffix; without one, it is the formatter's own.
    """
    given = configurations.get(file.suffix[1:])
    match file.suffix:
        case ".py":
            options = [f"--config={given}"] if given else []
            ruff = [sys.executable, "-m", "ruff"]
            return said(run(*ruff, "format", "--isolated", "--quiet", "--diff", *options, file)) + said(
                run(*ruff, "check", "--isolated", "--quiet", *options, file)
            )
        case ".swift":
            return said(run("swift", "format", "lint", "--strict", "--configuration", given or '{"version": 1}', file))
        case _:
            style = f"--style={given or 'LLVM'}"
            return said(run(Path(sys.executable).with_name("clang-format"), style, "--dry-run", "-Werror", file))
