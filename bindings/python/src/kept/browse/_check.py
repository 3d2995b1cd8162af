"""A box that can be checked, which does not say so by its color alone."""

from __future__ import annotations

from textual.widgets import Checkbox


class Check(Checkbox):
    """Has an X if it is checked, and else none. That of Textual has one always, and another color."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]
        return "X" if self.value else " "
