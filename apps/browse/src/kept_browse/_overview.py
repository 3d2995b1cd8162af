"""The screen with all stores."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import DataTable, Static

import kept

from ._ask import AskText, Refusal
from ._catalog import Catalog
from ._entry import Line, PathLine
from ._leaving import until_left
from ._places import size_text
from ._row_list import RowList
from ._search import Query
from ._session import Layers, NoStore, open_store
from ._text import count_text, fitted, fitted_name, one_line, steady
from ._window import foot, window_of

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._outline import Item

COLUMNS = ("STORE", "SIZE", "KEYS", "HEALTH", "OPEN IN")


class Stores(DataTable[Text]):
    """The list of stores, with its own label for Enter."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select_cursor", "Open")]


class Overview(Screen[None]):
    """All stores of the user and of the system, examined one by one on a thread."""

    CSS = """
    Overview > #title { height: auto; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    Overview > DataTable { height: 1fr; }
    Overview > #detail { height: auto; max-height: 6; background: $panel; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "app.leave", "Quit"),
        Binding("question_mark", "app.help", "Help", key_display="?"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("o", "other", "Open another"),
        Binding("ctrl+r", "refresh", "Read again"),
        Binding("w", "app.writing", "Writing", show=False),
        Binding("l", "app.light", "Light"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._table = Stores(cursor_type="row", id="stores")
        self._detail_text = Static(id="detail", markup=False)
        self._places: tuple[kept.Place, ...] = ()
        self._findings: dict[str, list[kept.Finding]] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="title", markup=False)
        yield self._table
        yield self._detail_text
        yield from foot()

    def on_mount(self) -> None:
        for name in COLUMNS:
            self._table.add_column(name, key=name)
        self.action_refresh()

    def on_screen_resume(self) -> None:
        self._table.focus()

    def action_refresh(self) -> None:
        """Finds the stores and examines them."""
        self._read()

    @work(exclusive=True)
    @until_left
    async def _read(self) -> None:
        title, places = await asyncio.to_thread(_found)
        self._places = places or ()
        self.query_one("#title", Static).update(one_line(title))
        self._table.clear()
        for place in self._places:
            self._table.add_row(*map(Text, (steady(one_line(place.location)), "", "", "", "")), key=place.location)
        if places == ():
            self._detail("You have no stores yet. Press o to open one by its path.")
        for place in self._places:
            await self._examine(place)

    async def _examine(self, place: kept.Place) -> None:
        if place.state == "absent":
            self._set(place, "HEALTH", "only administrator's files")
            return
        programs = await asyncio.to_thread(kept.processes, place.location)
        self._set(place, "SIZE", size_text(place.bytes))
        self._set(place, "OPEN IN", ", ".join(f"{each.name} ({each.pid})" for each in programs))
        self._set(place, "HEALTH", "reading")
        keys, findings = await asyncio.to_thread(_examined, place)
        self._findings[place.location] = findings
        self._set(place, "KEYS", "" if keys is None else f"{keys:,}")
        worst = min((finding.severity for finding in findings), key=["damage", "attention", "note"].index, default="")
        self._set(place, "HEALTH", f"{worst}: {len(findings)}" if worst else "OK")
        self._show_detail()

    def _set(self, place: kept.Place, column: str, text: str) -> None:
        self._table.update_cell(place.location, column, Text(steady(one_line(text))), update_width=True)

    # --- one store

    @property
    def _place(self) -> kept.Place | None:
        row = self._table.cursor_row
        return self._places[row] if 0 <= row < len(self._places) else None

    def on_data_table_row_highlighted(self) -> None:
        self._show_detail()

    def _show_detail(self) -> None:
        if (place := self._place) is None:
            return
        findings = self._findings.get(place.location, [])
        lines = [f"{finding.severity}: {finding.what}" for finding in findings[:4]]
        if len(findings) > 4:
            lines.append(f"and {count_text(len(findings) - 4, 'finding')} more; kept doctor lists them")
        self._detail("\n".join(lines or [str(place.folder)]))

    def _detail(self, text: str) -> None:
        self._detail_text.update("\n".join(map(one_line, text.split("\n"))))

    def on_data_table_row_selected(self) -> None:
        if place := self._place:
            window_of(self).show_store(place.location)

    def action_search(self) -> None:
        """Searches all stores."""
        locations = [place.location for place in self._places if place.state != "absent"]
        window_of(self).push_screen(SearchScreen(locations))

    def action_other(self) -> None:
        """Asks for a location."""
        browser = window_of(self)

        async def accept(location: str, _: bool) -> Refusal | None:
            # The first screen of the store replaces the question.
            refusal = await browser.open_store(location)
            return None if refusal is None else Refusal(refusal)

        line = PathLine(placeholder="an identifier, or the path of a store's folder", has_stores=True)
        browser.push_screen(AskText("Open a store", line, accept))


class SearchScreen(Screen[None]):
    """The keys of all stores that a search finds. It reads the stores when it is shown, without changing them."""

    CSS = """
    SearchScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    SearchScreen > #search { height: 1; border: none; padding: 0 1; }
    SearchScreen > #rows { height: 1fr; }
    SearchScreen > #detail { height: auto; max-height: 50vh; background: $panel; color: $text; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.leave", "Back", key_display="esc"),
        Binding("f1", "app.help", "Help"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("down", "list", show=False),
    ]

    def __init__(self, locations: list[str]) -> None:
        super().__init__()
        self._locations = locations
        self._catalogs: dict[str, Catalog | None] = {}
        """The stores that were read; None for one that cannot be."""
        self._head = Static(id="title", markup=False)
        self._search = Line(placeholder="Search keys, summaries and values, or @modified …", id="search", compact=True)
        self._rows = RowList(self._line, id="rows")
        self._rows.is_sorted = False
        self._whole = Static(id="detail", markup=False)
        """The key under the cursor, which may be cut in the list."""

    def compose(self) -> ComposeResult:
        yield from (self._head, self._search, self._rows, self._whole, *foot())

    def on_screen_resume(self) -> None:
        self._read()

    @work(exclusive=True)
    @until_left
    async def _read(self) -> None:
        self._show()
        for location in self._locations:
            try:
                settings = await asyncio.to_thread(open_store, location, Layers(), read_only=True)
                try:
                    catalog = Catalog(settings)
                    async for _ in catalog.load():
                        pass
                finally:
                    await asyncio.to_thread(settings.close)
                self._catalogs[location] = catalog
            except (kept.KeptError, NoStore, OSError):
                self._catalogs[location] = None  # the screen of all stores shows the reason
            self._show()

    def _show(self) -> None:
        query = Query.of(self._search.value)
        read = [(location, catalog) for location, catalog in self._catalogs.items() if catalog]
        found = [
            f"{location}\0{key}" for location, catalog in read if not query.is_empty for key in catalog.select(query)
        ]
        notes = [
            f"Search in {count_text(len(read), 'store')}",
            *([] if query.is_empty else [count_text(len(found), "key")]),
        ]
        if len(self._catalogs) < len(self._locations):
            notes.append("reading")
        if unread := len(self._catalogs) - len(read):
            notes.append(f"{count_text(unread, 'store')} cannot be read")
        self._head.update("  ·  ".join(notes))
        self._rows.empty = "" if query.is_empty else "No key matches."
        self._rows.show(found)

    def _line(self, item: Item, width: int) -> tuple[str, bool]:
        location, _, key = str(item).partition("\0")
        catalog = self._catalogs.get(location)
        row = catalog.rows.get(key) if catalog else None
        side = width * 3 // 10
        name = fitted_name(f"{row.mark if row else ' '} {one_line(key)}", width - 2 * side - 2)
        return f"{name} {fitted(row.value if row else '', side)} {fitted_name(one_line(location), side)}", False

    def on_input_changed(self) -> None:
        self._show()

    def on_input_submitted(self) -> None:
        self._rows.focus()

    def action_list(self) -> None:
        self._rows.focus()

    def action_search(self) -> None:
        self._search.focus()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        location, _, key = str(message.item or "").partition("\0")
        self._whole.update(f"{one_line(key)}\n{one_line(location)}")

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Opens the page of a key. Leaving its store leads back to this search."""
        location, _, key = str(message.item).partition("\0")
        window_of(self).show_store(location, key)


def _found() -> tuple[str, tuple[kept.Place, ...] | None]:
    """The title and the stores; the reason and None if they cannot be listed. Any thread."""
    try:
        folder = Path(kept.place("any").folder or "").parent
        return f"Stores in {folder}", kept.places()
    except kept.KeptError as error:
        return str(error), None


def _examined(place: kept.Place) -> tuple[int | None, list[kept.Finding]]:
    """The number of keys, if the store can be opened, and its problems. Any thread."""
    layers, keys = Layers(), None
    try:
        found = kept.findings(place.location, read_only=True, **layers.options(place))
    except kept.KeptError as error:
        return None, [kept.Finding("attention", str(error))]
    with suppress(Exception), open_store(place.location, layers, read_only=True) as settings:  # what was found says why
        keys = len({*settings, *settings.declarations()})
    return keys, [finding for finding in found if finding.severity != "note"]
