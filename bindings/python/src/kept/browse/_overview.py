"""The screen with all stores."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual import work
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Static

import kept

from ._ask import AskText, Refusal
from ._health import Finding, Reports, examine
from ._leaving import until_left
from ._places import Place, all_stores, processes, size_of, size_text, user_folder
from ._session import Layers, open_store
from ._text import count_text, one_line, steady

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._app import Browser

COLUMNS = ("STORE", "SIZE", "KEYS", "HEALTH", "OPEN IN")


class Stores(DataTable[Text]):
    """The list of stores. Its own name for Enter is not shown."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select_cursor", "Open")]


class Overview(Screen[None]):
    """All stores of the user and of the system. Each is examined in its turn, on a thread."""

    CSS = """
    Overview > #title { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    Overview > DataTable { height: 1fr; }
    Overview > #detail { height: auto; max-height: 6; background: $panel; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "other", "Open another"),
        Binding("ctrl+r", "refresh", "Read again"),
        Binding("l", "app.light", "Light or dark"),
        Binding("question_mark", "app.help", "Help", key_display="?"),
        Binding("q", "app.leave", "Quit"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._table = Stores(cursor_type="row", id="stores")
        self._detail_text = Static(id="detail", markup=False)
        self._places: list[Place] = []
        self._findings: dict[str, list[Finding]] = {}

    def compose(self) -> ComposeResult:
        yield Static(one_line(f"Stores in {user_folder()}"), id="title", markup=False)
        yield self._table
        yield self._detail_text
        yield Footer()

    def on_mount(self) -> None:
        for name in COLUMNS:
            self._table.add_column(name, key=name)
        self.action_refresh()

    def on_screen_resume(self) -> None:
        self._table.focus()

    def action_refresh(self) -> None:
        """Looks for stores, and examines them."""
        self._read()

    @work(exclusive=True)
    @until_left
    async def _read(self) -> None:
        self._places = await asyncio.to_thread(all_stores)
        self._table.clear()
        for place in self._places:
            self._table.add_row(*map(Text, (steady(one_line(place.location)), "", "", "", "")), key=place.location)
        if not self._places:
            self._detail("No program of yours has made a store here. Press o to open one by its path.")
        for place in self._places:
            await self._examine(place)

    async def _examine(self, place: Place) -> None:
        if not place.is_stored:
            self._set(place, "HEALTH", "only files of the administrator")
            return
        size, programs = await asyncio.to_thread(lambda: (size_of(place.folder), processes(place.folder)))
        self._set(place, "SIZE", size_text(size))
        self._set(place, "OPEN IN", ", ".join(f"{name} ({pid})" for pid, name in programs))
        self._set(place, "HEALTH", "reading")
        keys, findings = await asyncio.to_thread(_examined, place)
        self._findings[place.location] = findings
        self._set(place, "KEYS", "" if keys is None else f"{keys:,}")
        worst = min((finding.severity for finding in findings), key=["damage", "attention", "note"].index, default="")
        self._set(place, "HEALTH", f"{worst}: {len(findings)}" if worst else "well")
        self._show_detail()

    def _set(self, place: Place, column: str, text: str) -> None:
        self._table.update_cell(place.location, column, Text(steady(one_line(text))), update_width=True)

    # --- one store

    @property
    def _place(self) -> Place | None:
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
            cast("Browser", self.app).show_store(place.location)

    def action_other(self) -> None:
        """Asks for a location."""
        browser = cast("Browser", self.app)

        async def accept(location: str, _: bool) -> Refusal | None:
            # Its first screen takes the place of the question.
            refusal = await browser.open_store(location)
            return None if refusal is None else Refusal(refusal)

        browser.push_screen(AskText("Open a store", "an identifier, or the path of a store's folder", accept))


def _examined(place: Place) -> tuple[int | None, list[Finding]]:
    """Opens and reads a store. Any thread."""
    with Reports() as reports:
        try:
            with open_store(place.location, Layers()) as settings:
                keys, findings = len({*settings, *settings.declarations()}), examine(settings)
        except Exception as error:
            return None, [Finding("damage" if isinstance(error, kept.CorruptError) else "attention", str(error))]
    # What does not fit is reported, too, when it is read.
    known = "".join(finding.what for finding in findings)
    sentences = [each for each in reports.sentences if not any(f'"{key}"' in known for key in each.split('"')[1:2])]
    return keys, findings + [Finding("attention", sentence) for sentence in sentences]
