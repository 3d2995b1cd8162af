"""Places of stores, found without opening them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kept
from users import unprivileged


@pytest.fixture(autouse=True)
def user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    return tmp_path / "configuration/kept"


def made(location: str | Path) -> None:
    with kept.open(location) as store:
        store["a"] = 1


def test_the_path_of_a_users_store_is_its_identifier(user_folder: Path, tmp_path: Path) -> None:
    made("org.app")
    by_name = kept.place("org.app")
    assert by_name.is_identifier and by_name.state == "store" and by_name.bytes > 0
    assert by_name.folder == str(user_folder / "org.app.kept")
    (tmp_path / "link.kept").symlink_to(user_folder / "org.app.kept")
    assert kept.place(user_folder / "org.app.kept") == kept.place(f"{user_folder}/../kept/org.app.kept/") == by_name
    (tmp_path / "org.app.kept").symlink_to(user_folder / "org.app.kept")
    assert kept.place(tmp_path / "org.app.kept").location == "org.app"
    assert kept.place(tmp_path / "link.kept").location == str(tmp_path / "link.kept")
    assert kept.place(tmp_path / "link.kept").identity == by_name.identity
    assert [file.path for file in by_name.layer_files][-2:] == [
        f"/etc/kept/org.app/{layer}.json" for layer in ("managed", "system")
    ]
    assert kept.place(tmp_path / "link.kept").layer_files == ()


def test_a_later_folder_has_another_identity(tmp_path: Path) -> None:
    identities = set()
    for _ in range(3):
        (tmp_path / "a").mkdir()
        identities.add(kept.place(tmp_path / "a").identity)
        (tmp_path / "a").rmdir()
    assert len(identities) == 3 and kept.place(tmp_path / "a").identity is None


def test_nothing_is_made(tmp_path: Path, user_folder: Path) -> None:
    assert kept.place("org.app").state == kept.place(tmp_path / "a").state == "absent"
    assert {place.state for place in kept.places()} <= {"absent"} and not user_folder.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("location", ["", "with space", "a\0b", "\udcff", ".hidden", "a" * 201, "dir:"])
def test_a_wrong_location_is_invalid(location: str) -> None:
    with pytest.raises(kept.InvalidError):
        kept.place(location)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives links away")
def test_root_follows_no_link_of_another_user(tmp_path: Path) -> None:
    made(tmp_path / "store")
    (tmp_path / "link.kept").symlink_to("store")
    assert kept.place(tmp_path / "link.kept").state == "store"
    os.lchown(tmp_path / "link.kept", 65534, 65534)
    link = kept.place(tmp_path / "link.kept")
    assert (link.state, link.identity, link.bytes) == ("unknown", None, 0)
    assert [place.state for place in kept.places(tmp_path)] == ["unknown", "store"]
    with pytest.raises(kept.DeniedError):
        kept.open(link.location)


def test_a_link_loop_cannot_be_examined(tmp_path: Path) -> None:
    (tmp_path / "a.kept").symlink_to("a.kept")
    (tmp_path / "dangling.kept").symlink_to("nothing")
    assert kept.place(tmp_path / "a.kept").state == "unknown"
    assert [(place.state, place.identity) for place in kept.places(tmp_path)] == [("unknown", None), ("absent", None)]


def test_the_stores_of_a_user_are_listed_by_their_identifiers(user_folder: Path) -> None:
    made("org.b")
    made("org.a")
    (user_folder / "file.kept").write_text("not a folder")
    (user_folder / "line\nbreak\x1b[2J.kept").mkdir()
    (user_folder / "no store").mkdir()
    made(user_folder / "other")
    os.mkdir(os.fsencode(user_folder) + b"/\xff.kept")
    # Where an administrator has written files, the identifiers without a store are listed, too.
    found = {place.location: place.state for place in kept.places() if place.state != "absent"}
    odd = str(user_folder / "line\nbreak\x1b[2J.kept")
    assert found == {odd: "folder", "file": "file", "org.a": "store", "org.b": "store"}
    assert list(found) == sorted(found)
    everything = [place.location for place in kept.places(user_folder)]
    assert everything == sorted([*found, str(user_folder / "other")])


LISTING = """
import kept
[place] = kept.places()
states = {file.layer: file.state for file in place.layer_files if file.path.startswith("/etc")}
assert place.location == "org.managed" and place.state == "absent", place
assert states == {kept.Layer.MANAGED: "broken", kept.Layer.SYSTEM: "absent"}, states
kept.open(place.folder).close()
assert [(each.location, each.state) for each in kept.places()] == [("org.managed", "store")]
assert kept.place(place.folder).location == "org.managed"
"""


def test_an_identifier_with_only_files_of_the_administrator_is_listed(tmp_path: Path) -> None:
    folder = tmp_path / "etc/kept/org.managed"
    folder.mkdir(parents=True)
    (folder / "managed.json").write_text("{")
    # Another folder takes the place of /etc, in a mount namespace.
    with_files = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc && exec "$@"', f"{tmp_path}/etc"]
    if subprocess.run([*with_files, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a folder")
    environment = {**os.environ, "PYTHONPATH": str(Path(kept.__file__).parents[1])}
    subprocess.run([*with_files, sys.executable, "-c", LISTING], env=environment, check=True)


def test_a_folder_that_cannot_be_listed_is_an_error(user_folder: Path, tmp_path: Path) -> None:
    user_folder.parent.mkdir()
    user_folder.write_text("not a folder")
    with pytest.raises(kept.UnavailableError, match="could not list"):
        kept.places()
    for folder in ("absent", "configuration/kept"):
        with pytest.raises(kept.UnavailableError, match="could not list"):
            kept.places(tmp_path / folder)
    for wrong in ("a\0b", "\udcff"):
        with pytest.raises(kept.InvalidError):
            kept.places(wrong)


def test_a_folder_that_may_not_be_read_is_denied(tmp_path: Path) -> None:
    made(closed := tmp_path / "closed/a.kept")
    closed.parent.chmod(0)
    try:
        with unprivileged():
            assert kept.place(closed).state == "unknown"
            with pytest.raises(kept.DeniedError, match="could not list"):
                kept.places(closed.parent)
    finally:
        closed.parent.chmod(0o700)
