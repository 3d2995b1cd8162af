"""The dialog for a pending change whose key another program has changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Static

import kept

from ._ask import Question
from ._pending import Edit, is_misfit, stored
from ._text import name_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.binding import BindingType


class Conflict(Question[Edit | bool]):
    """Shows another program's value and asks whether to replace it.

    The result is the edit that replaces the value that was shown, False to discard the edit, or None for no answer.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "Replace it"),
        Binding("n", "dismiss(False)", "Keep it"),
        Binding("escape", "dismiss(None)", "Later"),
    ]

    def __init__(self, settings: kept.Store, edit: Edit) -> None:
        super().__init__(f'"{name_text(edit.key)}" has changed since you edited it.')
        self._settings = settings
        found = settings.explain(edit.key)
        value, revision = stored(found)
        is_secret = edit.is_secret or found.secret
        self._edit = replace(edit, old=value, revision=revision, is_secret=is_secret, is_misfit=is_misfit(found))

    @property
    def answer(self) -> Edit:
        return self._edit

    @property
    def keys(self) -> str:
        return "y replaces it with yours, n keeps it and discards yours."

    def lines(self) -> Iterator[Static]:
        yield Static(id="other", markup=False)
        yield Static(id="own", markup=False)

    def on_mount(self) -> None:
        self._show()

    def _show(self) -> None:
        self.query_one("#other", Static).update(f"now:   {self._edit.old_text}")
        self.query_one("#own", Static).update(f"yours: {self._edit.text}")

    def declarations_changed(self) -> None:
        """Covers the values if the key has been declared secret."""
        try:
            is_secret = self._settings.explain(self._edit.key).secret
        except kept.KeptError:
            return  # the list below reports this
        if is_secret and not self._edit.is_secret:
            self._edit = replace(self._edit, is_secret=True)
            self._show()
