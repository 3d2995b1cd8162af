"""Secret values, types that quote what they refuse, and the checks that nothing of a secret is shown."""

from __future__ import annotations

import enum
import traceback
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any, TypedDict

import kept

NUMBER = 9007199254740993
TEXT = "hunter2"
FIRST_YEAR = kept.Timestamp(-62_167_219_200 + 12_345)
NEEDLES = [
    *("9007199254740993", "424242", TEXT, "hunter", "aHVudGVy", "68756e74"),
    *("0000-01-01", "03:25", "1980", "4711", "2534"),
]


class Theme(enum.Enum):
    DARK = "dark"


@dataclass
class Code:
    number: int

    def __post_init__(self) -> None:
        if self.number > 5:
            raise ValueError(f"the number {self.number} is too large")


class Login(TypedDict):
    name: str


class Broken(tzinfo):
    """A time zone that quotes the date that it is asked about."""

    def utcoffset(self, when: datetime | None) -> timedelta:
        raise LookupError(f"nothing is known of {when and when.replace(tzinfo=None)}")

    def dst(self, when: datetime | None) -> timedelta:
        return self.utcoffset(when)

    def tzname(self, when: datetime | None) -> str:
        return "broken"


def assert_not_shown(raised: BaseException) -> None:
    """Nothing of the secret is in an exception, nor in those that it came from."""
    texts = ["".join(traceback.format_exception(raised))]
    waiting: list[BaseException | None] = [raised]
    while waiting:
        if error := waiting.pop():
            texts += [str(error), repr(error), repr(error.args), repr(vars(error))]
            waiting += [error.__cause__, error.__context__]
    assert_without_needle("\n".join(texts))


def assert_without_needle(text: str) -> None:
    assert not [needle for needle in NEEDLES if needle in text], text


def key_of(kind: Any, declared_by: str) -> kept.Key[Any]:
    return kept.Key[Any]("k", kind, secret=declared_by != "the store")


def declare(settings: kept.Store, word: str, declared_by: str, **words: Any) -> None:
    settings.declare({"k": {"type": word, **({} if declared_by == "the key" else {"secret": True}), **words}})
