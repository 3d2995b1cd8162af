"""Builds and runs the example programs: those in C with `cc`, those in Swift as the demo builds them.

Needs libkept.so: the one that `KEPT_LIBRARY` names, or the one in build/.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
LIBRARY = Path(os.environ.setdefault("KEPT_LIBRARY", str(ROOT / "build" / "lib" / "libkept.so"))).resolve()
PACKAGE = str(ROOT / "bindings" / "python" / "src")
sys.path[:0] = [PACKAGE, str(EXAMPLES / "python")]


@cache
def swift_folder() -> Path:
    """The folder of the Swift programs."""
    done = run(ROOT / "scripts/swiftpm", "build", "--package-path", EXAMPLES / "swift")
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / ".build/debug"


def build_c(name: str, folder: Path) -> Path:
    """Builds a program of one file that reads JSON."""
    json_c = subprocess.check_output(["pkg-config", "--cflags", "--libs", "json-c"], text=True).split()
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
    source = EXAMPLES / "c" / f"{name}.c"
    done = run("cc", *flags, "-o", folder / name, source, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", *json_c)
    assert done.returncode == 0, done.stderr
    return folder / name


def python(name: str) -> list[str]:
    """The command of a Python program."""
    return [sys.executable, str(EXAMPLES / "python" / f"{name}.py")]


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The output and the exit status of a program, run with additional environment variables."""
    environment = os.environ | {"PYTHONPATH": PACKAGE} | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True)
