"""scripts/bench --check: its output for counts that increased, decreased, or belong to other versions."""

from __future__ import annotations

from pathlib import Path

import pytest

import guard
import instructions
import machine
from guard import Accepted, judge
from instructions import Counter, collected

ACCEPTED = Path(guard.__file__).parents[1] / "guard/instructions.json"
NOWHERE = Counter(*[Path()] * 5)
SWIFT = {"Swift": "6.3.1"}


@pytest.mark.parametrize(
    ("now", "word", "grew"),
    [
        (1099, "", []),
        (1101, "grew", ["set"]),
        (901, "", []),
        (899, "shrank", []),
        (1000, "", []),
    ],
)
def test_a_change_of_more_than_a_tenth_is_named(now: float, word: str, grew: list[str]) -> None:
    verdict = judge({"set": 1000}, {"set": now})
    assert verdict.grew == grew
    assert verdict.lines[0].endswith("%") if not word else word in verdict.lines[0]


@pytest.mark.parametrize(("counts", "least"), [([1200, 1250, 1010], 1010), ([1200, 1020], 1020), ([1050], 1050)])
def test_what_grew_is_counted_again(counts: list[float], least: float) -> None:
    coming = iter(counts)
    assert guard.count({"set": lambda: next(coming)}, {"set": 1000}) == {"set": least}
    assert list(coming) == []


def test_a_row_that_was_never_accepted_is_new_and_no_failure() -> None:
    verdict = judge({}, {"set": 1000})
    assert "new" in verdict.lines[0] and not verdict.grew


def test_a_row_that_is_not_counted_any_more_is_named() -> None:
    assert "gone" in judge({"set": 1000}, {}).lines[0]


def test_generated_code_may_take_five_hundredths_more_than_code_by_hand() -> None:
    counted = {"choice in C": 105.0, "choice in C by hand": 100.0, "get int64": 300.0}
    assert not guard.dear(counted)
    counted["choice in C"] = 106
    assert guard.dear(counted) == ["choice in C takes 1.06 times the instructions of code by hand"]


def test_only_differing_versions_are_named() -> None:
    accepted = {"Swift": "6.3.1", "Valgrind": "3.19.0", "glibc": "2.36"}
    here = {"Swift": "6.3.1", "Valgrind": "3.20.0"}
    assert guard.differing(accepted, here) == ["Valgrind 3.19.0, here 3.20.0", "glibc 2.36, here none"]


def test_every_count_was_accepted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(instructions, "callgrind", lambda *command, **options: "Collected : 1000000")
    monkeypatch.setattr(Counter, "import_in_python", lambda counter: 1000.0)
    counted = guard.count(guard.measures(Counter(*[tmp_path] * 5)), {})
    assert list(Accepted.read(ACCEPTED).instructions) == list(counted)
    assert counted["export, each of 1,000 keys"] == 1000
    assert counted["first open in a process"] == 1000000


@pytest.mark.parametrize("said", ["Collected : 0", "no such row"])
def test_a_program_that_counts_nothing_is_an_error(said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        collected(said)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The counts to come."""
    counted = {"set": 1000.0}
    monkeypatch.setattr(guard, "count", lambda measures, accepted: counted)
    monkeypatch.setattr(machine, "counted_with", lambda: SWIFT)
    return counted


def test_a_check_fails_when_a_count_grew(counts: dict[str, float], tmp_path: Path) -> None:
    file = tmp_path / "instructions.json"
    Accepted(SWIFT, {"set": 800}).write(file)
    before = file.read_text()
    assert guard.check(NOWHERE, file, accepting=False) == 1
    assert file.read_text() == before


def test_a_check_passes_when_a_count_shrank(counts: dict[str, float], tmp_path: Path) -> None:
    file = tmp_path / "instructions.json"
    Accepted(SWIFT, {"set": 2000}).write(file)
    assert guard.check(NOWHERE, file, accepting=False) == 0


def test_an_accepted_count_passes_from_then_on(counts: dict[str, float], tmp_path: Path) -> None:
    file = tmp_path / "instructions.json"
    Accepted({"Swift": "6.2"}, {"set": 800}).write(file)
    assert guard.check(NOWHERE, file, accepting=True) == 0
    assert Accepted.read(file) == Accepted(SWIFT, {"set": 1000})
    assert guard.check(NOWHERE, file, accepting=False) == 0


def test_a_check_says_that_a_version_differs(
    counts: dict[str, float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "instructions.json"
    Accepted({"Swift": "6.2"}, {"set": 800}).write(file)
    assert guard.check(NOWHERE, file, accepting=False) == 1
    assert "Swift 6.2, here 6.3.1" in capsys.readouterr().out
