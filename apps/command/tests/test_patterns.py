"""--match: keys that match a pattern, for list, watch and reset."""

from __future__ import annotations

import json

import pytest

from conftest import Kept

KEYS = ["a*b", "a?b", "aXb", "app.color.dark", "app.colour", "color", "é", "e\u0301", "\\", "line\nbreak"]


@pytest.fixture
def filled(kept: Kept) -> Kept:
    lines = "\n".join(json.dumps({"set": key, "value": 1}) for key in KEYS)
    assert kept("transaction", "player", input=lines).status == 0
    return kept


def listed(kept: Kept, *words: str) -> list[str]:
    return list(json.loads(kept("list", "player", *words, "--json").out))


@pytest.mark.parametrize(
    ("pattern", "keys"),
    [
        ("*", KEYS),
        ("app.*", ["app.color.dark", "app.colour"]),
        ("*color*", ["app.color.dark", "color"]),
        ("*color", ["color"]),
        ("*o*o*r*", ["app.color.dark", "app.colour", "color"]),
        ("color", ["color"]),
        ("colo", []),
        ("", []),
        ("a?b", ["a*b", "a?b", "aXb"]),
        ("a\\*b", ["a*b"]),
        ("a\\?b", ["a?b"]),
        ("\\a\\Xb", ["aXb"]),
        ("?", ["é", "\\"]),
        ("??", ["e\u0301"]),
        ("\\\\", ["\\"]),
        ("\\", ["\\"]),
        ("line?break", ["line\nbreak"]),
        ("**b", ["a*b", "a?b", "aXb"]),
    ],
)
def test_a_pattern_matches_whole_keys(pattern: str, keys: list[str], filled: Kept) -> None:
    assert sorted(listed(filled, "--match", pattern)) == sorted(keys)


def test_a_prefix_and_a_pattern_both_apply_and_a_word_is_never_a_pattern(filled: Kept) -> None:
    assert listed(filled, "app.", "--match", "*our") == ["app.colour"]
    assert listed(filled, "app.color.", "--match", "app.*") == ["app.color.dark"]
    assert listed(filled, "color", "--match", "app.*") == []
    assert listed(filled, "a*") == ["a*b"]
    assert filled("get", "player", "a*b").out == "1\n"


def test_many_stars_are_matched_at_once(filled: Kept) -> None:
    key = "a" * 1000
    assert filled("set", "player", key, "1").status == 0
    assert listed(filled, "--match", "*a" * 300 + "b") == []
    assert listed(filled, "--match", "*a" * 300) == [key]


def test_reset_removes_the_matching_keys_and_no_others(filled: Kept) -> None:
    dry = filled("reset", "player", "--match", "a?b", "--dry-run")
    assert (dry.status, dry.out) == (0, "- a*b: 1\n- a?b: 1\n- aXb: 1\n")
    # As a key, the asterisk is itself.
    assert filled("reset", "player", "a*b").status == 0
    assert listed(filled, "--match", "a?b") == ["a?b", "aXb"]
    assert filled("reset", "player", "--match", "a?b").status == 0
    assert listed(filled, "--match", "a?b") == []
    assert filled("reset", "player", "--match", "none*").status == 0
    assert len(listed(filled)) == len(KEYS) - 3


@pytest.mark.parametrize("words", [["reset", "player", "a", "--match", "b"], ["watch", "player", "a", "--match", "b"]])
def test_a_key_and_a_pattern_are_refused(words: list[str], filled: Kept) -> None:
    assert filled(*words).status == 2


def test_watch_prints_the_matching_keys(filled: Kept) -> None:
    done = filled("watch", "player", "--match", "*color*", "--initial", "--json", "--timeout", "0")
    assert done.status == 0
    assert {json.loads(line)["key"] for line in done.out.splitlines()} <= {"app.color.dark", "color"}
    ending = '[ "$KEPT_KEY" != color ] || kill $PPID'
    done = filled("watch", "player", "--match", "*color*", "--initial", "--json", "--exec", ending)
    assert [json.loads(line)["key"] for line in done.out.splitlines()] == ["app.color.dark", "color"]


@pytest.mark.parametrize("words", [["--match", "*"], ["--match", "v*"], ["--prefix", ""], ["--prefix", "v"], ["v"]])
def test_reset_removes_a_value_that_does_not_match_its_declaration(words: list[str], kept: Kept) -> None:
    assert kept("set", "player", "v", "5").status == 0
    assert kept("declare", "player", "-", input='{"properties": {"v": {"type": "string"}}}').status == 0
    assert kept("reset", "player", *words, "--dry-run").out == "- v: 5\n"
    assert kept("reset", "player", *words).status == 0
    assert kept("doctor", "player").status == 0


@pytest.mark.parametrize("words", ["reset player --match a --prefix", "list player --match a --match b"])
def test_options_that_a_pattern_would_ignore_are_refused(words: str, filled: Kept) -> None:
    done = filled(*words.split())
    assert (done.status, "--match" in done.err) == (2, True), done
