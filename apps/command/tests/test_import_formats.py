"""The formats that `kept import` reads: what each kind of file becomes, and that everything else is in the report."""

from __future__ import annotations

import configparser
import json
import plistlib
import random
import resource
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Kept, environment_in

Import = Callable[..., "tuple[dict[str, Any], dict[str, str]]"]
BIG = {"$numberULong": "18446744073709551615"}


@pytest.fixture
def imported(kept: Kept, tmp_path: Path) -> Import:
    """Imports a file into an empty store; returns its settings, and the reasons in the report by their places."""

    def run(name: str, data: str | bytes, *options: str) -> tuple[dict[str, Any], dict[str, str]]:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        done = kept("import", "memory:", str(path), "--json", *options)
        assert done.status in (0, 1), done.err
        report = json.loads(done.out)
        notes = {note["place"]: note["reason"] for note in report["notCarried"]}
        return {change["key"]: change["new"] for change in report["changed"]}, notes

    return run


@pytest.fixture
def refused(kept: Kept, tmp_path: Path) -> Callable[..., str]:
    """The sentence that refuses a file."""

    def run(name: str, data: str | bytes, *options: str) -> str:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        done = kept("import", "other", str(path), *options)
        assert (done.status, done.out) == (3, ""), done.err
        assert not (tmp_path / "config/kept/other.kept").exists()
        return done.err.split("chooses another format\n")[-1]

    return run


def plist(members: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>') -> str:
    return f'{head}<plist version="1.0"><dict>{members}</dict></plist>'


def binary(objects: list[bytes]) -> bytes:
    """A binary property list of objects, each referring to others by one byte; the first one is the root."""
    list, offsets = b"bplist00", []
    for item in objects:
        offsets.append(len(list))
        list += item
    table = b"".join(offset.to_bytes(4, "big") for offset in offsets)
    sizes = bytes(6) + b"\4\1" + len(objects).to_bytes(8, "big") + bytes(8) + len(list).to_bytes(8, "big")
    return list + table + sizes


# ----------------------------------------------------------------------------------------------------------------
# The format, and the encoding
# ----------------------------------------------------------------------------------------------------------------

FORMATS: dict[str, tuple[str | bytes, str]] = {
    "a.json": ('{"a": 1}', "json"),
    "a.jsonc": ('/* c */ {"a": 1,}', "json"),
    "nested.json": ('{"a": {"b": 1}}', "nested-json"),
    "comments": ('// c\n{"a": {"b": 1}}', "nested-json"),
    "export.json": ('{"kept": 1, "values": {"a": 1}}', "kept"),
    "a.plist": (plist("<key>a</key><true/>"), "plist"),
    "list": ("<plist><dict/></plist>", "plist"),
    "binary": (plistlib.dumps({"a": 1}, fmt=plistlib.FMT_BINARY), "plist"),
    "a.toml": ("[a]\nb = 1\n", "toml"),
    "arrays": ("[[a]]\nb = 1\n", "toml"),
    "a.yaml": ("A=1: 2\n", "yaml"),
    "a.yml": ('{"a": {"b": 1}}', "yaml"),
    "json.toml": ('{"a": 1}', "json"),
    "list.toml": (plist("<key>a</key><true/>"), "plist"),
    "list.yaml": (plist("<key>a</key><true/>"), "plist"),
    "list.yml": ("<plist><dict/></plist>", "plist"),
    "name.yaml": ("<a>: 1\n", "yaml"),
    "merge.yaml": ("<<: {a: 1}\n", "yaml"),
    "document": ("---\na: 1\n", "yaml"),
    "mapping": ("# c\na: 1\nb:\n  c: 2\n", "yaml"),
    ".env": ("A=1\n", "env"),
    ".env.local": ("[a]\nB=1\n", "env"),
    "production.env": ("a: 1\nB=1\n", "env"),
    "variables": ("A=1\nB=x: y\n", "env"),
    "a.ini": ("[a]\nb=1\n", "ini"),
    "quoted.ini": ("[look]\ncolour = dark\nface='Mono 11'\n", "ini"),
    "slash.ini": ('[remote "git@host:a/b"]\n\tfetch = all\n', "ini"),
    "path.ini": ("[org/gnome]\nname=word\n", "ini"),
    "numbers.ini": ("[panel]\nsize=24\n", "ini"),
    "dump.ini": ("[/]\nautohide=true\n\n[panel/left]\nsize=24\ntitle='x'\n", "dconf"),
    "numbers.dconf": ("[panel]\nautohide=true\nsize=24\n", "dconf"),
    "folders.ini": ("[org/gnome/folders/My Games]\nname='Games'\n", "dconf"),
    "words.ini": ("[my folders/games]\nname=Games\n", "ini"),
    "dump": ("[org/gnome]\na=@as []\nb=uint32 5\nc=<'x'>\nd=('a', 1)\n", "dconf"),
    "sections": ("[a]\nb=1\n", "ini"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_is_found_from_the_name_and_the_contents(name: str, kept: Kept, tmp_path: Path) -> None:
    data, format = FORMATS[name]
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    done = kept("import", "memory:", name, "--json", "--dry-run")
    assert done.status in (0, 1) and json.loads(done.out)["format"] == format, done.err


def test_a_dump_of_dconf_has_the_values_of_kept_gsettings(imported: Import) -> None:
    dump = "\ufeff[org/example/v1.2]\r\nsize=(1, 2)\r\nbytes=b'a'\r\nbad=no\r\nlast=1\r\nlast=2.0\r\n"
    settings, notes = imported("settings.dconf", dump)
    assert settings == {
        "org.example.v1%2E2.bytes": {"$binary": {"base64": "YQA=", "subType": "00"}},
        "org.example.v1%2E2.last": 2.0,
        "org.example.v1%2E2.size": [1, 2],
    }
    assert "its value is not GVariant text" in notes["/org/example/v1.2/bad"]
    assert "the last value is used" in notes["last in [org/example/v1.2]"]
    wrong = "[/]\na='\\ud800'\nb=['\\U00110000']\nc[de]=1\nd='\\\\ud800 \\U0001f600'\ne='\\u0000'\n"
    settings, notes = imported("b.dconf", wrong)
    assert settings == {"c[de]": 1, "d": "\\ud800 \U0001f600"} and set(notes) == {"/a", "/b", "/e"}
    settings, _ = imported("numbers.dconf", "[panel]\nautohide=true\nsize=24\n", "--prefix", "p.")
    assert settings == {"p.panel.autohide": True, "p.panel.size": 24}


def test_two_commands_store_the_same_values_of_a_dump(kept: Kept, tmp_path: Path) -> None:
    values = (
        "uint32 5", "just 'x'", "@ms nothing", "<{'a': <1>, 'b': <(1, 'x')>}>", "b'abc'", "[byte 0x01, 0x02]",
        "{1: 'a'}", "{'b': 1.0, 'a': 2.0}", "byte 0x20", "int64 -9223372036854775808", "uint64 18446744073709551615",
        "5.0", "nan", "-0.0", "objectpath '/a/b'", "signature 'as'", "(1, 2.0, 'x')", "{'k', 1}", "handle 5",
        "'a\\nb\\u00e9'", "[('xkb', 'us'), ('xkb', 'de')]", "@a(ss) []", "true", "1.25",
    )  # fmt: skip
    dump = tmp_path / "a.dconf"
    dump.write_text("[/]\ntop=1\n[x/y.z]\n" + "".join(f"k{number}={value}\n" for number, value in enumerate(values)))
    assert kept("import", "first", str(dump)).status == 0
    environment = environment_in(tmp_path)
    command = Path(environment["KEPT_COMMAND"]).with_name("kept-gsettings")
    subprocess.run([command, "import", "--store", "second", dump], env=environment, check=True, capture_output=True)
    first, second = (json.loads(kept("export", store).out)["values"] for store in ("first", "second"))
    assert first == second and len(first) == len(values) + 1


def test_a_dump_needs_kept_gsettings(kept: Kept, tmp_path: Path) -> None:
    alone = tmp_path / "bin"
    alone.mkdir()
    command = alone / "kept"
    command.write_bytes(Path(environment_in(tmp_path)["KEPT_COMMAND"]).read_bytes())
    command.chmod(0o755)
    (tmp_path / "a.dconf").write_text("[/]\na=1\n")
    done = subprocess.run(
        [command, "import", "other", "a.dconf"],
        env=environment_in(tmp_path) | {"PATH": str(alone)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4 and "kept-gsettings, which reads it, is not installed" in done.stderr
    assert not (tmp_path / "config/kept/other.kept").exists()


TEXTS = {
    "a.ini": ("[window]\nwidth = é\n", {"window.width": "é"}),
    "a.env": ("A='é\nb'\n", {"A": "é\nb"}),
    "a.json": ('{"a": "é"}\n', {"a": "é"}),
    "nested.json": ('{"a": {"b": "é"}}\n', {"a.b": "é"}),
    "a.toml": ('[a]\nb = """é\nb"""\n', {"a.b": "é\nb"}),
    "a.yaml": ("a: |\n  é\n  b\n", {"a": "é\nb\n"}),
    "a.plist": (plist("<key>a</key><string>é\nb</string>", '<?xml version="1.0"?>\n'), {"a": "é\nb"}),
    "a.dconf": ("[/]\na='é'\n", {"a": "é"}),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "be+bom", "utf-32"])
def test_every_text_is_decoded_alike(name: str, ends: str, encoding: str, imported: Import) -> None:
    text, expected = TEXTS[name]
    text = text.replace("\n", ends)
    data = ("\ufeff" + text).encode("utf-16-be") if encoding == "be+bom" else text.encode(encoding)
    assert imported(name, data)[0] == expected


@pytest.mark.parametrize("text", ["é=1\nb = 2\n", "ключ = значение\n", "键=值\nb=2\n", "\U0001d11e=1\nb=2\n"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8-sig", "utf-16"])
def test_a_text_of_other_letters_needs_no_byte_order_mark(text: str, encoding: str, imported: Import) -> None:
    expected = dict(line.replace(" ", "").split("=") for line in text.splitlines())
    for marks in ("", "\ufeff", "\ufeff\ufeff"):
        assert imported("a.env", (marks + text).encode(encoding))[0] == expected
    assert imported("a.ini", text.encode(encoding))[0] == expected


@pytest.mark.parametrize("name", [*TEXTS, "export.json", "unknown"])
def test_what_is_not_text_is_refused(name: str, refused: Callable[..., str]) -> None:
    text = TEXTS.get(name, ("A=e", {}))[0].replace("é", "e")
    assert "is not UTF-8; save the file as UTF-8" in refused(name, text.replace("e", "\xe9", 1).encode("latin-1"))
    assert "contains a NUL" in refused(name, text + "\0")
    assert "ends in the middle of a UTF-16 character" in refused(name, text.encode("utf-16") + b"x")
    assert "UTF-16" in refused(name, b"\xff\xfe" + text.encode("utf-16-le") + b"\x00\xd8")


def test_an_empty_file_has_no_format_of_its_own(kept: Kept, tmp_path: Path, refused: Callable[..., str]) -> None:
    for text in ("", " \n\t\n", "\ufeff"):
        assert "its format is unknown; choose one with --format" in refused("unknown", text)
        for name in ("a.ini", "a.env", "a.toml", "a.yaml"):
            (tmp_path / name).write_text(text)
            assert kept("import", "memory:", name).status == 0
        for name in ("a.json", "a.plist"):
            assert refused(name, text)


# ----------------------------------------------------------------------------------------------------------------
# JSON
# ----------------------------------------------------------------------------------------------------------------


def test_json_with_comments_is_read(imported: Import, refused: Callable[..., str]) -> None:
    text = '// c\n{"a": 1, /* "x": 2, */ "b": [1, 2 , ], "c": "//no /*c*/ \\" , }", "d": -0, // e\n}\n/**/'
    assert imported("a.json", text) == ({"a": 1, "b": [1, 2], "c": '//no /*c*/ " , }', "d": -0.0}, {})
    for wrong in ('{"a": 1,, "b": 2}', '{"a": [,]}', "{,}", '{"a": ,}', '{"a": 1} /* x', '{"a": 1 / 2}', '{"a": 1} x'):
        assert "a.json: " in refused("a.json", wrong)


def test_objects_that_are_split_are_reported_and_declared_ones_stay_whole(declared: Kept, tmp_path: Path) -> None:
    text = '{"audio": {"volume": 5, "x": {"y": 1}}, "window": {"w": 1}, "token": {"a": "hunter"}, "none": null}'
    (tmp_path / "a.json").write_text(text)
    (tmp_path / "a.yaml").write_text(text)
    toml = "audio = {volume = 5, x = {y = 1}}\nwindow = {w = 1}\n[token]\na = 'hunter'\n"
    (tmp_path / "a.toml").write_text(toml)
    for name in ("a.json", "a.yaml", "a.toml"):
        done = declared("import", "player", name, "--json", "--dry-run")
        report = json.loads(done.out)
        assert {change["key"]: change.get("new") for change in report["changed"]} == {
            "audio.volume": 5, "audio.x.y": 1, "window": {"w": 1},
        }  # fmt: skip
        # The secret takes text.
        assert [refusal["key"] for refusal in report["refused"]] == ["token"] and "hunter" not in done.out + done.err
        places = {note["place"] for note in report["notCarried"]}
        assert places == {"audio", "none"} if name != "a.toml" else {"audio"}


def test_a_value_that_cannot_be_read_does_not_split_another_one(declared: Kept, tmp_path: Path) -> None:
    for wrong in ("1e999", "18446744073709551616", "[" * 65 + "]" * 65):
        text = f'{{"window": {{"w": 18446744073709551615}}, "x": {{"y": -0, "z": {wrong}}}, "token": {{"a": 1}}}}'
        (tmp_path / "a.json").write_text(text)
        report = json.loads(declared("import", "player", "a.json", "--json", "--dry-run").out)
        assert {change["key"]: change["new"] for change in report["changed"]} == {"window": {"w": BIG}, "x.y": -0.0}
        assert [note["place"] for note in report["notCarried"]] == ["x", "x.z"]
        assert [refusal["key"] for refusal in report["refused"]] == ["token"]


REPEATS = {
    "objects": '{"a": {"b": 1},\n "a": {"c": 2}}',
    "object and value": '{"a": {"b": 1},\n "a": 2}',
    "values": '{"a": 1,\n "a": 2}',
    "inside": '{"x": {"a": 1,\n "a": 2}}',
    "escaped": '{"a": {"b": 1},\n "\\u0061": {"c": 2}}',
    "array": '{"x": {"y": 1}, "z": [{"a": 1,\n "a": 2}]}',
    "whole": '{"x": {"y": 1}, "window": {"a": 1,\n "a": 2}}',
    "after whole": '{"window": {"a": 1}, "x": {"a": 1,\n "a": 2}}',
}


@pytest.mark.parametrize("name", REPEATS)
@pytest.mark.parametrize("format", ["json", "nested-json"])
def test_a_name_twice_in_an_object_is_refused_with_its_place(
    name: str, format: str, declared: Kept, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(REPEATS[name])
    done = declared("import", "player", "a.json", "--format", format)
    assert (done.status, done.out) == (3, "") and "an object has this key twice" in done.err
    assert "line 2" in done.err, done.err


def test_the_last_one_of_names_that_become_one_key_is_imported(imported: Import, declared: Kept) -> None:
    for text, value in (
        ('{"a": {"b": 1}, "a.b": 2}', 2), ('{"a.b": 2, "a": {"b": 1}}', 1),
        # The last one that can be imported.
        ('{"a": {"b": 1}, "a.b": null}', 1), ('{"a": {"b": 1}, "a.b": 18446744073709551616}', 1),
    ):  # fmt: skip
        settings, notes = imported("a.json", text)
        assert settings == {"a.b": value} and set(notes) == {"a", "a.b"}
    done = declared("import", "player", "-", "--json", input='{"window": {"w": 1}, "x": {"y": 1}, "x.y": 2}')
    report = json.loads(done.out)
    assert {change["key"]: change["new"] for change in report["changed"]} == {"window": {"w": 1}, "x.y": 2}
    assert [note["place"] for note in report["notCarried"]] == ["x", "x.y"]


@pytest.mark.parametrize("format", ["json", "nested-json"])
def test_what_json_has_and_kept_has_not_is_reported(format: str, declared: Kept, tmp_path: Path) -> None:
    deep = "[" * 1000 + "]" * 1000
    text = (
        f'{{"a\\u0000b": {{"x": 1}}, "b": ["\\ud800"], "c\\ud800": {{"x": {{"y": 1}}}}, "d": {deep}, '
        '"window": {"w": 1}, "e": [{"\\u0000": 1}], "z": 1}'
    )
    (tmp_path / "a.json").write_text(text)
    done = declared("import", "player", "a.json", "--json", "--format", format)
    assert done.status == 1, done.err
    report = json.loads(done.out)
    assert {change["key"]: change["new"] for change in report["changed"]} == {"window": {"w": 1}, "z": 1}
    assert [note["place"] for note in report["notCarried"]] == ["a\0b", "b", "c\ufffd", "d", "e"]
    assert "\0" not in declared("import", "player", "a.json", "--format", format).err


def test_a_file_of_more_than_1_gib_is_refused(kept: Kept, tmp_path: Path) -> None:
    with (tmp_path / "a.json").open("wb") as file:
        file.truncate((1 << 30) + 1)
    done = kept("import", "other", "a.json")
    assert done.status == 3 and "a.json is larger than 1 GiB; use a smaller file" in done.err


def test_wrong_nested_json_is_shown_where_it_is_wrong(refused: Callable[..., str]) -> None:
    for text in ('{"a": {"b": 1},\n "c": {"d": 1 x}}', '{"a": {"b": 1},\n "c": x}', '{"a": {"b": 1},\n "c": 1} x'):
        sentence = refused("a.json", text)
        assert "line 2" in sentence or ' "c": ' in sentence, sentence


def test_a_wrong_value_of_json_is_reported_and_the_others_are_imported(imported: Import) -> None:
    deep = "[" * 65 + "]" * 65
    text = f'{{"a": 1, "b": 18446744073709551616, "c": {deep}, "d": 1e999, "e": null, "f": 18446744073709551615}}'
    settings, notes = imported("a.json", text)
    assert (settings, sorted(notes)) == ({"a": 1, "f": BIG}, ["b", "c", "d", "e"])
    settings, notes = imported("b.json", f'{{"x": {{"y": 1}}, "z": {text}}}')
    assert (settings, sorted(notes)) == ({"x.y": 1, "z.a": 1, "z.f": BIG}, ["x", "z", "z.b", "z.c", "z.d", "z.e"])


# ----------------------------------------------------------------------------------------------------------------
# Property lists
# ----------------------------------------------------------------------------------------------------------------


def test_the_values_of_a_property_list(imported: Import) -> None:
    values: dict[str, Any] = {
        "true": True, "integer": 5, "negative": -(2**63), "large": 2**64 - 1, "real": 5.0, "zero": -0.0,
        "text": "é\n$x", "data": b"\0\1", "date": datetime(1500, 1, 1, 12, 30, 1), "old": datetime(1, 1, 1),
        "list": [1, "x", {"k": [1.5]}], "empty": {}, "n": "$nullable",
    }  # fmt: skip
    expected = values | {
        "large": BIG, "data": {"$binary": {"base64": "AAE=", "subType": "00"}},
        "date": {"$date": "1500-01-01T12:30:01Z"}, "old": {"$date": "0001-01-01T00:00:00Z"},
    }  # fmt: skip
    for format in (plistlib.FMT_XML, plistlib.FMT_BINARY):
        settings, notes = imported("a.plist", plistlib.dumps(values, fmt=format))
        assert (settings, notes) == (expected, {})
        assert isinstance(settings["real"], float) and isinstance(settings["integer"], int)


BAD_ELEMENTS = [
    "<integer>18446744073709551616</integer>", "<integer>-9223372036854775809</integer>", "<integer>none</integer>",
    "<real>abc</real>", "<real>1e999</real>", "<real>1e-999</real>", "<data>!!!</data>", "<data>QQ</data>",
    "<array><key>a</key></array>", "<integer>0x</integer>", "<integer/>", "<integer> </integer>",
    "<integer>1.5</integer>", "<real/>",
    "<date>10000-01-01T00:00:00Z</date>", "<date>9223372036854775807-01-01T00:00:00Z</date>", "<date/>",
    "<date>-0001-01-01T00:00:00Z</date>", "<date>2001-99-99T00:00:00Z</date>", "<date>2001-02-29T00:00:00Z</date>",
    "<date>yesterday</date>", "<dict><key>CF$UID</key><integer>3</integer></dict>", "<null/>", "<set><true/></set>",
    "<array><date>x</date></array>", "<dict><key>a</key><integer/></dict>", "<array>" * 65 + "</array>" * 65,
    "<dict><key>a</key>" * 65 + "<true/>" + "</dict>" * 65, "<array>" * 20_000 + "</array>" * 20_000,
]  # fmt: skip


@pytest.mark.parametrize("element", BAD_ELEMENTS, ids=lambda element: element[:40])
def test_a_wrong_value_of_a_property_list_is_reported_and_the_others_are_imported(
    element: str, imported: Import
) -> None:
    text = plist(f"<key>a</key><integer>1</integer><key>n</key>{element}<key>z</key><string>end</string>")
    settings, notes = imported("a.plist", text)
    assert settings == {"a": 1, "z": "end"} and list(notes) == ["n"] and notes["n"].startswith("is ")


def test_xml_is_read_as_programs_write_it(imported: Import) -> None:
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\r\n<!-- a > b -->\r\n<!DOCTYPE plist PUBLIC '
        '"-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\r\n'
    )
    members = (
        "<key>hex</key><integer> 0x1F </integer>\r\n<key>plus</key><integer>+5</integer><key>inf</key><real>-inf</real>"
        "<key>cdata</key><string><![CDATA[<string>$null &amp;]]></string><key>&lt;k&gt;</key><string>&amp;&#13;&#x41;"
        "</string><key>comment</key><string>a<!-- x -->b</string><key>empty</key><string/><key>lines</key><string>a\r\n"
        "b\rc&#13;\n</string><key>null</key><string>$null</string><key>colon</key><string>=:!@</string>"
        "<key>é</key><integer>1</integer><key>e\u0301</key><integer>2</integer><key >space</key ><true  />"
        "<key>attribute</key><string a='>' b=\"'>\">x</string><key>real</key><real> 1e3\n</real><key>data</key><data>"
        "\n\tQU\n\tI=\n</data><key>no data</key><data/>"
    )
    settings, notes = imported("a.plist", plist(members, head))
    assert notes == {} and settings == {
        "hex": 31, "plus": 5, "inf": {"$numberDouble": "-Infinity"}, "cdata": "<string>$null &amp;", "<k>": "&\rA",
        "comment": "ab", "empty": "", "lines": "a\nb\nc\r\n", "null": "$null", "colon": "=:!@", "é": 1, "e\u0301": 2,
        "space": True, "attribute": "x", "real": 1000.0, "data": {"$binary": {"base64": "QUI=", "subType": "00"}},
        "no data": {"$binary": {"base64": "", "subType": "00"}},
    }  # fmt: skip


def test_a_key_that_is_in_a_property_list_twice_is_reported(imported: Import) -> None:
    members = "<key>a</key><integer>1</integer><key>d</key><dict><key>x</key><true/><key>x</key><false/></dict>"
    settings, notes = imported("a.plist", plist(members + "<key>a</key><integer>2</integer>"))
    assert settings == {"a": 2, "d": {"x": False}} and sorted(notes) == ["a", "d"]
    # The decoder would merge these without a word.
    settings, notes = imported("b.plist", binary([b"\xd2\1\2\3\4", b"\x51a", b"\x51a", b"\x10\1", b"\x10\2"]))
    assert settings == {"a": 2} and list(notes) == ["a"]
    names = {"é": 1, "e\u0301": 2, "n" * 300: {"é": 3, "e\u0301" * 100: 4}}
    assert imported("c.plist", plistlib.dumps(names, fmt=plistlib.FMT_BINARY)) == (names, {})


BAD_OBJECTS = {
    "uid": b"\x80\5", "65 bits": b"\x14" + bytes(7) + b"\1" + bytes(8), "negative": b"\x14" + b"\xff" * 8 + bytes(8),
    "half a pair": b"\x61\xd8\0", "no ASCII": b"\x51\xff", "too long": b"\x5f\x13" + b"\xff" * 8, "itself": b"\xa1\2",
    "infinite date": b"\x33\x7f\xf0" + bytes(6), "no date": b"\x33\x7f\xf8" + bytes(6), "set": b"\xc1\3",
    "integer as key": b"\xd1\3\3", "null": b"\0", "unknown": b"\x70", "outside": b"\xa1\x7f",
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_OBJECTS)
def test_a_wrong_object_of_a_binary_property_list_is_reported(name: str, imported: Import) -> None:
    settings, notes = imported("a.plist", binary([b"\xd2\1\4\2\3", b"\x51n", BAD_OBJECTS[name], b"\x10\7", b"\x51z"]))
    assert settings == {"z": 7} and list(notes) == ["n"]


@pytest.mark.parametrize("key", [b"\x61\xd8\0", b"\x51\xff"])
def test_a_name_that_is_not_unicode_is_reported(key: bytes, imported: Import) -> None:
    settings, notes = imported("a.plist", binary([b"\xd2\1\2\3\3", b"\x51a", key, b"\x10\7"]))
    assert settings == {"a": 7} and list(notes.values()) == ["has a name that is not Unicode"]


def test_integers_of_16_bytes_keep_their_sign(imported: Import) -> None:
    objects = [b"\x14" + b"\xff" * 16, b"\x14" + b"\xff" * 8 + b"\x80" + bytes(7), b"\x14" + bytes(8) + b"\xff" * 8]
    settings, _ = imported("a.plist", binary([b"\xd3\1\2\3\4\5\6", b"\x51a", b"\x51b", b"\x51c", *objects]))
    assert settings == {"a": -1, "b": -(2**63), "c": BIG}


def test_what_is_not_a_property_list_is_refused(refused: Callable[..., str]) -> None:
    sound = plistlib.dumps({"a": ["x", 1.5]}, fmt=plistlib.FMT_BINARY)
    entities = '<!DOCTYPE plist [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>'
    declaring = plist("<key>x</key><string>&c;</string>", entities)
    assert "the document type has a part in [ ]" in refused("a.plist", declaring)
    assert "is not a dictionary" in refused("a.plist", "<plist><array/></plist>")
    for old in ("{ a = 1; b = (x); }", "a = 1;", '{"a" = <00ff>; }', "// c\n{ a = 1; }"):
        assert "old-style" in refused("a.plist", old) and "old-style" in refused("a", old, "--format", "plist")
    wrong = ["<plist><dict>", "<plist/>", "<", "<!", "<?xml", "<!--", "<html></html>", plist("<key>a</key>")]
    wrong += [plist("<key>a</key><string>b</integer>"), plist("<string>a</string><true/>"), plist("<![CDATA[")]
    for text in wrong:
        assert refused("a.plist", text)
    for length in (6, 8, 20, 39, len(sound) - 1):
        assert refused("a.plist", sound[:length])
    assert "<" not in refused("a.plist", plist("<key>token</key><string>hunter2<integer/></string>"))


# ----------------------------------------------------------------------------------------------------------------
# TOML and YAML
# ----------------------------------------------------------------------------------------------------------------


def test_the_values_of_toml(imported: Import) -> None:
    text = """
        top = 1
        "dotted.key" = true
        a.b.c = "x"
        [numbers]
        hex = 0xFF
        real = 1e3
        inf = -inf
        underscore = 1_000
        [dates]
        zone = 1979-05-27T00:32:00.999999-07:00
        utc = 1979-05-27T07:32:00Z
        local = 1979-05-27T07:32:00
        day = 1979-05-27
        time = 07:32:00.5
        [[servers]]
        name = 'α\\u0000'
        [[servers]]
        ports = [1, 2.5, {x = 1}]
        [texts]
        nul = "a\\u0000b\\\\u0000"
        [empty]
    """
    settings, notes = imported("a.toml", text)
    assert settings == {
        "top": 1, "dotted.key": True, "a.b.c": "x", "numbers.hex": 255, "numbers.real": 1000.0,
        "numbers.inf": {"$numberDouble": "-Infinity"}, "numbers.underscore": 1000,
        "dates.zone": {"$date": "1979-05-27T07:32:00.999999Z"}, "dates.utc": {"$date": "1979-05-27T07:32:00Z"},
        "dates.local": "1979-05-27T07:32:00", "dates.day": "1979-05-27", "dates.time": "07:32:00.5",
        "servers": [{"name": "α\\u0000"}, {"ports": [1, 2.5, {"x": 1}]}], "texts.nul": "a\0b\\u0000", "empty": {},
    }  # fmt: skip
    assert set(notes) == {"dates.local", "dates.day", "dates.time"}


def test_a_number_or_date_that_toml_cannot_hold_is_reported(imported: Import, refused: Callable[..., str]) -> None:
    text = """
        a = 18446744073709551616
        b = [1, 0xFFFFFFFFFFFFFFFFF]
        c = {d = 2021-02-30T00:00:00Z, e = 1}
        f = 9999-12-31T23:59:59-01:00
        g = 25:00:00
        h = [
          # 2
          99999999999999999999,
        ]
        i = 1e400
        j = [9223372036854775808, 0xFFFF_FFFF_FFFF_FFFF]
        k = "\\ue000"
        z = 'end'
    """
    settings, notes = imported("a.toml", text)
    assert settings == {
        "c.e": 1, "j": [{"$numberULong": "9223372036854775808"}, BIG], "k": "\ue000", "z": "end",
    }  # fmt: skip
    assert set(notes) == {"a", "b", "c", "c.d", "f", "g", "h", "i"}
    assert all("does not fit into 64 bits" in notes[name] for name in "abh")
    assert all("date" in notes[name] for name in ("c.d", "f", "g")) and "a double" in notes["i"]
    text = "a = 1e-400\nb = [1e-310, 0e-400, 1E-0300, '1e-400', '''\n1e-400\n''']\n"
    settings, notes = imported("b.toml", text + "c = -1_0.5e-999 # 1e-400\nd.x = 1e-99\n")
    assert settings == {"b": [1e-310, 0.0, 1e-300, "1e-400", "1e-400\n"], "d.x": 1e-99} and set(notes) == {"a", "c"}
    assert imported("c.toml", "1e-400 = 1\na = 1e-300\n") == ({"1e-400": 1, "a": 1e-300}, {})
    for wrong in (
        "a = 1\na = 2", "a = ", "[a\nb=1", "a = 1 b = 2", "a.b = 1\na = 2", "a = 01", "= 1", "a = 1.", "a = 1__0",
        "a = _1", "a = 0xg", "a = 1e", "a = 1e4_", "a = -0x1", "a = 99999999999999999999 1", "a = .1e400",
        "a = 99999999999999999999_",
    ):  # fmt: skip
        assert "is not valid TOML" in refused("a.toml", wrong)
    assert "hunter" not in refused("a.toml", 'token = "hunter2').splitlines()[0]
    for text in ("a = 1\na = 2", "a = ", "= 1", "a.b = 1\na = 2", "a = [1 2]", 'a = "\\x"', "[a]\n[a]"):
        sentence = refused("a.toml", text).splitlines()[0]
        assert not sentence.endswith((",", " ", ":")) and not any(word in sentence for word in ("saw", "Error while"))
    assert "is not valid TOML: array: expected comma or closing ']'" in refused("a.toml", "a = [1 2]")


def test_a_key_that_is_defined_twice_is_one_line(refused: Callable[..., str]) -> None:
    for text, line in (("name = 1\nname = 2", 2), ("[name]\na = 1\n[name]\n", 3), ("x = {name = 1, name = 2}", 1)):
        sentence = f"line {line} is not valid TOML: its key or table is already defined; remove one definition\n"
        said = refused("a.toml", text)
        assert said.endswith(f"/a.toml: {sentence}") and said.count("\n") == 1, said
    for text, line in (("name: 1\nb: 2\nname: 3\n", 1), ("x:\n  name: 1\n  name: 2\n", 2)):
        sentence = f'the YAML mapping that begins on line {line} has "name" twice, perhaps in two Unicode normal '
        said = refused("a.yaml", text)
        assert said.endswith(f"/a.yaml: {sentence}forms; remove one\n") and said.count("\n") == 1, said


def test_a_value_that_is_not_imported_is_reported_once(kept: Kept) -> None:
    text = "d: 2026-02-30\ne: 2026-02-30T00:00:00.1234567890\nf: {a: yes, b: 0x10000000000000000}\n"
    done = kept("import", "memory:", "-", "--format=yaml", "--json", input=text)
    places = [note["place"] for note in json.loads(done.out)["notCarried"]]
    assert places.count("d") == places.count("e") == 1, done.out


def test_any_number_of_wrong_values_of_toml_are_reported(imported: Import) -> None:
    wrong = (
        "1e400", "0." + "0" * 400 + "1", "0.00001e-320", "99999999999999999999", "0x" + "f" * 200, "2021-1-1", "00:00",
        "2021-02-30 10:00:00", "2021-02-28 25:00:00", "1979-05-27T00:32:00+25:00", "1979-05-27T00:32:00-00:60",
        "1979-05-27T24:00:00Z", "1979-05-27T00:32:60Z", "07:60:00", "2021-13-01", "1979-05-27Z", "07:32:00Z",
        "07:32:00.",
    )  # fmt: skip
    text = "".join(f"n{number}_{place} = {word}\n" for number in range(100) for place, word in enumerate(wrong))
    settings, notes = imported("a.toml", "first = 1\n" + text + "[last]\nx = 2\n")
    assert settings == {"first": 1, "last.x": 2} and len(notes) == 100 * len(wrong)
    assert imported("b.toml", "a = 0x" + "0" * 200 + "1\nb = 1." + "0" * 300 + "\nc = -1_0.5_0e+1_0\n") == (
        {"a": 1, "b": 1.0, "c": -105000000000.0}, {},
    )  # fmt: skip


def test_what_only_looks_like_a_number_or_date_of_toml_stays(imported: Import) -> None:
    text = r'''
        2021-02-30 = "1e400" # = 1e400
        99999999999999999999 = '= 2021-02-30'
        1e400.2021-02-30 = """
= 1e400 "" \\\""" = 99999999999999999999"""""
        [25-00-00]
        "a = [" = [ # 1e400 ]
          "]", 1e5, # "
          {b = "}", c = [1, 1e300]}, ['\', "\"1e400"],
          1979-05-27 07:32:00.1234567891Z,
        ]
        '= 1e400' = {a = 1e1, "b" = "x, y = 1e400", c = ''}
        d = 1979-05-27t00:32:00.5-07:30
        [[99999999999999999999x]]
        e = ""
        "" = 1
'''
    settings, notes = imported("a.toml", text)
    assert settings == {
        "2021-02-30": "1e400", "99999999999999999999": "= 2021-02-30",
        "1e400.2021-02-30": '= 1e400 "" \\""" = 99999999999999999999""',
        "25-00-00.a = [": [
            "]", 1e5, {"b": "}", "c": [1, 1e300]}, ["\\", '"1e400'], {"$date": "1979-05-27T07:32:00.123456789Z"},
        ],
        "25-00-00.= 1e400.a": 10.0, "25-00-00.= 1e400.b": "x, y = 1e400", "25-00-00.= 1e400.c": "",
        "25-00-00.d": {"$date": "1979-05-27T08:02:00.5Z"}, "99999999999999999999x": [{"e": "", "": 1}],
    }  # fmt: skip
    assert set(notes) == {"25-00-00.a = [", "25-00-00.= 1e400"}
    assert "more than nine digits" in notes["25-00-00.a = ["]


def test_the_values_of_yaml(imported: Import) -> None:
    text = """
        base: &base {x: 1, y: 2}
        merged:
          <<: *base
          y: 3
        both:
          <<: [*base, {z: 4}]
        list: [1, 2.5, text, null, {k: v}]
        integer: 0x1F
        large: 18446744073709551615
        real: 1e3
        inf: .inf
        quoted: "yes"
        text: yes and no
        date: 2001-12-14 21:59:43.10 -5
        data: !!binary |
          AAEC
        set: !!set {a, b}
        block: |
          two
          lines
        folded: >
          one
          line
        equals: =
        <<x: 1
    """
    settings, notes = imported("a.yaml", text)
    assert settings == {
        "base.x": 1, "base.y": 2, "merged.x": 1, "merged.y": 3, "both.x": 1, "both.y": 2, "both.z": 4,
        "list": [1, 2.5, "text", None, {"k": "v"}], "integer": 31, "large": BIG, "real": 1000.0,
        "inf": {"$numberDouble": "Infinity"}, "quoted": "yes", "text": "yes and no",
        "date": {"$date": "2001-12-15T02:59:43.1Z"}, "data": {"$binary": {"base64": "AAEC", "subType": "00"}},
        "set": ["a", "b"], "block": "two\nlines\n", "folded": "one line\n", "equals": "=", "<<x": 1,
    }  # fmt: skip
    assert set(notes) == {"base", "merged", "both", "set", "real"}


def test_what_yaml_1_2_reads_otherwise_is_reported(imported: Import) -> None:
    text = (
        "a: yes\nb: 010\nc: 1_000\nd: 0b11\ne: 2001-12-14\nf: 12:30:45\ng: !secret x\nh: {1: a, on: b}\ni: 08\n"
        "k: 9223372036854775807:59\n"
        "j: 1_0.5\n? [k]\n: v\n1: x\n? [l]\n: w\n"
    )
    settings, notes = imported("a.yaml", text)
    assert settings == {
        "a": True, "b": 8, "c": 1000, "d": 3, "e": {"$date": "2001-12-14T00:00:00Z"}, "f": "12:30:45", "g": "x",
        "h.1": "a", "h.on": "b", "i": 8, "j": 10.5, "1": "x",
        "k": "9223372036854775807:59",
    }  # fmt: skip
    assert set(notes) == {*"abcdefgijk", "h", "line 8", "line 12", "line 14", "line 15"}
    text = "a: 1e3\nb: 1.5e3\nc: 12e03\nd: 0.1e1\ne: 0o17\nf: .1e5\ng: 08\nh: -09\ni: 1e+3\n"
    settings, notes = imported("b.yaml", text + "j: 1.5e+3\nk: 1.5\nl: 17\nm: 01.5\nn: .inf\n")
    assert settings == {
        "a": 1000.0, "b": 1500.0, "c": 12000.0, "d": 1.0, "e": 15, "f": 10000.0, "g": 8, "h": -9, "i": 1000.0,
        "j": 1500.0, "k": 1.5, "l": 17, "m": 1.5, "n": {"$numberDouble": "Infinity"},
    }  # fmt: skip
    assert set(notes) == {*"abcdefghi"} and all("is text in YAML 1.1" in reason for reason in notes.values())
    text = "a: -.5\nb: +.5\nc: .5\nd: -.5e+3\ne: !!float 1\nf: !!float '2'\ng: !!float 1e3\nh: -.\ni: .5.5\nj: -.e5\n"
    text += "k: &k -.5\nl: [*k, *k]\nm: *k\nn: &n 1.5e+3\no: [*n, *n]\n"
    settings, notes = imported("c.yaml", text)
    assert notes == {} and settings == {
        "a": -0.5, "b": 0.5, "c": 0.5, "d": -500.0, "e": 1.0, "f": 2.0, "g": 1000.0, "h": "-.", "i": ".5.5",
        "j": "-.e5", "k": -0.5, "l": [-0.5, -0.5], "m": -0.5, "n": 1500.0, "o": [1500.0, 1500.0],
    }  # fmt: skip
    settings, notes = imported("d.yaml", "a: x\x85b: 1\n".encode())
    assert settings == {"a": "x", "b": 1} and list(notes) == ["the whole file"]
    settings, notes = imported("e.yaml", "a: 2001-12-14T21:59:43.1234567891Z\nb: 2001-12-14T21:59:43+24:00\nc: 1\n")
    assert settings == {"a": {"$date": "2001-12-14T21:59:43.123456789Z"}, "c": 1} and set(notes) == {"a", "b"}


def test_a_wrong_value_of_yaml_is_reported_and_the_others_are_imported(imported: Import) -> None:
    deep = "[" * 900 + "]" * 900
    text = (
        f"a: 18446744073709551616\nb: 2001-13-45\nc: 1e999\nd: {deep}\ne: {{f: ~, g: 1}}\nh: [[{{? [k] : v}}]]\n"
        "i: !!int x\nj: !!binary '*'\nk: {<<: 5}\nz: end\n"
    )
    settings, notes = imported("a.yaml", text)
    assert settings == {"e.g": 1, "z": "end"} and set(notes) == {*"abcdehijk", "e.f"}


def test_what_is_not_a_mapping_of_yaml_is_refused(refused: Callable[..., str]) -> None:
    for text in ("- a\n", "a\n", "a: [1\nb: 2\n", "a:\n\tb: 1\n", "a: 1\n---\nb: 2\n", "a: *b\n", "a: &a [*a]\n",
                 "a: 1\na: 2\n", "é: 1\ne\u0301: 2\n", "%YAML 9.9\n---\na: 1\n", "a: '\\x'\nb: \"\\q\"\n"):  # fmt: skip
        assert "YAML" in refused("a.yaml", text)
    assert "hunter" not in refused("a.yaml", 'a: 1\ntoken: "hunter2\n').splitlines()[0]
    assert "nested too deeply" in refused("a.yaml", "a: " + "[" * 2000 + "]" * 2000)


# ----------------------------------------------------------------------------------------------------------------
# Hostile files
# ----------------------------------------------------------------------------------------------------------------

BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))
HOSTILE: dict[str, str | bytes] = {
    "deep.plist": "<plist>" + "<array>" * 1_000_000,
    "closed.plist": plist("<key>a</key>" + "<dict><key>a</key>" * 100_000 + "<true/>" + "</dict>" * 100_000),
    "bomb.plist": binary([b"\xd1\1\2", b"\x51a"] + [b"\xaa" + bytes([n + 1]) * 10 for n in range(2, 30)] + [b"\x10\1"]),
    "bomb.yaml": "a0: &a0 [x, x, x, x]\n" + BOMB,
    "keys.yaml": "a0: &a0 [x, x]\n" + BOMB + "? *a29\n: 1\n",
    "merge.yaml": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)),
    "deep.yaml": "a: " + "[" * 100_000,
    "indented.yaml": "- " * 100_000,
    "deep.toml": "a = " + "[" * 100_000,
    "dotted.toml": ".".join(["a"] * 50_000) + " = 1\n",
    "header.toml": "[" + ".".join(["a"] * 50_000) + "]\n",
    "assertion.toml": "[@a]\n",
    "numbers.toml": "a = [" + "99999999999999999999, " * 10_000 + "]\n",
    "deep.json": '{"a": ' * 100_000,
    "deep.dconf": "[/]\na=" + "[" * 100_000,
    "variants.dconf": "[/]\na=" + "<" * 10_000 + "1" + ">" * 10_000,
    "long.ini": f"[{'s' * 1000}]\n" + "".join(f"{n}=1\n" for n in range(100_000)),
    "quotes.env": "A='\n" * 50_000,
    "brackets.ini": "[" + "]x" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_takes_little_time_and_memory(name: str, kept: Kept, tmp_path: Path) -> None:
    data = HOSTILE[name]
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = kept("import", "memory:", name, "--dry-run")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.status in (0, 1, 3) and done.err.startswith("kept: ") and "Fatal" not in done.err
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 20
    # The largest of all tests so far.
    assert after.ru_maxrss < 1_500_000, "KiB"


# ----------------------------------------------------------------------------------------------------------------
# INI and .env
# ----------------------------------------------------------------------------------------------------------------


def test_ini_files_of_many_dialects(imported: Import) -> None:
    text = """top = 1
; comment
[audio] ; before: [sound]
volume = 3
Output Device : USB: front
empty =
[video] # [x]
size = 1 ; inches
[note]
text = first part
 two

 # comment
 three


last = "1 \\" \\n"
[list[de]]
path=C:\\new folder\\n
single='it is "so" \\n'
no pair="a" and "b"
geometry=@ByteArray(\\x1)
[remote "origin"]
\turl = git@example.org:a/b.git
\tfetch = all
[audio]
volume = 4
"""
    settings, notes = imported("a.ini", text)
    assert settings == {
        "top": "1", "audio.volume": "4", "audio.Output Device": "USB: front", "audio.empty": "",
        "video.size": "1 ; inches", "note.text": "first part\ntwo\n\nthree", "note.last": '1 " \n',
        "list[de].path": "C:\\new folder\\n", "list[de].single": 'it is "so" \\n', "list[de].no pair": '"a" and "b"',
        "list[de].geometry": "@ByteArray(\\x1)", 'remote "origin".url': "git@example.org:a/b.git",
        'remote "origin".fetch': "all",
    }  # fmt: skip
    assert set(notes) == {"line 4", "line 8", "line 22"}
    settings, notes = imported("b.ini", "[s]\na = 1\n[ s ]\nb = 2\n[\ts]\n")
    assert settings == {"s.a": "1", "s.b": "2"} and set(notes) == {"line 3", "line 5"}


def test_a_wrong_line_is_reported_and_the_others_are_imported(imported: Import, refused: Callable[..., str]) -> None:
    settings, notes = imported("a.ini", "a=1\nword\n=2\n[b\nc=3\n[]\nd=4\n[e] x\nf=5\n[g]\nh=6\n  word\ni=7\n  j=8\n")
    assert settings == {"a": "1", "g.h": "6\nword", "g.i": "7\nj=8"}
    assert set(notes) == {f"line {number}" for number in (2, 3, 4, 6, 8, 13)}
    settings, notes = imported("a.env", "A=1\nB C=2\nD='x'y\nE=\"x\" y\nF\nexport =1\n=2\nG='x\nH=2\n")
    assert settings == {"A": "1", "H": "2"} and set(notes) == {f"line {number}" for number in range(2, 9)}
    for name in ("a.ini", "a.env"):
        sentence = refused(name, "hunter2 hunter3\nand more prose\n")
        assert "line 1: expected " in sentence and "hunter" not in sentence.splitlines()[0]


def test_env_files_of_many_dialects(imported: Import) -> None:
    text = r"""# comment
export HOST = localhost # comment
A=#fff
B=x#y
C=  # nothing
D='it\'s \n $HOME \\'
E="one\ntwo\t\"three\" \\ \$HOME \`x\` \d"
F="-----BEGIN
  abc
-----END" # comment
'G H'=1
EMPTY=
ß=ü
url.x-y=https://example.org/?a=b&c=d
I=${HOME}/x
J="`date`"
I=2
"""
    settings, notes = imported("a.env", text)
    assert settings == {
        "HOST": "localhost", "A": "#fff", "B": "x#y", "C": "", "D": "it's \\n $HOME \\",
        "E": 'one\ntwo\t"three" \\ $HOME `x` \\d', "F": "-----BEGIN\n  abc\n-----END", "G H": "1", "EMPTY": "",
        "ß": "ü",
        "url.x-y": "https://example.org/?a=b&c=d", "I": "2", "J": "`date`",
    }  # fmt: skip
    assert set(notes) == {"line 15", "line 16"}
    settings, notes = imported("b.env", "P_A_B=1\nPATH=/bin\nP_max=2\n", "--env-prefix", "P_")
    assert settings == {"a.b": "1"} and list(notes) == ["line 3"]


def test_texts_become_values_of_the_declared_type(declared: Kept, tmp_path: Path) -> None:
    (tmp_path / "a.ini").write_text("[audio]\nvolume = 30\nmuted = on\nbalance = 1\n[x]\ny = 5\n")
    assert declared("import", "player", "a.ini").status == 0
    values = json.loads(declared("list", "player", "--json").out)
    assert values["audio.volume"]["value"] == 30 and values["audio.muted"]["value"] is True, values
    assert values["audio.balance"]["value"] == 1.0 and values["x.y"]["value"] == "5"
    for text in ("audio.volume=loud", "audio.volume=300", "token=hunter2\naudio.muted=x"):
        (tmp_path / "b.env").write_text(text)
        done = declared("import", "player", "b.env")
        assert done.status == 3 and "hunter" not in done.err + done.out


def test_ini_files_are_read_as_configparser_reads_them(kept: Kept, tmp_path: Path) -> None:
    parts = [
        "[a]\n",
        "[b] \n",
        "k=1\n",
        "k : 2\n",
        "l = x y\n",
        " m=3\n",
        "  deeper\n",
        "\n",
        "# c\n",
        " ; d\n",
        "n=\n",
    ]
    generator = random.Random(0x1A1)
    for number in range(40):
        text = "[s]\n" + "".join(generator.choice(parts) for _ in range(12))
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            continue
        expected = {
            f"{section}.{name}": value for section in parser.sections() for name, value in parser[section].items()
        }
        (tmp_path / "a.ini").write_text(text)
        done = kept("import", "memory:", "a.ini", "--json", "--format", "ini")
        assert {change["key"]: change["new"] for change in json.loads(done.out)["changed"]} == expected, (number, text)


# A file with a value that is imported and one that is not, and the place of that.
INCOMPLETE: dict[str, tuple[str | bytes, str]] = {
    "null.json": ('{"a": 1, "b": null}', "b"),
    "nested.json": ('{"x": {"a": 1}, "b": 18446744073709551616}', "b"),
    "again.json": ('{"x": {"a": 1}, "x.a": 2}', "x.a"),
    "null.yaml": ("x: {a: 1}\nb: ~\n", "b"),
    "key.yaml": ("a: 1\n? [b]\n: 1\n", "line 2"),
    "wrong.toml": ("a = 1\nb = 1e400\n", "b"),
    "some.plist": (plist("<key>a</key><true/><key>b</key><date>x</date>"), "b"),
    "all.plist": (plist("<key>b</key><date>x</date>"), "b"),
    "inside.plist": (plist("<key>b</key><dict><key>x</key><true/><key>x</key><true/></dict>"), "b"),
    "word.env": ("A=1\nB\n", "line 2"),
    "word.ini": ("a=1\nb\n", "line 2"),
    "again.ini": ("[s]\na=1\na=2\n", "line 2"),
    "wrong.dconf": ("[/]\na=1\nb=no\n", "/b"),
    "large.json": ('{"a": 1, "b": "' + "x" * (16 << 20) + 'x"}', "b"),
    "large.toml": ('a = 1\nb = "' + "x" * (16 << 20) + 'x"\n', "b"),
    "large.yaml": ('a: 1\nb: "' + "x" * (16 << 20) + 'x"\n', "b"),
    "large.plist": (plist("<key>a</key><true/><key>b</key><string>" + "x" * (16 << 20) + "x</string>"), "b"),
    "lists.json": ('{"a": 1, "b": [' + "0," * (17 << 20) + "0]}", "b"),
    "lists of space.json": ('{"a": 1, "b": [' + " " * (97 << 20) + "]}", "b"),
    "deep.json": ('{"a": 1, "b": ' + "[" * 100_000 + "]" * 100_000 + "}", "b"),
    "lists.toml": ("a = 1\nb = [" + "'0123456789'," * 1_400_000 + "]\n", "b"),
    "large.env": ("A=1\nB=" + "x" * (16 << 20) + "x\n", "B"),
    "large.ini": ("a=1\nb=" + "x" * (16 << 20) + "x\n", "b"),
}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (name, words)
        for name in INCOMPLETE
        for words in ("--quiet", "", "--json", "--quiet --dry-run")
        if words == "--quiet" or not name.startswith(("large", "lists"))
    ],
)
def test_an_import_without_all_values_has_status_1_and_says_which(
    name: str, words: str, kept: Kept, tmp_path: Path
) -> None:
    options = words.split()
    data, place = INCOMPLETE[name]
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = kept("import", "player", name, *options)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.status == 1, done.err
    if options == ["--json"]:
        assert [note["place"] for note in json.loads(done.out)["notCarried"]][-1] == place
    else:
        assert f"kept: {place}: " in done.err and ("--quiet" not in options or not done.out)
        assert "--quiet" not in options or len(done.err.splitlines()) == 1
    stored = json.loads(kept("list", "player", "--json").out) if "--dry-run" not in options else {}
    assert "b" not in stored or name == "inside.plist"
    assert name == "all.plist" or "--dry-run" in options or stored
    assert ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime < 6


def test_an_import_that_only_changes_values_is_quiet(kept: Kept, tmp_path: Path) -> None:
    for name, text in {
        "a.yaml": "x: {a: yes}\nd: 2001-12-14\n1: y\n", "a.toml": "x = {a = 1}\nd = 2001-12-14\n",
        "a.json": '{"x": {"a": 1}}', "a.ini": "[ s ]\na = 1 ; b\n", "a.env": "A=$B\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
        done = kept("import", "player", name, "--quiet")
        assert (done.status, done.out, done.err) == (0, "", "")
        assert len(kept("import", "player", name).err.splitlines()) > 1


def test_a_report_never_quotes_a_value(kept: Kept, tmp_path: Path) -> None:
    files = {
        "a.ini": "[a]\ntoken = hunter2 ; x\nhunter3\n", "a.env": "T=$hunter2\nU='hunter3\n", "a.toml": "a = 2001-13-45",
        "a.yaml": "a: 99999999999999999999\nb: !!int hunter2\n", "b.yaml": "b: !!binary hunter_2",
        "a.plist": plist("<key>a</key><integer>hunter2</integer><key>b</key><date>hunter3</date>"),
        "a.dconf": "[/]\na=hunter2\n", "a.json": '{"a": 99999999999999999999}',
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        done = kept("import", "memory:", name, "--dry-run")
        said = done.err + "".join(line for line in done.out.splitlines() if not line.startswith("+"))
        assert not any(word in said for word in ("hunter", "99999", "2001")), said
