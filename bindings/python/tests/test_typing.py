"""What mypy knows: these lines are checked by `mypy --strict`, and run as well.

Every `type: ignore` here is a mistake that mypy must find: one that it does not find is an error of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TypedDict, assert_type

import pytest

import kept


class Theme(Enum):
    DARK = "dark"


@dataclass
class Frame:
    width: int


class Login(TypedDict):
    name: str


VOLUME = kept.Key("audio.volume", int, default=50)
NAMES = kept.Key("names", list[str], default=["a"])
SIZES = kept.Key("sizes", dict[str, float], default={})
THEME = kept.Key("theme", Theme, default=Theme.DARK)
FRAME = kept.Key("frame", Frame, default=Frame(1))
MAYBE = kept.Key("maybe", Frame, default=None)
SPELLED: kept.Key[int | None] = kept.Key("spelled", int | None)
LOGIN = kept.Key[Login]("login", Login, default={"name": "a"})


def test_a_key_has_the_type_of_its_values() -> None:
    assert_type(VOLUME, kept.Key[int])
    assert_type(NAMES, kept.Key[list[str]])
    assert_type(SIZES, kept.Key[dict[str, float]])
    assert_type(THEME, kept.Key[Theme])
    assert_type(FRAME, kept.Key[Frame])
    assert_type(MAYBE, kept.Key[Frame | None])
    assert_type(LOGIN, kept.Key[Login])
    assert_type(kept.Key("plain", datetime), kept.Key[datetime])


def test_reading_by_key_is_typed_and_by_name_is_json(settings: kept.Store) -> None:
    assert_type(settings[VOLUME], int)
    assert_type(settings[NAMES], list[str])
    assert_type(settings[THEME], Theme)
    assert_type(settings[MAYBE], Frame | None)
    assert_type(settings[SPELLED], int | None)
    assert_type(settings[LOGIN], Login)
    assert_type(settings.get(VOLUME), int | None)
    assert_type(settings.get(VOLUME, 5), int)
    assert_type(settings.get(VOLUME, "none"), int | str)
    assert_type(settings.get("audio.volume"), kept.JSON)
    assert_type(settings.setdefault(VOLUME, 5), int)
    assert_type(settings["audio.volume"], kept.JSON)
    assert_type(settings.pop(VOLUME), int)
    assert_type(settings.update_value(VOLUME, lambda volume: volume + 1), int)
    assert_type(list(settings), list[str])
    assert_type(dict(settings.items()), dict[str, kept.JSON])
    with settings.transaction() as transaction:
        assert_type(transaction[VOLUME], int)
    assert_type(settings.run_transaction(lambda transaction: transaction[VOLUME]), int)


def test_conditions_are_typed(settings: kept.Store) -> None:
    assert_type(settings.set(VOLUME, 5, if_revision=0), int)
    settings.set(VOLUME, 5)
    settings.set(VOLUME, 5, durable=True)


def test_a_change_has_the_type_of_its_key(settings: kept.Store) -> None:
    @settings.observe(VOLUME)
    def show(change: kept.Change[int]) -> None:
        assert_type(change.new, int | None)

    def run(notice: kept.Notice) -> None:
        assert_type(notice.changes, tuple[kept.Change[kept.JSON], ...])

    with settings.observe(prefix="", callback=run) as subscription:
        assert_type(show, kept.Subscription)
        assert_type(subscription, kept.Subscription)
    with pytest.raises(kept.InvalidError):
        settings.observe(VOLUME, run, prefix="")  # type: ignore[call-overload]


def test_iterating_is_typed_by_the_key(settings: kept.Store) -> None:
    async def scenario() -> None:
        async for change in settings.changes(VOLUME, initial=True):
            assert_type(change, kept.Change[int])
            assert_type(change.new, int | None)
            break
        async for by_name in settings.changes("a", initial=True):
            assert_type(by_name, kept.Change[kept.JSON])
            break
        async with settings.changes(prefix="", initial=True) as notices:
            assert_type(notices, kept.Changes[kept.Notice])
            iterator: AsyncIterator[kept.Notice] = notices
            assert_type(await anext(iterator), kept.Notice)
        await settings.aflush()

    asyncio.run(scenario())
    with pytest.raises(kept.InvalidError):
        settings.changes(VOLUME, prefix="")  # type: ignore[call-overload]


def test_a_store_is_a_mapping_of_names_to_json(settings: kept.Store) -> None:
    def names(mapping: Mapping[str, kept.JSON]) -> list[str]:
        return list(mapping)

    settings[VOLUME] = 5
    assert names(settings) == ["audio.volume"]


def test_many_kinds_may_be_written_by_name(settings: kept.Store) -> None:
    numbers: list[int] = [1]
    members: dict[str, list[bytes]] = {"a": [b"x"]}
    settings["numbers"], settings["members"], settings["pair"] = numbers, members, (1, "a")
    settings.update({"a": 1}, b="c")


def test_a_wrong_type_is_found_by_mypy_and_at_run_time(settings: kept.Store) -> None:
    with pytest.raises(kept.WrongTypeError):
        settings[VOLUME] = "loud"  # type: ignore[misc]
    with pytest.raises(kept.WrongTypeError):
        settings.set(VOLUME, "loud")  # type: ignore[misc]
    with pytest.raises(kept.WrongTypeError):
        settings.setdefault(VOLUME, "loud")  # type: ignore[misc]
    with pytest.raises(kept.WrongTypeError):
        settings.update_value(VOLUME, lambda volume: str(volume))  # type: ignore[arg-type, return-value]
    with pytest.raises(kept.InvalidError):
        settings["a"] = {1, 2}  # type: ignore[call-overload]
    with pytest.raises(kept.InvalidError):
        kept.open("memory:", durability="perhaps")  # type: ignore[arg-type]
    with pytest.raises(kept.InvalidError):
        settings.observe(VOLUME, prefix="")  # type: ignore[call-overload]


def test_declarations_and_layers_are_typed(settings: kept.Store) -> None:
    limited = kept.Key("limited", int, default=5, minimum=0, maximum=10, choices=range(11), summary="x", secret=False)
    assert_type(limited, kept.Key[int])
    assert_type(kept.Key("short", str, max_length=3, pattern="a"), kept.Key[str])
    settings.declare(VOLUME, limited, {"plain": {"type": "string"}})
    assert_type(settings.declaration(VOLUME), dict[str, kept.JSON] | None)
    assert_type(settings.declarations("a"), dict[str, dict[str, kept.JSON]])
    settings.register({"names": ["a"], "plain": None})
    assert_type(settings.layer(VOLUME), kept.Layer | None)
    explanation = settings.explain("audio.volume")
    assert_type(explanation, kept.Explanation)
    assert_type(explanation.layers, tuple[kept.LayerFinding, ...])
    assert_type(explanation.value, kept.JSON)
    with pytest.raises(kept.InvalidError):
        settings.declare(kept.Key("wrong", int, minimum="0"))  # type: ignore[call-overload]
    with pytest.raises(kept.InvalidError):
        settings.declare(5)  # type: ignore[arg-type]
    with pytest.raises(kept.InvalidError):
        kept.open("memory:", arguments="-a 1")  # mypy takes a str for a sequence of str
