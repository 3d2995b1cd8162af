"""What an examination of a store finds."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import kept
from users import unprivileged

AWKWARD = ["two words", "it's", "-dash", "line\nbreak", "\x1b\\'", "a=b", "\t50%", "\u202e$(exit)", "ends\n"]


def problems(location: Path) -> list[kept.Finding]:
    return [found for found in kept.findings(location) if found.severity != "note"]


def contents(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """The files in a folder, with what changes if they are replaced, written or only touched."""
    return {
        str(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*") if path.is_file()
    }  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    location = tmp_path / "it's a store"
    with kept.open(location) as settings:
        settings["a"] = 1
    return location


def test_a_sound_store_has_only_notes_about_its_place(store: Path) -> None:
    found = kept.findings(store)
    assert {each.severity for each in found} == {"note"}
    assert any(each.what.startswith(f"in {store}, on ") for each in found)


def test_the_commands_of_remedies_are_quoted(store: Path) -> None:
    with kept.open(store) as settings:
        for key in AWKWARD:
            settings[key] = "text"
        with pytest.warns(kept.MisfitWarning):
            settings.declare({key: {"type": "integer"} for key in AWKWARD})
        found = problems(store)
    assert [each.key for each in found] == sorted(AWKWARD)
    remedies = {each.key: each.remedy or "" for each in found}
    assert all("kept reset " in remedy and "\n" not in remedy for remedy in remedies.values())
    assert "it'\\''s a store' 'two words' VALUE" in remedies["two words"]
    assert "kept reset -- 'it" not in remedies["it's"] and "kept reset -- " in remedies["-dash"]
    assert "\"$(printf -- 'line\\012break')\"" in remedies["line\nbreak"]
    assert "(a name that ends in a line break)" in remedies.pop("ends\n")
    for name, remedy in remedies.items():
        command = remedy.partition(" VALUE, or ")[2] or remedy
        words = subprocess.check_output(["sh", "-c", f"kept() {{ printf '%s\\0' \"$@\"; }}; {command}"], text=True)
        assert words.split("\0")[-3:-1] == [str(store), name]


def test_a_remedy_runs_no_command_of_a_name(tmp_path: Path) -> None:
    location = tmp_path / "t\tx'$(touch${IFS}pwn) #"
    kept.open(location).close()
    location.chmod(0o777)
    _, writable = problems(location)
    subprocess.run(["sh", "-c", writable.remedy or ""], check=True, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == [location] and location.stat().st_mode & 0o777 == 0o755


def test_an_examination_that_only_reads_changes_nothing(store: Path) -> None:
    (store / "values").write_bytes(b"damaged")
    before = contents(store)
    [closed] = [found for found in kept.findings(store, read_only=True) if found.severity == "damage"]
    assert closed.what.startswith("the store cannot be opened: ") and contents(store) == before
    with pytest.warns(kept.SalvagedWarning):
        kept.open(store).close()
    before = contents(store)
    [salvaged] = [found for found in kept.findings(store, read_only=True) if found.severity != "note"]
    assert "salvaged" in salvaged.what and contents(store) == before


def test_progress_counts_keys_and_may_stop_it(store: Path) -> None:
    counts: list[tuple[int, int]] = []
    kept.findings(store, progress=lambda done, total: counts.append((done, total)))
    assert counts and counts[-1][0] == counts[-1][1]

    def stop(done: int, total: int) -> None:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        kept.findings(store, progress=stop)


def test_what_keeps_a_store_closed_is_found_at_once(store: Path) -> None:
    files = [path for path in store.iterdir() if path.is_file()]
    for path in files:
        path.chmod(0o660)
    store.chmod(0o770)
    closed, writable = problems(store)
    assert closed.severity == writable.severity == "damage" and closed.what.startswith("the store cannot be opened: ")
    assert all(str(path) in writable.what for path in [store, *files])
    assert (writable.remedy or "").startswith("chmod go-w ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_of_a_file_is_named(store: Path) -> None:
    os.chown(store / "journal.0", 12345, 12345)
    found = problems(store)
    assert [each.severity for each in found] == ["damage", "damage"]
    assert f"not owned by user 0: {store}/journal.0 (12345)" in found[1].what


def test_a_folder_that_may_not_be_entered_is_named(store: Path) -> None:
    store.parent.chmod(0)
    try:
        with unprivileged():
            closed, barred = problems(store)
    finally:
        store.parent.chmod(0o700)
    assert closed.severity == barred.severity == "damage" and "may not enter" in barred.what


def test_the_owner_of_a_folder_that_may_not_be_entered_admits_no_one_else() -> None:
    # Other users may not enter the folder of a test.
    folder = tempfile.mkdtemp()
    kept.open(f"{folder}/store").close()
    try:
        os.chmod(folder, 0)
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
        with unprivileged():
            _, barred = problems(Path(folder, "store"))
        assert barred.remedy == f"chmod u+x {folder}"
    finally:
        os.chmod(folder, 0o700)
        shutil.rmtree(folder)


def test_a_store_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    for name in ("absent", "folder"):
        if name == "folder":
            (tmp_path / name).mkdir()
        with pytest.raises(kept.UnavailableError, match=f"there is no store {tmp_path}/{name}"):
            kept.findings(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"] and not list((tmp_path / "folder").iterdir())


@pytest.mark.parametrize("location", ["", "two words", "a\0b", "\udcff"])
def test_a_wrong_location_is_invalid(location: str) -> None:
    with pytest.raises(kept.InvalidError):
        kept.findings(location)


def test_a_store_without_a_folder_has_no_findings_about_one(store: Path) -> None:
    [closed] = kept.findings("etcd:x")
    assert closed.severity == "damage" and "cannot be opened" in closed.what
    assert [found.what for found in kept.findings("memory:")] == ["schema version 0 of the store"]


def test_a_folder_with_a_file_for_each_key_is_examined(store: Path) -> None:
    location = f"dir:{store.parent}/keys"
    assert kept.place(location).state == "absent"
    with kept.open(location) as settings:
        settings["a"] = 1
    assert kept.place(location).state == "store" and not kept.place(location).is_identifier
    assert {found.severity for found in kept.findings(location)} == {"note"}
