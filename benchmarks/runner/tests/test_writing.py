"""The options of scripts/bench, and how it writes into a page."""

from __future__ import annotations

from pathlib import Path

import pytest

import note
from options import arguments

ROOT = Path(__file__).parents[3]


def test_only_what_is_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{note.BEGIN}\nold\n{note.END}\nafter\n")
    note.write(page, "new")
    note.write(page, "newer")
    assert page.read_text() == f"before\n{note.BEGIN}\n\nnewer\n\n{note.END}\nafter\n"


@pytest.mark.parametrize("text", ["", note.BEGIN, f"{note.END}\n{note.BEGIN}", f"{note.BEGIN}{note.END}" * 2])
def test_a_page_without_both_marks_stays_as_it_is(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(SystemExit, match="once each"):
        note.write(page, "new")
    assert page.read_text() == text


@pytest.mark.parametrize("page", ["README.md", "docs/internals/performance.md"])
def test_the_pages_have_their_marks(page: str) -> None:
    text = (ROOT / page).read_text()
    assert text.count(note.BEGIN) == text.count(note.END) == 1
    assert text.index(note.BEGIN) < text.index(note.END)


@pytest.mark.parametrize("given", [["--write", "--only", "set"], ["--accept"]])
def test_contradictory_options_are_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(given)
