"""Checking a store."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Kept


def test_a_sound_store_is_well(declared: Kept) -> None:
    done = declared("doctor", "player")
    assert (done.status, done.out.splitlines()[-1]) == (0, "all is well: 0 values and 10 declarations at revision 1")
    findings = json.loads(declared("doctor", "player", "--json").out)
    assert {finding["severity"] for finding in findings} == {"note"}


def test_a_value_that_does_not_fit_wants_attention(kept: Kept) -> None:
    assert kept("set", "player", "a", '"text"').status == 0
    assert kept("declare", "player", "-", input='{"properties":{"a":{"type":"integer"}}}').status == 0
    done = kept("doctor", "player", "--json")
    assert done.status == 1
    assert json.loads(done.out)[0]["severity"] == "attention"


def test_a_damaged_database_is_reported(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    database = tmp_path / "config/kept/player.kept/values.sqlite"
    database.write_bytes(b"nonsense" * 4096)
    done = kept("doctor", "player")
    assert done.status in (1, 4)
    assert "salvaged" in done.out + done.err
    assert kept("doctor", "player", "--repair").status == 0
    assert kept("doctor", "player").status == 0


def test_info_and_stores_say_where_a_store_is(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "com.example.player", "a", "1").status == 0
    facts = json.loads(kept("info", "com.example.player", "--json").out)
    assert facts["folder"] == str(tmp_path / "config/kept/com.example.player.kept")
    assert (facts["values"], facts["revision"], facts["processes"]) == (1, 1, [])
    assert kept("stores").out == "com.example.player\n"
