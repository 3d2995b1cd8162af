"""Every kind of value through the library and back, and what the library itself refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

import kept
from values import canonical, values


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kept.Store]:
    with kept.open(tmp_path_factory.mktemp("values") / "v.kept") as store:
        yield store


@given(value=values)
def test_any_value_reads_back_equal(shared: kept.Store, value: kept.JSON) -> None:
    shared["k"] = value
    assert canonical(shared["k"]) == canonical(value)


@given(value=values)
def test_any_value_is_kept_when_the_store_is_reopened(location: Path, value: kept.JSON) -> None:
    with kept.open(location) as store:
        store["k"] = value
    with kept.open(location) as store:
        assert canonical(store["k"]) == canonical(value)


test_any_value_is_kept_when_the_store_is_reopened = hypothesis_settings(
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)(test_any_value_is_kept_when_the_store_is_reopened)


@given(value=values)
def test_writing_the_value_that_was_read_changes_nothing(shared: kept.Store, value: kept.JSON) -> None:
    shared["same"] = value
    before = shared.revision("same")
    shared["same"] = shared["same"]
    assert shared.revision("same") == before


@pytest.mark.parametrize("value", [None, {1}, "\ud800", 2**64, [1, [object()]]])
def test_a_refused_value_leaves_the_old_one(settings: kept.Store, value: Any) -> None:
    settings["k"] = "old"
    with pytest.raises(kept.InvalidError):
        settings["k"] = value
    assert settings["k"] == "old"
