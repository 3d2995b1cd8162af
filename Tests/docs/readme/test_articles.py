"""The programs in the articles of Kept.docc print what the articles say.

The Swift of an article is one program. A comment behind a `print`, or alone on the next line, is a complete line of
its output. Run by scripts/test, or alone:

    .venv/bin/python -m pytest Tests/docs/readme/test_articles.py
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from swift_package import ARTICLES, executables, program


def promised(article: Path) -> list[str]:
    """The lines of output that an article states."""
    return re.findall(r"\bprint\(.*\)(?: }|)(?:  |\n *)// (.*)$", program(article), flags=re.MULTILINE)


def printed(article: Path, config: Path) -> list[str]:
    """The lines that its program prints, with a home folder of its own."""
    environment = dict(os.environ, XDG_CONFIG_HOME=str(config))
    done = subprocess.run(
        [executables() / article.stem], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.stem)
def test_an_article_prints_what_it_says(article: Path, tmp_path: Path) -> None:
    lines = printed(article, tmp_path)
    for line in promised(article):
        assert line in lines, f"{line}\nis not among what it prints:\n" + "\n".join(lines)
        lines.remove(line)


def test_most_articles_say_what_they_print() -> None:
    assert sum(len(promised(article)) for article in ARTICLES) >= 40
