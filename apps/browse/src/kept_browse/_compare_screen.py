"""The screen with two stores side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Input, Static

from ._comparing import Comparison, Difference, compare, open_other
from ._entry import PathLine
from ._row_list import RowList
from ._text import count_text, fitted, fitted_name, one_line
from ._window import foot, window_of
from ._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._outline import Item
    from ._session import Session
    from ._window import Window


class CompareScreen(Screen[None]):
    """The stored values of two stores, a line for each key."""

    CSS = """
    CompareScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    CompareScreen > #columns { height: 1; color: $text-muted; text-style: underline; }
    CompareScreen > #rows { height: 1fr; }
    CompareScreen > #detail { height: 3; background: $panel; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.leave", "Back"),
        Binding("f1", "app.help", "Help"),
        Binding("ctrl+a", "all", "All or differences"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._comparison: Comparison | None = None
        self._shows_all = False

    def compose(self) -> ComposeResult:
        yield Static(f"Compare {one_line(self._session.location)}", id="title", markup=False)
        placeholder = "another store, a backup or an export: an identifier or a path, then Enter"
        yield PathLine(placeholder=placeholder, has_stores=True, id="other")
        yield Static(id="columns", markup=False)
        yield RowList(self._line, id="rows")
        yield Static(id="detail", markup=False)
        yield from foot()

    @property
    def _browser(self) -> Window:
        return window_of(self)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        other = message.value.strip()
        if not other:
            return

        def call(progress: Callable[[int, int], object]) -> Comparison:
            with open_other(other) as right:
                return compare(self._session.settings, right, progress)

        self._browser.push_screen(Work("Comparing", call, only_reads=True), self._show)

    def _show(self, result: Comparison | Exception | None) -> None:
        if not isinstance(result, Comparison):
            self._browser.tell(str(result), "error")
            return
        self._comparison = result
        self._show_rows()
        self.query_one("#rows").focus()

    def _show_rows(self) -> None:
        if (comparison := self._comparison) is None:
            return
        self.query_one("#rows", RowList).empty = (
            "Their stored values are equal." if comparison.keys else "Both are empty."
        )
        self.query_one("#rows", RowList).show(comparison.keys if self._shows_all else comparison.differing)
        parts = [
            f"Compare: {count_text(len(comparison.values), 'difference')}",
            f"{count_text(len(comparison.keys) - len(comparison.unknown), 'key')} compared",
        ]
        if comparison.unknown:
            parts.append(f"{len(comparison.unknown):,} not compared")
        parts.append(one_line(self._session.location))
        self.query_one("#title", Static).update(fitted("  ·  ".join(parts), max(0, self.size.width - 2)))
        other = one_line(self.query_one("#other", Input).value)
        self.query_one("#columns", Static).update(
            self._cells(" ", "KEY", one_line(self._session.location), other, self.size.width - 1)
        )

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Opens the page of a key, with its value in the open store."""
        self._browser.open_key(self._session, cast("str", message.item))

    def _line(self, item: Item, width: int) -> tuple[str, bool]:
        difference = self._difference(cast("str", item))
        cells = difference.left or "", difference.right or ""
        return self._cells(difference.mark, one_line(difference.key), *cells, width), False

    def _cells(self, mark: str, key: str, left: str, right: str, width: int) -> str:
        side = max(10, (width - 3) * 3 // 10)
        return f"{mark} {fitted_name(key, max(10, width - 2 * side - 4))} {fitted(left, side)} {fitted(right, side)}"

    def _difference(self, key: str) -> Difference:
        """The difference as it is shown, covered if the key has become secret."""
        found = cast("Comparison", self._comparison)[key]
        return found.covered if self._session.catalog.is_secret(key) else found

    def declarations_changed(self) -> None:
        """Covers the values of keys that have become secret."""
        for rows in self.query(RowList):
            rows.refresh_items()
            self._show_detail(rows.item)

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        self._show_detail(message.item)

    def _show_detail(self, item: Item | None) -> None:
        text = ""
        if item is not None:
            found = self._difference(cast("str", item))
            sides = ["(absent)" if value is None else value for value in (found.left, found.right)]
            text = f"{one_line(found.key)}\n- {sides[0]}\n+ {sides[1]}"
        self.query_one("#detail", Static).update(text)

    def action_all(self) -> None:
        """Switches between all keys and only the differences."""
        self._shows_all = not self._shows_all
        self._show_rows()
