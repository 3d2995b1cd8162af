"""Locations and options: which open a store, and which are refused with a sentence."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kept


def test_a_path_is_a_folder(location: Path) -> None:
    with kept.open(location) as settings:
        settings["a"] = 1
        assert repr(settings) == f"<kept.Store {str(location)!r}>"
    assert stat.S_IMODE(location.stat().st_mode) == 0o700
    with kept.open(str(location)) as settings:
        assert settings["a"] == 1


def test_a_path_object_without_a_slash_is_a_path_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with kept.open(Path("here")) as settings:
        settings["a"] = 1
    assert (tmp_path / "here").is_dir()


def test_an_identifier_lives_in_the_configuration_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with kept.open("com.example.player") as settings:
        settings["a"] = 1
    assert (tmp_path / "kept/com.example.player.kept").is_dir()


def test_an_identifier_is_in_the_home_of_the_user_database_where_no_variable_names_one(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "passwd").write_text(f"someone:x:{os.geteuid()}:0::{tmp_path}/home:/bin/sh\n")
    # A user database of its own, in a mount namespace.
    with_users = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', f"{tmp_path}/passwd"]
    if subprocess.run([*with_users, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a file")
    code = "import kept; kept.open('com.example.homely')['a'] = 1"
    environment = {name: text for name, text in os.environ.items() if name not in {"HOME", "XDG_CONFIG_HOME"}}
    environment["PYTHONPATH"] = str(Path(kept.__file__).parents[1])
    subprocess.run([*with_users, sys.executable, "-c", code], env=environment, check=True)
    with kept.open(tmp_path / "home/.config/kept/com.example.homely.kept") as settings:
        assert settings["a"] == 1


def test_a_salvage_is_reported_until_it_is_acknowledged(location: Path) -> None:
    with kept.open(location) as settings:
        assert settings.salvaged is None
        settings.acknowledge_salvage()
    (location / "values").write_bytes(b"damaged")
    with pytest.warns(kept.SalvagedWarning, match="missing or older than the last commit") as warned:
        settings = kept.open(location)
    assert warned[0].filename == __file__, "where the program opens the store"
    with settings:
        assert settings.salvaged is not None
        assert (Path(settings.salvaged) / "values").read_bytes() == b"damaged"
        settings.acknowledge_salvage()
        assert settings.salvaged is None
    with kept.open(location), pytest.raises(kept.ClosedError):
        settings.acknowledge_salvage()


def test_where_warnings_are_errors_a_salvaged_store_is_closed_and_can_be_opened_in_spite_of_it(location: Path) -> None:
    with kept.open(location) as settings:
        settings["a"] = 1
    (location / "values").write_bytes(b"damaged")
    for _ in range(2):
        with pytest.raises(kept.SalvagedWarning, match="acknowledge the salvage") as raised:
            kept.open(location)
        # The exception has the frames of the call, and what they refer to.
        assert raised.tb is not None
        assert open_files_below(location) == []
    program = f"import kept; s = kept.open({str(location)!r}); print(s.salvaged); s.acknowledge_salvage()"
    command = [sys.executable, "-W", "error", "-W", "default::kept.SalvagedWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "quarantine" in done.stdout and "SalvagedWarning" in done.stderr
    with kept.open(location) as settings:
        assert settings.salvaged is None


def open_files_below(folder: Path) -> list[str]:
    """The files of a folder that this process has open."""
    descriptors = Path("/proc/self/fd")
    targets = [os.readlink(descriptors / name) for name in os.listdir(descriptors) if (descriptors / name).exists()]
    return [target for target in targets if target.startswith(str(folder))]


def test_a_journal_from_an_older_copy_of_the_folder_is_told(location: Path) -> None:
    with kept.open(location) as settings:
        settings["a"] = 1
    older = (location / "journal.0").read_bytes()
    with kept.open(location) as settings:
        settings["a"] = 2
    (location / "journal.0").write_bytes(older)
    with pytest.warns(kept.SalvagedWarning):
        settings = kept.open(location)
    with settings:
        assert settings["a"] == 1, "the last commit is lost"
        assert settings.salvaged is not None
        assert (Path(settings.salvaged) / "journal.0").read_bytes() == older


def test_a_store_can_be_opened_durable(location: Path) -> None:
    with kept.open(location, durability="durable", busy_timeout=0.5) as settings:
        settings["a"] = 1
        assert settings["a"] == 1


@pytest.mark.parametrize(
    "location", ["", "has space", ".hidden", "a\0b", "/tmp/a\0b", "\ud800", "/\udcff/x", 5, None, b"/tmp/x", "é"]
)
def test_an_invalid_location_is_refused(location: Any) -> None:
    with pytest.raises(kept.InvalidError):
        kept.open(location)


def test_a_file_in_the_way_is_an_error_and_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(kept.KeptError) as caught:
        kept.open(tmp_path / "file")
    assert str(caught.value)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_path_object_of_bytes_is_refused() -> None:
    class Bytes(os.PathLike[bytes]):
        def __fspath__(self) -> bytes:
            return b"/tmp/x"

    with pytest.raises(kept.InvalidError, match="the location is bytes"):
        kept.open(Bytes())  # type: ignore[arg-type]


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), 2**32, 4_294_967.2957, 10**400])
def test_an_invalid_time_out_is_refused(timeout: float) -> None:
    with pytest.raises(kept.InvalidError, match="busy_timeout"):
        kept.open("memory:", busy_timeout=timeout)


def test_a_checkpoint_that_an_open_store_has_lost_is_named(location: Path) -> None:
    with kept.open(location) as settings:
        settings["a"] = 1
        (location / "values").unlink()
        [damage] = settings.verify().damage
        assert "values is missing" in damage.reason
        assert settings["a"] == 1
    # The commits in the journal are still there.
    with pytest.warns(kept.SalvagedWarning), kept.open(location) as settings:
        assert settings["a"] == 1
