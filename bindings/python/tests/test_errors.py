"""One tree of exceptions, and each says its status, its key and its place."""

from __future__ import annotations

import copy
import pickle

import pytest

import kept
from kept import _errors


@pytest.mark.parametrize("error", _errors.class_of_status.values())
def test_every_error_is_a_kept_error(error: type[kept.KeptError]) -> None:
    with pytest.raises(kept.KeptError) as caught:
        raise error("it went wrong", key="a", offset=3)
    assert str(caught.value) == "it went wrong"
    assert (caught.value.key, caught.value.offset) == ("a", 3)


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (kept.AbsentError, KeyError),
        (kept.InvalidError, ValueError),
        (kept.WrongTypeError, TypeError),
        (kept.OutOfRangeError, OverflowError),
        (kept.OutOfRangeError, kept.InvalidError),
    ],
)
def test_errors_are_python_s_own_where_it_has_one(error: type[Exception], base: type[Exception]) -> None:
    assert issubclass(error, base)


def test_the_message_of_an_absent_error_is_not_quoted() -> None:
    assert str(kept.AbsentError('"a": has no value')) == '"a": has no value'


def test_a_status_of_a_later_version_is_a_failure_with_its_number() -> None:
    error = _errors.error_of_status(-99, "new", key=None, offset=None)
    assert type(error) is kept.FailedError
    assert error.status == -99
    assert kept.FailedError.status == -16


def test_errors_can_be_sent_between_processes() -> None:
    error = _errors.error_of_status(-1, "no", key="a", offset=2)
    for travelled in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(travelled) is kept.AbsentError
        assert (str(travelled), travelled.status, travelled.key, travelled.offset) == ("no", -1, "a", 2)


def test_an_error_of_the_library_has_its_status_and_key(settings: kept.Store) -> None:
    with pytest.raises(kept.AbsentError) as caught:
        settings["a.b"]
    assert (caught.value.status, caught.value.key, caught.value.offset) == (-1, "a.b", None)
    assert '"a.b"' in str(caught.value)


def test_an_error_in_json_has_its_offset(settings: kept.Store) -> None:
    # The library refuses what Python accepts: a NUL in a dict's key.
    with pytest.raises(kept.InvalidError) as caught:
        settings["a"] = {"x\0y": 1}
    assert caught.value.key == "a"
    assert caught.value.offset is not None and caught.value.offset > 0
