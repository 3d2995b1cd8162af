"""The wheel: built by CMake, for every Python 3, with what it needs inside."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from places import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repaired wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    script = ROOT / "bindings/python/build-wheel"
    # What the library under test was built from need not be compiled again.
    scratch = Path(os.environ["KEPT_LIBRARY"]).parent.parent / "swiftpm"
    shared = {"CMAKE_ARGS": f"-DKEPT_SCRATCH={scratch}"} if scratch.is_dir() else {}
    environment = os.environ | {"PYTHON": sys.executable} | shared
    built = subprocess.run([script, folder], env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has nothing but the wheel."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([python, *install, wheel], check=True)
    return python


@pytest.fixture(scope="module")
def frozen(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in one file, made by PyInstaller where the wheel is installed."""
    folder = tmp_path_factory.mktemp("frozen")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    [packages] = (folder / "venv").glob("lib/python3*/site-packages")
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--target"]
    subprocess.run([sys.executable, *install, packages, wheel], check=True)
    # PyInstaller itself is where the tests run.
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib"))
    (folder / "program.py").write_text(FROZEN)
    freeze = ["-m", "PyInstaller", "--onefile", "--log-level", "WARN", "program.py"]
    environment = without_library() | {"PYINSTALLER_CONFIG_DIR": str(folder / "cache")}
    made = subprocess.run(
        [folder / "venv/bin/python", *freeze], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return folder / "dist/program"


FROZEN = """
import os, sys, threading
import kept

with kept.open(sys.argv[1]) as settings:
    settings["a"] = [1, b"x"]
    with settings.transaction() as transaction:
        transaction["b"] = 2
    settings.declare(kept.Key("c", str, pattern="^c+$"))
    print(settings["a"], settings["b"], kept.__version__)
for name in kept.__all__:
    getattr(kept, name)
# With a second thread, what may be needed in a child is imported before the fork.
waiting = threading.Event()
thread = threading.Thread(target=waiting.wait)
thread.start()
child = os.fork()
if child == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
waiting.set()
thread.join()
mapped = {line.split()[-1] for line in open("/proc/self/maps")}
print(*sorted(file for file in mapped if any(name in file for name in ("libkept", "libpcre2"))))
"""


def without_library() -> dict[str, str]:
    """The environment without what names the library under test and the sources."""
    return {name: value for name, value in os.environ.items() if name not in ("KEPT_LIBRARY", "PYTHONPATH")}


def run(python: Path, program: str, folder: Path) -> list[str]:
    result = subprocess.run([python, "-c", program], env=without_library(), cwd=folder, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_one_wheel_is_for_every_python_3_of_the_platform(wheel: Path) -> None:
    assert wheel.name.startswith("kept_settings-0.1.0-py3-none-manylinux_")


def test_it_carries_the_library_once_and_no_other_file_of_the_project(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert sorted(name for name in names if ".so" in name) == ["kept/libkept.so.0", "kept/libpcre2-8.so.0"]
    assert {name.split("/")[0] for name in names} == {"kept", "kept_settings-0.1.0.dist-info"}
    assert "kept/py.typed" in names


def test_the_extra_adds_the_browser_to_the_package_that_is_installed(wheel: Path, python: Path, tmp_path: Path) -> None:
    [requirement] = run(python, "import importlib.metadata as m; print(*m.requires('kept-settings'))", tmp_path)
    assert requirement.replace('"', "'") == "kept-browse; extra == 'browse'"
    # Without an index the browser is not found, and nothing else is looked for.
    for asked in ([f"{wheel}[browse]"], [str(wheel), "kept-settings[browse]"], ["kept-settings[browse]"]):
        install = ["-m", "pip", "install", "--dry-run", "--disable-pip-version-check", "--no-index", *asked]
        done = subprocess.run([python, *install], cwd=tmp_path, capture_output=True, text=True)
        assert "No matching distribution found for kept-browse" in done.stderr, done.stderr


def test_the_wheel_works_without_other_packages(python: Path, tmp_path: Path) -> None:
    program = """
import kept
with kept.open("./store") as settings:
    settings["a"] = [1, 1.0, b"x"]
    print(settings["a"], kept.__version__, kept._c.library.library._name)
"""
    [printed] = run(python, program, tmp_path)
    assert printed.startswith("[1, 1.0, b'x'] 0.1.0 ")
    assert printed.endswith("site-packages/kept/libkept.so.0")


def test_the_wheel_brings_pcre2_which_the_first_pattern_loads(python: Path, tmp_path: Path) -> None:
    program = """
import re, kept
with kept.open("./store") as settings:
    settings["a"] = 1
    print(*set(re.findall(r"/\\S*libpcre2\\S*", open("/proc/self/maps").read())))
    settings.declare(kept.Key("b", str, pattern="^b+$"))
    print(*set(re.findall(r"/\\S*libpcre2\\S*", open("/proc/self/maps").read())))
"""
    before, after = run(python, program, tmp_path)
    assert before == ""
    assert after.endswith("site-packages/kept/libpcre2-8.so.0")


def test_pyinstaller_puts_the_library_into_a_program(frozen: Path, tmp_path: Path) -> None:
    done = subprocess.run([frozen, tmp_path / "store"], env=without_library(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    values, child, libraries = done.stdout.splitlines()
    assert (values, child) == ("[1, b'x'] 2 0.1.0", "7")
    # Both are unpacked.
    library, pcre2 = libraries.split()
    assert library.endswith("/kept/libkept.so.0")
    assert pcre2 == library.replace("libkept.so.0", "libpcre2-8.so.0")
