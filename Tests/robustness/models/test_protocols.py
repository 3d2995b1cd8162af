"""The protocols of the storage keep their promises in every interleaving, and none of their rules is needless.

.venv/bin/python -m pytest Tests/robustness/models
"""

from __future__ import annotations

import commits
import image
import pytest
from explore import explore


def test_no_commit_is_lost_or_torn() -> None:
    model = commits.Model()
    assert explore(model.initial, model.steps, model.faults)[1] == []


def test_who_only_reads_sees_what_is_published() -> None:
    model = commits.Model(reader=True)
    assert explore(model.initial, model.steps)[1] == []


@pytest.mark.parametrize("rule", commits.RULES)
def test_each_rule_of_commits_is_needed(rule: str) -> None:
    model = commits.Model(without=rule, reader=rule == "bound")
    assert explore(model.initial, model.steps, model.faults)[1] != []


def test_no_reader_finds_a_wrong_value() -> None:
    model = image.Model()
    assert explore(model.initial, model.steps)[1] == []


@pytest.mark.parametrize("rule", image.RULES)
def test_each_rule_of_reading_is_needed(rule: str) -> None:
    model = image.Model(without=rule)
    assert explore(model.initial, model.steps)[1] != []
