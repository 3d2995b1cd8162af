"""The links of the documentation are valid: relative links with their headings, and files of the repository.

The code of the guides and articles fits the page. The pages of decisions have their parts, and are short.

.venv/bin/python -m pytest Tests/docs/readme/test_links.py
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from guides import wide_lines
from swift_package import ROOT

DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9][0-9]-*.md"))
PAGES = sorted(
    page
    for pattern in (
        *("*.md", "docs/*.md", "docs/guide/*.md", "docs/internals/*.md", "docs/decisions/*.md"),
        *("Tests/*.md", "apps/*/*.md", "examples/*.md", "bindings/*/*.md"),
    )
    for page in ROOT.glob(pattern)
)
WITH_CODE = sorted(
    page
    for pattern in (
        "README.md",
        "apps/*/*.md",
        "docs/*.md",
        "docs/guide/*.md",
        "docs/internals/*.md",
        "Sources/Kept/Kept.docc/**/*.md",
    )
    for page in ROOT.glob(pattern)
)
COMMENTED = ("*.c", "*.cmake", "*.h", "*.py", "*.swift", "*.toml", "*.txt")
FOLDERS = "apps|benchmarks|bindings|cmake|docs|examples|include|scripts|Sources|Tests"


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The headings of a page, in the form of link fragments."""
    headings = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_points_to_is_there(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if link.startswith("https:"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
    for name in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", prose(page)):
        assert (ROOT / name).exists() or (page.parent / name).exists(), name


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_fits_the_page(page: Path) -> None:
    assert wide_lines(page, "swift|c|python") == []


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.name)
def test_a_decision_has_its_parts_and_is_short(page: Path) -> None:
    text = page.read_text("utf-8")
    parts = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert [part for part in parts if part != "Did not help"] == ["Question", "Choice", "Measured", "Given up"]
    assert len(text.splitlines()) <= 90
    title = text.splitlines()[0].removeprefix("# ")
    number, _, words = title.partition(". ")
    assert page.name.startswith(f"{int(number):02}-")
    contents = (page.parent / "README.md").read_text("utf-8")
    assert f"{number}. [{words}]({page.name})" in re.sub(r"\s+", " ", contents)


def test_comments_name_decisions_that_are_there() -> None:
    """A number alone would not say which page is meant."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", *COMMENTED], capture_output=True, check=True)
    for name in listed.stdout.decode().rstrip("\0").split("\0"):
        text = (ROOT / name).read_text("utf-8", "replace")
        for page in re.findall(r"docs/decisions/[\w./-]*\w", text):
            assert (ROOT / page).exists(), f"{name}: {page}"
        assert not re.search(r"\b[Dd]ecisions? \d", text), name
