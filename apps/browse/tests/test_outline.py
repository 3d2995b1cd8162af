"""The tree of keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kept_browse._outline import Branch, Item, Leaf, identity, outline

KEYS = st.sets(st.text(st.sampled_from("ab./-é設\x1f"), min_size=1, max_size=8), max_size=30).map(sorted)


def shown(items: list[Branch | Leaf]) -> list[str]:
    texts = [f"{item.prefix} {item.count}" if isinstance(item, Branch) else item.label for item in items]
    return [f"{'  ' * item.depth}{text}" for item, text in zip(items, texts)]


def test_keys_that_begin_alike_are_below_a_branch() -> None:
    keys = ["audio.muted", "audio.volume", "theme", "ui.window.height", "ui.window.width"]
    assert shown(outline(keys, None)) == [
        "audio. 2", "  muted", "  volume", "theme", "ui. 2", "  ui.window. 2", "    height", "    width",
    ]  # fmt: skip
    assert shown(outline(keys, set())) == ["audio. 2", "theme", "ui. 2"]
    assert shown(outline(keys, {"ui.", "elsewhere."})) == ["audio. 2", "theme", "ui. 2", "  ui.window. 2"]


def test_a_branch_with_one_key_is_that_key() -> None:
    assert shown(outline(["a.b.c.d", "e"], set())) == ["a.b.c.d", "e"]
    assert shown(outline(["a.b.c", "a.d"], {"a."})) == ["a. 2", "  b.c", "  d"]


def test_a_key_may_also_be_the_name_of_a_branch() -> None:
    assert shown(outline(["a", "a.b", "a.c"], None)) == ["a", "a. 2", "  b", "  c"]


@pytest.mark.parametrize("keys", [[], ["."], [".", ".."], ["...", "....", "a..b", "a..c"], ["a-b", "a.b", "a/b"]])
def test_dots_may_be_anywhere(keys: list[str]) -> None:
    assert [item.key for item in outline(keys, None) if isinstance(item, Leaf)] == keys


@given(KEYS)
def test_all_open_each_key_is_listed_once_and_in_order(keys: list[str]) -> None:
    assert [item.key for item in outline(keys, None) if isinstance(item, Leaf)] == keys


@given(KEYS, st.data())
def test_each_key_is_listed_or_counted_by_a_closed_branch(keys: list[str], data: st.DataObject) -> None:
    branches = [item.prefix for item in outline(keys, None) if isinstance(item, Branch)]
    is_open = set(data.draw(st.lists(st.sampled_from(branches)))) if branches else set()
    items = outline(keys, is_open)
    hidden = sum(item.count for item in items if isinstance(item, Branch) and not item.is_open)
    assert hidden + sum(isinstance(item, Leaf) for item in items) == len(keys)


@given(KEYS)
def test_the_lines_of_the_tree_are_distinct(keys: list[str]) -> None:
    items: list[Item] = list(outline(keys, None))
    assert len(set(map(identity, items))) == len(items)


@given(KEYS)
def test_a_branch_counts_the_keys_below_it(keys: list[str]) -> None:
    for item in outline(keys, None):
        if isinstance(item, Branch):
            assert item.count == sum(key.startswith(item.prefix) for key in keys) > 1


def test_the_tree_of_hundreds_of_dots_does_not_end_the_program() -> None:
    keys = sorted(f"{'a.' * depth}x" for depth in range(500))
    items = outline(keys, None)
    closed = sum(item.count for item in items if isinstance(item, Branch) and not item.is_open)
    assert closed + sum(isinstance(item, Leaf) for item in items) == 500
