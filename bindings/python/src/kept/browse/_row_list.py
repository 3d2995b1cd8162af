"""A list that draws only the rows in view: a hundred thousand rows cost as much as thirty."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ._outline import Branch, Item, identity, parent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.style import Style
    from textual import events
    from textual.binding import BindingType


class RowList(ScrollView, can_focus=True):
    """Shows a sequence of items, a line each, with a cursor that stays on its item when the sequence changes."""

    DEFAULT_CSS = """
    RowList { background: $surface; overflow-x: hidden; scrollbar-size-vertical: 1; }
    RowList > .row-list--cursor { background: $block-cursor-blurred-background; text-style: bold; }
    RowList:focus > .row-list--cursor {
        background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold reverse;
    }
    RowList > .row-list--flash { background: $warning; color: $text; text-style: bold; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor", "row-list--flash"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "first", "First", show=False),
        Binding("end,G", "last", "Last", show=False),
        Binding("enter", "choose", "Open"),
    ]

    class Moved(Message):
        """The cursor is on another item."""

        def __init__(self, item: Item | None) -> None:
            super().__init__()
            self.item = item

    class Chosen(Message):
        """An item was opened by Enter or the mouse."""

        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    def __init__(self, line: Callable[[Item, int], tuple[str, bool]], *, id: str | None = None) -> None:
        """`line` gives the text of an item for a width, and whether it stands out."""
        super().__init__(id=id)
        self._line = line
        self.empty = ""
        """What is written where items would be, if there are none."""
        self._items: Sequence[Item] = ()
        self._cursor = 0
        self._item: Item | None = None
        """The item under the cursor. The sequence may change before it is shown again, and the cursor's place then has
        another item."""

    # --- items

    @property
    def items(self) -> Sequence[Item]:
        return self._items

    def show(self, items: Sequence[Item]) -> None:
        """Shows other items. The cursor stays on its item, which stays where it is on the screen; if it is gone, the
        cursor is on the one that followed it."""
        before = self._item
        line = self._cursor - self.scroll_offset.y
        self._items = items
        if before is not None:
            self._cursor = _place(items, before)
        self._cursor = max(0, min(self._cursor, len(items) - 1))
        self._item = items[self._cursor] if items else None
        self._resize()
        self.scroll_to(y=max(0, self._cursor - line), animate=False, force=True, immediate=True)
        self._reveal()
        self.refresh()
        if self._item is None or before is None or identity(self._item) != identity(before):
            self.post_message(self.Moved(self._item))

    def refresh_items(self) -> None:
        """Draws the items again after they have changed in place."""
        self.show(self._items)

    def _resize(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width or self.size.width, len(self._items))

    def on_resize(self) -> None:
        self._resize()
        self._reveal()

    # --- the cursor

    @property
    def item(self) -> Item | None:
        """The item under the cursor; None if there are no items."""
        return self._item

    def put_cursor(self, item: Item) -> None:
        """Puts the cursor on an item, or where it would be."""
        self._move_to(_place(self._items, item))

    def go_to_parent(self) -> None:
        """Puts the cursor on the branch that its item is below."""
        if self._item is not None:
            self._move_to(parent(self._items, self._current))

    @property
    def _current(self) -> int:
        """Where the item under the cursor is now."""
        return self._cursor if self._item is None else _place(self._items, self._item)

    def _move_to(self, place: int) -> None:
        place = max(0, min(place, len(self._items) - 1))
        before, self._cursor = self._item, place
        self._item = self._items[place] if self._items else None
        if self._item != before:
            self.post_message(self.Moved(self._item))
        self._reveal()
        self.refresh()

    def _reveal(self) -> None:
        height, top = self.size.height, self.scroll_offset.y
        if not height:
            return
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True, immediate=True)
        elif self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False, force=True, immediate=True)

    def action_move(self, lines: int) -> None:
        self._move_to(self._current + lines)

    def action_page(self, pages: int) -> None:
        self._move_to(self._current + pages * max(1, self.size.height - 1))

    def action_first(self) -> None:
        self._move_to(0)

    def action_last(self) -> None:
        self._move_to(len(self._items) - 1)

    def action_choose(self) -> None:
        if self.item is not None:
            self.post_message(self.Chosen(self.item))

    def on_click(self, event: events.Click) -> None:
        place = self.scroll_offset.y + event.y
        if place < len(self._items):
            self._move_to(place)
            if event.chain == 2:
                self.action_choose()

    # --- drawing

    def render_line(self, y: int) -> Strip:
        width, place = self.size.width, self.scroll_offset.y + y
        style: Style = self.rich_style
        if place >= len(self._items):
            text = f"   {self.empty}" if place == 0 else ""
            return Strip([Segment(text, style)]).adjust_cell_length(width, style)
        text, stands_out = self._line(self._items[place], width)
        if stands_out:
            style += self.get_component_rich_style("row-list--flash")
        if place == self._cursor:
            style += self.get_component_rich_style("row-list--cursor")
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)


def _place(items: Sequence[Item], item: Item) -> int:
    """Where an item is; where it would be if it is gone."""
    wanted = identity(item)
    name = wanted[1]
    if items and isinstance(items[0], str):
        low, high = 0, len(items)
        while low < high:
            middle = (low + high) // 2
            if identity(items[middle])[1] < name:
                low = middle + 1
            else:
                high = middle
        return low
    after = 0
    inside: int | None = None
    for place, other in enumerate(items):
        found = identity(other)
        if found == wanted:
            return place
        if isinstance(other, Branch) and not other.is_open and name.startswith(other.prefix):
            inside = place  # the branch hides it
        if found[1] < name:
            after = place + 1
    return after if inside is None else inside
