"""A value as the text that people read and write, and what differs between two contents."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kept


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (True, "boolean", "true"),
        (70, "integer", "70"),
        ('"quoted"', "string", '"quoted"'),
        ("text", None, '"text"'),
        (b"\x00\xff", "bytes", "AP8="),
        (datetime(2026, 11, 20, 23, 44, 1, tzinfo=UTC), "date", "2026-11-20T23:44:01Z"),
        (["a", 1], "array", '["a",1]'),
    ],
)
def test_a_value_is_the_same_after_it_was_text(value: kept.Storable, type: str | None, text: str) -> None:
    assert kept.text_of_value(value, type) == text
    assert kept.value_of_text(text, type) == value


def test_a_text_that_is_no_value_is_refused_with_the_form_that_is() -> None:
    with pytest.raises(kept.InvalidError, match='takes bytes, not "00 ff"; use base64'):
        kept.value_of_text("00 ff", "bytes")
    with pytest.raises(kept.InvalidError) as refused:
        kept.value_of_text('{"a": }')
    assert refused.value.offset == 6
    with pytest.raises(kept.InvalidError, match="unknown type"):
        kept.value_of_text("1", "int")


@pytest.mark.parametrize(
    ("text", "type"),
    [(5, None), (b"5", "integer"), ("\udc80", "string"), ("5", "\udc80"), ("5", "integer\0z"), ("5", "")],
)
def test_an_argument_of_another_kind_is_invalid(text: Any, type: str | None) -> None:
    with pytest.raises(kept.InvalidError):
        kept.value_of_text(text, type)
    if text == "5":
        with pytest.raises(kept.InvalidError):
            kept.text_of_value(5, type)


def test_a_store_is_compared_with_its_past(tmp_path: Path) -> None:
    # The changes of two programs are never one change of the history.
    with kept.open(tmp_path / "store", tag="first") as settings:
        settings["a"], settings["large"], settings["token"] = 1, "x" * 70_000, "old"
    with kept.open(tmp_path / "store", tag="second") as settings:
        then = settings.revision()
        settings["a"], settings["b"] = {"deep": [b"\x00"]}, 2.0
        del settings["large"]
        settings.declare({"token": {"type": "string", "secret": True}})
        settings["other"] = settings["token"]
        settings.declare({"other": {"type": "string", "secret": True}})
        del settings["token"]
        with settings.snapshot(at=then) as past:
            found = kept.differences(past, settings)
            revealed = kept.differences(past, settings, secrets=True)
    a, b, large, other, token = found.values
    assert (a.key, a.mark, a.old, a.new) == ("a", "~", 1, {"deep": [b"\x00"]})
    assert (b.key, b.mark, b.old, b.new) == ("b", "+", None, 2.0)
    assert (large.key, large.mark, large.not_kept, large.secret) == ("large", "-", ("old",), False)
    assert (other.mark, other.old, other.new, other.secret) == ("+", None, None, True)
    assert (revealed.values[3].new, revealed.values[3].not_kept) == ("old", ())
    assert (token.mark, token.secret, token.not_kept) == ("-", True, ("old",))
    # The history has no declarations: a snapshot has those of today.
    assert found.compares_declarations and not found.declarations and not found.unknown


def test_values_that_an_export_does_not_have_may_or_may_not_differ(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text('{"kept":1,"omitted":["a","b"],"unreadable":["c"],"values":{"d":1}}')
    with kept.open("memory:") as settings:
        settings["a"], settings["d"] = 1, 1
        found = kept.differences(settings, file)
        assert [(difference.key, difference.mark) for difference in found.values] == [("b", "+")]
        assert found.values[0].secret
        assert [(unknown.key, unknown.secret) for unknown in found.unknown] == [("a", True), ("c", False)]
        assert found.compares_declarations
        settings.declare({"d": {"type": "integer"}})
        assert not kept.differences(file, settings).compares_declarations
    with pytest.raises(kept.UnavailableError):
        kept.differences(str(tmp_path / "absent"), file)


def test_a_transaction_is_not_compared(settings: kept.Store) -> None:
    with settings.transaction() as transaction:
        for sides in ((transaction, settings), (settings, transaction)):
            with pytest.raises(kept.UnsupportedError, match="transaction"):
                kept.differences(*sides)
