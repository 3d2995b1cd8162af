"""The documentation shows the browser as it is."""

from __future__ import annotations

import pytest

from pictures import FOLDER, PICTURES, pictures, words


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pictures()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_the_documentation_shows_the_present_screen(name: str, made: dict[str, str]) -> None:
    shown = (FOLDER / f"{name}.svg").read_text("utf-8")
    assert words(shown) == words(made[name]), "make the pictures again: apps/browse/tests/pictures.py"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_fetches_nothing(name: str) -> None:
    shown = (FOLDER / f"{name}.svg").read_text("utf-8")
    assert "url(" not in shown.replace("url(#", "") and "@font-face" not in shown
