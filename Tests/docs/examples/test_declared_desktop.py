"""The examples that declare keys from GSettings schemas: the declarations match the XML in all languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gdeclaration
import gschema
import pytest

import kept
from programs import build_c, python, run, swift_folder

DESKTOP = Path("/usr/share/glib-2.0/schemas")
SCHEMAS = """<schemalist>
  <enum id="Side"><value nick="left" value="0"/><value nick="right" value="1"/></enum>
  <flags id="Edges"><value nick="top" value="1"/><value nick="bottom" value="2"/></flags>
  <schema id="panel">
    <key name="side" enum="Side"><default>'left'</default><summary>Where it is</summary></key>
    <key name="edges" flags="Edges"><default>['top']</default></key>
    <key name="size" type="i"><range min="1" max="9"/><default>5</default></key>
    <key name="margin" type="u"><default>0</default></key>
    <key name="scale" type="d"><range min="0.5"/><default>1.0</default></key>
    <key name="layouts" type="a(ss)"><default>[('xkb', 'us')]</default></key>
  </schema>
</schemalist>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "panel.gschema.xml").write_text(SCHEMAS)
    return tmp_path


@pytest.fixture
def store(folder: Path) -> str:
    """The location at which the keys of the schemas are declared."""
    location = str(folder / "store")
    done = run(*python("import_gsettings"), location, folder, folder / "settings.schema.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "declared 6 keys" in done.stdout
    return location


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("b", {"type": "boolean"}),
        ("d", {"type": "number"}),
        ("y", {"type": "integer", "minimum": 0, "maximum": 255}),
        ("t", {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}),
        ("as", {"type": "array", "items": {"type": "string"}}),
        ("aab", {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}),
        ("(ss)", {"type": "array", "items": {"type": "string"}}),
        ("(sb)", {"type": "array"}),
        ("()", {"type": "array"}),
    ],
)
def test_a_type_of_gvariant_is_declared_with_what_it_can_hold(kind: str, schema: dict[str, Any]) -> None:
    assert gdeclaration.of_type(kind) == schema
    assert kept.open("memory:").declare({"key": schema}) is None


def test_the_file_declares_what_the_schemas_say(folder: Path, store: str) -> None:
    declared = json.loads((folder / "settings.schema.json").read_text())["properties"]
    assert declared["panel.side"] == {
        "type": "string", "enum": ["left", "right"], "summary": "Where it is", "default": "left",
    }  # fmt: skip
    assert declared["panel.edges"]["items"] == {"type": "string", "enum": ["top", "bottom"]}
    assert declared["panel.size"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 5}
    assert declared["panel.scale"] == {"type": "number", "minimum": 0.5, "default": 1.0}
    with kept.open(store) as settings:
        assert settings.declarations() == declared
        assert settings["panel.layouts"] == [["xkb", "us"]] and len(settings) == 0


def test_an_integer_above_63_bits_is_declared_by_the_file(tmp_path: Path) -> None:
    (tmp_path / "disk.gschema.xml").write_text("""<schemalist><schema id="disk">
      <key name="quota" type="t"><default>18446744073709551615</default></key>
      <key name="sizes" type="at"><default>[1, 9223372036854775808]</default></key>
      <key name="used" type="t"><range max="9223372036854775808"/><default>0</default></key>
    </schema></schemalist>""")
    store, file = str(tmp_path / "store"), tmp_path / "settings.schema.json"
    done = run(*python("import_gsettings"), store, tmp_path, file)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    written = json.loads(file.read_text())["properties"]
    assert written["disk.quota"]["maximum"] == {"$numberULong": "18446744073709551615"}
    with kept.open(store) as settings:
        whole = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}
        assert settings.declarations() == {
            "disk.quota": whole | {"default": 2**64 - 1},
            "disk.sizes": {"type": "array", "items": whole, "default": [1, 2**63]},
            "disk.used": whole | {"maximum": 2**63, "default": 0},
        }
        assert settings["disk.quota"] == 2**64 - 1
    done = run(*python("compare_gsettings"), store, tmp_path)
    assert done.returncode == 0 and "3 declarations, 3 equal to the XML" in done.stdout, done.stdout + done.stderr


def test_comparing_says_what_is_equal_and_which_constraints_are_known(folder: Path, store: str) -> None:
    done = run(*python("compare_gsettings"), store, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 of them their declared defaults" in done.stdout
    assert "6 keys, 6 equal to the XML" in done.stdout and "6 declarations, 6 equal to the XML" in done.stdout
    assert "  carried over: 2 choices, 2 ranges, 1 widths of integers\n" in done.stdout
    assert "  not carried over: 1 flags that stand there at most once, 1 lengths of tuples\n" in done.stdout


def test_comparing_shows_what_differs(folder: Path, store: str) -> None:
    with kept.open(store) as settings:
        settings["panel.size"], settings["extra"] = 6, 1
        settings.declare({"panel.scale": {"type": "number", "default": 1.0}})
        settings.undeclare("panel.margin")
    done = run(*python("compare_gsettings"), store, folder)
    assert done.returncode == 1
    for line in "panel.size is 6, in the XML 5", "extra is not in the XML: 1", "panel.margin is null, in the XML 0":
        assert f"  {line}\n" in done.stdout
    assert "6 keys, 4 equal" in done.stdout and "6 declarations, 4 equal" in done.stdout


def test_a_constraint_that_a_declaration_lacks_is_not_called_carried_over() -> None:
    setting = gschema.Setting("a", "i", 5, None, (), 1, 9)
    schema = gdeclaration.declaration(setting)
    assert gdeclaration.constraints(setting, schema) == {"ranges": True}
    assert gdeclaration.constraints(setting, schema | {"maximum": 10}) == {"ranges": False}
    assert gdeclaration.constraints(setting, {}) == {"ranges": False}


@pytest.mark.parametrize(
    ("setting", "constraint"),
    [
        (gschema.Setting("a", "u", 5, least=1), "ranges"),
        (gschema.Setting("a", "d", 5.0, greatest=9.0), "ranges"),
        (gschema.Setting("a", "aay", [[1]]), "widths of integers"),
        (gschema.Setting("a", "flags", ["x"], choices=("x", "y")), "choices"),
    ],
)
def test_a_declaration_says_each_constraint(setting: gschema.Setting, constraint: str) -> None:
    assert gdeclaration.constraints(setting, gdeclaration.declaration(setting))[constraint] is True
    assert gdeclaration.constraints(setting, {"type": "array", "items": {"minimum": 1}})[constraint] is False


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
        ("panel.side", '"top"', 'write one of "left", "right"'),
    ],
)
def test_c_and_python_say_why_a_write_is_refused(folder: Path, store: str, key: str, text: str, reason: str) -> None:
    for program in [str(build_c("set_key", folder))], python("set_key"):
        done = run(*program, store, key, text)
        assert done.returncode == 1 and f'"{key}": ' in done.stderr and reason in done.stderr
    with kept.open(store) as settings:
        assert len(settings) == 0


def test_swift_knows_the_desktops_keys_as_python_declared_them(tmp_path: Path) -> None:
    store, program = str(tmp_path / "store"), swift_folder() / "DesktopSettings"
    assert run(*python("import_gsettings"), store, DESKTOP, tmp_path / "s.json").returncode == 0
    done = run(program, store, "change")
    assert "found them declared like that: still revision 1;" in done.stdout, done.stderr
    done = run(program, store, "exceed")
    assert done.returncode == 1 and "the value 101 is above the maximum 100" in done.stderr
    assert run(program, store, "undo").returncode == 0
    assert run(*python("compare_gsettings"), store, DESKTOP).returncode == 0


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
    assert "the key is locked" in lines[0][0]
