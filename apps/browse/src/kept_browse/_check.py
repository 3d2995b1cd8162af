"""A check box that does not show its state by color alone."""

from __future__ import annotations

from textual.widgets import Checkbox


class Check(Checkbox):
    """Shows an X only if it is checked. Textual's own always shows one and changes its color."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]
        return "X" if self.value else " "
