"""Text that is safe for a terminal and a log."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kept


@pytest.mark.parametrize(
    ("text", "displayed"),
    [
        ("", ""),
        ("plain é 設定", "plain é 設定"),
        ("a\nb\tc\rd\x1be\u202ef\x9bg\0", r"a\nb\tc\rd\u{1B}e\u{202E}f\u{9B}g\u{0}"),
        ("\u061c\u200b\ufeff\u00ad\U000e0041", r"\u{61C}\u{200B}\u{FEFF}\u{AD}\u{E0041}"),
        ("half \ud83d, byte \udc80", r"half \ud83d, byte \udc80"),
        ("👩\u200d👧 a\u200db", "👩\u200d👧 a\\u{200D}b"),
    ],
)
def test_what_acts_on_a_terminal_is_escaped(text: str, displayed: str) -> None:
    assert kept.display_text(text) == displayed


def test_lines_may_stay() -> None:
    assert kept.display_text("a\n\tb\r\n\x1b\u2028", lines=True) == "a\n\tb\\r\n\\u{1B}\\u{2028}"


@given(st.text())
def test_json_has_the_same_value(text: str) -> None:
    displayed = kept.display_text(json.dumps({text: text}, ensure_ascii=False), json=True)
    assert json.loads(displayed) == {text: text}
    assert kept.display_text(displayed, json=True) == displayed


def test_no_character_of_any_script_acts_on_a_terminal() -> None:
    # Each between two letters, so that none has a neighbour that needs it.
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(character) in (
            "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN",
        ):  # fmt: skip
            assert kept.display_text(f"a{character}b") != f"a{character}b", hex(code)


def test_a_message_of_an_error_is_safe() -> None:
    with kept.open("memory:") as settings, pytest.raises(kept.InvalidError) as caught:
        settings["a\n\x1b\u202e"] = None
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)


def test_an_explanation_is_safe() -> None:
    with kept.open("memory:") as settings:
        settings["a\x1b\u061c"] = "\x9b"
        assert str(settings.explain("a\x1b\u061c")).startswith("a\\u{1B}\\u{61C} = '\\x9b': ")


def test_a_text_is_shortened_to_columns() -> None:
    assert kept.display_text("abc", columns=3) == "abc"
    assert kept.display_text("abcd", columns=3) == "ab…"
    assert kept.display_text("漢字", columns=3) == "漢…"
    assert kept.display_text("a\x1b", columns=9) == "a\\u{1B}"
    assert kept.display_text("abc", columns=0) == kept.display_text("abc", columns=-1) == ""
    with pytest.raises(kept.InvalidError, match="one line"):
        kept.display_text("abc", lines=True, columns=3)
