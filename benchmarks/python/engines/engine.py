"""How the rows drive Kept and its rivals. Each runs its own loops, so that a figure has no call in it but its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from names import Value


class Engine(ABC):
    """A store whose values are all of one type."""

    together = True
    """Whether `set_together` is one commit, of which others see all or nothing."""

    @abstractmethod
    def __init__(self, folder: Path, kind: type[Value]) -> None:
        """Opens the store in the folder, and makes it there the first time: all that a program does before it reads."""

    def keys(self, names: Sequence[str]) -> Sequence[Any]:
        """The names as this engine is asked for them; programs have them ready."""
        return names

    @abstractmethod
    def get(self, keys: Iterable[Any]) -> None: ...

    @abstractmethod
    def set(self, changes: Iterable[tuple[Any, Value]]) -> None:
        """Each a commit of its own, which others see when it has returned, and which no kill takes back."""

    @abstractmethod
    def set_together(self, changes: Iterable[tuple[Any, Value]]) -> None:
        """As quickly as many can be set."""

    @abstractmethod
    def close(self) -> None: ...
