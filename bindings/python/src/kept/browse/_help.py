"""The help screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static

from ._search import FILTERS

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

TEXT = """\
It starts read-only: nothing is changed before you press w.

LIST OF KEYS
  arrows, j, k     move                  Enter        open a key, a branch
  Page, Home, End  move further          /            search as you type
  t                tree, or flat list    left, right  close, open a branch
  w                allow changes or not  e            edit the key
  d, then y        reset the key         D, then y    reset what is listed
  n                set a new key         a            pending changes
  u                undo your last        i, x         import, export
                   commit                Ctrl+R       open the store again
  c                compare with a store, a backup or an export
  A                acknowledge that the store was damaged and salvaged
  q                back

PAGE OF A KEY
  1, 2, 3, 4       layers, declaration, history, live changes
  r                reveal a secret, or cover it
  u                undo the selected change of the history, or your last
                   one of this key

EDITOR
  Ctrl+S           set the value now
  Ctrl+G           add it to the pending changes
  Ctrl+J           begin a new line in a text
  Escape           leave it as it is

EVERYWHERE
  ?, F1            this help             l            light or dark
  Escape           back, but never out   q, Ctrl+Q    back, quit

SIGNS BEFORE A KEY
  *  changed from its default            =  locked by the administrator
  ~  stored, but a higher layer hides    !  a value that does not fit
  >  changed a moment ago                +  has a pending change

SEARCH
  Words are found in keys, summaries and values. Filters begin with @:
{filters}

The command kept can do everything that is done here, and a screen reader
reads its output: list, explain, describe, log, set, reset, undo,
transaction, import, export, backup, diff, doctor, stores and info.
"""


class Help(Screen[None]):
    """What the keys do."""

    CSS = "Help > VerticalScroll { padding: 0 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,f1", "app.leave", "Back", key_display="q")]

    def compose(self) -> ComposeResult:
        filters = "\n".join(f"  {name:12} {words}" for name, (words, _) in FILTERS.items())
        with VerticalScroll():
            yield Static(TEXT.format(filters=filters), markup=False)
        yield Footer()
