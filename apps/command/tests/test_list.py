"""Lists: lines for programs, JSON, fields and a tree."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conftest import Kept, on_terminal

AWKWARD = 'line\nbreak\t"quote"=😀'


def test_each_key_is_one_line_whatever_it_holds(kept: Kept) -> None:
    assert kept("set", "player", "plain", "1").status == 0
    assert kept("transaction", "player", input=json.dumps({"set": AWKWARD, "value": "a\nb"})).status == 0
    lines = kept("list", "player").out.splitlines()
    assert lines == ['"line\\nbreak\\t\\"quote\\"=😀"="a\\nb"', "plain=1"]


def test_fields_end_with_zero_bytes(kept: Kept) -> None:
    assert kept("transaction", "player", input=json.dumps({"set": AWKWARD, "value": "a\nb"})).status == 0
    assert kept("list", "player", "--null").out == f'{AWKWARD}\0"a\\nb"\0'


def test_a_secret_is_not_mistaken_for_a_key_without_a_value(declared: Kept) -> None:
    assert "token=\n" in declared("list", "player", "--all").out
    assert declared("set", "player", "token=", "title=(secret)").status == 0
    assert declared("list", "player").out == 'title="(secret)"\ntoken=(secret)\n'
    assert declared("list", "player", "--null").out == 'title\0"(secret)"\0token\0(secret)\0'
    assert declared("list", "player", "--reveal").out == 'title="(secret)"\ntoken=""\n'


def test_json_has_all_that_is_known(declared: Kept) -> None:
    assert declared("set", "player", "audio.volume", "7").status == 0
    listed = json.loads(declared("list", "player", "--json").out)
    assert listed["audio.volume"].pop("changed").endswith("Z")
    assert listed == {
        "audio.volume": {
            "layer": "user",
            "revision": 2,
            "summary": "How loud, in percent",
            "tag": "kept",
            "type": "integer",
            "value": 7,
        }
    }
    everything = json.loads(declared("list", "player", "--json", "--all").out)
    assert everything["audio.theme"] == {"layer": "declared", "type": "string", "value": "dark"}
    assert everything["title"] == {"type": "string"}


def test_people_see_keys_that_have_only_a_default_and_programs_ask_for_them(
    declared: Kept, environment: dict[str, str]
) -> None:
    def table(*options: str) -> dict[str, list[str]]:
        status, shown = on_terminal(environment | {"NO_COLOR": "1"}, ["list", "player", "audio.", *options], [])
        assert status == 0
        return {row.split()[0]: row.split()[1:] for row in shown.replace("\r\n", "\n").splitlines()[1:]}

    fresh = table()
    assert set(fresh) == {"audio.balance", "audio.muted", "audio.theme", "audio.volume"}
    assert fresh["audio.volume"][:3] == ["integer", "50", "declared"] and fresh["audio.muted"] == ["boolean"]
    assert "  volume = 50\n" in declared("list", "player", "audio.", "--tree").out
    assert table("--stored") == {}
    assert declared("list", "player", "--tree", "--stored").out == ""
    assert declared("list", "player").out == declared("list", "player", "--null").out == ""
    assert json.loads(declared("list", "player", "--json").out) == {}
    assert declared("set", "player", "audio.theme=dark").status == 0
    assert table()["audio.theme"][:3] == ["string", "dark", "user"]
    assert set(table("--stored")) == {"audio.theme"}
    assert declared("list", "player", "--all", "--stored").status == 2


def test_a_tree_has_a_level_for_each_part(kept: Kept) -> None:
    assert kept("set", "player", "a.b.c=1", "a.b.d=2", "a.e=3", "f=4").status == 0
    assert kept("list", "player", "--tree").out == "a\n  b\n    c = 1\n    d = 2\n  e = 3\nf = 4\n"
    assert kept("list", "player", "a.b.").out == "a.b.c=1\na.b.d=2\n"


def test_a_long_list_ends_cleanly_when_its_reader_leaves(
    kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    big = tmp_path / "big.json"
    big.write_text(json.dumps({f"key.{number:06d}": number for number in range(100_000)}))
    assert kept("import", "big", str(big)).status == 0
    pipe = 'set -o pipefail; "$KEPT_COMMAND" list big | head -n 1; exit ${PIPESTATUS[0]}'
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "key.000000=0\n"
    assert done.stderr == ""
    assert done.returncode in (0, 141)


@pytest.mark.parametrize("color", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_table_says_when_and_by_whom_a_value_was_stored(
    color: dict[str, str], declared: Kept, environment: dict[str, str]
) -> None:
    assert declared("set", "player", "audio.volume", "7").status == 0
    status, shown = on_terminal(environment | color, ["list", "player"], [])
    heading, *rows = shown.replace("\r\n", "\n").splitlines()
    assert (status, "\x1b[" in shown) == (0, not color)
    assert all(title in heading for title in ("KEY", "TYPE", "VALUE", "LAYER", "CHANGED", "BY", "SUMMARY"))
    [row] = [row.split() for row in rows if row.startswith("audio.volume")]
    day = declared("log", "player").out.split()[1][:16]
    assert row[:6] == ["audio.volume", "integer", "7", "user", day, "kept"]


@pytest.mark.parametrize("emoji", ["✅", "❤️", "👍🏽", "🇩🇪", "👩‍👩‍👧‍👦", "🏳️‍🌈"])
def test_an_emoji_takes_two_columns_of_a_table(emoji: str, kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", f"a={json.dumps(emoji)}", 'b="ab"', f'{emoji}="ab"').status == 0
    _, shown = on_terminal(environment | {"NO_COLOR": "1"}, ["list", "player"], [])
    rows = {line.split()[0]: line for line in shown.replace("\r\n", "\n").splitlines()}
    # The next column begins as many characters later as the emoji has more than two.
    assert rows["a"].index("user") == rows["b"].index("user") + len(emoji) - 2
    assert rows[emoji].index("user") == rows["b"].index("user") + len(emoji) - 2


@pytest.mark.parametrize("words", ["list player", "explain player audio.volume", "describe player", "stores"])
def test_a_table_fits_a_narrow_terminal_and_keeps_keys_and_values(
    words: str, declared: Kept, environment: dict[str, str]
) -> None:
    assert declared("set", "player", "audio.volume", "7").status == 0
    shell = {"KEPT_COMMAND": "/bin/sh", "PLAIN": environment["KEPT_COMMAND"], "NO_COLOR": "1"}
    line = ["-c", f'stty cols 60; "$PLAIN" {words}']
    status, shown = on_terminal(environment | shell, line, [])
    rows = shown.replace("\r\n", "\n").splitlines()
    assert status == 0 and all(len(row) <= 60 for row in rows), shown
    if words == "list player":
        assert ["audio.volume", "integer", "7", "user"] in [row.split()[:4] for row in rows]
    assert words == "stores" or "How loud" in shown or "…" in shown or "explain" in words
