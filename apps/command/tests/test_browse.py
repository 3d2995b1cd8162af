"""Starting the browser, a program of its own: `kept-browse`, or the Python module `kept_browse`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Done, Kept, status_of

ROOT = Path(__file__).parents[3]

REPORT = """
import json, os, sys
signals = [line for line in open("/proc/self/status") if line.startswith(("SigBlk", "SigIgn"))]
words = [os.fsencode(word).hex() for word in sys.argv[1:]]
print(json.dumps({"words": words, "pid": os.getpid(), "environment": dict(os.environ), "signals": signals}))
sys.exit(7)
"""


def program(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def python_program(path: Path, text: str = REPORT) -> Path:
    return program(path, f"#!{sys.executable}\n{text}")


@pytest.fixture
def programs(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A folder that is all of PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    environment["PATH"] = str(folder)
    return folder


def python3(folder: Path) -> None:
    """Puts python3 there, without the environment that the tests run in."""
    program(folder / "python3", f'#!/bin/sh\nexec {os.path.realpath(sys.executable)} "$@"\n')


def module(folder: Path, text: str = REPORT) -> dict[str, str]:
    """Makes a package that is the browser; returns what Python must have in its environment to find it."""
    program(folder / "kept_browse/__init__.py", "")
    program(folder / "kept_browse/__main__.py", text)
    return {"PYTHONPATH": str(folder)}


def words_of(done: Done) -> list[bytes]:
    assert (done.status, done.err) == (7, "")
    return [bytes.fromhex(word) for word in json.loads(done.out)["words"]]


WORDS = [
    [],
    ["--help"],
    ["-h"],
    ["--version"],
    ["player", "--frobnicate", "-x", "-5", "--read-only"],
    ["--store", "player", "--search=@modified", "--", "--key", "-"],
    ["", "two words", "größe", "\udcff", "browse", "*", "a\nb"],
]


@pytest.mark.parametrize("words", WORDS)
def test_the_browser_gets_all_words_as_they_are(words: list[str], kept: Kept, programs: Path, tmp_path: Path) -> None:
    expected = [os.fsencode(word) for word in words]
    python3(programs)
    of_python = module(tmp_path / "modules")
    assert words_of(kept("browse", *words, more=of_python)) == expected
    python_program(programs / "kept-browse", REPORT.replace("sys.argv[1:]", 'sys.argv[1:] + ["program"]'))
    assert words_of(kept("browse", *words, more=of_python)) == [*expected, b"program"]


def test_the_store_may_come_from_the_environment_there_too(kept: Kept, programs: Path) -> None:
    python_program(programs / "kept-browse")
    done = kept("browse", "--read-only", more={"KEPT_STORE": "player"})
    assert words_of(done) == [b"--read-only"]
    assert json.loads(done.out)["environment"]["KEPT_STORE"] == "player"


def test_the_browser_takes_the_place_of_the_command(environment: dict[str, str], programs: Path) -> None:
    python_program(programs / "kept-browse")

    def report(command: list[str]) -> tuple[int, dict[str, object]]:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        reported = json.loads(process.stdout.read())
        assert status_of(process) == 7
        return process.pid, reported

    pid, reported = report([environment["KEPT_COMMAND"], "browse"])
    direct = report([str(programs / "kept-browse")])[1]
    assert reported["pid"] == pid
    assert reported["signals"] == direct["signals"]
    seen, own = reported["environment"], direct["environment"]
    assert isinstance(seen, dict) and isinstance(own, dict)
    assert {name: value for name, value in seen.items() if name != "KEPT_BROWSER_PROCESS"} == own


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGPIPE])
def test_a_signal_ends_the_browser_as_it_would_alone(number: signal.Signals, kept: Kept, programs: Path) -> None:
    program(programs / "kept-browse", f"#!/bin/sh\nkill -{number.value} $$\n")
    assert kept("browse").status == -number


def is_missing(done: Done) -> bool:
    return (
        (done.status, done.out) == (4, "")
        and done.err.startswith("kept: the browser is a Python program that is not installed; ")
        and "pip install kept_settings-*.whl kept_browse-*.whl" in done.err
        and done.err.count("\n") == 1
    )


@pytest.mark.parametrize("words", WORDS[:1] + WORDS[3:])
def test_without_the_browser_one_sentence_says_how_to_install_it(
    words: list[str], kept: Kept, programs: Path, tmp_path: Path
) -> None:
    assert is_missing(kept("browse", *words))
    # A Python that has no browser, and one that has Kept alone; what lies in the working folder is not run.
    python3(programs)
    module(tmp_path)
    assert is_missing(kept("browse", *words))
    program(tmp_path / "modules/kept/__init__.py", "")
    assert is_missing(kept("browse", *words, more={"PYTHONPATH": str(tmp_path / "modules")}))


def test_without_a_path_the_browser_is_not_found(kept: Kept, environment: dict[str, str]) -> None:
    for path in ("", "/nowhere", ":", "\udcff"):
        assert is_missing(kept("browse", more={"PATH": path}))


def test_a_python_that_is_too_old_has_no_browser(kept: Kept, programs: Path) -> None:
    program(programs / "python3", "#!/bin/sh\necho 'Unknown option: -P' >&2\nexit 2\n")
    assert is_missing(kept("browse"))


def test_a_module_that_cannot_be_imported_says_itself_why(kept: Kept, programs: Path, tmp_path: Path) -> None:
    python3(programs)
    of_python = module(tmp_path / "modules")
    program(tmp_path / "modules/kept_browse/__init__.py", "raise ImportError('kept needs its C library')")
    done = kept("browse", more=of_python)
    assert (done.status, "kept needs its C library" in done.err) == (1, True)


def test_a_browser_that_cannot_be_started_is_passed_over(
    kept: Kept, environment: dict[str, str], programs: Path, tmp_path: Path
) -> None:
    refused = program(programs / "kept-browse", "#!/bin/sh\n", mode=0o644)
    done = kept("browse")
    assert (done.status, done.out, done.err.count("\n")) == (4, "", 1)
    assert done.err.startswith(f"kept: {refused} cannot be started: Permission denied; ")
    # As the shell does, it takes a later one, and then Python's.
    python_program(tmp_path / "more/kept-browse")
    assert words_of(kept("browse", "a", more={"PATH": f"{programs}:{tmp_path / 'more'}"})) == [b"a"]
    python3(programs)
    assert words_of(kept("browse", "b", more=module(tmp_path / "modules"))) == [b"b"]


def test_a_browser_whose_python_is_gone_is_named(kept: Kept, programs: Path) -> None:
    path = program(programs / "kept-browse", "#!/gone/bin/python3\n")
    done = kept("browse")
    assert (done.status, done.out, done.err.count("\n")) == (4, "", 1)
    assert done.err.startswith(f"kept: {path} cannot be started: the interpreter that its first line names ")


def test_a_folder_is_no_browser(kept: Kept, programs: Path) -> None:
    (programs / "kept-browse").mkdir()
    assert is_missing(kept("browse"))


@pytest.mark.parametrize("start", ['exec "$KEPT_COMMAND" browse "$@"', '"$KEPT_COMMAND" browse "$@"'])
def test_a_browser_that_starts_the_command_again_is_an_error(start: str, kept: Kept, programs: Path) -> None:
    path = program(programs / "kept-browse", f"#!/bin/sh\n{start}\nexit $?\n")
    done = kept("browse", "player")
    assert (done.status, done.out, done.err.count("\n")) == (4, "", 1)
    assert done.err.startswith(f"kept: {path} runs kept browse, ")


def test_a_shell_in_the_browser_may_start_another_one(kept: Kept, programs: Path) -> None:
    shell = """/bin/sh -c '"$KEPT_COMMAND" browse; exit $?'"""
    program(programs / "kept-browse", f'#!/bin/sh\ntest -n "$inner" && exit 5\nexport inner=1\n{shell}\n')
    assert kept("browse").status == 5


def test_help_and_completion_have_the_options_of_the_browser(
    kept: Kept, environment: dict[str, str], programs: Path
) -> None:
    python3(programs)
    library = os.environ.get("KEPT_LIBRARY") or str(Path(environment["KEPT_COMMAND"]).parents[1] / "lib/libkept.so.0")
    modules = f"{ROOT / 'apps/browse/src'}:{ROOT / 'bindings/python/src'}"
    own = kept("browse", "--help", more={"PYTHONPATH": modules, "KEPT_LIBRARY": library})
    assert (own.status, own.err) == (0, "")
    offered = kept("complete", "kept", "browse", "--").out.split()
    listed = [word.strip(",") for line in own.out.split("options:")[1].splitlines() for word in line.split()[:3]]
    assert sorted(set(offered)) == sorted({word for word in listed if word.startswith("--")})
    assert "kept-browse" in kept("help", "browse").out


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["player", "--help"]])
def test_help_needs_no_browser(words: list[str], kept: Kept, programs: Path) -> None:
    done = kept("browse", *words)
    assert (done.status, done.out, done.err) == (0, kept("help", "browse").out, "")
