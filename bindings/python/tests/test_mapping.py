"""A store is a mapping: what dict does, and where a store that others write to differs."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any

import pytest

import kept

VOLUME = kept.Key("audio.volume", int, default=50)
PLAIN = kept.Key("plain", int)


def test_a_store_is_a_mutable_mapping(settings: kept.Store) -> None:
    assert isinstance(settings, MutableMapping)


def test_a_value_that_is_set_is_read_contained_counted_and_listed(settings: kept.Store) -> None:
    settings["a"] = [1]
    settings[VOLUME] = 70
    assert settings["a"] == [1] and settings[VOLUME] == 70 == settings["audio.volume"]
    assert "a" in settings and VOLUME in settings and "b" not in settings
    assert len(settings) == 2
    assert list(settings) == ["a", "audio.volume"]
    assert dict(settings) == {"a": [1], "audio.volume": 70} == settings


def test_an_absent_key_is_a_key_error(settings: kept.Store) -> None:
    for missing in ("a", PLAIN):
        with pytest.raises(KeyError):
            settings[missing]
        with pytest.raises(KeyError):
            del settings[missing]
        assert settings.get(missing) is None
        assert settings.get(missing, 5) == 5


def test_a_default_is_read_but_not_contained(settings: kept.Store) -> None:
    assert settings[VOLUME] == 50 == settings.get(VOLUME)
    assert settings.get(VOLUME, 7) == 7
    assert VOLUME not in settings and len(settings) == 0
    with pytest.raises(kept.AbsentError):
        del settings[VOLUME]


def test_keys_with_a_prefix_are_a_live_view(settings: kept.Store) -> None:
    settings.update({"a.1": 1, "a.2": 2, "b": 3})
    view = settings.keys("a.")
    assert list(view) == ["a.1", "a.2"] and len(view) == 2
    assert "a.1" in view and "b" not in view and "\ud800" not in view
    settings["a.3"] = 3
    assert list(view) == ["a.1", "a.2", "a.3"]
    assert view & {"a.1", "b"} == {"a.1"}
    assert list(settings.keys("none")) == []


def test_items_skip_keys_that_are_removed_meanwhile(settings: kept.Store) -> None:
    settings.update(a=1, b=2, c=3)
    seen = []
    for key, value in settings.items():
        seen.append((key, value))
        settings.pop("b", None)
    assert seen == [("a", 1), ("c", 3)]
    assert list(settings.values()) == [1, 3]


def test_pop_removes_and_returns_the_value(settings: kept.Store) -> None:
    settings.update({"a": 1, VOLUME.name: 70})
    assert settings.pop("a") == 1 and "a" not in settings
    assert settings.pop(VOLUME) == 70 and VOLUME not in settings
    assert settings.pop("a", 5) == 5
    assert settings.pop(VOLUME) == 50
    assert settings.pop(VOLUME, None) is None
    with pytest.raises(kept.AbsentError):
        settings.pop("a")


def test_popitem_takes_the_first_until_nothing_is_left(settings: kept.Store) -> None:
    settings.update(b=2, a=1)
    assert [settings.popitem(), settings.popitem()] == [("a", 1), ("b", 2)]
    with pytest.raises(KeyError, match="no stored key"):
        settings.popitem()


def test_setdefault_sets_only_absent_keys(settings: kept.Store) -> None:
    assert settings.setdefault("a", 1) == 1 == settings.setdefault("a", 2)
    assert settings.setdefault(VOLUME, 60) == 60 == settings[VOLUME]
    with pytest.raises(kept.InvalidError):
        settings.setdefault("b", None)


def test_update_sets_all_or_nothing(settings: kept.Store) -> None:
    settings.update({"a": 1}, b=2)
    with pytest.raises(kept.InvalidError):
        settings.update({"a": 5, "c": object()})  # type: ignore[arg-type]
    assert dict(settings) == {"a": 1, "b": 2}
    settings.update([(VOLUME, 1)])
    settings.update({PLAIN: 2})
    assert settings[VOLUME] == 1 and settings[PLAIN] == 2


def test_update_is_one_revision(settings: kept.Store) -> None:
    settings.update(a=1, b=2, c=3)
    assert settings.revision("a") == settings.revision("b") == settings.revision("c") == 1


def test_clear_removes_everything(settings: kept.Store) -> None:
    settings.update((str(number), number) for number in range(100))
    settings.clear()
    assert len(settings) == 0


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("", "1 to 1024 are allowed"),
        ("x" * 1025, "the key is 1025 bytes long"),
        ("é" * 513, "the key is 1026 bytes long"),
        ("a\0b", "contains a NUL at byte 1"),
        ("\ud800", "the lone surrogate U+D800"),
        (5, "the key is an int; it must be a str or a kept.Key"),
        (None, "the key is None"),
        (b"a", "the key is bytes"),
    ],
)
def test_an_invalid_key_is_refused_everywhere(settings: kept.Store, key: Any, sentence: str) -> None:
    for use in (
        lambda: settings[key],
        lambda: settings.get(key, 1),
        lambda: settings.__setitem__(key, 1),
        lambda: settings.__delitem__(key),
        lambda: key in settings,
        lambda: settings.revision(key),
        lambda: settings.set(key, 1, if_revision=0),
        lambda: settings.pop(key, 1),
        lambda: settings.setdefault(key, 1),
        lambda: settings.update_value(key, lambda value: 1, default=1),
    ):
        with pytest.raises(kept.InvalidError, match=re.escape(sentence)):
            use()
    assert len(settings) == 0


@pytest.mark.parametrize("prefix", ["a\0", "\ud800", 5])
def test_an_invalid_prefix_is_refused(settings: kept.Store, prefix: Any) -> None:
    with pytest.raises(kept.InvalidError, match="the prefix"):
        settings.keys(prefix)
