"""Keys that declare themselves: which schema a type becomes, what the store then refuses, and what warns."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

import kept


class Theme(Enum):
    DARK = "dark"
    LIGHT = "light"


class Rate(Enum):
    LOW = 1
    HALF = 0.5


class Mixed(Enum):
    TEXT = "a"
    NUMBER = 1


@dataclass
class Frame:
    width: int
    title: str | None
    tags: list[str] = field(default_factory=list)


@dataclass
class Tree:
    name: str
    children: list[Tree]


class Login(TypedDict):
    name: str
    theme: NotRequired[Theme]


@pytest.fixture
def settings() -> Iterator[kept.Store]:
    with kept.open("memory:") as store:
        yield store


FRAME = {
    "type": "object",
    "properties": {
        "width": {"type": "integer"},
        "title": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["width"],
}
THEME = {"type": "string", "enum": ["dark", "light"]}
SCHEMAS: list[tuple[Any, dict[str, Any]]] = [
    (bool, {"type": "boolean"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (str, {"type": "string"}),
    (bytes, {"type": "bytes"}),
    (datetime, {"type": "date"}),
    (kept.datetime_ns, {"type": "date"}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
    (list[int | None], {"type": "array", "items": {"type": ["integer", "null"]}}),
    (list[Theme | None], {"type": "array", "items": {"type": ["string", "null"], "enum": ["dark", "light", None]}}),
    (Theme, THEME),
    (Rate, {"type": "number", "enum": [1.0, 0.5]}),
    (Literal["dark", "light"], THEME),
    (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
    (int | None, {"type": "integer"}),
    (Frame, FRAME),
    (Frame | None, FRAME),
    (Login, {"type": "object", "properties": {"name": {"type": "string"}, "theme": THEME}, "required": ["name"]}),
    (
        Tree,
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"type": "object"}}},
            "required": ["children", "name"],
        },
    ),
]


@pytest.mark.parametrize(("kind", "schema"), SCHEMAS)
def test_a_key_declares_its_type(settings: kept.Store, kind: Any, schema: dict[str, Any]) -> None:
    key = kept.Key[Any]("a", kind)
    settings.declare(key)
    declared: Any = settings.declaration(key)
    assert declared is not None
    # The order of required names is the library's.
    assert {**declared, "required": None} == {**schema, "required": None}
    assert sorted(declared.get("required", [])) == sorted(schema.get("required", []))


def test_a_declaration_admits_what_its_key_can_hold(settings: kept.Store) -> None:
    values: list[tuple[Any, Any]] = [
        (Frame, Frame(1, None)),
        (Login, {"name": "a", "theme": Theme.DARK}),
        (Tree, Tree("a", [Tree("b", [])])),
        (list[Theme | None], [Theme.LIGHT, None]),
        (Rate, Rate.LOW),
        (datetime, datetime(2026, 1, 2, tzinfo=UTC)),
    ]
    for number, (kind, value) in enumerate(values):
        key = kept.Key[Any](f"k{number}", kind)
        settings.declare(key)
        settings[key] = value
        assert settings[key] == value


def test_a_value_of_a_wrong_type_is_refused_by_name_too(settings: kept.Store) -> None:
    settings.declare(kept.Key("frame", Frame), kept.Key("theme", Theme), kept.Key("rates", list[int]))
    value: Any
    for name, value in [("frame", {"title": "a"}), ("frame", {"width": "1"}), ("theme", "blue"), ("rates", [1, "2"])]:
        with pytest.raises(kept.InvalidError):
            settings[name] = value
    for name, value in [("frame", []), ("theme", 1), ("rates", {})]:
        with pytest.raises(kept.WrongTypeError):
            settings[name] = value
    assert len(settings) == 0


def test_an_enum_of_several_kinds_cannot_be_declared(settings: kept.Store) -> None:
    with pytest.raises(kept.InvalidError):
        settings.declare(kept.Key("a", Mixed))
    assert settings.declarations() == {}


def test_a_literal_is_a_type_of_keys(settings: kept.Store) -> None:
    # To mypy a Literal is not a type that can be passed; this spells both.
    kind: Any = Literal["dark", "light"]
    theme: kept.Key[Literal["dark", "light"]] = kept.Key("theme", kind)
    mixed: Any = Literal[1, "one"]
    number = kept.Key[Any]("number", mixed)
    settings[theme] = "dark"
    assert settings[theme] == "dark"
    settings["number"] = 1.0
    assert settings[number] == 1 and type(settings[number]) is int
    for wrong in (True, "two", 2, 1.0):
        with pytest.raises(kept.WrongTypeError):
            settings[number] = wrong
    settings["theme"] = "blue"
    with pytest.raises(kept.WrongTypeError):
        settings[theme]


VOLUME = kept.Key("volume", int, default=50, minimum=0, maximum=100, summary="How loud.")


def test_a_key_s_rules_and_default_count_once_it_is_declared(settings: kept.Store) -> None:
    settings[VOLUME] = 101
    del settings[VOLUME]
    settings.declare(VOLUME)
    assert settings.declaration("volume") == {
        "type": "integer", "default": 50, "minimum": 0, "maximum": 100, "summary": "How loud.",
    }  # fmt: skip
    for wrong in (-1, 101):
        with pytest.raises(kept.InvalidError, match="volume") as caught:
            settings[VOLUME] = wrong
        assert caught.value.key == "volume" and str(wrong) in str(caught.value)
    assert settings["volume"] == settings.get("volume") == 50
    assert "volume" not in settings and list(settings) == [] and len(settings) == 0
    with pytest.raises(kept.AbsentError):
        del settings["volume"]


def test_each_rule_has_its_word(settings: kept.Store) -> None:
    key = kept.Key("a", str, choices=["ab", "b"], min_length=1, max_length=2, pattern="b", secret=True, summary="x")
    assert key.schema == {
        "type": "string", "enum": ["ab", "b"], "minLength": 1, "maxLength": 2, "pattern": "b", "secret": True,
        "summary": "x",
    }  # fmt: skip
    themes = kept.Key("b", Theme, choices=[Theme.DARK], default=Theme.DARK)
    assert themes.schema == {"type": "string", "enum": ["dark"], "default": "dark"}
    settings.declare(key, themes)
    assert settings.declarations() == {"a": key.schema, "b": themes.schema}
    assert "choices=…, min_length=1" in repr(key), "it is secret"
    assert key != kept.Key("a", str) and themes == kept.Key("b", Theme, choices=[Theme.DARK], default=Theme.DARK)


def test_each_rare_rule_has_its_word(settings: kept.Store) -> None:
    ratio = kept.Key("ratio", float, exclusive_minimum=0, exclusive_maximum=1, multiple_of=0.25)
    assert ratio.schema == {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.25}
    theme = kept.Key("theme", Theme, constant=Theme.DARK, deprecated=True, replaced_by="look")
    assert theme.schema == {**THEME, "const": "dark", "deprecated": True, "replacedBy": "look"}
    tags = kept.Key("tags", list[str], min_items=1, max_items=2, unique_items=True)
    assert tags.schema == {
        "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2, "uniqueItems": True,
    }  # fmt: skip
    hosts = kept.Key("hosts", dict[str, int], min_members=1, max_members=2)
    mail = kept.Key("mail", str, format="email", since="1.2", renamed_from="post")
    assert mail.schema == {"type": "string", "format": "email", "since": "1.2", "renamedFrom": "post"}
    settings.declare(ratio, theme, tags, hosts, mail)
    wrong: list[tuple[str, Any]] = [
        ("ratio", 0.0), ("ratio", 1.0), ("ratio", 0.3), ("theme", "light"), ("tags", []), ("tags", ["a", "a"]),
        ("tags", ["a", "b", "c"]), ("hosts", {}), ("hosts", {"a": 1, "b": 2, "c": 3}),
    ]  # fmt: skip
    for name, value in wrong:
        with pytest.raises(kept.InvalidError):
            settings[name] = value
    settings[ratio], settings[theme], settings[tags] = 0.75, Theme.DARK, ["a", "b"]
    settings[hosts], settings[mail] = {"a": 1}, "no address"
    assert len(settings) == 5


def test_a_long_list_with_a_former_name_moves_its_value_each_time(tmp_path: Path) -> None:
    keys: dict[str, Any] = {f"k{index}": {"type": "integer"} for index in range(100)}
    text = json.dumps({"properties": keys | {"new": {"type": "integer", "renamedFrom": "old"}}})
    with kept.open(tmp_path / "store") as settings:
        settings.declare_list(text)
        settings["old"] = 3
        settings.declare_list(text)
        assert dict(settings) == {"new": 3}
        settings["old"] = 4
    with kept.open(tmp_path / "store", read_only=True) as settings:
        settings.declare_list(text)
        assert dict(settings) == {"new": 3, "old": 4}, "it cannot be moved, and the list is declared"


def test_setting_a_deprecated_key_is_logged_once(settings: kept.Store, caplog: pytest.LogCaptureFixture) -> None:
    old = kept.Key("old", int, deprecated=True, summary="use new")
    settings.declare(old)
    assert settings.get("old") is None and not caplog.records
    for value in (1, 2, 2):
        settings[old] = value
    del settings[old]
    assert [record.name for record in caplog.records] == ["kept"]
    assert '"old": was set, but is declared as deprecated' in caplog.text and "use new" in caplog.text


def test_an_unknown_rule_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="minimun"):
        kept.Key("a", int, minimun=0)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "key",
    [
        kept.Key("a", int, minimum=2, maximum=1),
        kept.Key("a", int, default=5, maximum=4),
        kept.Key("a", str, minimum=1),
        kept.Key("a", str, pattern="("),
        kept.Key("a", int, choices=[]),
        kept.Key("a", bool, min_length=1),
    ],
)
def test_impossible_rules_are_refused_when_the_key_is_declared(settings: kept.Store, key: kept.Key[Any]) -> None:
    with pytest.raises(kept.InvalidError, match='"a"'):
        settings.declare(kept.Key("b", int), key)
    assert settings.declarations() == {}, "all or none"


def test_declarations_can_be_declared_again_as_dicts(settings: kept.Store) -> None:
    when = datetime(2026, 1, 2, tzinfo=UTC)
    settings.declare(VOLUME, {"$id": {"type": "date", "default": when}, "b": {"type": "bytes", "default": b"\0\xff"}})
    declared = settings.declarations()
    assert declared["$id"] == {"type": "date", "default": when} and declared["b"]["default"] == b"\0\xff"
    assert settings.declarations("vol") == {"volume": VOLUME.schema}
    with kept.open("memory:") as copy:
        copy.declare(declared)
        assert copy.declarations() == declared and copy["$id"] == when
    settings.declare()
    settings.declare({})
    wrong: Any
    for wrong in ({"a": "integer"}, {"a": None}):
        with pytest.raises(kept.InvalidError):
            settings.declare(wrong)


def test_declare_json_and_declare_file(settings: kept.Store, tmp_path: Path) -> None:
    settings.declare_json("a", '{"type":"integer","default":1}')
    assert settings["a"] == 1
    with pytest.raises(kept.InvalidError) as caught:
        settings.declare_json("a", '{"type":integer}')
    assert caught.value.offset == 8 and caught.value.key == "a"
    with pytest.raises(kept.UnsupportedError, match="oneOf"):
        settings.declare_json("a", '{"type":"integer","oneOf":[]}')
    file = tmp_path / "settings.schema.json"
    file.write_text('{"properties": {"b": {"type": "string", "default": "x"}}}')
    settings.declare_file(file)
    settings.declare_file(str(file))
    assert settings["b"] == "x"
    with pytest.raises(kept.UnavailableError):
        settings.declare_file(tmp_path / "none")


def test_declare_list(settings: kept.Store) -> None:
    text = '{"properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "bytes", "secret": true}}}'
    settings.declare_list(text)
    revision = settings.revision()
    settings.declare_list(text)
    assert (settings["a"], settings.revision()) == ("x", revision)
    with pytest.raises(kept.UnsupportedError, match="oneOf"):
        settings.declare_list('{"properties": {"c": {"type": "integer", "oneOf": []}, "d": {"type": "date"}}}')
    assert settings.declaration("d") is None


def test_a_misfit_warns_and_reads_as_absent(settings: kept.Store) -> None:
    settings.update({"a": "loud", "b": "loud"})
    with pytest.warns(kept.MisfitWarning, match='"a"') as shown:
        settings.declare(kept.Key("a", int, default=5))
    assert shown[0].filename == __file__, "it is shown where the program declares"
    assert settings["a"] == 5
    with pytest.warns(kept.MisfitWarning):
        settings.declare(kept.Key("b", int))
    with pytest.raises(kept.AbsentError):
        settings["b"]
    settings.undeclare("a")
    assert settings["a"] == "loud"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        settings.declare(kept.Key("c", int))


def test_another_type_is_a_conflict(settings: kept.Store) -> None:
    settings.declare(VOLUME)
    with pytest.raises(kept.TypeConflictError, match="volume"):
        settings.declare(kept.Key("volume", str))
    settings.undeclare(VOLUME)
    settings.declare(kept.Key("volume", str))
    with pytest.raises(kept.AbsentError):
        settings.undeclare("other")
    assert settings.declaration("other") is None


def test_a_transaction_declares_too(settings: kept.Store) -> None:
    with settings.transaction() as t:
        t.declare(VOLUME)
        assert t[VOLUME] == 50 and t.declaration(VOLUME) is not None and settings.declaration(VOLUME) is None
        with pytest.raises(kept.UnsupportedError):
            t.declarations()
        t[VOLUME] = 60
    assert settings[VOLUME] == 60


SECRET = "hunter2-hunter2"


def test_no_message_shows_a_secret(settings: kept.Store) -> None:
    token = kept.Key("token", str, pattern="^[a-z]+$", max_length=20, secret=True)
    settings.declare(token)
    received: list[Any] = []
    both = threading.Event()

    def receive(subject: Any) -> None:
        received.append(subject)
        if sum(subject.revision == 3 for subject in received) == 2:
            both.set()

    settings.declare_json("other", '{"type":"integer"}')
    with settings.observe(prefix="", callback=receive), settings.observe(token, receive):
        for attempt in (SECRET, SECRET * 4):
            with pytest.raises(kept.InvalidError) as caught:
                settings["token"] = attempt
            assert "hunter2" not in str(caught.value)
        with pytest.raises(kept.WrongTypeError) as wrong:
            settings["token"] = [SECRET]
        assert "hunter2" not in str(wrong.value)
        settings["token"] = "correct"
        explained = settings.explain("token")
        assert explained.secret and explained.value is None and "correct" not in f"{explained}{explained!r}"
        with pytest.warns(kept.MisfitWarning) as shown:
            settings.declare(kept.Key("token", str, max_length=3, secret=True))
        assert "correct" not in str(shown[0].message)
        assert both.wait(60)
    assert all("correct" not in f"{subject}{subject!r}" for subject in received)
    assert any(isinstance(subject, kept.Change) and subject.secret and subject.new == "correct" for subject in received)


def test_a_secret_key_shows_no_value_by_itself() -> None:
    number = kept.Key("number", float, secret=True)
    with kept.open("memory:") as settings:
        settings["number"] = 2**53 + 1
        for attempt in (lambda: settings[number], lambda: settings.set(number, 2**53 + 1)):
            with pytest.raises(kept.KeptError, match='"number"') as caught:
                attempt()
            assert str(2**53 + 1) not in str(caught.value) and caught.value.__suppress_context__


def test_a_declaration_of_another_process_applies_at_once(location: Path) -> None:
    def elsewhere(statement: str) -> None:
        program = f"import kept, sys\nwith kept.open(sys.argv[1]) as settings:\n    {statement}"
        subprocess.run([sys.executable, "-W", "ignore", "-c", program, location], check=True, timeout=60)

    with kept.open(location) as settings:
        settings["volume"] = "loud"
        assert settings["volume"] == settings["volume"] == "loud"
        elsewhere("settings.declare(kept.Key('volume', int, default=5))")
        assert settings["volume"] == settings["volume"] == 5, "also where it is remembered"
        with pytest.raises(kept.WrongTypeError):
            settings["volume"] = "louder"
        elsewhere("settings.undeclare('volume')")
        assert settings["volume"] == settings["volume"] == "loud"


def test_ten_thousand_declarations(tmp_path: Path) -> None:
    schemas = {f"group{n % 100}.key{n}": {"type": "integer", "minimum": 0, "default": n} for n in range(10_000)}
    with kept.open(tmp_path / "many") as settings:
        settings.declare(schemas)
        assert settings["group99.key9999"] == 9999 and len(settings) == 0
        assert settings.declarations() == schemas and len(settings.declarations("group7.")) == 100
    with kept.open(tmp_path / "many") as settings:
        assert settings["group7.key7"] == 7
        with pytest.raises(kept.InvalidError):
            settings["group7.key7"] = -1
