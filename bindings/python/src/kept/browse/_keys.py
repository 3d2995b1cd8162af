"""The screen with all keys of a store."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

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
from ._text import ago, count_text, fitted, moment, one_line, title_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._session import Session

PAUSE = 0.05
"""The least time between two drawings of changes, in seconds."""

PLACEHOLDER = "Search keys, summaries and values, or @modified …"

ALL_OPEN = 2000
"""A search that finds no more keys opens the branches of the tree."""


class KeysScreen(Actions, Screen[None]):
    """All keys: a flat list or a tree, a search box, and the details of the key under the cursor."""

    CSS = """
    KeysScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; }
    KeysScreen > #trouble { height: auto; background: $error; color: $text; display: none; }
    KeysScreen > #trouble.shown { display: block; }
    KeysScreen > #search { height: 1; border: none; padding: 0 1; }
    KeysScreen > #columns { height: 1; color: $text-muted; text-style: underline; }
    KeysScreen > #rows { height: 1fr; }
    KeysScreen > #detail { height: 2; background: $panel; color: $text; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", key_display="/"),
        Binding("t", "tree", "Tree"),
        Binding("e", "edit", "Edit"),
        Binding("w", "app.writing", "Writing"),
        Binding("u", "undo", "Undo"),
        Binding("d", "reset", "Reset", show=False),
        Binding("a", "pending", "Pending", show=False),
        Binding("D", "reset_listed", "Reset what is listed", show=False),
        Binding("n", "new", "New key", show=False),
        Binding("A", "acknowledge", "Acknowledge a salvage", show=False),
        Binding("i", "import", "Import", show=False),
        Binding("x", "export", "Export", show=False),
        Binding("c", "compare", "Compare", show=False),
        Binding("left", "fold(False)", "Close branch", show=False),
        Binding("right", "fold(True)", "Open branch", show=False),
        Binding("ctrl+r", "reopen", "Read again", show=False),
        Binding("question_mark", "app.help", "Help", key_display="?"),
        Binding("escape", "escape", "Back", show=False),
        Binding("q", "app.leave", "Back"),
    ]

    def __init__(self, session: Session, query: str = "") -> None:
        super().__init__()
        self.session = session
        self._query = Query.of(query)
        # Kept here, since what comes late may find the screen without its parts.
        self._head = Static(id="title", markup=False)
        self._banner = Static(id="trouble", markup=False)
        self._search = Line(
            query, placeholder=PLACEHOLDER, id="search", compact=True, select_on_focus=False,
        )  # fmt: skip
        self._columns = Static(id="columns", markup=False)
        self._rows = RowList(self._line, id="rows")
        self._detail = Static(id="detail", markup=False)
        self._is_tree = False
        self._open: set[str] = set()
        self._is_drawing_due = False
        self._has_flashes = False
        self._drawn = 0.0
        self._pause = PAUSE
        self._trouble: list[str] = []
        # To look for garbage among so many new objects takes longer than a keystroke may. `_load` enables it again.
        gc.disable()
        # What changes after this is received, so that nothing is missed when the reading begins.
        self._changes = session.settings.changes(prefix="")
        self._revision = session.settings.revision()
        session.catalog.begin()

    def compose(self) -> ComposeResult:
        yield from (self._head, self._banner, self._search, self._columns, self._rows, self._detail)
        yield Footer()

    def on_mount(self) -> None:
        self._rows.focus()
        self._show_title()
        self._load()
        self.run_worker(self._follow(), group="follow")
        self._watch()
        self.set_interval(30, self._draw)  # for the times since the changes

    def on_unmount(self) -> None:
        gc.unfreeze()
        asyncio.get_running_loop().run_in_executor(None, self.session.close)

    # --- reading

    @work(group="load", exclusive=True)
    @until_left
    async def _load(self) -> None:
        catalog = self.session.catalog
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
            self._show_trouble(str(error))
        finally:
            gc.enable()

    @until_left
    async def _follow(self) -> None:
        try:
            async with self._changes as changes:
                async for notice in changes:
                    # Keys may be locked or unlocked, of which no change tells if their values stay the same.
                    if not notice.changes or notice.origin is kept.Origin.LAYER:
                        self._load()
                    await self.session.catalog.apply(notice)
                    self._changed()
        except kept.KeptError as error:
            self._show_trouble(await self.session.replaced() or str(error))

    @work(group="follow")
    @until_left
    async def _watch(self) -> None:
        """Looks for what no notice tells: whether the store is still there, keys that were declared, and stored values
        that a higher layer hides."""
        revision, pause = self._revision, 1.0
        while True:
            trouble = await self.session.trouble()
            self._show_trouble(trouble, await self.session.salvage())
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
                    self.session.pending.redeclared(self.session.settings)
                    for screen in self.app.screen_stack:
                        if hasattr(screen, "declarations_changed"):
                            screen.declarations_changed()
                # Where much is declared, this takes its time, and is done less often.
                revision, pause = found, max(1.0, 20 * (time.monotonic() - begin))
            except kept.KeptError as error:
                self._show_trouble(await self.session.replaced() or str(error))

    def _show_trouble(self, *sentences: str | None) -> None:
        lines = [one_line(sentence) for sentence in sentences if sentence]
        if lines != self._trouble:
            self._trouble = lines
            self._banner.update("\n".join(lines))
            self._banner.set_class(bool(lines), "shown")

    def action_acknowledge(self) -> None:
        """Asks, and acknowledges that the store was salvaged."""
        settings = self.session.settings
        if (folder := settings.salvaged) is None:
            self._browser.tell("this store was not salvaged")
        elif self._browser.may_write():
            question = (
                "Acknowledge that values may be missing? No program is told of it again. The damaged files stay in"
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
        """Draws changes, at most so often."""
        if not self._is_drawing_due:
            self._is_drawing_due = True
            self._call_in(self._drawn + self._pause - time.monotonic(), self._draw_changes)

    def _call_in(self, seconds: float, call: Callable[[], object]) -> None:
        # A timer of Textual never calls if the event loop is late for it.
        asyncio.get_running_loop().call_later(max(0.0, seconds), self.call_next, self._if_shown, call)

    def _if_shown(self, call: Callable[[], object]) -> None:
        """Calls, unless the screen was left meanwhile."""
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
        if self._query.is_empty and not self._is_tree:
            self._rows.show(self.session.catalog.keys)
        else:
            self._select()
        self._show_title()
        self._show_detail(self._rows.item)
        # A search among many keys takes long: most of the time is left to keystrokes.
        self._drawn = time.monotonic()
        self._pause = max(PAUSE, 3 * (self._drawn - begun))

    def _select(self) -> None:
        """Shows the keys that the search finds."""
        found = self.session.catalog.select(self._query)
        empty = "The store has no keys." if self._query.is_empty else "Nothing is found. Escape ends the search."
        self._rows.empty = empty if self.session.catalog.is_complete else ""
        if self._is_tree:
            all_open = not self._query.is_empty and len(found) <= ALL_OPEN
            if not all_open and (item := self._rows.item) is not None:
                # What the cursor is on stays in view.
                self._open.update(branches_above(item))
            self._rows.show(outline(found, None if all_open else self._open))
        else:
            self._rows.show(found)
        self._show_title()

    def _show_title(self, read: int | None = None) -> None:
        catalog = self.session.catalog
        keys = count_text(len(catalog.keys), "key")
        if not self._query.is_empty and not self._is_tree:
            keys = f"{len(self._rows.items):,} of {keys}"
        notes = [keys]
        if not catalog.is_complete and read is not None:
            notes.append(f"reading, {read:,}")
        if self.session.pending:
            notes.append(f"{count_text(len(self.session.pending), 'pending change')}: press a")
        width = self.size.width or 80
        title = title_line(one_line(self.session.location), notes, self._browser.mode_text, width)
        self._head.update(title)
        self._columns.update(_cells(width, "   KEY", "VALUE", "TYPE", "LAYER", "CHANGED", "BY"))

    def _line(self, item: Item, width: int) -> tuple[str, bool]:
        if isinstance(item, Branch):
            sign = "v" if item.is_open else ">"
            name = item.prefix[item.prefix.rfind(".", 0, -1) + 1 :]
            return fitted(f"   {'  ' * item.depth}{sign} {one_line(name)}  ({item.count:,})", width), False
        key, depth, label = (item.key, item.depth, item.label) if isinstance(item, Leaf) else (item, 0, item)
        row = self.session.catalog.row(key)
        if row is None:
            return fitted(f"   {one_line(label)}", width), False
        flashes = self.session.catalog.is_flashing(key)
        sign = "+" if key in self.session.pending else ">" if flashes else " "
        name = f"{sign}{row.mark} {'  ' * depth}{one_line(label)}"
        value = row.value
        if edit := self.session.pending.get(key):
            value = f"{value} -> {edit.text}"
        past = ago(row.past.time) if row.past else ""
        tag = one_line(row.past.tag or "") if row.past else ""
        return _cells(width, name, value, row.type, row.layer, past, tag), flashes

    def _show_detail(self, item: Item | None) -> None:
        text = ""
        if isinstance(item, Branch):
            text = f"{one_line(item.prefix)}\n{count_text(item.count, 'key')}"
        elif item is not None:
            key = item.key if isinstance(item, Leaf) else item
            text = f"{one_line(key)}\n{_details(self.session.catalog.row(key))}"
        self._detail.update(text)

    def on_resize(self) -> None:
        self._show_title()

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
            self._query = query
            self._select()
            self._go_to_named()

    def _go_to_named(self) -> None:
        """Puts the cursor on the key whose whole name is searched for."""
        name = self._search.value.strip()
        if not self._query.filters and name and self.session.catalog.row(name) is not None:
            self._rows.put_cursor(name)

    def on_input_submitted(self) -> None:
        self._go_to_named()
        self._rows.focus()

    def action_search(self) -> None:
        # At once: the next keys may be here already, and are letters.
        self.set_focus(self._search)
        # What is typed replaces the last search.
        self._search.select_all()

    def action_escape(self) -> None:
        """Ends the search; if there is none, leaves the screen, unless it is the last one."""
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
    def key(self) -> str | None:
        """The key under the cursor."""
        item = self._rows.item
        return None if item is None or isinstance(item, Branch) else self._key_of(item)

    @property
    def listed_keys(self) -> list[str]:
        """The keys that the list shows, if one scrolls through it."""
        return [self._key_of(item) for item in self._rows.items if not isinstance(item, Branch)]

    def edits_changed(self) -> None:
        """Draws what is pending."""
        self._draw()

    def mode_changed(self) -> None:
        """Draws whether writing is allowed."""
        self._show_title()


def _cells(width: int, name: str, value: str, kind: str, layer: str, past: str, tag: str) -> str:
    """One line of the list. A narrow terminal has no column for who changed a key: the details have it."""
    columns = [(kind, 8), (layer, 11), (past, 8), (tag, 12 if width < 110 else 17)][: 4 if width >= 100 else 3]
    rest = max(20, width - sum(size + 1 for _, size in columns) - 1)
    first = max(12, rest * 55 // 100)
    return " ".join(fitted(text, size) for text, size in [(name, first), (value, rest - first), *columns])


def _details(row: Row | None) -> str:
    if row is None:
        return ""
    states = {"!": "does not fit its declaration", "=": "locked by the administrator", "~": "hidden by a higher layer"}
    parts = [row.summary, states.get(row.mark, "")]
    if row.past:
        parts.append(f"changed {moment(row.past.time)}" + (f" by {one_line(row.past.tag)}" if row.past.tag else ""))
    return "  ·  ".join(part for part in parts if part)


def _two_lines(texts: list[str]) -> list[str]:
    half = (len(texts) + 1) // 2
    return ["   ".join(texts[:half]), "   ".join(texts[half:])]
