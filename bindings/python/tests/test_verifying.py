"""Verifying a store: damage is a result, and everything else is counted."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import kept


def checksum(data: bytes) -> int:
    """CRC-32C."""
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ (0x82F63B78 if total & 1 else 0)
    return total ^ 0xFFFFFFFF


def seal_pages(database: Path, size: int = 4096) -> None:
    """Puts the database's salt and the right checksum into each page, as Kept does when it writes one."""
    content = database.read_bytes()
    salt = content[size - 8 : size - 4]
    pages = [content[at : at + size - 8] + salt for at in range(0, len(content), size)]
    sums = [checksum(number.to_bytes(4, "big") + page) for number, page in enumerate(pages, 1)]
    database.write_bytes(b"".join(page + sum_.to_bytes(4, "big") for page, sum_ in zip(pages, sums, strict=True)))


def test_damage_is_named_with_its_key(tmp_path: Path) -> None:
    with kept.open(str(tmp_path / "store")) as settings:
        settings["theme"] = "dark"
        settings["name"] = "Ann"
    with sqlite3.connect(tmp_path / "store/values.sqlite") as database:
        database.execute("UPDATE entry SET kind = 'sound' WHERE key = 'name'")
    database.close()
    seal_pages(tmp_path / "store/values.sqlite")
    with kept.open(str(tmp_path / "store")) as settings:
        found = settings.verify()
        assert not found.sound
        assert [damage.key for damage in found.damage] == ["name"]
        assert "sound" in found.damage[0].reason
        assert found.values == 1


READER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("BEGIN")
database.execute("SELECT count(*) FROM entry").fetchone()
print("reading", flush=True)
sys.stdin.read()
"""


def test_a_process_that_keeps_reading_is_named(tmp_path: Path) -> None:
    with kept.open(str(tmp_path / "store")) as settings:
        settings["theme"] = "dark"
        command = [sys.executable, "-c", READER, str(tmp_path / "store/values.sqlite")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
            assert reader.stdout is not None
            assert reader.stdout.readline() == b"reading\n"
            assert settings.verify().readers == (reader.pid,)
            reader.communicate()
        assert settings.verify().readers == ()


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
