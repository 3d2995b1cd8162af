"""How a value that cannot be stored or read says which part of it is to blame."""

from __future__ import annotations

from ._errors import KeptError


class Refusal(Exception):
    """A part of a value is refused. The path to the part grows while the refusal leaves the containers around it."""

    def __init__(self, error: type[KeptError], sentence: str) -> None:
        super().__init__(sentence)
        self.error = error
        self.path = ""

    def inside(self, step: str | int) -> Refusal:
        """The same refusal, seen from the container that holds the refused part under `step`."""
        self.path = (f"[{step}]" if isinstance(step, int) else f".{step}") + self.path
        return self

    def about(self, key: str) -> KeptError:
        """The exception for the caller, who asked for `key`."""
        place = f" at {readable(self.path)}" if self.path else ""
        return self.error(f'"{readable(key)}"{place}: {self}', key=key)


def with_article(name: str) -> str:
    """The name of a type as a sentence has it: an int, a str, a UUID."""
    is_spelled = name[:1] == "U" and name[1:2].isupper()
    return f"{'an' if name[:1] in tuple('AEIOUaeiou') and not is_spelled else 'a'} {name}"


def readable(text: str) -> str:
    """Text that fits into a sentence and can always be printed."""
    shown = text if len(text) <= 80 else text[:60] + "…"
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")
