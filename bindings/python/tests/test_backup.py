"""Copies of a store, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

import kept

VOLUME = kept.Key("audio.volume", int, default=50)


@pytest.fixture
def played(settings: kept.Store) -> kept.Store:
    settings.declare(VOLUME)
    settings[VOLUME] = 70
    settings["theme"] = "dark"
    return settings


def test_a_backup_returns_its_revision_and_is_private(played: kept.Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert played.backup(copy) == 3
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy", "test.kept"]


def test_restoring_brings_everything_back_and_sets_the_rest_aside(played: kept.Store, tmp_path: Path) -> None:
    played.backup(tmp_path / "copy")
    played[VOLUME] = 10
    del played["theme"]
    quarantine = played.restore(tmp_path / "copy")
    assert quarantine is not None and Path(quarantine).parent == tmp_path / "test.kept/quarantine"
    assert dict(played) == {"audio.volume": 70, "theme": "dark"}
    played.restore(quarantine)
    assert dict(played) == {"audio.volume": 10}


def test_a_bad_backup_changes_nothing(played: kept.Store, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no backup at all")
    with pytest.raises(kept.UnsupportedError):
        played.restore(tmp_path / "text")
    with pytest.raises(kept.UnavailableError):
        played.restore(tmp_path / "none")
    for bad in "", "a\0b":
        with pytest.raises(kept.InvalidError):
            played.restore(bad)
        with pytest.raises(kept.InvalidError):
            played.backup(bad)
    assert dict(played) == {"audio.volume": 70, "theme": "dark"}
    assert not (tmp_path / "test.kept/quarantine").exists()
