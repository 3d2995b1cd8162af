"""What the package offers: a complete and sorted `__all__`, all of it documented and typed."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import kept


def test_all_is_complete() -> None:
    public = {name for name in dir(kept) if name[0] != "_" and not isinstance(getattr(kept, name), ModuleType)}
    assert set(kept.__all__) == public


def test_all_is_sorted() -> None:
    assert kept.__all__ == sorted(kept.__all__)


def test_everything_public_is_documented() -> None:
    for name in kept.__all__:
        value = getattr(kept, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name
            assert not value.__doc__.startswith(f"{name}("), f"{name} has a generated docstring"
        for method, function in inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else []:
            if method[0] != "_" and function.__module__.startswith("kept"):
                assert function.__doc__, f"{name}.{method}"


def test_every_function_has_types() -> None:
    for name in kept.__all__:
        value = getattr(kept, name)
        if inspect.isfunction(value):
            assert "return" in value.__annotations__, name


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(kept.__file__).parent / "py.typed").is_file()


def test_the_version_is_the_library_s() -> None:
    from kept._c.status import kept_version

    assert kept.__version__ == kept_version().decode() == "0.1.0"
