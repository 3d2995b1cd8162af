"""The shared scenarios, run in Python by `scenario_runner`; and whether each is well formed."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from scenario_runner import ScenarioRunner

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "Tests" / "scenarios"
FILES = [file for file in FOLDER.glob("*/*.json") if file.parent.name != "schema"]
SCENARIOS = {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(FILES, key=lambda file: file.name)}
SHARED = {name: scenario for name, scenario in SCENARIOS.items() if "python" not in scenario.get("not_in", {})}


RUNS = [
    pytest.param(name, place, id=f"{scenario['title']} ({place})")
    for name, scenario in SHARED.items()
    for place in scenario["stores"]
]


@pytest.mark.parametrize(("name", "place"), RUNS)
def test_scenario(name: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in SCENARIOS[name].get("variables", {}).items():
        monkeypatch.setenv(variable, value)
    (tmp_path / "files").mkdir()
    runner = ScenarioRunner(f"memory:{name}" if place == "memory" else str(tmp_path / "store"), tmp_path / "files")
    runner.run({"do": "open"})
    if place == "folder":
        runner.things["store"].keep_secrets_plain()
    try:
        for step in SCENARIOS[name]["steps"]:
            runner.run(step)
    finally:
        runner.end()


@pytest.mark.parametrize("name", SCENARIOS.keys())
def test_a_scenario_has_the_form_that_the_schema_says(name: str) -> None:
    schema = json.loads((FOLDER / "schema" / "scenario.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(SCENARIOS[name])


@pytest.mark.parametrize("name", SCENARIOS.keys())
def test_a_scenario_names_a_promise_of_the_guide(name: str) -> None:
    page = " ".join((ROOT / "docs/guide/promises.md").read_text("utf-8").split())
    promises = page.split(" ## ")[0]
    number = SCENARIOS[name]["promise"]
    promise = promises.split(f" {number}. ")[1].split(f" {number + 1}. ")[0]
    assert SCENARIOS[name]["words"] in promise


def test_every_title_is_unique() -> None:
    titles = [scenario["title"] for scenario in SCENARIOS.values()]
    assert sorted(titles) == sorted(set(titles))


def test_bad_input_has_its_share() -> None:
    assert len(SCENARIOS) >= 30
    assert sum(scenario.get("bad_input", False) for scenario in SCENARIOS.values()) >= 10


def test_a_scenario_that_python_cannot_run_gives_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        for name in SCENARIOS.keys() - SHARED.keys():
            print(f"\nnot run in Python - {name}: {SCENARIOS[name]['not_in']['python']}")
    assert all(len(SCENARIOS[name]["not_in"]["python"]) >= 10 for name in SCENARIOS.keys() - SHARED.keys())


def test_an_unknown_step_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        ScenarioRunner("memory:", tmp_path).run({"do": "dance"})


def test_an_unknown_field_fails(tmp_path: Path) -> None:
    runner = ScenarioRunner("memory:", tmp_path)
    runner.run({"do": "open"})
    with pytest.raises(AssertionError, match="does not know mood of contains"):
        runner.run({"do": "contains", "key": "a", "gives": False, "mood": "fine"})
    runner.end()
