"""Keys that travel: copied with the object that holds them, or pickled for another process, they declare the same."""

from __future__ import annotations

import copy
import enum
import multiprocessing
import pickle
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Optional, TypedDict

import pytest

import kept


class Theme(enum.Enum):
    DARK = "dark"


@dataclass
class Size:
    width: int = 3


class Login(TypedDict):
    name: str


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
KEYS: list[kept.Key[Any]] = [
    kept.Key("k", bool),
    kept.Key("k", int),
    kept.Key("k", float, default=1),
    kept.Key("k", str, min_length=1, pattern="a", choices=["a", "ab"], summary="x", secret=True),
    kept.Key("k", str, constant="a"),
    kept.Key("k", bytes, default=b"\0"),
    kept.Key("k", datetime, default=NOON),
    kept.Key("k", kept.datetime_ns),
    kept.Key("k", kept.Timestamp, default=kept.Timestamp(5, 7)),
    kept.Key("k", list[int], default=[1]),
    kept.Key("k", dict[str, list[bytes]]),
    kept.Key("k", Theme, default=Theme.DARK),
    kept.Key[Any]("k", Literal["a", 1], default=1),  # type: ignore[call-overload]
    kept.Key("k", Size, default=Size(5)),
    kept.Key("k", Login, default={"name": "a"}),
    kept.Key("k", int, default=None),
    kept.Key("k", int | None),
    kept.Key("k", int | None, default=5),
    kept.Key[Any]("k", Optional[Size]),  # type: ignore[call-overload]
]
PICKLED = [lambda key, protocol=protocol: pickle.loads(pickle.dumps(key, protocol)) for protocol in range(6)]


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, *PICKLED])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_key_that_was_copied_declares_the_same(key: kept.Key[Any], travel: Any) -> None:
    other = travel(key)
    assert other == key and hash(other) == hash(key) and repr(other) == repr(key)
    assert other.schema == key.schema and other.value_type == key.value_type
    assert other.has_default == key.has_default
    if key.has_default:
        assert other.default == key.default and type(other.default) is type(key.default)
    with pytest.raises(AttributeError, match="cannot be changed"):
        other.name = "other"


@pytest.mark.parametrize("travel", [copy.deepcopy, *PICKLED])
def test_a_copied_key_without_a_default_is_still_absent(settings: kept.Store, travel: Any) -> None:
    for kind in (bool, int, float, str, bytes, datetime, list[int]):
        key: kept.Key[Any] = travel(kept.Key("k", kind))
        with pytest.raises(kept.AbsentError):
            settings[key]
        assert settings.get(key) is None


def test_keys_are_copied_with_the_object_that_holds_them(settings: kept.Store) -> None:
    @dataclass
    class Player:
        key: kept.Key[int]
        settings: str = "settings"

    volume = kept.Key("volume", int)
    assert copy.deepcopy(Player(volume)).key == volume
    setting = pickle.loads(pickle.dumps(kept.Setting(volume)))
    assert setting.key == volume
    received: list[kept.Change[int]] = []
    settings["volume"] = 5
    with settings.observe(volume, received.append, initial=True):
        change = pickle.loads(pickle.dumps(received[0]))
        assert change == received[0] == copy.deepcopy(received[0]) and (change.old, change.new) == (None, 5)


def _read(location: Path, keys: list[kept.Key[Any]]) -> list[Any]:
    with kept.open(location) as settings:
        return [settings.get(key, "absent") for key in keys]


def test_a_key_is_an_argument_of_another_process(location: Path) -> None:
    with kept.open(location) as settings:
        settings["volume"] = 5
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        keys = [kept.Key("volume", int), kept.Key("absent", int), kept.Key("volume", float)]
        assert pool.apply(_read, (location, keys)) == [5, "absent", 5.0]
