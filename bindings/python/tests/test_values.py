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
    max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)(test_any_value_is_kept_when_the_store_is_reopened)


@given(value=values)
def test_writing_the_value_that_was_read_changes_nothing(shared: kept.Store, value: kept.JSON) -> None:
    shared["same"] = value
    before = shared.revision("same")
    shared["same"] = shared["same"]
    assert shared.revision("same") == before


def test_1_and_1_0_and_true_are_three_values(settings: kept.Store) -> None:
    settings["k"] = 1
    revisions = [settings.revision("k")]
    for value in (1.0, True):
        settings["k"] = value
        assert type(settings["k"]) is type(value)
        revisions.append(settings.revision("k"))
    assert revisions[0] < revisions[1] < revisions[2]


@pytest.mark.parametrize("size", [0, 1, 1_000_000])
def test_text_and_bytes_of_any_size(settings: kept.Store, size: int) -> None:
    settings["text"], settings["bytes"] = "é" * size, b"\0" * size
    assert (settings["text"], settings["bytes"]) == ("é" * size, b"\0" * size)


def test_a_value_over_16_mib_is_too_large_and_leaves_the_old_one(settings: kept.Store) -> None:
    settings["k"] = "old"
    with pytest.raises(kept.TooLargeError):
        settings["k"] = "x" * (2**24 + 1)
    assert settings["k"] == "old"


def test_nfc_and_nfd_are_two_keys_and_two_values(settings: kept.Store) -> None:
    settings["é"], settings["e\u0301"] = "é", "e\u0301"
    assert list(settings) == ["e\u0301", "é"]
    assert settings["é"] == "é" != settings["e\u0301"]
    settings["d"] = {"é": 1, "e\u0301": 2}
    assert settings["d"] == {"é": 1, "e\u0301": 2}


@pytest.mark.parametrize("value", [None, {1}, "\ud800", 2**64, [1, [object()]]])
def test_a_refused_value_leaves_the_old_one(settings: kept.Store, value: Any) -> None:
    settings["k"] = "old"
    with pytest.raises(kept.InvalidError):
        settings["k"] = value
    assert settings["k"] == "old"
