"""No page, help text or script makes pip look for `kept`, which is another project's package on PyPI.

The distribution is `kept-settings`; its module is `kept`.

.venv/bin/python -m pytest Tests/docs/readme/test_installing.py
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from swift_package import ROOT

NOT_OURS = re.compile(
    r"""
    # A command of pip and its like whose arguments have the bare name. A line may end within it.
    \b(?:pip3?|pipx|poetry|pdm|uv|uv\s+pip|uv\s+tool)\s+(?:install|add|download|wheel|inject|show|uninstall)
    (?:\s+(?!kept\b)[^\s`$&;|]*[^\s`$&;|,]){0,6}?\s+["']?kept(?![\w/.*-])
    | \buvx\s+kept\b
    # A requirement with an extra or a version.
    | (?<![\w.-])kept\[[a-z]
    | ["']kept\s*(?:[=~<>!]=|[<>])
    # Files that pip would make of it.
    | (?<![\w-])kept-(?:\$\([^)]*\)|[^\s"'`])*\.(?:whl|dist-info)
    | (?<![\w-])kept-(?:\*|\$?\w+(?:\.\w+)*)\.tar\.gz
    """,
    re.VERBOSE,
)


def found_in(text: str) -> list[str]:
    """What a text says that names the package of somebody else."""
    return [" ".join(match[0].split()) for match in NOT_OURS.finditer(text)]


def tracked() -> list[Path]:
    """The text files of the repository, without this one."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    pictures = (".svg", ".png", ".gif")
    paths = [ROOT / name for name in done.stdout.split("\0") if name and not name.endswith(pictures)]
    return [path for path in paths if path != Path(__file__).resolve() and path.is_file()]


def test_nothing_in_the_repository_installs_the_package_of_somebody_else() -> None:
    wrong = {
        str(path.relative_to(ROOT)): found
        for path in tracked()
        if (found := found_in(path.read_text("utf-8", "replace")))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "text",
    [
        "pip install kept",
        "pip install --upgrade 'kept'",
        "browser/bin/pip\ninstall kept textual",
        "pip install 'textual>=8,<9' kept",
        "python -m pip install 'kept[browse]'",
        "uv add kept",
        "uvx kept browse",
        "pip show kept",
        '"kept[browse]"',
        "'kept>=0.1'",
        "pip install kept-*.whl",
        "kept-0.1.0-py3-none-any.whl",
        "kept-$version-py3-none-manylinux_2_36_$(uname -m).whl",
        "kept-0.1.0.dist-info",
        "pip install kept-0.1.0.tar.gz",
        "$dist/kept-$version.tar.gz",
    ],
)
def test_each_way_to_ask_for_it_is_found(text: str) -> None:
    assert found_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install kept-settings",
        "pip install kept_settings-*.whl kept_browse-*.whl",
        "pip install 'kept-settings[browse]'",
        "pip install . ./apps/browse, then kept browse",
        "apt install ./kept_*.deb",
        "kept-*-Linux.tar.gz",
        "kept-$version-Linux.tar.gz",
        "kept_settings-0.1.0.dist-info",
        "import kept",
        'settings = kept["step"]',
    ],
)
def test_what_is_right_is_not_refused(text: str) -> None:
    assert found_in(text) == []
