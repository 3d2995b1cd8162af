"""The screen with all keys of a store."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Input, Static

import kept

from ._actions import Actions
from ._ask import Ask
from ._catalog import FLASH
from ._entry import Line
from ._leaving import until_left
from ._outline import Branch, Item, Leaf, branches_above, outline
from ._row_list import RowList
from ._rows import Row
from ._search import FILTERS, Query
from ._text import ago, count_text, fitted, fitted_name, one_line, shortened, time_text, title_line
from ._window import foot

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._session import Session

PAUSE = 0.05
"""The minimum time between two redraws for changes, in seconds."""

PLACEHOLDER = "Search keys, summaries and values, or @modified …"

SIZES = (8, 11, 8, 17)
"""The widths of the columns TYPE, LAYER, CHANGED and BY."""

DROPPED = (3, 0, 1, 2)
"""The order in which these columns make room for long keys. The details show what is dropped."""

LEAST = 16
"""The least width of the column VALUE."""

ORDERS: dict[str, Callable[[Row | None], Any] | None] = {
    "": None,
    "newest change first": lambda row: -row.past.time.timestamp() if row and row.past else 0,
    "by layer": lambda row: (not row or not row.layer, row and row.layer),
    "by type": lambda row: (not row or not row.type, row and row.type),
}
"""The orders of the flat list, by their names in the title. The first one is by key."""

ALL_OPEN = 2000
"""A search that finds at most this number of keys opens the branches of the tree."""


class SearchLine(Line):
    """The search box, with its keys in the footer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "To the list"),
        Binding("escape", "screen.escape", "End the search"),
    ]


class KeysScreen(Actions, Screen[None]):
    """All keys: a flat list or a tree, a search box, and the details of the key under the cursor."""

    CSS = """
    KeysScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; }
    KeysScreen > #trouble { height: auto; background: $error; color: $text; display: none; }
    KeysScreen > #trouble.shown { display: block; }
    KeysScreen > #search { height: 1; border: none; padding: 0 1; }
    KeysScreen > #columns { height: 1; color: $text-muted; text-style: underline; }
    KeysScreen > #rows { height: 1fr; }
    KeysScreen > #detail { height: auto; min-height: 2; max-height: 50vh; background: $panel; color: $text; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "app.leave", "Leave"),
        Binding("question_mark", "app.help", "Help", key_display="?"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("t", "tree", "Tree"),
        Binding("s", "sort", "Sort", show=False),
        Binding("y", "copy_value", "Copy the value", show=False),
        Binding("Y", "copy_key", "Copy the key", show=False),
        Binding("e", "edit", "Edit"),
        Binding("w", "app.writing", "Writing"),
        Binding("u", "undo", "Undo"),
        Binding("d", "reset", "Reset", show=False),
        Binding("a", "pending", "Pending", show=False),
        Binding("D", "reset_listed", "Reset the listed keys", show=False),
        Binding("n", "new", "New key", show=False),
        Binding("A", "acknowledge", "Acknowledge a salvage", show=False),
        Binding("i", "import", "Import", show=False),
        Binding("x", "export", "Export", show=False),
        Binding("c", "compare", "Compare", show=False),
        Binding("left", "fold(False)", "Close branch", show=False),
        Binding("right", "fold(True)", "Open branch", show=False),
        Binding("ctrl+r", "reopen", "Read again", show=False),
        Binding("escape", "escape", "Back", show=False),
    ]

    def __init__(self, session: Session, query: str = "") -> None:
        super().__init__()
        self.session = session
        self._query = Query.of(query)
        # Kept here, because late calls may find the screen without its widgets.
        self._head = Static(id="title", markup=False)
        self._banner = Static(id="trouble", markup=False)
        self._search = SearchLine(
            query, placeholder=PLACEHOLDER, id="search", compact=True, select_on_focus=False,
        )  # fmt: skip
        self._columns = Static(id="columns", markup=False)
        self._rows = RowList(self._line, id="rows")
        self._detail = Static(id="detail", markup=False)
        self._is_tree = False
        self._order = ""
        self._in_order: list[str] = []
        """The keys in another order than by key, sorted for `_basis`."""
        self._basis: tuple[str, int, list[str]] | None = None
        self._open: set[str] = set()
        self._is_drawing_due = False
        self._has_flashes = False
        self._drawn = 0.0
        self._pause = PAUSE
        self._trouble: list[str] = []
        self._has_load_failed = False
        # A garbage collection over that many new objects would delay keystrokes noticeably. `_load` enables it again.
        gc.disable()
        # Changes are received from here on, before the reading begins, so that none is missed.
        self._changes = session.settings.changes(prefix="")
        self._revision = session.settings.revision()
        session.catalog.begin()

    def compose(self) -> ComposeResult:
        yield from (self._head, self._banner, self._search, self._columns, self._rows, self._detail)
        yield from foot()

    def on_mount(self) -> None:
        self._rows.focus()
        self._show_title()
        self._load()
        self.run_worker(self._follow(), group="follow")
        self._watch()
        self.set_interval(30, self._draw)  # for the ages of the changes

    def on_unmount(self) -> None:
        gc.unfreeze()
        asyncio.get_running_loop().run_in_executor(None, self.session.close)

    # --- reading

    @work(group="load", exclusive=True)
    @until_left
    async def _load(self) -> None:
        catalog = self.session.catalog
        self._has_load_failed = False
        selected = 0.0
        try:
            async for read in catalog.load():
                now = time.monotonic()
                if read == 0 or catalog.is_complete or (not self._query.is_empty and now > selected + 0.3):
                    self._select()
                    selected = now
                else:
                    self._rows.refresh_items()
                self._show_title(read)
            gc.freeze()
        except kept.KeptError as error:
            self._has_load_failed = True
            self._show_trouble(str(error))
        finally:
            gc.enable()

    @until_left
    async def _follow(self) -> None:
        try:
            async with self._changes as changes:
                async for notice in changes:
                    # Keys may be locked or unlocked, which no change reports if their values stay the same.
                    if not notice.changes or notice.origin is kept.Origin.LAYER:
                        self._load()
                        self._redeclared()
                    await self.session.catalog.apply(notice)
                    self._changed()
        except kept.KeptError as error:
            self._show_trouble(await self.session.replaced() or str(error))

    @work(group="follow")
    @until_left
    async def _watch(self) -> None:
        """Looks for conditions that no notice reports: a store that is gone or unreadable, new declarations, and stored
        values that a higher layer hides."""
        revision, pause = self._revision, 1.0
        damage: str | None = None
        unread: str | None = None
        """Why the last changes could not be read."""
        due = 0.0
        while True:
            trouble = await self.session.trouble()
            if (begin := time.monotonic()) >= due:
                damage = await self.session.damage()
                # This reads all values, so it gets at most a hundredth of the time, or a tenth while there is damage.
                due = time.monotonic() + (10 if damage else 100) * (time.monotonic() - begin)
            self._show_trouble(trouble, damage or unread, await self.session.salvage())
            if self._has_load_failed and not (trouble or damage):
                self._load()
            await asyncio.sleep(pause)
            if trouble or not self.session.catalog.is_complete:
                continue
            try:
                found = await asyncio.to_thread(self.session.settings.revision)
                begin = time.monotonic()
                if found != revision:
                    catalog = self.session.catalog
                    is_new = await catalog.reload_past(revision)
                    if await catalog.reload_declarations() or is_new:
                        self._changed()
                    self._redeclared()
                # With many declarations this takes longer, and is done less often.
                revision, pause, unread = found, max(1.0, 20 * (time.monotonic() - begin)), None
            except kept.KeptError as error:
                unread = str(error)

    def _redeclared(self) -> None:
        """Applies changed locks and declarations to the screens and to the pending changes."""
        self.session.pending.redeclared(self.session.settings)
        for screen in self.app.screen_stack:
            if hasattr(screen, "declarations_changed"):
                screen.declarations_changed()

    def _show_trouble(self, *sentences: str | None) -> None:
        lines = [one_line(_with_own_part(sentence)) for sentence in sentences if sentence]
        if lines != self._trouble:
            self._trouble = lines
            self._banner.update("\n".join(lines))
            self._banner.set_class(bool(lines), "shown")

    def action_acknowledge(self) -> None:
        """Acknowledges that the store was salvaged, after a question."""
        settings = self.session.settings
        if (folder := settings.salvaged) is None:
            self._browser.tell("there is no salvage to acknowledge")
        elif self._browser.may_write():
            question = (
                "Acknowledge that values are missing or older? No program will report it again, and kept doctor no"
                " longer names their keys. The damaged files stay in"
            )
            self._browser.push_screen(Ask(question, [one_line(folder)]), self._acknowledge)

    def _acknowledge(self, yes: bool | None) -> None:
        if not yes:
            return
        try:
            self.session.settings.acknowledge_salvage()
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
        else:
            self._show_trouble()

    # --- drawing

    def _changed(self) -> None:
        """Draws changes, but not more often than `_pause` allows."""
        if not self._is_drawing_due:
            self._is_drawing_due = True
            self._call_in(self._drawn + self._pause - time.monotonic(), self._draw_changes)

    def _call_in(self, seconds: float, call: Callable[[], object]) -> None:
        # A Textual timer never fires if the event loop is late for it.
        asyncio.get_running_loop().call_later(max(0.0, seconds), self.call_next, self._if_shown, call)

    def _if_shown(self, call: Callable[[], object]) -> None:
        """Calls `call` unless the screen has been left."""
        if self.is_attached:
            call()

    def _draw_changes(self) -> None:
        self._is_drawing_due = False
        if not self.query("#rows"):
            return  # the screen is left
        self._draw()
        if not self._has_flashes:
            self._has_flashes = True
            self._call_in(FLASH + PAUSE, self._end_flashes)

    def _end_flashes(self) -> None:
        self._has_flashes = self.session.catalog.forget_flashes()
        if not self.query("#rows"):
            return
        self._rows.refresh_items()
        if self._has_flashes:
            self._call_in(FLASH / 2, self._end_flashes)

    def _draw(self) -> None:
        begun = time.monotonic()
        if self._query.is_empty and not self._is_tree and not self._order:
            self._rows.show(self.session.catalog.keys)
        else:
            self._select()
        self._show_title()
        self._show_detail(self._rows.item)
        # Searching many keys is slow: leave most of the time to keystrokes.
        self._drawn = time.monotonic()
        self._pause = max(PAUSE, 3 * (self._drawn - begun))

    def _select(self) -> None:
        """Shows the keys that the search finds."""
        found = self.session.catalog.select(self._query)
        empty = "The store has no keys." if self._query.is_empty else "No key matches. Escape ends the search."
        self._rows.empty = empty if self.session.catalog.is_complete else ""
        if self._is_tree:
            all_open = not self._query.is_empty and len(found) <= ALL_OPEN
            if not all_open and (item := self._rows.item) is not None:
                # The item under the cursor stays in view.
                self._open.update(branches_above(item))
            self._rows.show(outline(found, None if all_open else self._open))
        else:
            self._rows.show(self._sorted(found))
        self._show_title()

    def _sorted(self, found: list[str]) -> list[str]:
        """Keys in the chosen order. It sorts them again only after a change."""
        catalog = self.session.catalog
        if (order := ORDERS[self._order]) is None:
            return found
        if (basis := (self._order, catalog.version, list(found))) != self._basis:
            self._basis = basis
            self._in_order = sorted(found, key=lambda key: order(catalog.rows.get(key)))
        return self._in_order

    def _show_title(self, read: int | None = None) -> None:
        catalog = self.session.catalog
        keys = count_text(len(catalog.keys), "key")
        if not self._query.is_empty and not self._is_tree:
            keys = f"{len(self._rows.items):,} of {keys}"
        notes = [keys, *filter(None, [self._order])]
        if not catalog.is_complete and read is not None:
            notes.append(f"reading, {read:,}")
        if self.session.pending:
            notes.append(f"{count_text(len(self.session.pending), 'pending change')}: press a")
        width = self.size.width or 80
        title = title_line(one_line(self.session.location), notes, self._browser.mode_text, width)
        self._head.update(title)
        self._columns.update(_cells(width - 1, self._longest, "   KEY", "VALUE", "TYPE", "LAYER", "CHANGED", "BY"))

    def _line(self, item: Item, width: int) -> tuple[str, bool]:
        if isinstance(item, Branch):
            sign = "v" if item.is_open else ">"
            name = item.prefix[item.prefix.rfind(".", 0, -1) + 1 :]
            return fitted(f"   {'  ' * item.depth}{sign} {one_line(name)}  ({item.count:,})", width), False
        key, depth, label = (item.key, item.depth, item.label) if isinstance(item, Leaf) else (item, 0, item)
        row = self.session.catalog.row(key)
        if row is None:
            return fitted_name(f"   {one_line(label)}", width), False
        flashes = self.session.catalog.is_flashing(key)
        sign = "+" if key in self.session.pending else ">" if flashes else " "
        name = f"{sign}{row.mark} {'  ' * depth}{one_line(label)}"
        value = row.value
        if edit := self.session.pending.get(key):
            value = f"{value} -> {edit.text}"
        past = ago(row.past.time) if row.past else ""
        tag = one_line(row.past.tag or "") if row.past else ""
        return _cells(width, self._longest, name, value, row.type, row.layer, past, tag), flashes

    @property
    def _longest(self) -> int:
        """The width of the longest key with its signs, but at most half of the screen."""
        return min(self.session.catalog.longest + 3, (self.size.width or 80) // 2)

    def _show_detail(self, item: Item | None) -> None:
        text = ""
        if isinstance(item, Branch):
            text = f"{one_line(item.prefix)}\n{count_text(item.count, 'key')}"
        elif item is not None:
            key = item.key if isinstance(item, Leaf) else item
            details = _details(self.session.catalog.row(key), _dropped(self.size.width - 1, self._longest))
            text = f"{one_line(key)}\n{shortened(details, self.size.width)}"
        self._detail.update(text)

    def on_resize(self) -> None:
        self._show_title()
        self._show_detail(self._rows.item)

    # --- keys and messages

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        self._show_detail(message.item)

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        if isinstance(message.item, Branch):
            self._fold(message.item.prefix, not message.item.is_open)
        else:
            self.open_key(self._key_of(message.item))

    def on_input_changed(self, message: Input.Changed) -> None:
        query = Query.of(message.value)
        if query.begun:
            matching = [f"{name}: {FILTERS[name][0]}" for name in FILTERS if name.startswith(query.begun)]
            self._detail.update("\n".join(_two_lines(matching)))
        if query != self._query:
            if self._query.begun and not query.begun:
                self._show_detail(self._rows.item)
            self._query = query
            self._select()
            self._go_to_named()

    def _go_to_named(self) -> None:
        """Puts the cursor on the key whose whole name was typed."""
        name = self._search.value.strip()
        if not self._query.filters and name and self.session.catalog.row(name) is not None:
            self._rows.put_cursor(name)

    def on_input_submitted(self) -> None:
        self._go_to_named()
        self._rows.focus()

    def action_search(self) -> None:
        # Immediately: the next key presses may have arrived already, and are letters.
        self.set_focus(self._search)
        # Typing replaces the last search.
        self._search.select_all()

    def action_escape(self) -> None:
        """Ends the search. Without a search, leaves the screen, unless it is the last one."""
        if self._search.value or self._search.has_focus:
            self._search.value = ""
            self._rows.focus()
        else:
            self._browser.action_step_back()

    def on_key(self, event: object) -> None:
        if getattr(event, "key", "") == "down" and self._search.has_focus:
            self._rows.focus()

    def action_tree(self) -> None:
        self._is_tree = not self._is_tree
        self._set_order("")

    def action_sort(self) -> None:
        """Shows the list in the next order."""
        names = list(ORDERS)
        self._is_tree = False
        self._set_order(names[(names.index(self._order) + 1) % len(names)])
        self._rows.action_first()

    def _set_order(self, order: str) -> None:
        self._order = order
        self._rows.is_sorted = not order
        self._select()

    def action_fold(self, is_open: bool) -> None:
        item = self._rows.item
        if not self._is_tree or item is None:
            return
        if isinstance(item, Branch) and item.is_open is not is_open:
            self._fold(item.prefix, is_open)
        elif not is_open:
            self._rows.go_to_parent()

    def _fold(self, prefix: str, is_open: bool) -> None:
        if is_open:
            self._open.add(prefix)
        else:
            self._open.discard(prefix)
        self._select()

    def _key_of(self, item: Item) -> str:
        return item if isinstance(item, str) else item.key if isinstance(item, Leaf) else item.prefix

    # --- for the actions

    @property
    def search_text(self) -> str:
        return self._search.value

    @property
    def key(self) -> str | None:
        """The key under the cursor."""
        item = self._rows.item
        return None if item is None or isinstance(item, Branch) else self._key_of(item)

    @property
    def listed_keys(self) -> list[str]:
        """The keys of the list, in view or not."""
        return [self._key_of(item) for item in self._rows.items if not isinstance(item, Branch)]

    def put_cursor(self, key: str) -> None:
        """Puts the cursor on a key before the keys are read."""
        self._rows.put_cursor(key)

    def go_to(self, key: str) -> None:
        """Puts the cursor on a key, if it exists."""
        if self.session.catalog.row(key) is not None:
            self._open.update(branches_above(key))
            self._draw()
            self._rows.put_cursor(key)

    def edits_changed(self) -> None:
        """Draws the pending changes."""
        self._draw()

    def mode_changed(self) -> None:
        """Draws the title with the new mode."""
        self._show_title()


def _with_own_part(sentence: str) -> str:
    """The problem. If the remedy is to close the store everywhere, adds that opening it again here is not enough."""
    is_to_close = "close it everywhere" in sentence
    return f"{sentence}; quit the browser, too: Ctrl+R does not close the store" if is_to_close else sentence


def _dropped(width: int, longest: int) -> int:
    """The number of columns, in the order of `DROPPED`, that the values and the longest key leave no room for."""
    sizes = [SIZES[place] + 1 for place in DROPPED]
    return next((count for count in range(4) if width - sum(sizes[count:]) > longest + LEAST), 4)


def _cells(width: int, longest: int, name: str, value: str, *others: str) -> str:
    """One line of the list. A key that is still too long is cut in its middle."""
    shown = sorted(DROPPED[_dropped(width, longest) :])
    rest = width - sum(SIZES[place] + 1 for place in shown) - 1
    first = max(12, min(longest, rest - LEAST))
    cells = [fitted(others[place], SIZES[place]) for place in shown]
    return " ".join([fitted_name(name, first), fitted(value, rest - first), *cells])


def _details(row: Row | None, dropped: int) -> str:
    if row is None:
        return ""
    states = {
        "!": "does not match its declaration",
        "=": "locked by the administrator",
        "~": "hidden by a higher layer",
    }
    parts = [row.summary, states.get(row.mark, ""), row.type * (dropped > 1), row.layer * (dropped > 2)]
    if row.past:
        parts.append(f"changed {time_text(row.past.time)}" + (f" by {one_line(row.past.tag)}" if row.past.tag else ""))
    return "  ·  ".join(part for part in parts if part)


def _two_lines(texts: list[str]) -> list[str]:
    half = (len(texts) + 1) // 2
    return ["   ".join(texts[:half]), "   ".join(texts[half:])]
