"""The programs in README.md are compiled and run unchanged, one after the other on one store.

Needs the command and libkept.so: those that `KEPT_COMMAND` and `KEPT_LIBRARY` name, or those in build/. Run by
scripts/test, or alone:

    .venv/bin/python -m pytest Tests/docs/readme
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import swift_package
from swift_package import README, ROOT, executables, generate

LIBRARY = Path(os.environ.get("KEPT_LIBRARY", ROOT / "build" / "lib" / "libkept.so")).resolve()


def program(language: str) -> str:
    """The only program of a language in the README."""
    assert README.read_text("utf-8").count(f"\n```{language}\n") == 1
    return swift_package.program(README, language)


def run(*command: str | Path, config: Path | None = None) -> str:
    """The output of a command; its error output is shown if it fails."""
    done = start(*command, config=config)
    assert done.returncode == 0, f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}"
    return done.stdout


def start(*command: str | Path, config: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, KEPT_LIBRARY=str(LIBRARY), PYTHONPATH=str(ROOT / "bindings" / "python" / "src"))
    if config is not None:
        environment["XDG_CONFIG_HOME"] = str(config)
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def build_c(folder: Path) -> Path:
    """Builds the C program next to its header."""
    source = folder / "readme.c"
    source.write_text(program("c"), "utf-8")
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    rpath = f"-Wl,-rpath,{LIBRARY.parent}"
    run("cc", *flags, f"-I{ROOT / 'include'}", "-o", folder / "readme", source, LIBRARY, rpath)
    return folder / "readme"


def write_python(folder: Path) -> Path:
    script = folder / "readme.py"
    script.write_text(program("python"), "utf-8")
    return script


def test_the_three_programs_share_one_volume(tmp_path: Path) -> None:
    generate(README, tmp_path)
    swift, c, script = executables() / "Readme", build_c(tmp_path), write_python(tmp_path)
    config = tmp_path / "config"
    config.mkdir()
    assert run(swift, config=config) == "the volume is 60\n"
    assert run(c, config=config) == "the volume is 70\n"
    assert run(sys.executable, script, config=config) == "the volume is 80\n"
    assert run(swift, config=config) == "the volume is 90\n"
    assert run(c, config=config) == "the volume is 100\n"
    for command in [swift], [c], [sys.executable, script]:
        done = start(*command, config=config)
        assert done.returncode != 0 and "above the maximum 100" in done.stdout + done.stderr


def test_c_programs_at_once_lose_no_update(tmp_path: Path) -> None:
    assert '"maximum": 100,' in program("json")
    generate(README, tmp_path, program("json").replace('"maximum": 100,', '"maximum": 10000,'))
    command = build_c(tmp_path)
    environment = dict(os.environ, XDG_CONFIG_HOME=str(tmp_path))
    running = [subprocess.Popen([command], env=environment, stdout=subprocess.PIPE, text=True) for _ in range(20)]
    printed = sorted(int(each.communicate()[0].removeprefix("the volume is ")) for each in running)
    assert printed == [50 + 10 * number for number in range(1, 21)]


def test_each_program_is_short() -> None:
    for language, most in {"swift": 10, "c": 40, "python": 10}.items():
        lines = [line for line in program(language).splitlines() if line.strip()]
        assert len(lines) <= most, f"the {language} program has {len(lines)} lines"
