"""Errors about values that cannot be stored or read: they name the part at fault, unless the key is secret.

A conversion raises a `Refusal`, whose sentence may quote the value. `converted` turns it into an error for all
conversions, and alone decides what the error may show.
"""

from __future__ import annotations

from ._errors import InvalidError, KeptError
from ._typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class TypedKey(Protocol):
        """The text of an error about a `kept.Key`."""

        @property
        def name(self) -> str:
            """Its name."""

        @property
        def _mismatch(self) -> str:
            """The text of an error about a value that is secret."""

    class Secrecy(Protocol):
        """Knows which keys are secret: settings, a change, or a key itself."""

        def _is_secret(self, key: str | TypedKey) -> bool:
            """Whether the key is declared secret, or may be. Called only when something has failed."""


R = TypeVar("R")
NOT_SHOWN = "a secret is not shown"


class Refusal(Exception):
    """A part of a value is refused. The path to the part grows as the refusal leaves the containers around it."""

    def __init__(self, error: type[KeptError], sentence: str) -> None:
        super().__init__(sentence)
        self.error = error
        self.path = ""

    def inside(self, step: str | int) -> None:
        """Puts a step in front of the path: the container around the refused part holds it under `step`."""
        self.path = (f"[{step}]" if isinstance(step, int) else f".{step}") + self.path

    def about(self, key: str) -> KeptError:
        """The exception for the caller, who asked for `key`."""
        place = f" at {readable(self.path)}" if self.path else ""
        return self.error(f'"{readable(key)}"{place}: {self}', key=key)


class Known:
    """The answer is known already."""

    def __init__(self, is_secret: bool) -> None:
        self.is_secret = is_secret

    def _is_secret(self, key: str | TypedKey) -> bool:
        return self.is_secret


class AnyOf:
    """For a call with several keys: they are secret if one of them is."""

    def __init__(self, secrecy: Secrecy, keys: tuple[str, ...]) -> None:
        self.secrecy, self.keys = secrecy, keys

    def _is_secret(self, key: str | TypedKey) -> bool:
        return any(map(self.secrecy._is_secret, self.keys))


def converted(
    convert: Callable[[Any], R], value: Any, key: str | TypedKey, secrecy: Secrecy, instead: str | None = None
) -> R:
    """Converts a value of `key`. A refusal becomes an error with the key, the place and the sentence.

    For a secret, the error says `instead`, or that the value is not of the key's type. It contains nothing else of the
    refusal: not its sentence, which may quote the value; not its path, since names of members are part of the value;
    and no earlier exception.
    """
    try:
        return convert(value)
    except (MemoryError, RecursionError):
        raise
    except Exception as raised:
        error = _error_of(raised, key, secrecy, instead)
    # Raised outside the handler, so that `raised` does not become its context.
    try:
        raise error
    finally:
        del error


def _error_of(raised: Exception, key: str | TypedKey, secrecy: Secrecy, instead: str | None) -> Exception:
    name = key if isinstance(key, str) else key.name
    if secrecy._is_secret(key):
        if instead is None:
            instead = "has a different type" if isinstance(key, str) else key._mismatch
        kind = raised.error if isinstance(raised, Refusal) else type(raised)
        error = Refusal(kind if issubclass(kind, KeptError) else InvalidError, f"{instead}; {NOT_SHOWN}").about(name)
    elif isinstance(raised, Refusal):
        error = raised.about(name)
        error.__cause__ = raised.__cause__
    else:
        return raised
    error.__suppress_context__ = True
    return error


def with_article(name: str) -> str:
    """The name of a type with its article: an int, a str, a UUID."""
    if name in ("bytes", "NoneType"):
        return "None" if name == "NoneType" else name
    is_spelled = name[:1] == "U" and name[1:2].isupper()
    return f"{'an' if name[:1] in tuple('AEIOUaeiou') and not is_spelled else 'a'} {name}"


def readable(text: str) -> str:
    """Text that fits into a sentence and can always be printed."""
    shown = text if len(text) <= 80 else text[:60] + "…"
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")
