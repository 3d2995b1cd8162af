"""The pages of reference that the command makes of declarations: what they say, that they are valid, and that their
examples work."""

from __future__ import annotations

import json
import os
import re
import subprocess
import unicodedata
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import pytest
from generated_schemas import EVERY_WORD, random_keys
from markdown_it import MarkdownIt

from conftest import Kept

FORMATS = ["html", "markdown", "man"]
LAYERS = ["--store", "player", "--env-prefix", "PLAYER_", "--program", "player"]
TEXT = {"type": "string"}
HOSTILE = [
    *("<script>alert(1)</script>", "</title></style><b>", "<!--", "]]>", "&amp;", "&", "\"><img src=x onerror='x'>"),
    *(
        "`a`",
        "``",
        "`",
        "| a | b |",
        "|-",
        "**b**",
        "_i_",
        "[x](javascript:x)",
        "![x](y)",
        "# h",
        "- l",
        "1. l",
        "2) l",
    ),
    *(
        "> q",
        "+ l",
        "---",
        "===",
        "~~s~~",
        "<https://x>",
        "\\",
        "\\e",
        ".TH x",
        "'br",
        ".so /etc/passwd",
        "\\fB",
        "\\n",
    ),
    *("\x07", "\x1b[31m", "\u202egnp.exe", "\u2066", "\u200b", "\ufeff", "a\nb", "a\r\tb", "\u0301", "é", "e\u0301"),
    *("שלום", "مرحبا", "日本", "\U0001f389", "it's", '"', "$HOME", "$(x)", "%s", "-x", "--", " a ", "a=b", "~", "^"),
]


@dataclass
class Section:
    anchor: str
    heading: str = ""
    paragraphs: list[str] = field(default_factory=list)
    rows: dict[str, list[str]] = field(default_factory=dict)

    def text(self) -> str:
        return " ".join(
            [self.heading, *self.paragraphs, *(part for row in self.rows.items() for part in (row[0], *row[1]))]
        )


class Page(HTMLParser):
    """A page that is read strictly: every element is closed in order, and has the attributes that we write alone."""

    ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "id", "href", "dir", "aria-labelledby"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.sections: list[Section] = []
        self.title = self.label = ""
        assert text.startswith("<!DOCTYPE html>\n") and text.endswith("</html>\n")
        self.feed(text)
        self.close()
        assert self.open == [] and len(set(self.anchors)) == len(self.anchors)
        assert all(link.startswith("#") and link[1:] in self.anchors for link in self.links)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= self.ATTRIBUTES, attrs
        given = dict(attrs)
        if tag not in ("meta",):
            self.open.append(tag)
        if anchor := given.get("id"):
            assert re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", anchor)
            self.anchors.append(anchor)
        if href := given.get("href"):
            self.links.append(href)
        if tag == "h2" and "main" in self.open:
            self.sections.append(Section(anchor or ""))
        elif tag == "p" and "section" in self.open:
            self.sections[-1].paragraphs.append("")
        elif tag == "dt":
            self.label = ""
        elif tag == "dd":
            self.sections[-1].rows.setdefault(self.label, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "title" in self.open:
            self.title += data
        elif "dt" in self.open:
            self.label += data
        elif "dd" in self.open:
            self.sections[-1].rows[self.label][-1] += data
        elif "section" in self.open and "h2" in self.open:
            self.sections[-1].heading += data
        elif "section" in self.open and "p" in self.open:
            self.sections[-1].paragraphs[-1] += data

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")

    def __getitem__(self, key: str) -> Section:
        return next(section for section in self.sections if section.heading == key)


def generate(kept: Kept, keys: dict[str, Any], language: str, *options: str) -> str:
    done = kept("generate", "-", f"--{language}", *options, input=json.dumps({"properties": keys}))
    assert (done.status, done.err) == (0, ""), done.err
    return done.out


def page(kept: Kept, keys: dict[str, Any], *options: str) -> Page:
    return Page(generate(kept, keys, "html", *options))


def formatted(text: str, folder: Path) -> str:
    """A page as it is displayed, without bold type and in lines that are not broken; every warning is an error."""
    file = folder / "page.5"
    file.write_text(text, "utf-8")
    locale = os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": "4000"}
    groff = ["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-P-cbou", "-rLL=4000n"]
    for command in (["man", "--warnings", "--local-file"], groff):
        done = subprocess.run([*command, file], capture_output=True, text=True, env=locale, check=True)
        assert done.stderr == ""
    return unicodedata.normalize("NFC", done.stdout)


VOLUME = {
    "type": "integer", "minimum": 0, "maximum": 100, "multipleOf": 5, "default": 50, "since": "1.2",
    "renamedFrom": "old.volume",
    "summary": "Loudness in percent", "description": "Of all\n  outputs.",
}  # fmt: skip


def test_a_key_has_its_rules_default_version_and_successor(kept: Kept) -> None:
    keys = {
        "audio.volume": VOLUME,
        "loud": {"type": "boolean", "deprecated": True, "replacedBy": "audio.volume"},
        "quiet": {"type": "boolean", "deprecated": True, "replacedBy": "gone"},
        "old": {"type": "boolean", "deprecated": True},
        "size": {
            "type": "object", "required": ["width"], "additionalProperties": False,
            "properties": {"width": {"type": "integer", "minimum": 1}, "tags": {"type": "array", "items": TEXT}},
        },
    }  # fmt: skip
    found = page(kept, keys, "--name", "Player")
    assert found.title == "Settings of Player"
    assert [section.heading for section in found.sections][1:] == ["audio.volume", "loud", "old", "quiet", "size"]
    volume = found["audio.volume"]
    assert volume.paragraphs == ["Loudness in percent", "Of all outputs."]
    assert volume.rows == {
        "Type": ["integer"],
        "Rules": ["at least 0", "at most 100", "a multiple of 5"],
        "Default": ["50"],
        "Since": ["1.2"],
        "Formerly": ["old.volume"],
        "Administrator": ["In managed.json or system.json:", '{"values":{"audio.volume":0}}'],
        "User": ["kept set STORE audio.volume 0"],
    }
    assert found["loud"].rows["Deprecated"] == ["Set audio.volume instead."]
    assert "#key-audio.volume" in found.links[-1:] or found.links.count("#key-audio.volume") == 2
    assert found["quiet"].rows["Deprecated"] == ["Set gone instead."]
    assert found["old"].rows["Deprecated"] == ["Do not set it any more."]
    assert found["size"].rows["Rules"] == [
        "member tags: array (each element: string)",
        "member width (required): integer (at least 1)",
        "each other member: not allowed",
    ]
    for language in FORMATS[1:]:
        text = generate(kept, keys, language, "--name", "Player")
        parts = ("Loudness in percent", "Of all outputs", "multiple of", "old.volume", "gone")
        for part in (*parts, "kept set STORE audio.volume 0"):
            assert part.replace("-", "\\-") in text, language


def test_only_layers_that_programs_enable_are_shown(kept: Kept) -> None:
    plain, full = page(kept, {"a": VOLUME}), page(kept, {"a": VOLUME}, *LAYERS)
    assert list(plain.sections[0].rows) == ["Managed", "User", "System", "Default"]
    assert list(full.sections[0].rows) == ["Managed", "Arguments", "Environment", "User", "System", "Default"]
    assert {"Arguments", "Environment"}.isdisjoint(plain["a"].rows)
    assert full["a"].rows["Arguments"] == ["player -a 0"]
    assert full["a"].rows["Environment"] == ["export PLAYER_A=0"]
    assert "/etc/kept/player/managed.json" in full.sections[0].text()


def test_the_examples_work(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    keys = EVERY_WORD | {
        "$date": TEXT, "a=b": {"type": "integer"}, "-x": {"type": "string", "enum": ["-y"]}, "it's \u202e": TEXT,
        " a ": {"type": "string", "const": " b "}, "5": TEXT,
        "a b": {"type": "string", "enum": ["`$(x)\"'\\ \n\u202e"]},
        "sorted": {"type": "array", "items": {"type": "integer", "enum": [3, 4]}, "minItems": 2},
        "~": {"type": "string", "enum": ["~", "-"]}, "half": {"type": "number", "minimum": 0.2, "maximum": 0.8},
        "code": TEXT | {"pattern": "^[0-9]{4}$"},
        "multiple": {"type": "integer", "minimum": 4, "exclusiveMaximum": 6, "multipleOf": 5},
    }  # fmt: skip
    schema = tmp_path / "player.json"
    schema.write_text(json.dumps({"properties": keys}))
    assert kept("declare", "player", str(schema)).status == 0
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kept").symlink_to(environment["KEPT_COMMAND"])
    # A program that prints the value of a key, with its arguments as a layer.
    (programs / "player").write_text('#!/bin/sh\nexec kept explain player --json -- "$KEY" -- "$@"\n')
    (programs / "player").chmod(0o755)

    def run(line: str, key: str) -> str:
        variables = environment | {"PATH": f"{programs}:{environment['PATH']}", "KEY": key}
        done = subprocess.run(
            ["bash", "-c", line], env=variables, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
        return done.stdout

    get = 'kept get player --json --reveal --env-prefix PLAYER_ -- "$KEY"'
    found = page(kept, keys, *LAYERS)
    assert len(found.sections) == len(keys) + 1
    missing: dict[str, set[str]] = {}
    for key, section in zip(sorted(keys, key=str.encode), found.sections[1:], strict=True):
        codes = {label: section.rows[label][-1] for label in section.rows}
        if keys[key].get("secret") or "VALUE" in codes["User"]:
            missing[key] = {label for label, code in codes.items() if "VALUE" in code or code.endswith(" -")}
            continue
        file = json.loads(codes["Administrator"])
        (tmp_path / "managed.json").write_text(codes["Administrator"])
        managed = get.replace(" --", f" --managed '{tmp_path}/managed.json' --", 1)
        value = json.loads(run(managed, key))
        assert list(file["values"]) == [key] or "$literal" in codes["Administrator"]
        assert json.loads(run(f"{codes['Environment']}; {get}", key)) == value, key
        if "Arguments" in codes:
            explained = json.loads(run(codes["Arguments"], key))
            assert explained["layer"] == "arguments" and explained["value"] == value, key
        else:
            assert key in ("5", " a ", "-x"), key
        run(codes["User"], key)
        assert json.loads(run(get, key)) == value, key
        assert kept("reset", "player", "--", key).status == 0
    assert missing == {
        "code": {"Administrator", "Arguments", "Environment", "User"},
        "token": {"Administrator", "Environment", "User"},
    }


def test_a_page_has_nothing_of_a_secret(kept: Kept) -> None:
    keys = {"token": {"type": "string", "secret": True, "default": "hush", "enum": ["hush", "sh!"], "summary": "Key"}}
    for language in FORMATS:
        text = generate(kept, keys, language, *LAYERS)
        assert "hush" not in text and "sh!" not in text and "Key" in text
    rows = page(kept, keys, *LAYERS)["token"].rows
    assert rows["Administrator"][-1] == '{"values":{"token":"VALUE"}}'
    assert rows["User"] == ["Asks for the value, and does not show it:", "kept set player token -"]
    # Other users can read the arguments of a process.
    assert "Arguments" not in rows


def hostile_keys() -> dict[str, Any]:
    keys: dict[str, Any] = {}
    for index, text in enumerate(HOSTILE):
        keys[f"{text}{index}"] = {
            "type": "string", "enum": [text, "x"], "default": text, "pattern": ".?", "format": text, "since": text,
            "summary": text, "description": f"{text} {text}", "deprecated": True, "replacedBy": f"{text}{index}",
        }  # fmt: skip
    keys["object"] = {"type": "object", "properties": {text: {"const": text, "title": text} for text in HOSTILE}}
    return keys


def displayed(text: str) -> str:
    """A text as pages show it: in one line, without what hides or rearranges, and no mark without a letter."""
    return re.sub("[\0-\x1f\x7f-\x9f\u200b\u202e\u2066\ufeff]|(?<![a-z0-9])\u0301", escaped, " ".join(text.split()))


def escaped(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[0]):X}}}"


def test_hostile_text_is_only_text(kept: Kept) -> None:
    keys = hostile_keys()
    found = page(kept, keys, *LAYERS)
    assert found.tags == page(kept, {"a": TEXT | {"deprecated": True, "replacedBy": "a"}}).tags
    assert len(found.sections) == len(keys) + 1
    for key, section in zip(sorted(keys, key=str.encode), found.sections[1:], strict=True):
        if key == "object":
            continue
        text = displayed(keys[key]["summary"])
        assert section.paragraphs == [part for part in (text, f"{text} {text}".strip()) if part], key
        assert section.rows["Since"] == [text], key
    raw = generate(kept, keys, "html", *LAYERS, "--name", "<b>\u202e")
    assert Page(raw).title == "Settings of <b>\\u{202E}"
    for language in FORMATS:
        raw = generate(kept, keys, language, *LAYERS)
        assert re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066\ufeff]", raw) is None


def test_markdown_renders_as_the_same_text(kept: Kept) -> None:
    keys = hostile_keys() | EVERY_WORD
    found = page(kept, keys, *LAYERS)
    text = generate(kept, keys, "markdown", *LAYERS)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    headings = [tokens[index + 1] for index, token in enumerate(tokens) if token.type == "heading_open"]
    shown = ["".join(child.content for child in heading.children or []) for heading in headings]
    assert shown == ["Settings", "Contents", *(section.heading for section in found.sections)]
    html = [
        child.content for token in tokens for child in [token, *(token.children or [])] if child.type.startswith("html")
    ]
    anchors = [re.fullmatch(r'<a id="([^"]+)">|</a>', part.strip()) for part in html]
    assert [anchor[1] for anchor in anchors if anchor and anchor[1]] == [section.anchor for section in found.sections]
    assert None not in anchors
    kinds = {child.type for token in tokens for child in [token, *(token.children or [])]}
    assert kinds <= {
        *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text", "code_inline"),
        *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "link_open", "link_close"),
        *("strong_open", "strong_close", "html_inline", "fence", "text_special"),
    }  # fmt: skip
    words = [child.content for token in tokens for child in (token.children or [token])]
    body = "".join(part for part in words if not part.startswith(("<a id", "</a>")))
    for section in found.sections:
        for part in [*section.paragraphs, *(line for row in section.rows.values() for line in row)]:
            assert part in body, part


def test_the_page_of_the_manual_renders_without_a_warning(kept: Kept, tmp_path: Path) -> None:
    keys = hostile_keys() | EVERY_WORD
    found = page(kept, keys, *LAYERS, "--name", "player")
    text = formatted(generate(kept, keys, "man", *LAYERS, "--name", "player"), tmp_path)
    assert text.startswith("PLAYER(5)") and "player - all settings" in text
    flat = " ".join(text.split())
    for section in found.sections[1:]:
        for part in [section.heading, *section.paragraphs, *(line for row in section.rows.values() for line in row)]:
            # Keys and values are bold, and have no marks.
            shown = " ".join(part.split())
            assert unicodedata.normalize("NFC", shown) in flat or re.sub("\u0301", escaped, shown) in flat, part


def test_a_mark_is_seen_on_its_letter_or_as_its_number(kept: Kept) -> None:
    keys = {key: TEXT | {"summary": "e\u0301 \u0301"} for key in ("e\u0301", "\u0301", "\u0915\u093f", "1\ufe0f\u20e3")}
    found = page(kept, keys, "--store", "player")
    assert {section.heading for section in found.sections[1:]} == {
        "e\u0301",
        "\\u{301}",
        "\u0915\u093f",
        "1\ufe0f\u20e3",
    }
    assert found["e\u0301"].paragraphs == ["e\u0301 \\u{301}"]
    assert found["\\u{301}"].rows["User"] == [r"kept set player $'\314\201' text"]
    assert found["\\u{301}"].rows["Administrator"][-1] == r'{"values":{"\u0301":"text"}}'
    manual = generate(kept, keys, "man")
    # Pagers do not draw it on a bold letter.
    for heading in (r"e\eu{301}", r"\eu{301}", "\u0915\u093f", r"1\eu{FE0F}\eu{20E3}"):
        assert f'.SS "{heading}"\n' in manual


def test_empty_texts_are_seen(kept: Kept) -> None:
    keys = {"a": TEXT | {"pattern": "", "format": ""}, "b": {"type": "object", "required": [""]}}
    rows = [page(kept, keys)[key].rows["Rules"] for key in "ab"]
    assert rows == [
        ['matches the regular expression ""', 'in the format "", which is not checked'],
        ['member "" (required)'],
    ]
    text = generate(kept, keys, "markdown")
    for part in ('expression `""`', 'format `""`', 'member `""`'):
        assert part in text


@pytest.mark.parametrize("language", FORMATS)
def test_random_declarations_have_a_page(kept: Kept, language: str, tmp_path: Path) -> None:
    random = Random(1)
    for _ in range(10):
        keys = random_keys(random)
        done = kept("generate", "-", f"--{language}", *LAYERS, input=json.dumps({"properties": keys}))
        assert done.status == kept("lint", "-", input=json.dumps({"properties": keys})).status, done.err
        if done.status == 0 and language == "html":
            assert len(Page(done.out).sections) == len(keys) + 1
        elif done.status == 0 and language == "man":
            formatted(done.out, tmp_path)


@pytest.mark.parametrize("language", FORMATS)
def test_the_same_declarations_give_the_same_page(kept: Kept, tmp_path: Path, language: str) -> None:
    file, other = tmp_path / "my-player.schema.json", tmp_path / "other.json"
    file.write_text(json.dumps({"properties": EVERY_WORD}))
    other.write_text(json.dumps({"title": "x", "properties": dict(reversed(EVERY_WORD.items()))}, indent=3))
    text = kept("generate", str(file), f"--{language}").out
    assert "my" in text and kept("generate", str(other), f"--{language}", "--name", "my-player").out == text
    assert kept("declare", "player", str(file)).status == 0
    for options in ([], ["--reveal"]):
        described = kept("describe", "player", "--json", *options).out
        assert kept("generate", "-", f"--{language}", "--name", "my-player", input=described).out == text


@pytest.mark.parametrize("language", FORMATS)
def test_names_in_code_are_no_obstacle_and_a_bad_file_leaves_the_output_alone(
    kept: Kept, tmp_path: Path, language: str
) -> None:
    file, output = tmp_path / "settings.json", tmp_path / "output"
    keys = {"a.b": TEXT, "a_b": TEXT, "+": TEXT, "e": TEXT | {"enum": ["X", "u58", "x"]}}
    file.write_text(json.dumps({"properties": keys}))
    done = kept("generate", str(file), f"--{language}", "-o", str(output))
    assert (done.status, done.out, done.err) == (0, "", "")
    text = output.read_text()
    for wrong in ({"a": TEXT | {"default": 1}}, {"a": {"type": "thing"}}, {"a": TEXT | {"replacedBy": "b"}}):
        file.write_text(json.dumps({"properties": wrong}))
        done = kept("generate", str(file), f"--{language}", "-o", str(output))
        assert (done.status, done.out, output.read_text()) == (3, "", text)
        assert done.err == kept("generate", str(file), "--c").err
    assert kept("generate", str(tmp_path / "none"), f"--{language}").status == 4


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--html", "--as", "a=b"], "--as gives keys other names in code"),
        (["--c", "--store", "player"], "are for pages"),
        (["--html", "--store", "/player"], "identifier"),
        (["--html", "--env-prefix", ""], "PLAYER_"),
        (["--html", "--env-prefix", "a-b"], "PLAYER_"),
        (["--html", "--env-prefix", "1A"], "PLAYER_"),
        (["--html", "--program", ""], "--program is empty; give it a value, or leave it out"),
        (["--html", "--name", ""], "--name is empty"),
        (["--html", "-o", ""], "--output is empty"),
        (["--html", "--c"], "--html and --c cannot be combined; call kept generate once for each of them"),
        ([], "--c, --cxx, --python, --swift, --html, --markdown, --man"),
    ],
)
def test_usage(kept: Kept, tmp_path: Path, options: list[str], part: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"properties": {"a": {"type": "integer"}}}')
    done = kept("generate", str(file), *options)
    assert (done.status, done.out) == (2, "") and part in done.err, done.err
