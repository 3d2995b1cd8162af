"""How the rows drive Kept and its rivals. Each engine runs its own loops, so that only its own calls are measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from names import Value


class Engine(ABC):
    """A store whose values all have one type."""

    together = True
    """Whether `set_together` is one commit, which other processes see completely or not at all."""

    @abstractmethod
    def __init__(self, folder: Path, kind: type[Value]) -> None:
        """Opens the store in the folder, creating it the first time: all that a program does before it reads."""

    def keys(self, names: Sequence[str]) -> Sequence[Any]:
        """The names in the form that this engine takes; programs prepare them."""
        return names

    @abstractmethod
    def get(self, keys: Iterable[Any]) -> None: ...

    @abstractmethod
    def set(self, changes: Iterable[tuple[Any, Value]]) -> None:
        """Each in its own commit, which is visible to other processes and survives a kill once the call returns."""

    @abstractmethod
    def set_together(self, changes: Iterable[tuple[Any, Value]]) -> None:
        """In the fastest way to set many values."""

    @abstractmethod
    def close(self) -> None: ...
