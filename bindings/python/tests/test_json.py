"""The Extended JSON profile: what each kind looks like, refusals, and that nothing is lost on the way."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given

import kept
from kept._key import decoded_value, encoded_value
from kept._refusal import Known
from values import canonical, values

UTC = UTC


def encode(value: kept.Storable, key: str) -> bytes:
    return encoded_value(value, key, Known(False))


def decode(text: bytes | str, key: str) -> kept.JSON:
    return decoded_value(text, key, Known(False))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (1, "1"),
        (-(2**63), "-9223372036854775808"),
        (2**63 - 1, "9223372036854775807"),
        (2**63, '{"$numberULong":"9223372036854775808"}'),
        (2**64 - 1, '{"$numberULong":"18446744073709551615"}'),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e16, "1e+16"),
        (5e-324, "5e-324"),
        (math.nan, '{"$numberDouble":"NaN"}'),
        (math.inf, '{"$numberDouble":"Infinity"}'),
        (-math.inf, '{"$numberDouble":"-Infinity"}'),
        ("", '""'),
        ('é😀\0\n"\\/', '"é😀\\u0000\\n\\"\\\\/"'),
        (b"\0\1\2\3", '{"$binary":{"base64":"AAECAw==","subType":"00"}}'),
        (b"", '{"$binary":{"base64":"","subType":"00"}}'),
        (datetime(2026, 11, 20, 23, 44, 1, 250_000, UTC), '{"$date":"2026-11-20T23:44:01.25Z"}'),
        (kept.Timestamp(-62_167_219_200), '{"$date":"0000-01-01T00:00:00Z"}'),
        (kept.Timestamp(-62_135_596_801, 1), '{"$date":"0000-12-31T23:59:59.000000001Z"}'),
        (datetime(1, 1, 1, tzinfo=UTC), '{"$date":"0001-01-01T00:00:00Z"}'),
        ([], "[]"),
        ([None, [1]], "[null,[1]]"),
        ({}, "{}"),
        ({"a": None}, '{"a":null}'),
        ({"$date": "no date"}, '{"$literal":{"$date":"no date"}}'),
        ({"a": {"$": {"b": b"x"}}}, '{"a":{"$literal":{"$":{"b":{"$binary":{"base64":"eA==","subType":"00"}}}}}}'),
        ({"$literal": {"$literal": 1}}, '{"$literal":{"$literal":{"$literal":{"$literal":1}}}}'),
    ],
)
def test_a_value_and_its_text(value: Any, text: str) -> None:
    assert encode(value, "k").decode() == text
    assert canonical(decode(text, "k")) == canonical(value)


@given(values)
def test_any_value_round_trips(value: kept.JSON) -> None:
    assert canonical(decode(encode(value, "k"), "k")) == canonical(value)


def test_a_date_of_another_zone_is_stored_in_utc() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert encode(datetime(2026, 1, 1, 3, tzinfo=east), "k") == b'{"$date":"2025-12-31T21:30:00Z"}'


@pytest.mark.parametrize(
    ("value", "same"), [((1, 2), [1, 2]), (range(3), [0, 1, 2]), (MappingProxyType({"a": (1,)}), {"a": [1]})]
)
def test_sequences_are_lists_and_mappings_are_dicts(value: Sequence[int] | Mapping[str, Any], same: kept.JSON) -> None:
    assert decode(encode(value, "k"), "k") == same


def test_subclasses_are_stored_as_their_base_type() -> None:
    class Name(str): ...

    class Number(int):
        def __repr__(self) -> str:
            return "a number"

    class Real(float):
        def __repr__(self) -> str:
            return "a real"

    assert encode([Name("a"), Number(1), Real(1), Real("nan")], "k") == b'["a",1,1.0,{"$numberDouble":"NaN"}]'


REFUSED: list[tuple[Any, str]] = [
    (None, "use del to remove a key"),
    ({1}, "a set cannot be stored"),
    (object(), "an object cannot be stored"),
    (1j, "a complex cannot be stored"),
    (date(2026, 1, 1), "a date cannot be stored"),
    (timedelta(1), "a timedelta cannot be stored"),
    (bytearray(b"x"), "a bytearray cannot be stored; convert it to bytes"),
    (memoryview(b"x"), "a memoryview cannot be stored; convert it to bytes"),
    (datetime(2026, 1, 1), "2026-01-01 00:00:00 has no time zone"),
    (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))), "outside the years 1 to 9999 in UTC; write a kept.Tim"),
    (datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-1))), "outside the years 1 to 9999"),
    ("\ud800", "the lone surrogate U+D800"),
    ({"\udfff": 1}, "the lone surrogate U+DFFF"),
    ({1: 2}, "the key 1; keys must be str"),
    ({b"a": 2}, "the key b'a'; keys must be str"),
    (2**64, "an integer of 65 bits cannot be stored"),
    (-(2**63) - 1, "an integer of 64 bits cannot be stored"),
    (10**5000, "bits cannot be stored"),
]


@pytest.mark.parametrize(("value", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_a_value_that_cannot_be_stored_is_refused_with_its_key(value: Any, sentence: str) -> None:
    with pytest.raises(kept.InvalidError) as caught:
        encode(value, "audio.volume")
    assert sentence in str(caught.value)
    assert str(caught.value).startswith('"audio.volume"')
    assert caught.value.key == "audio.volume"


def test_a_number_that_is_too_large_is_an_overflow_error() -> None:
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError):
            encode(value, "k")


def test_the_refused_part_is_named() -> None:
    with pytest.raises(kept.InvalidError, match=r'^"k" at \.window\.sizes\[2\]: a set cannot be stored'):
        encode({"window": {"sizes": [1, 2, set()]}}, "k")  # type: ignore[list-item]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_containers_nest_at_most_64_levels_deep() -> None:
    assert decode(encode(nested(64), "k"), "k") == nested(64)
    with pytest.raises(kept.TooLargeError, match="lists and dicts are nested more than 64 levels deep"):
        encode(nested(65), "k")


def test_a_list_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(kept.TooLargeError, match="more than 64"):
        encode(value, "k")


def test_a_million_levels_are_refused_without_a_crash() -> None:
    with pytest.raises(kept.TooLargeError, match="more than 64"):
        encode(nested(1_000_000), "k")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        "[Infinity]",
        '{"$foo":1}',
        '{"$date":1}',
        '{"$date":"2026-11-20"}',
        '{"$date":"2026-13-20T00:00:00Z"}',
        '{"$date":"2026-11-20T23:44:01.1234567890Z"}',
        '{"$date":"2026-11-20T23:44:01Z","a":1}',
        '{"a":1,"$date":"2026-11-20T23:44:01Z"}',
        '{"$binary":"AAEC"}',
        '{"$binary":{"base64":"AAEC"}}',
        '{"$binary":{"base64":"AAEC","subType":"01"}}',
        '{"$binary":{"base64":"AAE","subType":"00"}}',
        '{"$binary":{"base64":"AA-_","subType":"00"}}',
        '{"$numberULong":1}',
        '{"$numberULong":"-1"}',
        '{"$numberULong":"01"}',
        '{"$numberULong":"18446744073709551616"}',
        '{"$numberLong":"9223372036854775808"}',
        '{"$numberDouble":"nan"}',
        '{"$numberDouble":1.5}',
        '{"$literal":1}',
    ],
)
def test_text_outside_the_profile_is_refused(text: str) -> None:
    with pytest.raises(kept.InvalidError) as caught:
        decode(text, "k")
    assert caught.value.key == "k"


def test_the_other_spelling_of_an_integer_is_read() -> None:
    assert decode('{"$numberLong":"-5"}', "k") == -5


def test_a_date_with_nanoseconds_is_a_datetime_ns_and_others_are_not() -> None:
    assert type(decode('{"$date":"2026-11-20T23:44:01.25Z"}', "k")) is datetime
    precise = decode('{"$date":"2026-11-20T23:44:01.000000007Z"}', "k")
    assert isinstance(precise, kept.datetime_ns)
    assert (precise.microsecond, precise.nanosecond) == (0, 7)


@given(values)
def test_floats_keep_their_bits(value: kept.JSON) -> None:
    back = decode(encode([value, 0.1 + 0.2, -0.0], "k"), "k")
    assert isinstance(back, list)
    assert struct.pack("dd", *back[1:]) == struct.pack("dd", 0.1 + 0.2, -0.0)
