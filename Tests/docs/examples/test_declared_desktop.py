"""The examples on declared keys: all languages refuse, list and explain the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import kept
from programs import LIBRARY, build_c, python, run, swift_folder

PANEL = {
    "panel.side": {"type": "string", "enum": ["left", "right"], "summary": "Where it is", "default": "left"},
    "panel.size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
    "panel.scale": {"type": "number", "minimum": 0.5, "default": 1.0},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def store(folder: Path) -> str:
    """The location at which the keys of a panel are declared."""
    location = str(folder / "store")
    with kept.open(location) as settings:
        settings.declare(PANEL)
    return location


def test_comparing_shows_what_differs(store: str) -> None:
    done = run(*python("compare_defaults"), store)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "read 3 declared keys" in done.stdout and "3 of them not set" in done.stdout
    with kept.open(store) as settings:
        settings["panel.size"], settings["panel.scale"], settings["extra"] = 6, 1.0, 1
    done = run(*python("compare_defaults"), store)
    assert done.returncode == 1 and "1 of them not set" in done.stdout
    for line in "panel.size is 6, by default 5", "extra is not declared: 1", "2 equal to their declared defaults":
        assert f"  {line}\n" in done.stdout


def test_c_lists_declared_keys_and_others(folder: Path, store: str) -> None:
    with kept.open(store) as settings:
        settings["panel.side"], settings["panel.zoom"] = "right", [1]
    done = run(build_c("list_prefix", folder), store, "panel.s")
    rows = [line.split(maxsplit=2) for line in done.stdout.splitlines()[1:-1]]
    # The key is printed without the prefix, as for "panel.s" in "panel.side".
    assert rows == [["cale", "declared", "1.0"], ["ide", "user", 'Where it is                            "right"'],
                    ["ize", "declared", "5"]]  # fmt: skip
    done = run(folder / "list_prefix", store, "panel.z")
    assert "oom                  user      (not declared)                         [1]" in done.stdout
    assert "        1 keys, opened" in done.stdout


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        ("panel.size", '"large"', 'the value "large" is a string'),
        ("panel.size", "10", "above the maximum 9"),
        ("panel.side", '"top"', 'use one of "left", "right"'),
    ],
)
def test_c_and_python_say_why_a_write_is_refused(folder: Path, store: str, key: str, text: str, reason: str) -> None:
    for program in [str(build_c("set_key", folder))], python("set_key"):
        done = run(*program, store, key, text)
        assert done.returncode == 1 and f'"{key}": ' in done.stderr and reason in done.stderr
    with kept.open(store) as settings:
        assert len(settings) == 0


def test_swift_knows_the_desktops_keys_as_gsettings_declared_them(tmp_path: Path) -> None:
    store, program = str(tmp_path / "store"), swift_folder() / "DesktopSettings"
    assert run(LIBRARY.parents[1] / "bin/kept-gsettings", "--store", store, "declare").returncode == 0
    with kept.open(store) as settings:
        declared = settings.declarations()
    done = run(program, store, "change")
    assert "changed 6 keys" in done.stdout, done.stderr
    with kept.open(store) as settings:
        found = settings.declarations()
    # A key in Swift has a summary alone.
    assert {key: schema | {"description": ""} for key, schema in found.items()} == {
        key: schema | {"description": ""} for key, schema in declared.items()
    }
    done = run(program, store, "exceed")
    assert done.returncode == 1 and "the value 101 is above the maximum 100" in done.stderr
    done = run(program, store, "undo")
    assert "found them declared like that: still revision" in done.stdout, done.stderr
    assert run(*python("compare_defaults"), store).returncode == 0


def test_swift_does_not_change_a_key_that_is_declared_with_another_type(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    with kept.open(store) as settings:
        settings.declare({"org.gnome.desktop.background.picture-opacity": {"type": "string"}})
    done = run(swift_folder() / "DesktopSettings", store, "change")
    assert done.returncode == 1 and "type conflict" in done.stderr and "picture-opacity" in done.stderr
    with kept.open(store) as settings:
        assert len(settings) == 0 and len(settings.declarations()) == 1


def test_three_languages_give_the_same_explanation(folder: Path, store: str) -> None:
    (folder / "system.json").write_text('{"values": {"panel.size": 8, "panel.side": "right"}}')
    (folder / "managed.json").write_text('{"locked": ["panel.side"]}')
    with kept.open(store) as settings:
        settings["panel.size"] = 6
    commands = [[str(build_c("explain_key", folder))], python("explain_key"), [str(swift_folder() / "ExplainKey")]]
    for key, verdicts in {
        "panel.size": "silent wins skipped hidden hidden silent hidden",
        "panel.side": "locks silent ignored silent wins silent hidden",
    }.items():
        arguments = [store, str(folder), "P_", key, "-panel.size", "7"]
        explained = [run(*command, *arguments, P_PANEL_SIZE="70", P_PANEL_SIDE="left").stdout for command in commands]
        lines = [text[8:].replace("'", '"').splitlines() for text in explained]
        assert lines[0] == lines[1] == lines[2]
        assert [line.split()[1] for line in lines[0][1:]] == verdicts.split()
    assert "locked by the administrator" in lines[0][0]
