"""Typed keys: each type both ways, what survives, and refusals: when declared, when written, when read."""

from __future__ import annotations

import enum
import math
from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime
from typing import Any, NotRequired, Optional, TypedDict, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kept

UTC = UTC


class Theme(enum.Enum):
    SYSTEM = "system"
    DARK = "dark"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Odd(enum.Enum):
    YES = True
    ONE_AND_A_HALF = 1.5


@dataclass
class Size:
    width: int
    height: float = 10.0


@dataclass
class Frame:
    title: str
    size: Size
    tags: list[str] = field(default_factory=list)
    opened: datetime | None = None
    children: list[Frame] = field(default_factory=list)
    theme: Theme = Theme.SYSTEM
    area: float = field(init=False, default=0.0)


class Login(TypedDict):
    name: str
    token: NotRequired[bytes]
    sizes: dict[str, Size]


@pytest.mark.parametrize(
    ("kind", "value", "stored"),
    [
        (bool, True, True),
        (int, 5, 5),
        (int, 2**64 - 1, 2**64 - 1),
        (float, 1.5, 1.5),
        (str, "é", "é"),
        (bytes, b"\0", b"\0"),
        (datetime, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
        (
            kept.datetime_ns,
            kept.datetime_ns(2026, 1, 1, tzinfo=UTC, nanosecond=7),
            kept.datetime_ns(2026, 1, 1, tzinfo=UTC, nanosecond=7),
        ),
        (list[int], [1, 2], [1, 2]),
        (list[list[bytes]], [[b"a"], []], [[b"a"], []]),
        (dict[str, float], {"$a": 1.0}, {"$a": 1.0}),
        (Theme, Theme.DARK, "dark"),
        (Level, Level.HIGH, 2),
        (Odd, Odd.YES, True),
        (list[Theme], [Theme.DARK], ["dark"]),
        (Optional[int], 5, 5),
        (list[int | None], [1, None], [1, None]),
        (Size, Size(1, 2.0), {"width": 1, "height": 2.0}),
        (
            Frame,
            Frame("a", Size(1), ["x"], datetime(2026, 1, 1, tzinfo=UTC), [Frame("b", Size(2))], Theme.DARK),
            {
                "title": "a", "size": {"width": 1, "height": 10.0}, "tags": ["x"], "theme": "dark",
                "opened": datetime(2026, 1, 1, tzinfo=UTC),
                "children": [
                    {"title": "b", "size": {"width": 2, "height": 10.0}, "tags": [], "opened": None, "children": [],
                     "theme": "system"}
                ],
            },
        ),
        (Login, {"name": "a", "sizes": {"s": Size(1)}}, {"name": "a", "sizes": {"s": {"width": 1, "height": 10.0}}}),
        (Login, {"name": "a", "token": b"t", "sizes": {}}, {"name": "a", "token": b"t", "sizes": {}}),
    ],
)  # fmt: skip
def test_a_value_of_each_type(settings: kept.Store, kind: Any, value: Any, stored: Any) -> None:
    key: kept.Key[Any] = kept.Key("k", kind)
    settings[key] = value
    assert settings[key] == value and type(settings[key]) is type(value)
    assert settings["k"] == stored


@pytest.mark.parametrize(
    ("kind", "stored", "value"),
    [
        (int, 3.0, 3),
        (int, -(2.0**63), -(2**63)),
        (float, 1, 1.0),
        (float, 2**53, 2.0**53),
        (float, 2**63, 2.0**63),
        (Level, 1.0, Level.LOW),
        (Size, {"width": 3.0, "height": 1, "later": "ignored"}, Size(3, 1.0)),
        (Size, {"width": 3}, Size(3)),
        (Optional[Size], {"width": 3}, Size(3)),
        (Frame, {"title": "", "size": {"width": 0}}, Frame("", Size(0))),
    ],
)
def test_a_value_that_survives_conversion_is_read(settings: kept.Store, kind: Any, stored: Any, value: Any) -> None:
    settings["k"] = stored
    read = settings[kept.Key[Any]("k", kind)]
    assert read == value and type(read) is type(value)


@pytest.mark.parametrize(
    ("kind", "stored", "sentence"),
    [
        (bool, 1, "the value is an int, not a bool"),
        (int, True, "the value is a bool, not an int"),
        (int, 3.5, "the value is a float, not an int"),
        (int, -0.0, "the value is a float, not an int"),
        (int, math.nan, "the value is a float, not an int"),
        (int, math.inf, "the value is a float, not an int"),
        (int, 2.0**64, "the value is a float, not an int"),
        (int, "1", "the value is a str, not an int"),
        (float, True, "the value is a bool, not a float"),
        (float, 2**53 + 1, "cannot be represented exactly by a float"),
        (float, 2**64 - 1, "cannot be represented exactly by a float"),
        (str, b"a", "the value is bytes, not a str"),
        (bytes, "a", "the value is a str, not bytes"),
        (datetime, "2026-01-01T00:00:00Z", "the value is a str, not a datetime"),
        (list[int], {"a": 1}, "the value is a dict, not a list"),
        (list[int], [1, "x"], r"at \[1\]: the value is a str, not an int"),
        (list[int], [None], r"at \[0\]: the value is None, not an int"),
        (dict[str, int], [1], "the value is a list, not a dict"),
        (dict[str, list[bool]], {"a": [True, 0]}, r"at \.a\[1\]: the value is an int, not a bool"),
        (Theme, "sepia", "the value, a str, is not in Theme"),
        (Level, True, "the value, a bool, is not in Level"),
        (Level, [1], "the value, a list, is not in Level"),
        (Odd, 1, "the value, an int, is not in Odd"),
        (Size, [1], "the value is a list, not a Size"),
        (Size, {"height": 1.0}, "the member 'width' is missing"),
        (Frame, {"title": "", "size": {"width": "w"}}, r"at \.size\.width: the value is a str, not an int"),
        (Login, {"sizes": {}}, "the member 'name' is missing"),
    ],
)
def test_a_value_of_another_type_raises_and_stays(settings: kept.Store, kind: Any, stored: Any, sentence: str) -> None:
    settings["k"] = stored
    before = settings.revision("k")
    key: kept.Key[Any] = kept.Key("k", kind, default=None)
    for read in (lambda: settings[key], lambda: settings.get(key), lambda: settings.get(key, 1)):
        with pytest.raises(kept.WrongTypeError, match=sentence) as caught:
            read()
        assert caught.value.key == "k" and isinstance(caught.value, TypeError)
    assert settings.revision("k") == before


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [
        (int, "loud", "the value is a str, not an int"),
        (int, 3.0, "the value is a float, not an int"),
        (int, True, "the value is a bool, not an int"),
        (int, None, "the value is None, not an int"),
        (list[int], [1, "x"], r"at \[1\]"),
        (Theme, "dark", "the value is a str, not a Theme"),
        (Size, {"width": 1}, "the value is a dict, not a Size"),
        (Size, Size("1"), r"at \.width: the value is a str"),  # type: ignore[arg-type]
        (Login, {"name": "a"}, "the member 'sizes' of Login is missing"),
        (Login, {"name": "a", "sizes": {}, "more": 1}, "Login has no member 'more'"),
    ],
)
def test_a_value_of_another_type_is_not_written(settings: kept.Store, kind: Any, value: Any, sentence: str) -> None:
    key: kept.Key[Any] = kept.Key("k", kind)
    with pytest.raises(kept.WrongTypeError, match=sentence):
        settings[key] = value
    with pytest.raises(kept.WrongTypeError, match=sentence):
        settings.set(key, value, if_revision=0)
    assert "k" not in settings


@pytest.mark.parametrize(
    "kind",
    [set[int], tuple[int, ...], dict[int, int], int | str, object, Any, Union[int, str, None], list, None, 5, [int],
     enum.Enum("Odd", {"a": (1, 2)}), enum.Flag("Bits", "a b")],
)  # fmt: skip
def test_a_type_that_cannot_be_stored_is_refused_at_the_declaration(kind: Any) -> None:
    with pytest.raises(kept.InvalidError) as caught:
        kept.Key("k", kind)
    assert caught.value.key == "k"


def test_a_field_that_cannot_be_stored_is_named() -> None:
    @dataclass
    class Window:
        tags: set[str]

    with pytest.raises(kept.InvalidError, match=r'"k" at \.tags: set\[str\] cannot be the type of a key'):
        kept.Key("k", Window)


@pytest.mark.parametrize("name", ["", "a\0", "\ud800", "x" * 1025, 5, None])
def test_an_invalid_name_is_refused_at_the_declaration(name: Any) -> None:
    with pytest.raises(kept.InvalidError):
        kept.Key(name, int)


def test_a_default_of_another_type_is_refused_at_the_declaration() -> None:
    with pytest.raises(kept.WrongTypeError):
        kept.Key("k", int, default="loud")
    with pytest.raises(kept.OutOfRangeError):
        kept.Key("k", int, default=2**64)
    with pytest.raises(kept.InvalidError):
        kept.Key("k", datetime, default=datetime(2026, 1, 1))


def test_a_default_equals_what_reading_would_give() -> None:
    default = kept.Key("k", float, default=1).default
    assert default == 1.0 and type(default) is float


def test_changing_what_a_default_gave_does_not_change_the_default(settings: kept.Store) -> None:
    recent = kept.Key("recent", list[str], default=[])
    settings[recent].append("a")
    assert settings[recent] == [] == recent.default


def test_a_key_without_a_default_raises() -> None:
    key = kept.Key("k", int)
    assert not key.has_default
    with pytest.raises(kept.InvalidError, match='"k" has no default'):
        key.default


def test_none_removes_a_key_whose_type_has_none(settings: kept.Store) -> None:
    frame = kept.Key("frame", Size, default=None)
    assert settings[frame] is None and frame not in settings
    settings[frame] = Size(1)
    assert settings[frame] == Size(1)
    settings[frame] = None
    assert settings[frame] is None and frame not in settings
    settings[frame] = None


def test_optional_is_a_type_of_keys(settings: kept.Store) -> None:
    frame: kept.Key[Size | None] = kept.Key("frame", Size | None)
    assert frame.has_default and settings[frame] is None
    other = kept.Key[Optional[Size]]("frame", Optional[Size], default=Size(3))  # type: ignore[call-overload]
    assert settings[other] == Size(3)


def test_a_dataclass_may_refuse_a_stored_value(settings: kept.Store) -> None:
    @dataclass
    class Percent:
        value: int

        def __post_init__(self) -> None:
            if self.value > 100:
                raise ValueError("more than all")

    settings["k"] = {"value": 200}
    with pytest.raises(kept.WrongTypeError, match="Percent refuses the value: more than all") as caught:
        settings[kept.Key("k", Percent)]
    assert caught.value.__cause__ is not None or caught.value.__context__ is not None


def test_a_key_cannot_be_changed() -> None:
    key = kept.Key("k", int)
    with pytest.raises(AttributeError, match="cannot be changed"):
        key.name = "other"


def test_keys_are_equal_when_they_declare_the_same() -> None:
    key = kept.Key("k", list[int], default=[1])
    assert key == kept.Key("k", list[int], default=[1])
    assert hash(key) == hash(kept.Key("k", list[int], default=[1]))
    for other in (kept.Key("l", list[int], default=[1]), kept.Key("k", list[int]), kept.Key("k", list[bool]), "k"):
        assert key != other


def test_a_key_shows_what_it_is() -> None:
    assert repr(kept.Key("k", int, default=50)) == "kept.Key('k', int, default=50)"
    assert repr(kept.Key("k", list[int])) == "kept.Key('k', list[int])"


@given(st.integers(-(2**63), 2**64 - 1))
def test_an_integer_is_a_float_only_if_it_round_trips(value: int) -> None:
    key = kept.Key("k", float)
    if int(float(value)) == value:
        assert int(key._from_json(value, key)) == value
    else:
        with pytest.raises(kept.WrongTypeError):
            key._from_json(value, key)


@given(st.floats())
def test_a_float_is_an_integer_only_if_it_round_trips(value: float) -> None:
    key = kept.Key("k", int)
    survives = math.isfinite(value) and -(2**63) <= value < 2**64 and repr(float(int(value))) == repr(value)
    if survives:
        assert key._from_json(value, key) == value
    else:
        with pytest.raises(kept.WrongTypeError):
            key._from_json(value, key)


def test_a_dataclass_with_more_fields_than_the_key_s_is_not_written(settings: kept.Store) -> None:
    @dataclass
    class Named(Size):
        name: str = "a"

    @dataclass
    class Square(Size):
        def area(self) -> float:
            return self.width * self.height

    key = kept.Key("k", Size)
    with pytest.raises(kept.WrongTypeError, match="the value is a .*Named, whose field 'name' does not exist in Size"):
        settings[key] = Named(1)
    with pytest.raises(kept.WrongTypeError, match=r"at \[0\]: the value is a .*Named"):
        settings[kept.Key("l", list[Size])] = list[Size]([Named(1)])
    assert "k" not in settings
    settings[key] = Square(2)
    assert settings[key] == Size(2)


def test_a_dataclass_that_nothing_stored_can_make_is_refused_at_the_declaration(settings: kept.Store) -> None:
    @dataclass
    class Needy:
        width: int
        scale: InitVar[int]

    @dataclass
    class Content:
        width: int
        scale: InitVar[int] = 2

        def __post_init__(self, scale: int) -> None:
            self.area = self.width * scale

    with pytest.raises(kept.InvalidError, match="the InitVar 'scale' of .*Needy is not stored and has no default"):
        kept.Key("k", Needy)
    key = kept.Key("k", Content)
    settings[key] = Content(3, 5)
    assert settings[key].area == 6
