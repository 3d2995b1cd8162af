"""What a store remembers is never stale: not after a write of its own, of another handle, of another process."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from ctypes import c_uint64
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import kept
from kept import _memory

spawn = multiprocessing.get_context("spawn")
SECONDS = 60


class Theme(Enum):
    DARK = "dark"


SCALARS: list[Any] = [True, 0, -1, 2**64 - 1, 0.5, "", "text", b"bytes", datetime(2026, 1, 2, tzinfo=UTC)]


def remembered(settings: kept.Settings) -> dict[object, Any]:
    """What a read would find without asking the library."""
    return settings._memory[-1] if settings._memory[0] == settings._generation else {}


@pytest.mark.parametrize("value", SCALARS)
def test_a_value_that_was_read_is_cached(settings: kept.Store, value: Any) -> None:
    settings["a"] = value
    first = settings["a"]
    assert remembered(settings) == {"a": first}
    assert settings["a"] is first and settings.get("a") is first


def test_a_key_s_value_is_cached_in_its_own_type(settings: kept.Store) -> None:
    settings["a"] = 1
    whole, real = kept.Key("a", int), kept.Key("a", float)
    for _ in range(2):
        assert [repr(settings[key]) for key in (whole, real)] == ["1", "1.0"]
        assert settings["a"] == 1 and settings.get(real) == 1.0
    assert len(remembered(settings)) == 3


def test_an_enum_is_cached(settings: kept.Store) -> None:
    theme = kept.Key("theme", Theme, default=Theme.DARK)
    settings[theme] = Theme.DARK
    assert settings[theme] is settings[theme] is Theme.DARK
    assert list(remembered(settings).values()) == [Theme.DARK]


@pytest.mark.parametrize("value", [[1, [2]], {"a": {"b": 1}}])
def test_mutable_values_are_created_for_each_read(settings: kept.Store, value: Any) -> None:
    settings["a"] = value
    read: Any = settings["a"]
    read.clear()
    assert settings["a"] == value and remembered(settings) == {}


def test_long_text_is_not_kept(settings: kept.Store) -> None:
    settings["a"] = "x" * 5000
    assert settings["a"] == "x" * 5000
    assert remembered(settings) == {}


def test_absent_keys_are_looked_up_each_time(settings: kept.Store) -> None:
    key = kept.Key("a", int, default=5)
    assert (settings[key], settings.get(key, 6), settings.get("a", 7)) == (5, 6, 7)
    settings["a"] = 1
    assert (settings[key], settings.get(key, 6), settings.get("a", 7)) == (1, 1, 1)


def test_the_cache_is_bounded(settings: kept.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "_KEYS", 10)
    settings.update({f"k{number}": number for number in range(35)})
    for number in range(35):
        assert settings[f"k{number}"] == number
        assert len(remembered(settings)) <= 10


def test_an_own_write_is_seen_at_once(settings: kept.Store) -> None:
    key = kept.Key("n", int)
    for number in range(200):
        settings["n"] = number
        assert settings["n"] == settings[key] == settings["n"] == number
    del settings["n"]
    with pytest.raises(kept.AbsentError):
        settings["n"]


def test_a_write_through_another_handle_is_seen_at_once(location: Path, settings: kept.Store) -> None:
    with kept.open(location) as other:
        for number in range(50):
            other["n"] = number
            assert settings["n"] == settings["n"] == number


def test_a_transaction_caches_nothing_and_a_commit_is_seen_at_once(settings: kept.Store) -> None:
    settings["n"] = 1
    assert settings["n"] == 1
    with settings.transaction() as transaction:
        transaction["n"] = 2
        assert transaction["n"] == 2 and settings["n"] == 1
        assert remembered(transaction) == {}
    assert settings["n"] == 2
    assert kept.Settings._memory[-1] == {} and _memory.UNKNOWN[()] == 1


def test_a_closed_store_has_an_empty_cache(settings: kept.Store) -> None:
    settings["a"] = 1
    assert settings["a"] == 1
    settings.close()
    with pytest.raises(kept.ClosedError):
        settings["a"]
    with pytest.raises(kept.ClosedError):
        settings.get("a")


def test_closing_while_others_read_leaks_nothing(location: Path) -> None:
    for _ in range(20):
        settings = kept.open(location)
        settings["a"] = 1
        begun = threading.Barrier(3)
        outcomes: list[Any] = []

        def read(settings: kept.Store = settings, begun: threading.Barrier = begun, found: Any = outcomes) -> None:
            begun.wait()
            try:
                while True:
                    assert settings["a"] == 1
            except kept.ClosedError as error:
                found.append(error)

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        begun.wait()
        settings.close()
        with pytest.raises(kept.ClosedError):
            settings["a"]
        for thread in threads:
            thread.join(SECONDS)
        assert len(outcomes) == 2


def test_a_store_without_files_caches_nothing() -> None:
    with kept.open("memory:") as settings:
        for number in range(3):
            settings["a"] = number
            assert settings["a"] == settings["a"] == number
        assert remembered(settings) == {}


@pytest.mark.parametrize("key", [1, None, True, [], {}, b"a", 1.5])
def test_an_invalid_key_is_refused_even_with_a_full_cache(settings: kept.Store, key: Any) -> None:
    settings["a"] = 1
    assert settings["a"] == 1
    with pytest.raises(kept.InvalidError):
        settings[key]
    with pytest.raises(kept.InvalidError):
        settings.get(key)


def test_an_error_has_no_inner_context(settings: kept.Store) -> None:
    with pytest.raises(kept.AbsentError) as caught:
        settings["absent"]
    assert caught.value.__context__ is None


def test_nothing_is_cached_while_the_generation_moves(settings: kept.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    settings["a"] = 1
    assert settings["a"] == 1
    read = kept.Settings._read
    word = c_uint64(10)

    def overtaken(self: kept.Settings, key: Any) -> Any:
        value = read(self, key)
        word.value += 2
        return value

    monkeypatch.setattr(kept.Settings, "_read", overtaken)
    settings._generation = _memory.word_at(word)
    assert settings["a"] == 1 and remembered(settings) == {}
    monkeypatch.setattr(kept.Settings, "_read", read)
    word.value = 11
    assert settings["a"] == 1 and remembered(settings) == {}


def write_numbers(location: Path, seed: int, count: int, latest: Any) -> None:
    """Reports each number when its write has returned."""
    pauses = random.Random(seed)
    with kept.open(location) as settings:
        for number in range(1, count + 1):
            settings["n"] = number
            latest.value = number
            for _ in range(pauses.randrange(2000)):
                pass


def test_a_reader_that_spins_never_sees_an_old_value(location: Path, settings: kept.Store) -> None:
    seed, count = random.randrange(2**32), 2000
    print("seed", seed)
    settings["n"] = 0
    number = kept.Key("n", int)
    latest = spawn.Value("Q", 0, lock=False)
    writer = spawn.Process(target=write_numbers, args=(location, seed, count, latest))
    writer.start()
    deadline, reads, seen = time.monotonic() + SECONDS, 0, 0
    while seen < count:
        returned = latest.value
        found = settings[number]
        assert found >= returned and found >= seen, f"{found} after the write of {returned} had returned"
        seen = found
        reads += 1
        assert reads % 1000 or time.monotonic() < deadline
    writer.join(SECONDS)
    assert writer.exitcode == 0 and reads > count
