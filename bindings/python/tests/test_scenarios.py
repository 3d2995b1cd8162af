"""The shared stories, told in Python by `telling`; and whether they are well told."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from telling import Telling

ROOT = Path(__file__).parents[3]
SCENARIOS = ROOT / "Tests" / "scenarios"
STORIES = {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(SCENARIOS.glob("*.json"))}
TOLD = {name: story for name, story in STORIES.items() if "python" not in story.get("not_in", {})}


TELLINGS = [
    pytest.param(name, place, id=f"{story['title']} ({place})")
    for name, story in TOLD.items()
    for place in story["stores"]
]


@pytest.mark.parametrize(("name", "place"), TELLINGS)
def test_story(name: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in STORIES[name].get("variables", {}).items():
        monkeypatch.setenv(variable, value)
    (tmp_path / "files").mkdir()
    telling = Telling(f"memory:{name}" if place == "memory" else str(tmp_path / "store"), tmp_path / "files")
    telling.tell({"do": "open"})
    try:
        for step in STORIES[name]["steps"]:
            telling.tell(step)
    finally:
        telling.end()


@pytest.mark.parametrize("name", STORIES.keys())
def test_a_story_has_the_form_that_the_schema_says(name: str) -> None:
    schema = json.loads((SCENARIOS / "schema" / "story.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(STORIES[name])


@pytest.mark.parametrize("name", STORIES.keys())
def test_a_story_names_a_promise_of_the_readme(name: str) -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    promises = readme.split("## Promises")[1].split(" ## ")[0]
    number = STORIES[name]["promise"]
    promise = promises.split(f" {number}. ")[1].split(f" {number + 1}. ")[0]
    assert STORIES[name]["words"] in promise


def test_no_title_is_told_twice() -> None:
    titles = [story["title"] for story in STORIES.values()]
    assert sorted(titles) == sorted(set(titles))


def test_bad_input_has_its_share() -> None:
    assert len(STORIES) >= 30
    assert sum(story.get("bad_input", False) for story in STORIES.values()) >= 10


def test_what_python_cannot_tell_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        for name in STORIES.keys() - TOLD.keys():
            print(f"\nnot told in Python - {name}: {STORIES[name]['not_in']['python']}")
    assert all(len(STORIES[name]["not_in"]["python"]) >= 10 for name in STORIES.keys() - TOLD.keys())


def test_an_unknown_step_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        Telling("memory:", tmp_path).tell({"do": "dance"})


def test_an_unknown_field_fails(tmp_path: Path) -> None:
    telling = Telling("memory:", tmp_path)
    telling.tell({"do": "open"})
    with pytest.raises(AssertionError, match="does not know mood of contains"):
        telling.tell({"do": "contains", "key": "a", "gives": False, "mood": "fine"})
    telling.end()
