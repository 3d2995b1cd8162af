"""Which library is loaded, and the error when there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kept._c import library

# The module by itself: the package would load the library.
LIBRARY_ALONE = """
import ctypes, importlib.util
ctypes.CDLL = lambda name, real=ctypes.CDLL: real(name) if name is None else None
spec = importlib.util.spec_from_file_location("library", "{path}")
library = importlib.util.module_from_spec(spec)
spec.loader.exec_module(library)
print(library.find())
"""


def imported(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import kept; print(kept.__version__)"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def test_the_variable_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT_LIBRARY", "/somewhere/libkept.so.0")
    assert library.find() == "/somewhere/libkept.so.0"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a program to another group")
def test_a_program_with_more_rights_than_its_caller_ignores_the_variable(tmp_path: Path) -> None:
    rights = tmp_path / "python"
    shutil.copy(os.path.realpath(sys.executable), rights)
    # A group that is not the caller's.
    os.chown(rights, -1, os.getegid() + 1)
    program = LIBRARY_ALONE.format(path=library.__file__)
    environment = os.environ | {"KEPT_LIBRARY": "/somewhere/libkept.so.0", "PYTHONHOME": sys.base_prefix}
    for mode, found in (0o755, "/somewhere/libkept.so.0"), (0o2755, "libkept.so.0"):
        rights.chmod(mode)
        result = subprocess.run([rights, "-c", program], env=environment, capture_output=True, text=True)
        assert (result.stdout, result.stderr) == (f"{found}\n", "")


def test_then_the_one_inside_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KEPT_LIBRARY")
    monkeypatch.setattr(library, "__file__", str(tmp_path / "kept/_c/library.py"))
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/libkept.so.0").touch()
    assert library.find() == str(tmp_path / "kept/libkept.so.0")


def test_then_the_system_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KEPT_LIBRARY")
    monkeypatch.setattr(library, "__file__", str(tmp_path / "kept/_c/library.py"))
    assert library.find() == "libkept.so.0"


def test_a_library_that_is_missing_is_an_import_error_that_says_what_to_do() -> None:
    result = imported(KEPT_LIBRARY="/nowhere/libkept.so.0")
    assert result.returncode == 1
    assert "ImportError: kept needs its C library, but /nowhere/libkept.so.0 cannot be loaded" in result.stderr
    assert "set KEPT_LIBRARY" in result.stderr


def test_a_library_that_is_another_one_is_an_import_error() -> None:
    result = imported(KEPT_LIBRARY="libc.so.6")
    assert result.returncode == 1
    assert "ImportError: libc.so.6 lacks kept_version" in result.stderr


def test_a_program_with_other_rights_ignores_the_variable(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a program of another user's")
    program = tmp_path / "python"
    # Another user may not be able to read that of this environment.
    system = "/usr/bin/python3"
    shutil.copy(os.path.realpath(system if os.path.exists(system) else sys.executable), program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    code = (Path(library.__file__)).read_text(encoding="utf-8").split("library = load()")[0] + "\nprint(find())"
    environment = os.environ | {"KEPT_LIBRARY": "/somewhere/libkept.so.0"}
    asks = [str(program), "-I", "-S", "-c", "import ctypes, os; print(os.geteuid() != os.getuid())"]
    with_rights = subprocess.run(asks, env=environment, capture_output=True, text=True)
    if with_rights.stdout != "True\n":
        pytest.skip(f"programs get no other rights from their files here: {with_rights.stderr}")
    asks[-1] = "__file__ = '/nowhere/kept/_c/library.py'\n" + code.replace("from __future__ import annotations", "")
    found = subprocess.run(asks, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == "libkept.so.0\n"
    plain = subprocess.run([sys.executable, *asks[1:]], env=environment, capture_output=True, text=True, check=True)
    assert plain.stdout == "/somewhere/libkept.so.0\n"
