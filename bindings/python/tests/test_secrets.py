"""The value of a secret key is in no error, in nothing that an error came from, in no log and in no repr: whether the
`kept.Key` says that it is secret or only the store, in every operation and for every type.
`test_secret_writes.py` covers writing."""

from __future__ import annotations

import asyncio
import logging
import sys
import warnings
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

import pytest

import kept
from secret_values import (
    FIRST_YEAR,
    NUMBER,
    TEXT,
    Broken,
    Code,
    Login,
    Theme,
    assert_not_shown,
    assert_without_needle,
    declare,
    key_of,
)

Read = Callable[[kept.Store, Any], object]

# The stored value, the type that it is declared with, and a type of keys that it is not read as.
STORED: list[tuple[Any, str, Any]] = [
    (NUMBER, "integer", float),
    (NUMBER, "integer", str),
    (NUMBER, "integer", Literal[1, 2]),
    (NUMBER, "integer", Theme),
    (424242.25, "number", int),
    (424242.25, "number", Literal["a"]),
    (TEXT, "string", int),
    (TEXT, "string", Theme),
    (TEXT, "string", Literal["a"]),
    (TEXT, "string", list[str]),
    (TEXT.encode(), "bytes", str),
    (FIRST_YEAR, "date", datetime),
    (FIRST_YEAR, "date", kept.datetime_ns),
    (FIRST_YEAR, "date", datetime | None),
    ([FIRST_YEAR, 1], "array", list[datetime]),
    ([1, TEXT], "array", list[int]),
    ([NUMBER], "array", list[float]),
    ({TEXT: "x"}, "object", dict[str, int]),
    ({"a": {TEXT: [NUMBER]}}, "object", dict[str, dict[str, list[float]]]),
    ({"number": NUMBER}, "object", Code),
    ({"a": {TEXT: {"number": NUMBER}}}, "object", dict[str, dict[str, Code]]),
    ({TEXT: 1}, "object", Login),
    ({"name": 424242}, "object", Login),
]


def _observed(settings: kept.Store, key: Any) -> object:
    changes: list[kept.Change[Any]] = []
    with settings.observe(key, changes.append, initial=True):
        assert changes[0].secret
    assert_without_needle(f"{changes} {changes[0]}")
    return changes[0].new


def _in_changes(settings: kept.Store, key: Any) -> object:
    async def first() -> object:
        async with settings.changes(key, initial=True) as changes:
            return (await anext(changes)).new

    return asyncio.run(first())


def _in_transaction(settings: kept.Store, key: Any) -> object:
    with settings.transaction() as transaction:
        return transaction[key]


def _in_snapshot(settings: kept.Store, key: Any) -> object:
    with settings.snapshot() as snapshot:
        return snapshot[key]


def _of_attribute(settings: kept.Store, key: Any) -> object:
    class Owner:
        attribute = kept.Setting(key, settings)

    return Owner().attribute


def _in_migration(settings: kept.Store, key: Any) -> object:
    return settings.migrate([kept.Migration(1, "a step", lambda transaction: transaction[key])])


READS: dict[str, Read] = {
    "[]": lambda settings, key: settings[key],
    "get": lambda settings, key: settings.get(key),
    "get with a default": lambda settings, key: settings.get(key, 1),
    "pop": lambda settings, key: settings.pop(key),
    "setdefault": lambda settings, key: settings.setdefault(key, None),
    "update_value": lambda settings, key: settings.update_value(key, lambda value: value),
    "a transaction": _in_transaction,
    "a snapshot": _in_snapshot,
    "an attribute": _of_attribute,
    "a migration": _in_migration,
    "a change": _observed,
    "a change for asyncio": _in_changes,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize(("stored", "word", "kind"), STORED, ids=repr)
def test_a_value_that_cannot_be_read_is_not_shown(
    store: kept.Store, declared_by: str, stored: Any, word: str, kind: Any, read: Read
) -> None:
    declare(store, word, declared_by)
    store["k"] = stored
    with pytest.raises(kept.WrongTypeError, match='"k".*a secret is not shown') as caught:
        read(store, key_of(kind, declared_by))
    assert_not_shown(caught.value)


def test_a_schema_that_is_not_text_is_not_shown(store: kept.Store) -> None:
    for end in ("\0", "\ud800"):
        with pytest.raises(kept.InvalidError) as caught:
            store.declare_json("k", f'{{"type": "string", "secret": true, "default": "{TEXT}"}}{end}')
        assert caught.value.key is None
        assert_not_shown(caught.value)


def test_a_secret_key_does_not_show_what_it_is_declared_with() -> None:
    keys: list[kept.Key[Any]] = [
        kept.Key("k", str, default=TEXT, secret=True),
        kept.Key("k", str, choices=[TEXT, "b"], secret=True),
        kept.Key("k", int, constant=NUMBER, secret=True),
        kept.Key("k", dict[str, int], default={TEXT: 1}, secret=True),
        kept.Key[Any]("k", Literal["hunter2", "b"], secret=True),  # type: ignore[call-overload]
        kept.Key[Any]("k", list[Literal["hunter2"]] | None, secret=True),
    ]
    for key in keys:
        assert_without_needle(f"{key!r} {key}")
    assert repr(keys[0]) == "kept.Key('k', str, default=…, secret=True)"
    assert repr(keys[-1]) == "kept.Key('k', list[Literal[…]] | None, default=…, secret=True)"
    literal: Any = Literal
    with pytest.raises(kept.KeptError) as caught:
        kept.Key[Any]("k", literal[TEXT.encode()], secret=True)
    assert_not_shown(caught.value)
    with pytest.raises(TypeError) as wrong:
        kept.Setting(TEXT)  # type: ignore[arg-type]
    assert TEXT in str(wrong.value), "it is not a key, and so not a secret one"


def test_changes_of_a_secret_key_do_not_show_their_values(store: kept.Store, declared_by: str) -> None:
    declare(store, "string", declared_by)
    store["k"] = TEXT
    changes: list[kept.Change[Any]] = []
    key = key_of(str, declared_by)
    with store.observe(key, changes.append, initial=True):
        assert [change.new for change in changes] == [TEXT] and changes[0].secret
    assert_without_needle(f"{changes} {changes[0]}")


@pytest.mark.filterwarnings("ignore")
def test_an_exception_of_a_callback_is_logged_without_the_secret(
    store: kept.Store, declared_by: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[BaseException | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: shown.append(unraisable.exc_value))
    caplog.set_level(logging.DEBUG)
    for stored, word, kind in STORED:
        store.undeclare("k") if "k" in store.declarations() else None
        store.pop("k", None)
        declare(store, word, declared_by)
        store["k"] = stored
        with store.observe(key_of(kind, declared_by), lambda change: change.new, initial=True):
            pass
    assert len(shown) == len(STORED) == len(caplog.records)
    assert_without_needle(caplog.text)
    for error in shown:
        assert error is not None
        assert_not_shown(error)


def test_an_explanation_of_a_secret_does_not_show_it(declared_by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYER_K", TEXT)
    with warnings.catch_warnings(record=True) as warned, kept.open("memory:", environment="PLAYER_") as settings:
        warnings.simplefilter("always")
        declare(settings, "integer", declared_by)
        key = key_of(int, declared_by)
        for _ in range(2):
            explained = settings.explain(key)
            assert explained.secret and explained.value is None
            assert_without_needle(f"{explained!r} {explained}")
            settings[key] = NUMBER
        assert [finding.outcome for finding in explained.layers][:2] == ["skipped", "wins"]
        for shown in warned:
            assert_without_needle(str(shown.message))


def test_a_text_that_cannot_be_read_as_a_secret_is_not_shown(declared_by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYER_K", f"{TEXT}{NUMBER}")
    for kind in (bool, int, float, bytes, datetime, Theme, Literal[1], list[str], Code):
        with kept.open("memory:", environment="PLAYER_", arguments=["x"]) as settings:
            if declared_by != "the key":
                declare(settings, "string", declared_by)
            key = key_of(kind, declared_by)
            for read in READS.values():
                try:
                    read(settings, key)
                except kept.KeptError as raised:
                    assert_not_shown(raised)
                except (IndexError, KeyError):
                    pass
            with pytest.raises(kept.KeptError) as caught:
                settings[key]
            assert_not_shown(caught.value)


def test_messages_about_other_keys_still_show_the_value(store: kept.Store) -> None:
    declare(store, "string", "the store")
    store["n"] = {"a": [NUMBER]}
    with pytest.raises(
        kept.WrongTypeError, match=rf'^"n" at \.a\[0\]: the int {NUMBER} cannot be represented exactly by a float$'
    ):
        store[kept.Key("n", dict[str, list[float]])]
    with pytest.raises(kept.InvalidError, match=r'^"n": 1980-01-02 03:04:00 has no time zone'):
        store["n"] = datetime(1980, 1, 2, 3, 4)
    store["n"] = {"number": 7}
    with pytest.raises(kept.WrongTypeError, match="Code refuses the value: the number 7 is too large") as caught:
        store[kept.Key("n", Code)]
    assert isinstance(caught.value.__cause__, ValueError), "what the dataclass raised"
    with pytest.raises(LookupError):
        store["n"] = datetime(1980, 1, 2, 3, 4, tzinfo=Broken())


def test_nothing_is_shown_if_the_declaration_cannot_be_read(store: kept.Store) -> None:
    store.close()
    with pytest.raises(kept.KeptError) as caught:
        store["k"] = {TEXT: object()}  # type: ignore[dict-item]
    assert_not_shown(caught.value)


def test_a_former_secret_is_not_shown_when_declared_otherwise(store: kept.Store) -> None:
    declare(store, "string", "the store")
    store["k"] = TEXT
    with pytest.warns(kept.MisfitWarning) as warned:
        store.declare({"k": {"type": "string", "maxLength": 3}})
    assert_without_needle(str(warned[0].message))
