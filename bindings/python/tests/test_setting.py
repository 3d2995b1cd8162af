"""A key as an attribute of a class."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import pytest

import kept

VOLUME = kept.Key("audio.volume", int, default=50)
NAME = kept.Key("name", str, default=None)


class Player:
    volume = kept.Setting(VOLUME)
    name = kept.Setting(NAME, "store")

    def __init__(self, settings: kept.Settings) -> None:
        self.settings = settings
        self.store = settings


def test_reads_and_writes_the_key(tmp_path: Path) -> None:
    with kept.open(tmp_path / "store") as settings:
        player = Player(settings)
        assert assert_type(player.volume, int) == 50
        player.volume += 10
        assert settings[VOLUME] == 60
        assert assert_type(player.name, str | None) is None
        player.name = "a"
        assert settings["name"] == "a"
        del player.name
        assert "name" not in settings


def test_two_objects_have_two_stores() -> None:
    with kept.open("memory:") as one, kept.open("memory:") as other:
        Player(one).volume = 1
        assert Player(other).volume == 50


def test_names_its_store_once_for_all_objects() -> None:
    with kept.open("memory:") as settings:

        class Fixed:
            volume = kept.Setting(VOLUME, settings)

        Fixed().volume = 7
        assert Fixed().volume == settings[VOLUME] == 7


def test_is_itself_on_the_class() -> None:
    assert Player.volume.key is VOLUME


def test_works_in_a_transaction() -> None:
    with kept.open("memory:") as settings:
        with settings.transaction() as transaction:
            Player(transaction).volume = 8
            assert settings[VOLUME] == 50
        assert settings[VOLUME] == 8


def test_the_errors_are_those_of_the_key() -> None:
    with kept.open("memory:") as settings:
        player = Player(settings)
        settings["audio.volume"] = "loud"
        with pytest.raises(kept.WrongTypeError):
            player.volume
        with pytest.raises(kept.WrongTypeError):
            player.volume = "loud"  # type: ignore[assignment]
        with pytest.raises(kept.AbsentError):
            del player.name
    with pytest.raises(kept.ClosedError):
        player.volume = 1


def test_without_a_store_it_says_what_is_missing() -> None:
    class Empty:
        volume = kept.Setting(VOLUME)

    with pytest.raises(TypeError, match=r"Empty\.settings is None, but it must be the store .* 'audio\.volume'"):
        Empty().volume
    with pytest.raises(TypeError, match="takes a kept.Key"):
        kept.Setting("audio.volume")  # type: ignore[arg-type]
