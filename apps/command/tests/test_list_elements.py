"""Adding elements to lists, and removing them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import Kept

SCHEMA = """{"properties": {
  "tags": {"type": "array", "items": {"type": "string"}, "default": ["rock"]},
  "ports": {"type": "array", "items": {"type": "integer", "maximum": 65535}, "uniqueItems": true},
  "weights": {"type": "array", "items": {"type": "number"}},
  "days": {"type": "array", "items": {"type": "string", "enum": ["monday", "friday"]}},
  "mixed": {"type": "array"},
  "keys": {"type": "array", "items": {"type": "string"}, "secret": true},
  "volume": {"type": "integer"}
}}"""


@pytest.fixture
def lists(kept: Kept) -> Kept:
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("declare", "player", "-", input=SCHEMA).status == 0
    return kept


def test_elements_are_read_as_the_declared_type_of_the_elements(lists: Kept) -> None:
    assert lists("set", "player", "ports", "--add", "80", "--add", "443").status == 0
    assert lists("get", "player", "ports").out == "[80,443]\n"
    assert lists("set", "player", "weights", "--add", "-1", "--add=2", "--add", "0.5").status == 0
    assert lists("set", "player", "weights", "--remove", "2").status == 0
    assert lists("get", "player", "weights").out == "[-1.0,0.5]\n"
    assert lists("set", "player", "tags", "--add", "80", "--add", '"x"').status == 0
    assert lists("get", "player", "tags").out == '["rock","80","\\"x\\""]\n'
    assert lists("set", "player", "mixed", "--add", "1", "--add", '"1"').status == 0
    assert lists("set", "player", "mixed", "--add", "text", "--string").status == 0
    assert lists("get", "player", "mixed").out == '[1,"1","text"]\n'


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["ports", "--add", "http"], "http"),
        (["ports", "--add", "70000"], "65535"),
        (["ports", "--add", "80"], "duplicate"),
        (["days", "--add", "sunday"], "monday"),
        (["mixed", "--add", "text"], "add --string"),
        (["volume", "--add", "1"], "is declared as integer"),
        (["volume", "--remove", "1"], "is declared as integer"),
        (["plain", "--add", "1"], "holds a string"),
        (["tag", "--remove", "rock"], 'did you mean "tags"?'),
    ],
)
def test_what_the_list_cannot_take_is_refused_and_changes_nothing(lists: Kept, words: list[str], reason: str) -> None:
    assert lists("set", "player", "ports", "[80]").status == 0
    assert lists("set", "player", "plain", "--undeclared", '"text"').status == 0
    before = lists("export", "player").out
    done = lists("set", "player", *words)
    assert (done.status, done.out, reason in done.err) == (3, "", True), done.err
    assert lists("export", "player").out == before


@pytest.mark.parametrize(
    "words",
    [
        ["--add", "x"],
        ["tags", "mixed", "--add", "x"],
        ["tags=x", "--add", "x"],
        ["tags", "--add", "-", "--remove", "-"],
    ],
)
def test_elements_are_of_one_list_and_one_may_be_from_standard_input(lists: Kept, words: list[str]) -> None:
    assert lists("set", "player", *words, input="x\n").status == 2
    assert lists("set", "player", "tags", "--add", "-", "--remove", "rock", input="jazz\n").status == 0
    assert lists("get", "player", "tags").out == '["jazz"]\n'


def test_every_equal_element_is_removed_and_an_absent_one_is_not_an_error(lists: Kept) -> None:
    assert lists("set", "player", "tags", '["a","b","a"]').status == 0
    assert lists("set", "player", "tags", "--remove", "a", "--add", "c", "--dry-run").out == (
        '~ tags: ["a","b","a"] → ["b","c"]\n'
    )
    assert lists("set", "player", "tags", "--add", "c", "--remove", "a").status == 0
    assert lists("get", "player", "tags").out == '["b","c"]\n'
    before = lists("log", "player").out
    done = lists("set", "player", "tags", "--remove", "a")
    assert (done.status, done.out, done.err) == (0, "", "")
    for port in ("80", "70000"):
        assert lists("set", "player", "ports", "--remove", port).status == 0
    assert lists("log", "player").out == before
    assert lists("set", "player", "tags", "--remove", "b", "--remove", "c").status == 0
    assert lists("get", "player", "tags").out == "[]\n"


def test_a_list_without_a_stored_value_begins_with_its_default(lists: Kept) -> None:
    assert lists("set", "player", "tags", "--remove", "jazz").status == 0
    assert lists("list", "player").out == ""
    assert lists("set", "player", "tags", "--add", "jazz").status == 0
    assert lists("get", "player", "tags").out == '["rock","jazz"]\n'


def test_a_higher_layer_is_not_stored(lists: Kept) -> None:
    done = lists("set", "player", "tags", "--add", "jazz", "--env-prefix", "P_", more={"P_TAGS": '["env"]'})
    assert (done.status, "hidden by the environment layer" in done.err) == (0, True)
    assert lists("get", "player", "tags").out == '["rock","jazz"]\n'


def test_a_list_that_is_not_declared_takes_json(kept: Kept) -> None:
    assert kept("set", "player", "hosts", "--remove", '"a"').status == 4
    assert kept("set", "player", "hosts", "--add", '"a"').status == 0
    assert kept("set", "player", "hosts", "--add", "b").status == 3
    assert kept("set", "player", "hosts", "--add", "b", "--string").status == 0
    assert kept("get", "player", "hosts").out == '["a","b"]\n'


def test_elements_of_a_secret_are_not_shown(lists: Kept) -> None:
    assert lists("set", "player", "keys", "--add", "hunter2").status == 0
    done = lists("set", "player", "keys", "--add", "hunter3", "--remove", "hunter2", "--dry-run")
    assert (done.status, done.out) == (0, "~ keys: (secret) → (secret)\n")
    assert lists("set", "player", "keys", "--remove", "hunter2", "--add", "hunter3").status == 0
    assert lists("get", "player", "keys", "--reveal").out == '["hunter3"]\n'
    wrong = lists("set", "player", "keys", "--add", "hunter4", "--type", "integer")
    assert (wrong.status, "hunter4" in wrong.err) == (3, False)


def test_a_revision_guards_the_list(lists: Kept) -> None:
    assert lists("set", "player", "tags", "--add", "a", "--if-revision", "0").status == 0
    assert lists("set", "player", "tags", "--add", "b", "--if-revision", "0").status == 3
    assert lists("get", "player", "tags").out == '["rock","a"]\n'


def test_concurrent_additions_are_all_kept(lists: Kept) -> None:
    def add(number: int) -> int:
        return lists("set", "player", "ports", "--add", str(number)).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(add, range(40))) == {0}
    ports = lists("get", "player", "ports").out.strip("[]\n").split(",")
    assert sorted(map(int, ports)) == list(range(40))
