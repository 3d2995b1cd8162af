"""The screen with two stores side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from ._comparing import Comparison, Difference, compare, open_other
from ._entry import Line
from ._row_list import RowList
from ._text import count_text, fitted, one_line
from ._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._app import Browser
    from ._outline import Item
    from ._session import Session


class CompareScreen(Screen[None]):
    """The stored values of two stores, a line for each key."""

    CSS = """
    CompareScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    CompareScreen > #columns { height: 1; color: $text-muted; text-style: underline; }
    CompareScreen > #rows { height: 1fr; }
    CompareScreen > #detail { height: 3; background: $panel; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+a", "all", "All or differences"),
        Binding("f1", "app.help", "Help"),
        Binding("escape", "app.leave", "Back"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._comparison: Comparison | None = None
        self._shows_all = False
        self._by_key: dict[str, Difference] = {}

    def compose(self) -> ComposeResult:
        yield Static(f"Compare {one_line(self._session.location)}", id="title", markup=False)
        yield Line(placeholder="another store, a backup or an export: an identifier or a path, then Enter", id="other")
        yield Static(id="columns", markup=False)
        yield RowList(self._line, id="rows")
        yield Static(id="detail", markup=False)
        yield Footer()

    @property
    def _browser(self) -> Browser:
        return cast("Browser", self.app)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        other = message.value.strip()
        if not other:
            return

        def call(progress: Callable[[int, int], object]) -> Comparison:
            with open_other(other) as right:
                return compare(self._session.settings, right, progress)

        self._browser.push_screen(Work("Comparing", call), self._show)

    def _show(self, result: Comparison | Exception | None) -> None:
        if not isinstance(result, Comparison):
            self._browser.tell(str(result), "error")
            return
        self._comparison = result
        self._by_key = {difference.key: difference for difference in result.keys}
        self._show_rows()
        self.query_one("#rows").focus()

    def _show_rows(self) -> None:
        if (comparison := self._comparison) is None:
            return
        shown = comparison.keys if self._shows_all else comparison.differences
        self.query_one("#rows", RowList).empty = "They are equal." if comparison.keys else "Both are empty."
        self.query_one("#rows", RowList).show([difference.key for difference in shown])
        differences = count_text(len(comparison.differences), "difference")
        parts = [f"Compare: {differences}", f"{count_text(len(comparison.keys), 'key')} compared"]
        if comparison.secrets:
            parts.append(f"{count_text(comparison.secrets, 'secret')} left out")
        parts.append(one_line(self._session.location))
        self.query_one("#title", Static).update(fitted("  ·  ".join(parts), max(0, self.size.width - 2)))
        other = one_line(self.query_one("#other", Input).value)
        self.query_one("#columns", Static).update(
            self._cells(" ", "KEY", one_line(self._session.location), other, self.size.width)
        )

    def on_row_list_chosen(self, message: RowList.Chosen) -> None:
        """Opens the page of a key, with its value in the store that is open."""
        from ._key_page import KeyPage

        self._browser.push_screen(KeyPage(self._session, cast("str", message.item)))

    def _line(self, item: Item, width: int) -> tuple[str, bool]:
        difference = self._by_key[cast("str", item)]
        cells = difference.left or "", difference.right or ""
        return self._cells(difference.mark, one_line(difference.key), *cells, width), False

    def _cells(self, mark: str, key: str, left: str, right: str, width: int) -> str:
        side = max(10, (width - 3) * 3 // 10)
        return f"{mark} {fitted(key, max(10, width - 2 * side - 4))} {fitted(left, side)} {fitted(right, side)}"

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        text = ""
        if message.item is not None:
            found = self._by_key[cast("str", message.item)]
            sides = ["(absent)" if value is None else value for value in (found.left, found.right)]
            text = f"{one_line(found.key)}\n- {sides[0]}\n+ {sides[1]}"
        self.query_one("#detail", Static).update(text)

    def action_all(self) -> None:
        """Shows all keys, or only differences."""
        self._shows_all = not self._shows_all
        self._show_rows()
