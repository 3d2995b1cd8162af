"""The links of the documentation are valid: relative links with their headings, and files of the repository.

The code of the guides and articles fits the page.

.venv/bin/python -m pytest Tests/Docs/Readme/test_links.py
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guides import wide_lines
from swift_package import ROOT

PAGES = sorted(
    page
    for pattern in ("*.md", "docs/*.md", "docs/decisions/README.md", "Tests/*.md", "examples/*.md", "bindings/*/*.md")
    for page in ROOT.glob(pattern)
)
WITH_CODE = sorted(
    page for pattern in ("README.md", "docs/*.md", "Sources/Kept/Kept.docc/**/*.md") for page in ROOT.glob(pattern)
)
FOLDERS = "benchmarks|bindings|cmake|docs|examples|include|scripts|Sources|Tests"


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
