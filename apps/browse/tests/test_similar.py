"""Suggestions for mistyped keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kept_browse._similar import closest

KNOWN = ["audio.balance", "audio.volume", "ui.font", "ui.theme", "größe"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("audio.volum", "audio.volume"),
        ("audio.volmue", "audio.volume"),
        ("audoi.volume", "audio.volume"),
        ("Audio.Volume", "audio.volume"),
        ("ui.thme", "ui.theme"),
        ("ui.fo", None),
        ("ui.fon", "ui.font"),
        ("größ", "größe"),
        ("x", None),
        ("network", None),
        ("", None),
    ],
)
def test_a_close_name_is_suggested(name: str, meant: str | None) -> None:
    assert closest(name, KNOWN) == meant


def plain_distance(a: str, b: str) -> int:
    """The textbook algorithm for the distance."""
    if not a or not b:
        return len(a) + len(b)
    same = plain_distance(a[1:], b[1:]) + (a[0] != b[0])
    return min(same, plain_distance(a[1:], b) + 1, plain_distance(a, b[1:]) + 1)


@given(st.text("ab.", max_size=5), st.text("ab.", min_size=1, max_size=5))
def test_the_distance_is_right_for_every_pair(name: str, known: str) -> None:
    is_close = plain_distance(name, known) <= max(1, len(name) // 4)
    differences = [place for place, (a, b) in enumerate(zip(name, known, strict=False)) if a != b]
    is_swapped = (
        len(name) == len(known)
        and len(differences) == 2
        and name[differences[0]] == known[differences[1]]
        and name[differences[1]] == known[differences[0]]
    )
    assert (closest(name, [known]) == known) == (is_close or is_swapped)
