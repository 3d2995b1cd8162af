"""Verifying a store: damage is a result, and everything else is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import kept


def test_damage_is_named_with_its_key(tmp_path: Path) -> None:
    with kept.open(str(tmp_path / "written")) as settings:
        settings["theme"] = "dark"
        settings["name"] = "Ann"
        settings.backup(tmp_path / "backup")
    # In a backup the values are records.
    data = (tmp_path / "backup").read_bytes()
    (tmp_path / "store").mkdir(0o700)
    (tmp_path / "store/values").write_bytes(data.replace(b"nameAnn", b"nameEve"))
    with kept.open(str(tmp_path / "store")) as settings:
        found = settings.verify()
        assert not found.sound and found.values == 0
        assert [damage.key for damage in found.damage] == [None, "name", "theme"], "both are in one block"
    with pytest.warns(kept.SalvagedWarning), kept.open(str(tmp_path / "store")) as settings:
        assert dict(settings) == {"theme": "dark"}


def test_files_are_checked_without_opening_the_store(tmp_path: Path) -> None:
    with kept.open(tmp_path / "store") as settings:
        settings["name"] = "Ann"
        settings.backup(tmp_path / "backup")
        assert kept.verify_files(tmp_path / "store") == kept.verify_files(tmp_path / "backup") == ()
    journal = tmp_path / "store/journal.0"
    journal.write_bytes(journal.read_bytes().replace(b"nameAnn", b"nameEve"))
    before = {file: file.read_bytes() for file in (tmp_path / "store").iterdir()}
    [found] = kept.verify_files(tmp_path / "store")
    assert (found.severity, found.key) == ("damage", "name")
    assert "journal.0 has a damaged commit at byte 512" in found.what and found.remedy
    assert before == {file: file.read_bytes() for file in (tmp_path / "store").iterdir()}
    with pytest.raises(kept.UnavailableError):
        kept.verify_files(tmp_path / "none")


LISTINGS: dict[str, Callable[[kept.Store], object]] = {
    "keys": list,
    "length": len,
    "export": lambda settings: settings.export(),
    "snapshot": lambda settings: list(settings.snapshot()),
    "removal": lambda settings: settings.remove_all(""),
}


@pytest.mark.parametrize("listing", LISTINGS)
def test_no_listing_lacks_a_key_whose_name_is_damaged(tmp_path: Path, listing: str) -> None:
    with kept.open(tmp_path / "store") as settings:
        for name in "abc":
            settings[name] = name * 3000
    values = tmp_path / "store/values"
    data = bytearray(values.read_bytes())
    begin = data.index(b"b" * 3000) // 4096 * 4096
    data[begin : begin + 4096] = b"damaged!" * 512
    values.write_bytes(data)
    with kept.open(tmp_path / "store") as settings:
        assert settings["a"] == "a" * 3000
        with pytest.raises(kept.CorruptError):
            LISTINGS[listing](settings)
    with pytest.warns(kept.SalvagedWarning), kept.open(tmp_path / "store") as settings:
        assert list(settings) == ["a", "c"]


def test_progress_is_reported_and_an_exception_stops_it(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    with kept.open(str(tmp_path / "store")) as settings:
        for number in range(5):
            settings[f"key {number}"] = number
        settings.verify(progress=lambda done, total: calls.append((done, total)))
        assert calls[0] == (0, 5)
        assert calls[-1] == (5, 5)

        def stop(done: int, total: int) -> None:
            raise LookupError(f"at {done} of {total}")

        with pytest.raises(LookupError, match="at 0 of 5"):
            settings.verify(progress=stop)
    with pytest.raises(kept.ClosedError):
        settings.verify()
