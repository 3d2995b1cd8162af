"""Layers as Python gives and sees them: opening with them, warnings, the log, explanations, and the memory."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import kept
from kept._c.layers import KEPT_LAYER_NONE
from kept._layers import layer_of_number

VOLUME = kept.Key("volume", int, default=50)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(file: Path, text: str) -> Path:
    """Takes the place of a file at once."""
    draft = file.with_suffix(".draft")
    draft.write_text(text)
    draft.chmod(0o644)
    return draft.rename(file)


# --- opening


def test_every_layer_is_given_at_opening(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYER_ENVIRONMENT", "5")
    managed = write(folder / "managed.json", '{"values": {"managed": 7}}')
    system = write(folder / "system.json", '{"values": {"system": 3}}')
    arguments = ["player", "-arguments", "6"]
    with kept.open("memory:", managed=managed, system=str(system), arguments=arguments, environment="PLAYER_") as s:
        s["user"] = 4
        s.register({"registered": 2})
        s.declare(kept.Key("declared", int, default=1))
        order = ["declared", "registered", "system", "user", "environment", "arguments", "managed"]
        assert [s[name] for name in order] == [1, 2, 3, 4, 5, 6, 7]
        assert [s.layer(name) for name in order] == list(kept.Layer)
        assert s.layer("nothing") is None
        assert list(s) == sorted(order[2:]) and len(s) == 5 and "declared" not in s and "system" in s


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"environment": ""}, "prefix"),
        ({"environment": "A=B"}, "prefix"),
        ({"environment": "A\0B"}, "NUL"),
        ({"arguments": "player -a 1"}, "str"),
        ({"arguments": ["a\0b"]}, "NUL"),
        ({"arguments": ["\ud800"]}, "argument"),
        ({"arguments": [5]}, "argument"),
        ({"managed": ""}, "managed"),
        ({"system": "a\0b"}, "system"),
        ({"managed": True}, "managed"),
        ({"system": True}, "system"),
    ],
)
def test_invalid_layers_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(kept.InvalidError, match=words):
        kept.open("memory:", **options)


def test_the_standard_files_are_those_of_the_identifier(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    identifier = f"org.example.kept-test-{os.getpid()}"
    with kept.open(identifier, managed=True, system=True) as settings:
        findings = {finding.layer: finding.source for finding in settings.explain("a").layers}
        assert findings[kept.Layer.MANAGED] == f"/etc/kept/{identifier}/managed.json"
        assert findings[kept.Layer.SYSTEM] == f"/etc/kept/{identifier}/system.json"


def test_arguments_that_are_not_utf_8_are_skipped() -> None:
    with kept.open("memory:", arguments=["player", "-a", "\udcff", "-b", "2"]) as settings:
        assert settings["b"] == 2


def test_sys_argv_is_a_command_line(folder: Path) -> None:
    program = "import kept, sys; print(kept.open('memory:', arguments=sys.argv)[kept.Key('audio.volume', int)])"
    result = subprocess.run(
        [sys.executable, "-c", program, "-audio.volume", "-5"], capture_output=True, text=True, check=True
    )
    assert result.stdout == "-5\n"


# --- writing


def test_a_locked_key_is_an_error_and_a_shadowed_one_a_warning(folder: Path) -> None:
    managed = write(folder / "managed.json", '{"locked": ["theme"]}')
    with kept.open("memory:", managed=managed, arguments=["player", "-volume", "60"]) as settings:
        with pytest.raises(kept.LockedError, match="managed") as caught:
            settings["theme"] = "dark"
        assert caught.value.key == "theme" and caught.value.status == -5
        with pytest.warns(kept.ShadowedWarning, match="arguments") as shown:
            settings[VOLUME] = 70
        assert shown[0].filename == __file__, "it is shown where the program writes"
        assert settings[VOLUME] == 60 and settings.revision(VOLUME) == 1
        with pytest.warns(kept.ShadowedWarning), settings.transaction() as t:
            t[VOLUME] = 71
        with pytest.warns(kept.ShadowedWarning):
            assert settings.set(VOLUME, 72, if_revision=2) == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            settings["other"] = 1
            with pytest.raises(kept.ShadowedWarning):
                settings[VOLUME] = 73
            assert settings.revision(VOLUME) == 5, "it is stored all the same"
            with pytest.raises(kept.ShadowedWarning) as raised, settings.transaction() as t:
                t[VOLUME] = 74
            assert "written" not in str(raised.value), "the block has rolled it back"
        assert settings.revision(VOLUME) == 5


def test_updating_starts_from_the_stored_value(folder: Path) -> None:
    system = write(folder / "system.json", '{"values": {"b": 10}}')
    with kept.open("memory:", system=system, arguments=["p", "-volume", "60", "-b", "60", "-c", "60"]) as settings:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kept.ShadowedWarning)
            settings[VOLUME] = 1
            assert settings.update_value(VOLUME, lambda volume: volume + 1) == 2
            assert settings.update_value("b", lambda value: value + 1) == 11
            assert settings.update_value(kept.Key("c", int, default=5), lambda value: value + 1) == 6
            assert settings.update_value("c", lambda value: value + 1, default=9) == 7
            del settings["c"]
            with pytest.raises(kept.AbsentError):
                settings.update_value("c", lambda value: value + 1)
        stored = {finding.layer: finding.value for finding in settings.explain("volume").layers}
        assert stored[kept.Layer.USER] == 2 and settings[VOLUME] == 60


def test_removing_removes_only_the_stored_value(folder: Path) -> None:
    system = write(folder / "system.json", '{"values": {"a": 3, "b": 3}}')
    with kept.open("memory:", system=system) as settings:
        settings.update({"a": 4, "c": 4})
        assert settings.popitem() == ("a", 4) and settings["a"] == 3
        assert settings.pop("a", 9) == 9 and settings.pop("a") == 3 and settings["a"] == 3
        settings.clear()
        assert dict(settings) == {"a": 3, "b": 3}
        with pytest.raises(kept.AbsentError):
            settings.popitem()
        assert settings.setdefault("a", 5) == 3


# --- text


class Theme(Enum):
    DARK = "dark"
    SEVEN = "7"


class Rate(Enum):
    LOW = 1


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (str, "50", "50"),
        (str, "true", "true"),
        (int, "50", 50),
        (int, "1e2", 100),
        (float, "50", 50.0),
        (bool, "on", True),
        (bytes, "AP8=", b"\0\xff"),
        (str | None, "5", "5"),
        (Theme, "7", Theme.SEVEN),
        (Theme, "dark", Theme.DARK),
        (Rate, "1", Rate.LOW),
        (list[int], "[1, 2]", [1, 2]),
        (str, "x" * 1000, "x" * 1000),
    ],
)
def test_text_is_read_as_the_type_of_the_key(kind: Any, text: str, value: Any) -> None:
    with kept.open("memory:", arguments=["player", "-a", text]) as settings:
        key = kept.Key[Any]("a", kind)
        assert settings[key] == value and type(settings[key]) is type(value)
        with settings.transaction() as t:
            assert t[key] == value


@pytest.mark.parametrize(
    ("kind", "text"), [(int, "loud"), (int, '"5"'), (bool, "5"), (Theme, "blue"), (list[int], "1")]
)
def test_text_without_a_meaning_is_a_wrong_type(kind: Any, text: str) -> None:
    with kept.open("memory:", arguments=["player", "-a", text]) as settings, pytest.raises(kept.WrongTypeError):
        settings[kept.Key("a", kind)]


def test_a_stored_string_is_never_parsed(settings: kept.Store) -> None:
    settings["a"] = "50"
    with pytest.raises(kept.WrongTypeError):
        settings[kept.Key("a", int)]


# --- the log


class Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.news = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.news.set()


@pytest.fixture
def log() -> Iterator[Log]:
    handler = Log()
    logging.getLogger("kept").addHandler(handler)
    yield handler
    logging.getLogger("kept").removeHandler(handler)


def test_reports_go_to_the_log(folder: Path, log: Log) -> None:
    system = write(folder / "system.json", "{")
    with kept.open("memory:", system=system) as settings:
        assert [record.levelname for record in log.records] == ["WARNING"]
        assert str(system) in log.records[0].getMessage() and "memory:" in log.records[0].getMessage()
        assert isinstance(log.records[0].kept_error, kept.InvalidError)  # type: ignore[attr-defined]
        log.news.clear()
        write(system, '{"values": {"a": "loud"}, "locked": []}')
        assert log.news.wait(60), "a thread of the library reports"
        settings.declare(kept.Key("a", int, default=5))


def test_a_value_that_does_not_fit_is_logged_once_and_a_secret_never(folder: Path, log: Log) -> None:
    system = write(folder / "system.json", '{"values": {"a": "loud", "token": "hunter2"}}')
    with kept.open("memory:", system=system, arguments=["p", "-token", "hunter3"]) as settings:
        settings.declare(kept.Key("a", int, default=5), kept.Key("token", int, default=1, secret=True))
        assert [settings["a"], settings["a"], settings["token"]] == [5, 5, 1]
    messages = [record.getMessage() for record in log.records]
    assert len(messages) == 3 and "loud" in messages[0] and not any("hunter" in message for message in messages)


def test_reports_are_forgotten_with_their_store(folder: Path) -> None:
    from kept._reports import _locations

    before = len(_locations)
    with kept.open("memory:"):
        assert len(_locations) == before + 1
    with pytest.raises(kept.InvalidError):
        kept.open("memory:", environment="")
    assert len(_locations) == before


# --- explanations


def test_an_explanation_is_a_value_and_a_table(folder: Path) -> None:
    managed = write(folder / "managed.json", '{"values": {"volume": 30}}')
    with kept.open("memory:", managed=managed, arguments=["p", "-volume", "60"]) as settings:
        settings.declare(VOLUME)
        found = settings.explain(VOLUME)
        assert (found.key, found.value, found.layer, found.locked) == ("volume", 30, kept.Layer.MANAGED, True)
        assert (found.secret, found.revision) == (False, 0)
        assert [(finding.layer.name, finding.outcome, finding.value) for finding in found.layers] == [
            ("MANAGED", "wins", 30), ("ARGUMENTS", "ignored", 60), ("USER", "silent", None),
            ("REGISTERED", "silent", None), ("DECLARED", "hidden", 50),
        ]  # fmt: skip
        assert found.layers[0].source == str(managed) and found.layers[1].source == "-volume"
        lines = str(found).splitlines()
        assert lines[0].startswith("volume = 30: locked by ") and len(lines) == 6
        assert lines[1].split() == ["managed", "wins", "30", f"({managed})"]
        assert lines[3].split() == ["user", "silent"]
        assert str(settings.explain("nothing")).startswith("nothing = absent: ")
        assert settings.explain("volume") == found and len({found.key, hash(found.layer)}) == 2
        with settings.transaction() as t:
            t["other"] = [1]
            assert t.explain("other").value == [1]


def test_an_unknown_layer_is_none() -> None:
    assert layer_of_number(KEPT_LAYER_NONE) is None and layer_of_number(99) is None
