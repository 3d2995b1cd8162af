"""The command that writes keys as code: what it writes where, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from generated_schemas import EVERY_WORD

from conftest import Kept

LANGUAGES = ["c", "cxx", "python", "swift"]


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    file = tmp_path / "player.schema.json"
    file.write_text(json.dumps({"properties": EVERY_WORD}))
    return file


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_declarations_give_the_same_text(kept: Kept, schema: Path, tmp_path: Path, language: str) -> None:
    text = kept("generate", str(schema), f"--{language}")
    assert (text.status, text.err) == (0, "")
    other = tmp_path / "other.json"
    turned = dict(reversed(EVERY_WORD.items()))
    other.write_text(json.dumps({"type": "object", "title": "Player", "properties": turned}, indent=3))
    assert kept("generate", str(other), f"--{language}", "--name", "player").out == text.out
    assert kept("generate", "-", f"--{language}", "--name", "player", input=other.read_text()).out == text.out


def test_what_describe_prints_can_be_generated(kept: Kept, schema: Path) -> None:
    assert kept("declare", "player", str(schema)).status == 0
    described = kept("describe", "player", "--json", "--reveal").out
    assert (
        kept("generate", "-", "--c", "--name", "player", input=described).out
        == kept("generate", str(schema), "--c").out
    )


def test_every_language_has_the_same_fingerprint(kept: Kept, schema: Path, tmp_path: Path) -> None:
    texts = [kept("generate", str(schema), f"--{language}").out for language in LANGUAGES]
    found = {found.group(1) for text in texts if (found := re.search(r'fingerprint\b.*?"([0-9a-f]{16})"', text, re.I))}
    assert len(found) == 1
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps({"properties": EVERY_WORD | {"a": {"type": "string", "enum": ["y"]}}}))
    assert found.pop() not in kept("generate", str(changed), "--c", "--name", "player").out


def test_a_file_is_replaced_as_a_whole(kept: Kept, schema: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real.h", tmp_path / "keys.h"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to("real.h")
    with real.open() as old:
        assert kept("generate", str(schema), "--c", "-o", str(link)).status == 0
        # Whoever has opened the old file reads that.
        assert old.read() == "old"
    assert link.is_symlink() and "/* Written by kept generate." in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o600
    assert kept("generate", str(schema), "--c", "-o", "/dev/stdout").out == real.read_text()
    assert {file.name for file in tmp_path.glob("*real*")} == {"real.h"}
    assert kept("generate", str(schema), "--c", "-o", str(tmp_path / "none" / "keys.h")).status == 4


def test_a_link_to_a_missing_file_stays_a_link(kept: Kept, schema: Path, tmp_path: Path) -> None:
    link = tmp_path / "keys.h"
    link.symlink_to("real.h")
    assert kept("generate", str(schema), "--c", "-o", str(link)).status == 0
    assert link.is_symlink() and (tmp_path / "real.h").read_text() == kept("generate", str(schema), "--c").out


def test_the_file_of_declarations_is_not_replaced(kept: Kept, schema: Path, tmp_path: Path) -> None:
    before, link = schema.read_text(), tmp_path / "same.h"
    link.symlink_to(schema)
    for output in (schema, link):
        done = kept("generate", str(schema), "--c", "-o", str(output))
        assert done.status == 2 and "is the file of declarations; write to another file" in done.err
    assert schema.read_text() == before


def test_a_dash_is_standard_output(kept: Kept, schema: Path, tmp_path: Path) -> None:
    for language in ("--c", "--html"):
        printed = kept("generate", str(schema), language).out
        assert kept("generate", str(schema), language, "-o", "-").out == printed
    assert not (tmp_path / "-").exists()


# fmt: off
SECRET: dict[str, Any] = {
    "choice": {"type": "string", "enum": ["hush", "hush-b"], "default": "hush", "deprecated": True},
    "text": {"type": "string", "pattern": "^hush", "default": "hush", "format": "name"},
    "number": {"type": "integer", "minimum": 4711, "exclusiveMaximum": 4713, "default": 4712},
    "multiple": {"type": "number", "exclusiveMinimum": 47.11, "maximum": 4712.5, "multipleOf": 47.125},
    "constant": {"type": "string", "const": "hush", "default": "hush"},
    "count": {"type": "integer", "enum": [4711, 4712], "default": 4711},
    "object": {
        "type": "object", "properties": {"a": {"type": "string", "enum": ["hush"]}}, "default": {"a": "hush"},
    },
    "list": {"type": "array", "items": {"type": "string", "enum": ["hush"]}, "default": ["hush"]},
}
# fmt: on


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_comment_has_the_value_of_a_secret(kept: Kept, language: str) -> None:
    keys = {key: schema | {"secret": True, "summary": "Purpose."} for key, schema in SECRET.items()}
    done = kept("generate", "-", f"--{language}", input=json.dumps({"properties": keys}))
    assert done.status == 0, done.err
    quoted = {"c": r"/\*.*?\*/", "python": r'""".*?"""'}.get(language, r"//[^\n]*")
    comments = re.findall(quoted, done.out, re.DOTALL)
    assert sum("Purpose." in comment for comment in comments) >= len(keys)
    assert not [comment for comment in comments if "hush" in comment or "47" in comment]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_error_has_the_value_of_a_secret(kept: Kept, language: str) -> None:
    for schema in (
        {"type": "string", "enum": ["Hush", "u48ush", "hush"]},
        {"type": "integer", "maximum": {"$numberULong": "18446744073704711471"}},
    ):
        keys = {"token": schema | {"secret": True}, "other.token": {"type": "string"}}
        done = kept("generate", "-", f"--{language}", input=json.dumps({"properties": keys}))
        assert "ush" not in done.err and "4711" not in done.err
        assert (done.status == 0) == (not done.err) and (done.status == 0 or '"token": is a secret' in done.err)


def test_comments_have_the_spaces_of_choices(kept: Kept) -> None:
    choices = {"a": {"type": "string", "enum": [" a  b ", "\n"]}}
    text = kept("generate", "-", "--c", input=json.dumps({"properties": choices})).out
    assert '/**< " a  b " */' in text and '/**< "\\n" */' in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_say_the_former_name(kept: Kept, language: str) -> None:
    keys = {"audio.volume": {"type": "integer", "renamedFrom": "volume"}}
    text = kept("generate", "-", f"--{language}", "--name", "player", input=json.dumps({"properties": keys})).out
    assert "`audio.volume`, type integer, formerly `volume`." in text


LARGE = {"$numberULong": str(2**64 - 1)}


@pytest.mark.parametrize(
    "rules",
    [
        {"const": LARGE},
        {"exclusiveMinimum": {"$numberULong": str(2**63)}},
        {"maximum": LARGE, "exclusiveMinimum": -1},
        {"maximum": 1e19, "minimum": -0.5},
        {"enum": [LARGE, 0]},
    ],
    ids=str,
)
def test_an_integer_that_may_be_large_is_unsigned(kept: Kept, rules: dict[str, Any]) -> None:
    schema = json.dumps({"properties": {"a": {"type": "integer"} | rules}})
    for language, type in ("c", " uint64_t *value"), ("cxx", "<std::uint64_t>"), ("swift", "Key<UInt64?>"):
        assert type in kept("generate", "-", f"--{language}", input=schema).out


def test_the_name_is_the_file_s(kept: Kept, tmp_path: Path) -> None:
    file = tmp_path / "9-my app.json"
    file.write_text('{"properties": {"a": {"type": "integer"}}}')
    assert " settings_9_my_app_get_a(" in kept("generate", str(file), "--c").out
    assert " my_app_get_a(" in kept("generate", str(file), "--c", "--name", "MyApp").out
    assert "enum MyAppSchema " in kept("generate", str(file), "--swift", "--name", "my_app").out
    done = kept("generate", str(file), "--c", "--name", "kept")
    assert (done.status, "--name" in done.err) == (3, True)
    for wrong in ("9", "_9", "a-b", "", "_"):
        done = kept("generate", str(file), "--c", "--name", wrong)
        assert (done.status, f'"{wrong}" is not a name' in done.err) == (3, True)


TEXT = {"type": "string"}
REFUSED: list[tuple[str, dict[str, Any], str, list[str]]] = [
    ("c", {"a.b": TEXT, "a_b": TEXT}, "a_b", ["settings_key_a_b", '"a.b"', "--as 'a_b=NAME'"]),
    ("python", {"a.b": TEXT, "aB": TEXT}, "aB", ["A_B", '"a.b"', "--as 'aB=NAME'"]),
    ("swift", {"a1": TEXT, "a.1": TEXT}, "a1", ["named a1", '"a.1"', "--as 'a1=NAME'"]),
    ("swift", {"+": TEXT}, "+", ["no letter or digit", "--as '+=NAME'"]),
    ("python", {"fingerprint": TEXT}, "fingerprint", ["FINGERPRINT", "needs for itself", "--as 'fingerprint=NAME'"]),
    ("c", {"a": {"type": "string", "enum": ["x", "y"]}, "key.a": TEXT, "a.x": {"type": "integer"}}, "", []),
    ("c", {"a": TEXT | {"enum": ["X", "u58", "x"]}}, "a", ["two choices", "name u58", "rename one"]),
    ("swift", {"a": {"type": "integer", "maximum": LARGE}}, "a", [str(2**64 - 1), 'add "minimum": 0', "smaller"]),
    ("swift", {"a": {"type": "integer", "maximum": LARGE, "exclusiveMinimum": -1.5}}, "a", [str(2**64 - 1)]),
    ("c", {"a": {"type": "integer", "enum": [-1, LARGE]}}, "a", [str(2**64 - 1), "may be negative"]),
    (
        "swift",
        {"a": {"type": "object", "properties": {"x y": TEXT, "xY": TEXT}}},
        "a",
        ["two members", "name xY", '"xY"', "rename one"],
    ),
    ("cxx", {"a.b": TEXT, "a_b": TEXT}, "a_b", ["named a_b", '"a.b"', "--as 'a_b=NAME'"]),
    ("cxx", {"declare": TEXT}, "declare", ["needs for itself", "--as 'declare=NAME'"]),
    ("cxx", {"a": TEXT | {"enum": ["x"]}, "a.choice": TEXT}, "a.choice", ["a_choice", '"a"', "--as"]),
    ("c", {"'": TEXT}, "'", [r"--as ''\''=NAME'"]),
    ("c", {"+\x07": TEXT}, "+\\u{7}", [r"--as $'+\007=NAME'"]),
    ("c", {"a": TEXT | {"default": 1}}, "a", ["default"]),
    ("c", {"a": {"type": "thing"}}, "a", ['unknown type "thing"']),
]


@pytest.mark.parametrize(("language", "keys", "key", "parts"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_expressed_is_one_sentence_and_nothing_is_written(
    kept: Kept, tmp_path: Path, language: str, keys: dict[str, Any], key: str, parts: list[str]
) -> None:
    file, output = tmp_path / "settings.json", tmp_path / "output"
    file.write_text(json.dumps({"properties": keys}))
    output.write_text("old")
    done = kept("generate", str(file), f"--{language}", "-o", str(output))
    if not parts:
        assert (done.status, done.err) == (0, "")
        return
    assert (done.status, done.out, output.read_text()) == (3, "", "old")
    assert done.err.count("\n") == 1 or "^" in done.err
    for part in [f'"{key}"', *parts]:
        assert part in done.err, done.err
    assert {each.name for each in tmp_path.iterdir()} == {"settings.json", "output"}


def test_another_name_is_the_way_out(kept: Kept, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"properties": {"a.b": TEXT, "a_b": TEXT, "+=": TEXT}}))
    names = ["--as", "a_b=other", "--as", "+==plusEquals"]
    assert "settings_get_plus_equals(" in kept("generate", str(file), "--c", *names).out
    assert "> plus_equals{" in kept("generate", str(file), "--cxx", *names).out
    assert "OTHER: Final" in kept("generate", str(file), "--python", *names).out
    assert "static let plusEquals = " in kept("generate", str(file), "--swift", *names).out
    for wrong, status, part in (
        ("a_b", 2, "KEY=NAME"),
        ("none=x", 1, '"none"'),
        ("a_b=a b", 3, '"a b" is not a name'),
        ("a_b=9", 3, "begin with a letter"),
        ("a_b=ä", 3, "ASCII"),
    ):
        done = kept("generate", str(file), "--c", "--as", "+==plus", "--as", wrong)
        assert (done.status, part in done.err) == (status, True), done.err


def test_usage(kept: Kept, schema: Path) -> None:
    for arguments in ([], ["--c", "--python"]):
        done = kept("generate", str(schema), *arguments)
        assert done.status == 2 and "--c" in done.err and "--python" in done.err
    assert kept("generate", "--c").status == 2
    assert kept("generate", str(schema.parent / "none"), "--c").status == 4
