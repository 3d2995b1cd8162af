"""A value that cannot be stored under a secret key, and a rule that a secret key cannot have, are not shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal

import pytest

import kept
from secret_values import FIRST_YEAR, NUMBER, TEXT, Broken, Login, Theme, assert_not_shown, declare, key_of

Write = Callable[[kept.Store, Any, Any], object]

# The written value, and the type it is written through; None: by the key's name.
WRITTEN: list[tuple[Any, Any]] = [
    (NUMBER, float),
    (NUMBER, str),
    (10**30 + NUMBER, None),
    (10**30 + NUMBER, int),
    (10**5000, float),
    (TEXT, int),
    (TEXT, Literal["a"]),
    (TEXT, Theme),
    (f"{TEXT}\ud800", str),
    (f"{TEXT}\ud800", None),
    (bytearray(TEXT.encode()), None),
    (datetime(1980, 1, 2, 3, 4), datetime),
    (datetime(1980, 1, 2, 3, 4), kept.datetime_ns),
    (datetime(1980, 1, 2, 3, 4), kept.Timestamp),
    (datetime(1980, 1, 2, 3, 4), None),
    ([datetime(1980, 1, 2, 3, 4)], list[datetime]),
    (datetime(1980, 1, 2, 3, 4, tzinfo=Broken()), datetime),
    (datetime(1980, 1, 2, 3, 4, tzinfo=Broken()), kept.Timestamp),
    (datetime(1980, 1, 2, 3, 4, tzinfo=Broken()), None),
    (datetime(9999, 12, 31, 20, tzinfo=timezone(timedelta(hours=-14))), kept.Timestamp),
    (datetime(1, 1, 1, 3, 25, tzinfo=timezone(timedelta(hours=14))), None),
    (FIRST_YEAR, datetime),
    ({4711: 1}, dict[str, int]),
    ({4711: 1}, None),
    ({TEXT: object()}, None),
    ({TEXT: [{TEXT: object()}]}, None),
    ({TEXT: "x"}, dict[str, int]),
    ({"name": "x", TEXT: 1}, Login),
    ([1, TEXT], list[int]),
    ({f"{TEXT}\0": 1}, None),
    ({f"{TEXT}\0": 1}, dict[str, int]),
]


def _write_in_transaction(settings: kept.Store, key: Any, value: Any) -> None:
    with settings.transaction() as transaction:
        transaction[key] = value


def _compare_in_transaction(settings: kept.Store, key: Any, value: Any) -> None:
    with settings.transaction() as transaction:
        transaction.set(key, value, if_revision=0)


def _set_attribute(settings: kept.Store, key: Any, value: Any) -> None:
    if isinstance(key, str):
        settings[key] = value
        return

    class Owner:
        attribute = kept.Setting(key, settings)

    Owner().attribute = value


def _write_in_migration(settings: kept.Store, key: Any, value: Any) -> None:
    settings["other"] = 1
    settings.migrate([kept.Migration(1, "a step", lambda transaction: transaction.update({key: value}))])


WRITES: dict[str, Write] = {
    "[]": lambda settings, key, value: settings.__setitem__(key, value),
    "set": lambda settings, key, value: settings.set(key, value),
    "set durably": lambda settings, key, value: settings.set(key, value, durable=True),
    "compare and set": lambda settings, key, value: settings.set(key, value, if_revision=0),
    "update": lambda settings, key, value: settings.update({"a": 1, key: value}),
    "setdefault": lambda settings, key, value: settings.setdefault(key, value),
    "update_value": lambda settings, key, value: settings.update_value(key, lambda _: value, default=value),
    "a transaction": _write_in_transaction,
    "a transaction's compare and set": _compare_in_transaction,
    "an attribute": _set_attribute,
    "a migration": _write_in_migration,
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(("value", "kind"), WRITTEN, ids=range(len(WRITTEN)))
def test_a_value_that_cannot_be_stored_is_not_shown(
    store: kept.Store, declared_by: str, value: Any, kind: Any, write: Write
) -> None:
    if declared_by != "the key":
        declare(store, "string", declared_by)
    key: Any = "k" if kind is None else key_of(kind, declared_by)
    if kind is None and declared_by == "the key":
        pytest.skip("a name says nothing")
    with pytest.raises(kept.KeptError) as caught:
        write(store, key, value)
    assert_not_shown(caught.value)
    assert "k" not in store


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(
    ("value", "kind", "word", "rules"),
    [
        (NUMBER, int, "integer", {"maximum": 5}),
        (NUMBER, int, "integer", {"enum": [1, 2]}),
        (424242.25, float, "number", {"maximum": 5}),
        (TEXT, str, "string", {"maxLength": 3}),
        (TEXT, str, "string", {"pattern": "^x"}),
        (TEXT, str, "string", {"const": "a"}),
        (TEXT, str, "integer", {}),
        (TEXT.encode(), bytes, "bytes", {"maxLength": 3}),
        ([TEXT, TEXT], list[str], "array", {"uniqueItems": True}),
        ({TEXT: 1}, dict[str, int], "object", {"additionalProperties": {"type": "string"}}),
        ({TEXT: 1}, dict[str, int], "object", {"propertyNames": {"maxLength": 3}}),
    ],
)
def test_a_value_that_breaks_a_declaration_is_not_shown(
    store: kept.Store, declared_by: str, value: Any, kind: Any, word: str, rules: dict[str, Any], write: Write
) -> None:
    declare(store, word, declared_by, **rules)
    for key in [key_of(kind, declared_by)] if declared_by == "the key" else [key_of(kind, declared_by), "k"]:
        with pytest.raises((kept.InvalidError, kept.WrongTypeError)) as caught:
            write(store, key, value)
        assert_not_shown(caught.value)


@pytest.mark.parametrize(("value", "kind"), WRITTEN, ids=range(len(WRITTEN)))
def test_rules_of_a_secret_key_are_not_shown(store: kept.Store, value: Any, kind: Any) -> None:
    if kind is not None:
        with pytest.raises(kept.KeptError) as caught:
            store.declare(kept.Key[Any]("k", kind, default=value, secret=True))
        assert_not_shown(caught.value)
        for rule in ({"choices": [value]}, {"constant": value}):
            with pytest.raises(kept.KeptError) as caught:
                store.declare(kept.Key[Any]("k", kind, secret=True, **rule))
            assert_not_shown(caught.value)
    for schema in ({"secret": True}, {"secret": "yes"}):
        with pytest.raises(kept.KeptError) as caught:
            store.declare({"k": {"type": "boolean", "default": value, **schema}})
        assert_not_shown(caught.value)
    declare(store, "boolean", "the store")
    try:
        store.register({"a": 1, "k": value})
    except kept.KeptError as refused:
        assert_not_shown(refused)
    else:
        assert kind is not None, "it can be stored, and does not fit"


@pytest.mark.parametrize("length", [10, 300_000])
def test_a_refused_secret_is_in_no_file(length: int, location: Path, tmp_path: Path) -> None:
    with kept.open(location) as settings:
        settings.keep_secrets_plain()
        settings.declare({"token": {"type": "string", "secret": True}})
        settings["token"] = "first"
        for _ in range(5):
            with pytest.raises(kept.ConflictError):
                settings.set("token", "never-stored" + "x" * length, if_revision=77)
        settings.backup(tmp_path / "backup")
        files = [file for file in [*location.iterdir(), tmp_path / "backup"] if file.is_file()]
        assert [file.name for file in files if b"never-stored" in file.read_bytes()] == []
    assert (location / "values").stat().st_size < 200_000
