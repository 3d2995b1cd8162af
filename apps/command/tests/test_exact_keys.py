"""Keys are compared byte by byte: those that differ only in the normal form of a letter are two keys everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Kept

COMPOSED, DECOMPOSED = "n\u00f6", "no\u0308"


@pytest.fixture
def two(kept: Kept) -> Kept:
    assert kept("set", "player", f"{COMPOSED}=1", f"{DECOMPOSED}=2").status == 0
    return kept


def values(kept: Kept, store: str = "player") -> list[str]:
    return [kept("get", store, key, "--default", "none").out.strip() for key in (COMPOSED, DECOMPOSED)]


def test_diff_shows_which_of_them_differs(two: Kept) -> None:
    assert two("set", "other", f"{COMPOSED}=1", f"{DECOMPOSED}=3").status == 0
    done = two("diff", "player", "other")
    assert (done.status, done.out) == (1, f"~ {DECOMPOSED}: 2 → 3\n")


def test_an_editor_exchanges_their_values(two: Kept) -> None:
    editor = {"EDITOR": "sed -i 's/: 2,/: 9,/;s/: 1,/: 2,/;s/: 9,/: 1,/'"}
    assert two("edit", "player", "--yes", more=editor).out == f"~ {DECOMPOSED}: 2 → 1\n~ {COMPOSED}: 1 → 2\n"
    assert values(two) == ["2", "1"]


def test_an_editor_changes_and_removes_one_of_them(two: Kept) -> None:
    assert two("edit", "player", "--yes", more={"EDITOR": "sed -i 's/: 1,/: 7,/'"}).out == f"~ {COMPOSED}: 1 → 7\n"
    assert two("edit", "player", "--yes", more={"EDITOR": "sed -i '/: 7,/d'"}).out == f"- {COMPOSED}: 7\n"
    assert values(two) == ["none", "2"]


def test_each_has_its_own_past(kept: Kept) -> None:
    assert kept("set", "player", COMPOSED, "1").status == 0
    assert kept("set", "player", DECOMPOSED, "2").status == 0
    assert kept("reset", "player", DECOMPOSED).status == 0
    assert kept("get", "player", COMPOSED, "--at", "@2").out == "1\n"
    assert kept("diff", "player", "@2").out == f"- {DECOMPOSED}: 2\n"
    assert [line.split()[2] for line in kept("log", "player", COMPOSED).out.splitlines()] == [f"{COMPOSED}:"]
    assert kept("undo", "player", "1", "--dry-run").out == f"- {COMPOSED}: 1\n"
    assert kept("undo", "player", "1").out == f"- {COMPOSED}: 1\n"


def test_a_restore_shows_the_change_of_each(two: Kept) -> None:
    assert two("backup", "player", "backup").status == 0
    assert two("set", "player", DECOMPOSED, "5").status == 0
    assert two("restore", "player", "backup", "--dry-run").out == f"~ {DECOMPOSED}: 5 → 2\n"
    assert two("mark", "good", "player").status == 0
    assert two("reset", "player", COMPOSED).status == 0
    assert two("mark", "good", "player", "--dry-run").out == f"- {COMPOSED}: 1\n"


def test_lists_have_both_with_what_is_known_of_each(kept: Kept) -> None:
    assert kept("set", "player", COMPOSED, "1").status == 0
    schema = {"properties": {DECOMPOSED: {"type": "integer", "summary": "decomposed"}}}
    assert kept("declare", "player", "-", input=json.dumps(schema)).status == 0
    assert kept("list", "player", "--all").out == f"{DECOMPOSED}=\n{COMPOSED}=1\n"
    assert kept("set", "player", DECOMPOSED, "2").status == 0
    listed = json.loads(kept("list", "player", "--json").out)
    assert [(listed[key]["revision"], "changed" in listed[key]) for key in (COMPOSED, DECOMPOSED)] == [
        (1, True), (3, True),
    ]  # fmt: skip
    assert kept("complete", "kept", "get", "player", "n").out == f"{DECOMPOSED}\n{COMPOSED}\n"
    assert kept("complete", "kept", "get", "player", "no").out == f"{DECOMPOSED}\n"


def test_a_tree_has_a_branch_for_each(kept: Kept) -> None:
    # The second key has a mark behind its dot.
    assert kept("set", "player", f"{COMPOSED}.a=1", f"{DECOMPOSED}.a=2", "x.\u0301=3").status == 0
    tree = f"{DECOMPOSED}\n  a = 2\n{COMPOSED}\n  a = 1\nx\n  \u0301 = 3\n"
    assert kept("list", "player", "--tree").out == tree


def test_declarations_of_each_are_compared(kept: Kept, tmp_path: Path) -> None:
    def schema(maximum: int) -> str:
        one, other = {"type": "integer"}, {"type": "integer", "maximum": maximum}
        return json.dumps({"properties": {COMPOSED: one, DECOMPOSED: other}})

    assert kept("declare", "player", "-", input=schema(1)).status == 0
    dry = kept("declare", "player", "-", "--dry-run", input=schema(2))
    assert dry.out.startswith(f"~ declaration of {DECOMPOSED}: ") and dry.out.count("\n") == 1
    assert kept("declare", "other", "-", input=schema(2)).status == 0
    done = kept("diff", "player", "other")
    assert done.out.startswith(f"~ declaration of {DECOMPOSED}: ") and done.out.count("\n") == 1


def test_a_value_that_differs_in_its_normal_form_is_a_change(kept: Kept) -> None:
    assert kept("set", "player", "name", COMPOSED, "--string").status == 0
    assert kept("set", "player", "name", DECOMPOSED, "--string", "--dry-run").out != ""
    for maximum, summary in enumerate((COMPOSED, DECOMPOSED)):
        schema = {"properties": {"name": {"type": "string", "summary": summary}}}
        done = kept("declare", "player", "-", "--dry-run", "--quiet", input=json.dumps(schema))
        assert done.status == 0
        shown = kept("declare", "player", "-", "--dry-run", input=json.dumps(schema)).out
        assert shown.startswith("~" if maximum else "+")
        assert kept("declare", "player", "-", input=json.dumps(schema)).status == 0
