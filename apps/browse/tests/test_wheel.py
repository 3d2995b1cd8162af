"""The wheel is pure Python, has the version of the header, and requires the library of that version."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def version() -> str:
    header = (ROOT / "include/kept.h").read_text("utf-8")
    return ".".join(re.findall(r"^#define KEPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.MULTILINE))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", str(folder), str(ROOT / "apps/browse")]
    built = subprocess.run([*PIP, *build], capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def metadata(wheel: Path, version: str) -> Message:
    with zipfile.ZipFile(wheel) as files:
        return Parser().parsestr(files.read(f"kept_browse-{version}.dist-info/METADATA").decode())


def test_the_wheel_is_for_every_python_3_and_contains_only_the_browser(wheel: Path, version: str) -> None:
    assert wheel.name == f"kept_browse-{version}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"kept_browse", f"kept_browse-{version}.dist-info"}
    modules = {name.partition("/")[2] for name in names if name.startswith("kept_browse/")}
    assert modules == {path.name for path in (ROOT / "apps/browse/src/kept_browse").glob("*.py")}
    assert f"kept_browse-{version}.dist-info/licenses/LICENSE" in names


def test_the_wheel_requires_the_library_of_its_version_and_the_tested_textual(metadata: Message, version: str) -> None:
    needed = [requirement.replace(" ", "") for requirement in metadata.get_all("Requires-Dist", [])]
    assert needed == [f"kept-settings=={version}", "textual<9,>=8"]
    assert "textual>=8,<9" in (ROOT / "scripts/python-packages").read_text("utf-8").splitlines()


def test_pip_installs_a_program_that_reports_a_missing_textual(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv/bin/python"
    install = ["--python", str(python), "install", "--no-index", "--no-deps", str(wheel)]
    subprocess.run([*PIP, *install], check=True)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "bindings/python/src")}
    for command in ([str(python.with_name("kept-browse"))], [str(python), "-m", "kept_browse"]):
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1), done.stderr
        assert "Textual" in done.stderr and "pip install " in done.stderr
