"""The help screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from ._search import FILTERS
from ._window import foot

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

TEXT = """\
It starts read-only: nothing is changed before you press w.

LIST OF KEYS
  arrows, j, k     move                  Enter        open a key, a branch
  Page, Home, End  move further          /            search as you type
  t                tree, or flat list    left, right  close, open a branch
  s                sort by key, change, layer or type
  w                allow changes in every store that you open, or not
  e                edit the key
  d, then y        use the default       D, then y    for listed keys
  y, Y             copy the value, the key
  n                set a new key         a            pending changes
  u                undo your last commit since the store was opened; the
                   page of a key undoes older changes
  i, x             import, export        Ctrl+R       open the store again
  c                compare with a store, a backup or an export
  A                acknowledge that the store was damaged and salvaged
  q                back to the list of stores, or else quit

LIST OF STORES
  /                search the keys of all stores
  o                open another store    Ctrl+R       read again
  w                as in the list of keys

PAGE OF A KEY
  1, 2, 3, 4       layers, declaration, history, live changes
  d, e, y, Y       as in the list        r            reveal or cover a secret,
                                                      or unlock it
  u                undo the selected change of the history, or your last
                   one of this key since the store was opened

EDITOR
  Ctrl+S, Enter    set the value now; in an area, Enter begins a new line
  Ctrl+G           add it to the pending changes
  Ctrl+D           use the default, after a question
  Ctrl+J           begin a new line in a text
  Escape           leave, after a question if there is unsaved text

EVERYWHERE
  ?, F1            this help             l            light or dark
  Escape           back, but never quits q, Ctrl+Q    back, quit

SIGNS BEFORE A KEY
  *  changed from its default            =  locked by the administrator
  ~  stored, but overridden              !  invalid value
  >  changed just now                    +  has a pending change

SEARCH
  Words are found in keys, summaries and values. Filters begin with @:
{filters}

The command kept can do everything that the browser does, and its output
suits screen readers: list, explain, describe, log, set, reset, undo,
transaction, import, export, backup, diff, doctor, stores and info.
"""


class Help(Screen[None]):
    """Explains the keys."""

    CSS = "Help > VerticalScroll { padding: 0 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,f1", "app.leave", "Back", key_display="q")]

    def compose(self) -> ComposeResult:
        filters = "\n".join(f"  {name:12} {words}" for name, (words, _) in FILTERS.items())
        with VerticalScroll():
            yield Static(TEXT.format(filters=filters), markup=False)
        yield from foot()
