"""The dialog about a pending change whose key another program has changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

import kept

from ._ask import LOW
from ._pending import Edit, is_misfit, stored
from ._seen import is_seen
from ._text import name_text

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

KEYS = "y replaces it with yours, n keeps it and discards yours."


class Conflict(ModalScreen[Edit | bool]):
    """Shows another program's value, and asks whether it may be replaced.

    The result is the edit that replaces the value that was shown, False to discard the edit, or None for no answer.
    """

    CSS = """
    Conflict { align: center middle; }
    Conflict > Vertical { width: 76; max-width: 95%; height: auto; max-height: 100%; background: $panel; }
    Conflict > Vertical { border: solid $error; }
    Conflict #keys { margin: 1 0; }
    Conflict #values { height: auto; max-height: 50vh; }
    Conflict.low > Vertical { width: 100%; max-width: 100%; height: 1fr; border: none; }
    Conflict.low #keys { margin: 0; }
    Conflict.low #values { height: 1fr; max-height: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "replace", "Replace it"),
        Binding("n", "dismiss(False)", "Keep it"),
        Binding("escape", "dismiss(None)", "Later"),
    ]

    def __init__(self, settings: kept.Store, edit: Edit) -> None:
        super().__init__()
        self._settings = settings
        found = settings.explain(edit.key)
        value, revision = stored(found)
        is_secret = edit.is_secret or found.secret
        self._edit = replace(edit, old=value, revision=revision, is_secret=is_secret, is_misfit=is_misfit(found))

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(f'"{name_text(self._edit.key)}" has changed since you edited it.', id="question", markup=False)
            with VerticalScroll(id="values"):
                yield Static(id="other", markup=False)
                yield Static(id="own", markup=False)
            yield Static(KEYS, id="keys", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.app.clear_notifications()  # which would lie over it
        self.query_one("#values").focus()
        self._show()

    def _show(self) -> None:
        self.query_one("#other", Static).update(f"now:   {self._edit.old_text}")
        self.query_one("#own", Static).update(f"yours: {self._edit.text}")

    def declarations_changed(self) -> None:
        """Covers the values if the key has been declared secret."""
        try:
            is_secret = self._settings.explain(self._edit.key).secret
        except kept.KeptError:
            return  # the list below says so
        if is_secret and not self._edit.is_secret:
            self._edit = replace(self._edit, is_secret=True)
            self._show()

    def action_replace(self) -> None:
        """Ends the dialog when what it shows is drawn."""
        self.call_after_refresh(self._replace)

    def _replace(self) -> None:
        if not self.is_current:
            return
        if is_seen(self, self.query_one("#question"), is_whole=True) and is_seen(self, self.query_one("#other")):
            self.dismiss(self._edit)
            return
        self.app.clear_notifications()
        self.query_one("#values").scroll_home(animate=False)
        self.query_one("#keys", Static).update("Its value is not in view: make the terminal larger, and press y again.")

    def on_resize(self, event: events.Resize) -> None:
        """Leaves borders out where there is no place."""
        self.set_class(event.size.height < LOW, "low")
