"""The command kept-gsettings: moving from dconf and back, declarations, layers."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sides import DEFAULTS, TYPES

import kept

DUMP = """[com/example/v1.2]
window=(100, 200)

[org/gnome/desktop/input-sources]
current=uint32 1
sources=[('xkb', 'us'), ('xkb', 'de+neo')]

[org/gnome/desktop/interface]
color-scheme='prefer-dark'
text-scaling-factor=1.25

[org/gnome/desktop/notifications/application/org-example-player]
application-id='org.example.Player.desktop'
enable=false

[org/gnome/desktop/sound]
event-sounds=false
theme-name="it's"
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path, build: Path) -> dict[str, str]:
    return os.environ | {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "GIO_EXTRA_MODULES": str(build / "lib/gio"),
        "PATH": f"{build / 'bin'}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Runs a program; further variables by name."""

    def run(*command: str, input: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, input=input, env=environment | more, capture_output=True, text=True, timeout=60, check=False
        )

    return run


def through_dconf(run: Run, folder: Path, text: str) -> str:
    """What `dconf dump /` prints when a new database has loaded a text."""
    loaded = run(
        "dbus-run-session", "--", "sh", "-c", "dconf load / && dconf dump /", input=text, XDG_CONFIG_HOME=str(folder)
    )
    assert loaded.returncode == 0, loaded.stderr
    return loaded.stdout


def test_what_dconf_has_is_the_same_in_kept_and_back_in_dconf(run: Run, tmp_path: Path) -> None:
    dump = through_dconf(run, tmp_path / "old", DUMP)
    imported = run("kept-gsettings", "import", input=dump)
    assert (imported.returncode, imported.stdout) == (0, "0 of 9 settings differ\n")
    for schema, key, value in [
        ("org.gnome.desktop.sound", "theme-name", '"it\'s"'),
        ("org.gnome.desktop.interface", "color-scheme", "'prefer-dark'"),
        ("org.gnome.desktop.input-sources", "sources", "[('xkb', 'us'), ('xkb', 'de+neo')]"),
    ]:
        got = run("gsettings", "get", schema, key, GSETTINGS_BACKEND="kept")
        assert got.stdout == value + "\n"
    exported = run("kept-gsettings", "export")
    assert exported.returncode == 0
    # No schema says that it was a pair.
    assert through_dconf(run, tmp_path / "new", exported.stdout) == dump.replace("(100, 200)", "[100, 200]")


def test_whole_doubles_of_no_schema_come_back_as_doubles(run: Run) -> None:
    values = ["half=0.5", "infinite=inf", "large=10000000000000000.0", "mixed=[1.0, 2.5]", "none=[1, 2]"]
    values += ["nothing=@ad []", "ratio=5.0", "steps=[1.0, 2.0]", "words={'a': <5.0>}", "zero=-0.0"]
    dump = "[no/schema]\n" + "\n".join(values) + "\n"
    assert run("kept-gsettings", "import", input=dump).returncode == 0
    exported = run("kept-gsettings", "export")
    # Without a schema, no element says of what type an empty list is.
    assert (exported.returncode, exported.stdout) == (0, dump.replace("@ad []", "@as []"))


def test_a_value_that_cannot_be_read_is_reported_and_the_others_are_imported(run: Run) -> None:
    text = "\ufeff[org/example]\r\na=1\r\nb=none\r\nc=9999999999\r\nd='x'\r\na=2\r\n[/]\r\ntop=uint32 7\r\n"
    imported = run("kept-gsettings", "import", input=text)
    assert (imported.returncode, imported.stdout) == (1, "0 of 3 settings differ\n")
    assert imported.stderr.splitlines() == [
        "left out a in [org/example]: it is set twice; the last value is used",
        "left out /org/example/b: its value is not GVariant text: unknown keyword",
        "left out /org/example/c: its value is not GVariant text: number out of range for type 'i'",
    ]
    assert run("kept-gsettings", "export").stdout == "[/]\ntop=7\n\n[org/example]\na=2\nd='x'\n"
    assert run("kept-gsettings", "compare", input=text).returncode == 1
    printed = run("kept-gsettings", "json", input=text)
    assert (printed.returncode, printed.stderr) == (1, imported.stderr)
    assert json.loads(printed.stdout) == {"org.example.a": 2, "org.example.d": "x", "top": 7}


def test_no_character_is_lost_in_a_locale_that_does_not_have_it(run: Run) -> None:
    dump = "[org/example]\nname='Grüße 😀'\n"
    assert run("kept-gsettings", "import", input=dump, LC_ALL="C").returncode == 0
    assert run("kept-gsettings", "export", LC_ALL="C").stdout == dump
    for command in ("json", "layer"):
        assert (
            "Grüße 😀" in run("kept-gsettings", command, *["-"] * (command == "layer"), input=dump, LC_ALL="C").stdout
        )


def test_the_comparison_finds_what_has_changed_since(run: Run) -> None:
    assert run("kept-gsettings", "import", input=DUMP).returncode == 0
    run("gsettings", "set", "org.gnome.desktop.sound", "event-sounds", "true", GSETTINGS_BACKEND="kept")
    compared = run("kept-gsettings", "compare", input=DUMP)
    assert (compared.returncode, compared.stdout) == (
        1,
        "~ org.gnome.desktop.sound.event-sounds: false → true\n1 of 9 settings differ\n",
    )


def test_the_comparison_shows_no_secret(run: Run, environment: dict[str, str]) -> None:
    with kept.open(f"{environment['XDG_CONFIG_HOME']}/kept/gsettings.kept") as settings:
        settings.keep_secrets_plain()
        settings.declare_json("org.example.token", '{"type":"string","secret":true}')
        settings["org.example.token"] = "hunter2"
    compared = run("kept-gsettings", "compare", input="[org/example]\ntoken='swordfish'\n")
    assert (compared.returncode, compared.stdout) == (1, "~ org.example.token: (secret)\n1 of 1 settings differ\n")


def test_a_dry_run_changes_nothing(run: Run, tmp_path: Path) -> None:
    assert run("kept-gsettings", "import", "--dry-run", input=DUMP).returncode == 0
    assert run("kept-gsettings", "export").stdout == ""


def test_a_dry_run_shows_each_change_and_ends_as_the_import(run: Run, tmp_path: Path) -> None:
    (tmp_path / "managed.json").write_text('{"locked":["org.example.locked"]}')
    locks = {"KEPT_GSETTINGS_MANAGED": str(tmp_path / "managed.json")}
    assert run("kept-gsettings", "import", input="[org/example]\na=1\nb=2\n").returncode == 0
    for text, changes, status in [
        ("a=1\nb=3\nc=4\n", "~ org.example.b: 2 → 3\n+ org.example.c: 4\n", 0),
        ("locked=1\n", "+ org.example.locked: 1\n", 1),
    ]:
        dry = run("kept-gsettings", "import", "--dry-run", input=f"[org/example]\n{text}", **locks)
        assert (dry.returncode, dry.stdout) == (status, changes), dry.stderr
        assert run("kept-gsettings", "import", input=f"[org/example]\n{text}", **locks).returncode == status


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["export"], 0),
        (["compare"], 1),
        (["json"], 0),
        (["import", "--dry-run"], 0),
        (["import", "/no/such/file"], 3),
        (["declare", "--dry-run"], 0),
    ],
)
def test_what_changes_nothing_makes_no_store(run: Run, tmp_path: Path, arguments: list[str], status: int) -> None:
    for location in ("gsettings", f"{tmp_path}/config/path", f"dir:{tmp_path}/config/values"):
        done = run("kept-gsettings", *arguments, "--store", location, input=DUMP)
        assert done.returncode == status, done.stderr
        assert not (tmp_path / "config").exists()


def test_what_is_not_there_yet_is_compared_with_the_administrators_values(run: Run, tmp_path: Path) -> None:
    (tmp_path / "system.json").write_text('{"values":{"org.example.a":1}}')
    layers = {"KEPT_GSETTINGS_SYSTEM": str(tmp_path / "system.json")}
    compared = run("kept-gsettings", "compare", input="[org/example]\na=1\n", **layers)
    assert (compared.returncode, compared.stdout) == (0, "0 of 1 settings differ\n")


def test_what_kept_cannot_hold_is_named_and_the_others_are_imported(run: Run, tmp_path: Path) -> None:
    folder = "x" * 1100
    (tmp_path / "managed.json").write_text('{"locked":["org.example.locked"]}')
    declared = tmp_path / "declared.json"
    declared.write_text('{"properties":{"org.example.loud":{"type":"integer","maximum":10}},"type":"object"}')
    assert run("kept", "declare", "gsettings", str(declared)).returncode == 0
    text = f"[org/example]\na=1\nlarge='{'x' * ((16 << 20) + 1)}'\nlocked=2\nloud=11\nz='z'\n\n[{folder}]\nb=2\n"
    imported = run("kept-gsettings", "import", input=text, KEPT_GSETTINGS_MANAGED=str(tmp_path / "managed.json"))
    assert imported.returncode == 1
    named = [line.partition(": ")[0] for line in imported.stderr.splitlines()]
    assert named == [
        "left out /org/example/large",
        "left out /org/example/locked",
        "left out /org/example/loud",
        f"left out /{folder}/b",
    ]
    assert run("kept-gsettings", "export").stdout == "[org/example]\na=1\nz='z'\n"


def test_resetting_everything_in_a_folder_of_files_resets_it(run: Run, tmp_path: Path) -> None:
    files = {"GSETTINGS_BACKEND": "kept", "KEPT_GSETTINGS_STORE": f"dir:{tmp_path}/values"}
    for key, value in [("event-sounds", "false"), ("theme-name", "'x'"), ("input-feedback-sounds", "true")]:
        assert run("gsettings", "set", "org.gnome.desktop.sound", key, value, **files).returncode == 0
    reset = run("gsettings", "reset-recursively", "org.gnome.desktop.sound", **files)
    assert (reset.returncode, reset.stderr) == (0, "")
    assert run("kept-gsettings", "export", "--store", f"dir:{tmp_path}/values").stdout == ""


ODD = """[org/odd]
bytes=b'abc'
empty=@a{ss} {}
list=[{'a': 1}]
members={'a': '1', 'b': '2'}
nested={'as': <@as []>, 'u': <uint32 5>}
nothing=@ms nothing
some=@may b''
variant=<['x']>
"""


@pytest.mark.parametrize("name", ["dump", "dump.ini", "dump.dconf", "dump.txt"])
def test_all_ways_of_importing_store_the_same(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(ODD)
    assert run("kept-gsettings", "import", str(tmp_path / name)).returncode == 0
    expected = run("kept", "export", "gsettings").stdout
    assert json.loads(expected)["values"]["org.odd.members"] == {"a": "1", "b": "2"}
    printed = tmp_path / "printed"
    printed.write_text(run("kept-gsettings", "json", str(tmp_path / name)).stdout)
    named = tmp_path / "printed.json"
    named.write_text(printed.read_text())
    for number, file in enumerate([tmp_path / name, printed, named]):
        imported = run("kept", "import", f"other{number}", str(file))
        assert imported.returncode == 0, imported.stderr
        other = json.loads(run("kept", "export", f"other{number}").stdout)
        assert other["values"] == json.loads(expected)["values"], imported.stderr


def test_declared_keys_refuse_what_gsettings_would_refuse(run: Run, environment: dict[str, str]) -> None:
    declared = run("kept-gsettings", "declare")
    assert declared.returncode == 0 and declared.stdout.endswith(" keys are declared\n")
    assert run("kept-gsettings", "declare").stdout == declared.stdout
    with kept.open(f"{environment['XDG_CONFIG_HOME']}/kept/gsettings.kept") as settings:
        assert settings["org.gnome.desktop.interface.text-scaling-factor"] == 1.0
        for key, wrong in [
            ("interface.text-scaling-factor", "3.5"),
            ("interface.color-scheme", '"prefer-blue"'),
            ("input-sources.sources", '[["xkb"]]'),
            ("input-sources.current", "-1"),
            ("sound.event-sounds", "1"),
        ]:
            with pytest.raises((kept.InvalidError, kept.WrongTypeError)):
                settings[f"org.gnome.desktop.{key}"] = json.loads(wrong)
        settings["org.gnome.desktop.interface.color-scheme"] = "prefer-dark"
    got = run("gsettings", "get", "org.gnome.desktop.interface", "color-scheme", GSETTINGS_BACKEND="kept")
    assert got.stdout == "'prefer-dark'\n"


def test_declarations_say_what_the_schemas_say(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "glib-2.0/schemas"
    folder.mkdir(parents=True)
    (folder / "panel.gschema.xml").write_text("""<schemalist>
      <enum id="Side"><value nick="left" value="0"/><value nick="right" value="1"/></enum>
      <flags id="Edges"><value nick="top" value="1"/><value nick="bottom" value="2"/></flags>
      <schema id="panel" path="/panel/">
        <key name="side" enum="Side"><default>'left'</default><summary>Where
          it is</summary></key>
        <key name="edges" flags="Edges"><default>['top']</default></key>
        <key name="size" type="i"><range min="1" max="9"/><default>5</default></key>
        <key name="scale" type="d"><range min="0.5"/><default>1.0</default></key>
        <key name="shade" type="d"><range max="0.5"/><default>0.0</default></key>
        <key name="layouts" type="a(ss)"><default>[('xkb', 'us')]</default></key>
        <key name="quota" type="t"><default>18446744073709551615</default></key>
      </schema></schemalist>""")
    subprocess.run(["glib-compile-schemas", "--strict", folder], check=True)
    declared = run("kept-gsettings", "declare", "--dry-run", XDG_DATA_DIRS=str(tmp_path))
    pair = {"type": "array", "prefixItems": [{"type": "string"}] * 2, "minItems": 2, "maxItems": 2}
    assert json.loads(declared.stdout)["properties"] == {
        "panel.side": {
            "type": "string", "enum": ["left", "right"], "summary": "Where it is", "default": "left",
        },
        "panel.edges": {
            "type": "array", "items": {"type": "string", "enum": ["top", "bottom"]}, "uniqueItems": True,
            "default": ["top"],
        },
        "panel.size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
        "panel.scale": {"type": "number", "minimum": 0.5, "default": 1.0},
        "panel.shade": {"type": "number", "maximum": 0.5, "default": 0.0},
        "panel.layouts": {"type": "array", "items": pair, "default": [["xkb", "us"]]},
        "panel.quota": {"type": "integer", "minimum": 0, "default": {"$numberULong": "18446744073709551615"}},
    }  # fmt: skip
    assert run("kept-gsettings", "declare", XDG_DATA_DIRS=str(tmp_path)).stdout == "7 keys are declared\n"


def test_declared_keys_become_code_and_pages(run: Run, environment: dict[str, str]) -> None:
    assert run("kept-gsettings", "declare").returncode == 0
    described = run("kept", "describe", "gsettings", "org.gnome.desktop.sound.", "--json", "--reveal").stdout
    module: dict[str, Any] = {}
    code = run("kept", "generate", "-", "--python", "--name", "sound", input=described)
    exec(compile(code.stdout, "sound.py", "exec"), module)
    with kept.open(f"{environment['XDG_CONFIG_HOME']}/kept/gsettings.kept") as settings:
        settings[module["ORG_GNOME_DESKTOP_SOUND_EVENT_SOUNDS"]] = False
    got = run("gsettings", "get", "org.gnome.desktop.sound", "event-sounds", GSETTINGS_BACKEND="kept")
    assert got.stdout == "false\n"
    everything = run("kept-gsettings", "declare", "--dry-run").stdout
    for language in ("c", "cxx", "python", "swift", "html", "markdown", "man"):
        page = run("kept", "generate", "-", f"--{language}", "--name", "gnome", input=everything)
        assert (page.returncode, page.stderr) == (0, ""), language
        assert "Sounds for events" in page.stdout


def test_declared_keys_refuse_what_gsettings_would_ignore(run: Run, environment: dict[str, str], schemas: Path) -> None:
    assert run("kept-gsettings", "declare", XDG_DATA_DIRS=str(schemas)).returncode == 0
    with kept.open(f"{environment['XDG_CONFIG_HOME']}/kept/gsettings.kept") as settings:
        cases: list[tuple[str, Any, Any]] = [
            ("o", "no/path", "/a/path"),
            ("o", "/a/", "/"),
            ("ao", ["/x-y"], ["/x_y"]),
            ("a{sv}", {"a": None}, {"a": 1, "b": {"type": "as", "value": ["x"]}}),
            ("a{sv}", {"a": [1]}, {"a": True}),
        ]
        for kind, wrong, right in cases:
            key = f"{TYPES}.key-{list(DEFAULTS).index(kind)}"
            with pytest.raises((kept.InvalidError, kept.WrongTypeError)):
                settings[key] = wrong
            settings[key] = right


def test_a_schema_without_a_path_is_declared_where_it_is_put(run: Run, environment: dict[str, str]) -> None:
    place = "org.gnome.desktop.notifications.application:/org/gnome/desktop/notifications/application/org-x/"
    assert run("kept-gsettings", "declare", "--schema", place).returncode == 0
    with kept.open(f"{environment['XDG_CONFIG_HOME']}/kept/gsettings.kept") as settings:
        assert settings["org.gnome.desktop.notifications.application.org-x.enable"] is True


def test_the_administrators_files_of_dconf_become_layers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "defaults").write_text("[org/gnome/desktop/sound]\ntheme-name='company'\n")
    (tmp_path / "locks").write_text("# no sounds\n/org/gnome/desktop/sound/theme-name\n/org/gnome/desktop/privacy/\n")
    system = run("kept-gsettings", "layer", str(tmp_path / "defaults"))
    managed = run("kept-gsettings", "layer", "--locks", str(tmp_path / "locks"))
    assert json.loads(managed.stdout) == {
        "locked": ["org.gnome.desktop.sound.theme-name"],
        "lockedPrefixes": ["org.gnome.desktop.privacy."],
    }
    layers = {"GSETTINGS_BACKEND": "kept"}
    for name, text in [("SYSTEM", system.stdout), ("MANAGED", managed.stdout)]:
        file = tmp_path / f"{name}.json"
        file.write_text(text)
        file.chmod(0o644)
        layers[f"KEPT_GSETTINGS_{name}"] = str(file)
    asked = [("sound", "theme-name"), ("privacy", "remember-app-usage"), ("sound", "event-sounds")]
    writable = [run("gsettings", "writable", f"org.gnome.desktop.{s}", key, **layers).stdout for s, key in asked]
    assert writable == ["false\n", "false\n", "true\n"]
    assert run("gsettings", "get", "org.gnome.desktop.sound", "theme-name", **layers).stdout == "'company'\n"


def test_a_folder_of_the_administrators_files_becomes_a_layer(run: Run, tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "00-sound").write_text("[org/gnome/desktop/sound]\ntheme-name='company'\n")
    (tmp_path / "locks/10").write_text("/org/gnome/desktop/sound/theme-name\n")
    (tmp_path / "locks/20").write_text("# folders\n\n/org/gnome/desktop/privacy/\n")
    files = [str(file) for file in sorted(tmp_path.iterdir())]
    system = tmp_path / "system.json"
    done = run("kept-gsettings", "layer", *files, "--output", str(system))
    assert (done.returncode, done.stdout) == (0, "") and "locks: it is a folder" in done.stderr
    assert json.loads(system.read_text()) == {"values": {"org.gnome.desktop.sound.theme-name": "company"}}
    managed = run("kept-gsettings", "layer", "--locks", str(tmp_path / "locks"))
    assert json.loads(managed.stdout) == {
        "locked": ["org.gnome.desktop.sound.theme-name"],
        "lockedPrefixes": ["org.gnome.desktop.privacy."],
    }
    # The former values stay if a file cannot be read.
    (tmp_path / "99").write_text("no dump")
    assert run("kept-gsettings", "layer", *files, str(tmp_path / "99"), "--output", str(system)).returncode == 3
    assert json.loads(system.read_text()) == {"values": {"org.gnome.desktop.sound.theme-name": "company"}}


def test_a_line_that_locks_nothing_is_named(run: Run, tmp_path: Path) -> None:
    locks = tmp_path / "locks"
    locks.write_text("/org/example/a\norg/example/b\n")
    done = run("kept-gsettings", "layer", "--locks", str(locks))
    assert done.returncode == 1 and "org/example/b" in done.stderr
    assert json.loads(done.stdout)["locked"] == ["org.example.a"]
    locks.write_text("[org/example]\na=1\n")
    done = run("kept-gsettings", "layer", "--locks", str(locks))
    assert (done.returncode, done.stdout) == (3, "") and "not a file of locks" in done.stderr


def test_a_value_that_gsettings_does_not_have_is_named(run: Run, environment: dict[str, str]) -> None:
    with kept.open(f"{environment['XDG_CONFIG_HOME']}/kept/gsettings.kept") as settings:
        settings["org.example.list"] = [None]
        settings["org.gnome.desktop.sound.event-sounds"] = "loud"
    assert sorted(run("kept-gsettings", "export").stderr.splitlines()) == [
        "left out /org/example/list: no schema defines it, and its value has no type in GSettings",
        "left out /org/gnome/desktop/sound/event-sounds: its value does not have the schema's type",
    ]


@pytest.mark.parametrize(
    ("arguments", "text", "status"),
    [
        (["import", "/no/such/file"], "", 3),
        (["import"], "[org/x]\na\n", 3),
        (["import"], "no dump", 3),
        (["import", "a", "b"], "", 2),
        (["export", "a"], "", 2),
        (["declare", "--schema", "org.gnome.desktop.sound:/x/"], "", 2),
        (["declare", "--schema", "no-colon"], "", 2),
        (["bogus"], "", 2),
        ([], "", 2),
        (["layer", "--locks", "/no/such/file"], "", 4),
    ],
)
def test_mistakes_are_one_sentence(run: Run, arguments: list[str], text: str, status: int) -> None:
    done = run("kept-gsettings", *arguments, input=text)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1), done.stderr


def test_a_value_that_its_schema_does_not_admit_is_named(run: Run) -> None:
    done = run("kept-gsettings", "import", input="[org/gnome/desktop/sound]\nevent-sounds='loud'\n")
    assert done.returncode == 0 and done.stderr.startswith("/org/gnome/desktop/sound/event-sounds has the type s, ")
