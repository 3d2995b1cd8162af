"""Why a program uses a value."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Kept


def test_every_layer_is_shown_as_the_program_reads_it(declared: Kept) -> None:
    assert declared("set", "player", "audio.volume", "7").status == 0
    explain = ("explain", "player", "audio.volume", "--json", "--env-prefix", "P_")
    found = json.loads(declared(*explain, "--", "-audio.volume", "30", more={"P_AUDIO_VOLUME": "20"}).out)
    assert (found["value"], found["layer"]) == (30, "arguments")
    outcomes = {layer["layer"]: layer["outcome"] for layer in found["layers"]}
    assert (outcomes["environment"], outcomes["user"], outcomes["declared"]) == ("hidden", "hidden", "hidden")


def test_what_the_administrator_locks_is_refused_and_explained(kept: Kept, tmp_path: Path) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text('{"values": {"a": 1}, "locked": ["b"]}')
    managed.chmod(0o600)
    assert kept("set", "player", "a", "2").status == 0
    refused = kept("set", "player", "b", "2", "--managed", str(managed))
    assert refused.status == 3
    assert str(managed) in refused.err
    explained = kept("explain", "player", "a", "--managed", str(managed))
    assert (explained.status, "→  managed     1" in explained.out) == (0, True)
    assert kept("get", "player", "a", "--managed", str(managed)).out == "1\n"
    assert kept("get", "player", "a").out == "2\n"


def test_a_key_without_a_value_is_explained_with_status_1(declared: Kept) -> None:
    assert declared("explain", "player", "title").status == 1
