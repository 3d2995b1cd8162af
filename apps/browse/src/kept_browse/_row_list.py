"""Lists: one that draws only the rows in view, so that a hundred thousand rows cost as much as thirty, and one of a few
options."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import OptionList

from ._outline import Branch, Item, identity, parent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.style import Style
    from textual import events
    from textual.binding import BindingType


class RowList(ScrollView, can_focus=True):
    """Shows a sequence of items, one per line. The cursor stays on its item when the sequence changes."""

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
        """The cursor has moved to another item."""

        def __init__(self, item: Item | None) -> None:
            super().__init__()
            self.item = item

    class Chosen(Message):
        """An item was opened with Enter or the mouse."""

        def __init__(self, item: Item) -> None:
            super().__init__()
            self.item = item

    def __init__(self, line: Callable[[Item, int], tuple[str, bool]], *, id: str | None = None) -> None:
        """`line` returns the text of an item for a width, and whether it is highlighted. The last column stays free for
        the scrollbar."""
        super().__init__(id=id)
        self._line = line
        self.empty = ""
        """The text to show if there are no items."""
        self.is_sorted = True
        """Whether the keys of a flat list are sorted, so that a key is found quickly."""
        self._items: Sequence[Item] = ()
        self._cursor = 0
        self._item: Item | None = None
        """The item under the cursor. If the sequence changes before it is shown again, another item may be at the
        cursor's place."""

    # --- items

    @property
    def items(self) -> Sequence[Item]:
        return self._items

    def show(self, items: Sequence[Item]) -> None:
        """Shows other items. The cursor stays on its item, and the item keeps its place on the screen, unless the first
        items are in view and can stay there. If the item is gone, the cursor moves to the one that followed it."""
        before, top = self._item, self.scroll_offset.y
        line = self._cursor - top
        self._items = items
        if before is not None:
            self._cursor = self._place(before)
        self._cursor = max(0, min(self._cursor, len(items) - 1))
        self._item = items[self._cursor] if items else None
        self._resize()
        is_first = top == 0 and self._cursor < self.size.height
        self.scroll_to(y=0 if is_first else max(0, self._cursor - line), animate=False, force=True, immediate=True)
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
        """Puts the cursor on an item, or at the place where it would be, also before there are items."""
        if self._items:
            self._move_to(self._place(item))
        else:
            self._item = item

    def go_to_parent(self) -> None:
        """Puts the cursor on the branch that contains its item."""
        if self._item is not None:
            self._move_to(parent(self._items, self._current))

    def _place(self, item: Item) -> int:
        if self.is_sorted:
            return _place(self._items, item)
        return self._items.index(item) if item in self._items else self._cursor

    @property
    def _current(self) -> int:
        """The current place of the item under the cursor."""
        return self._cursor if self._item is None else self._place(self._item)

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
        text, stands_out = self._line(self._items[place], width - 1)
        if stands_out:
            style += self.get_component_rich_style("row-list--flash")
        if place == self._cursor:
            style += self.get_component_rich_style("row-list--cursor")
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)


class Options(OptionList):
    """A short list, with a sign before the selected option. It does not wrap, so that a key that is pressed too often
    does not lead to another option."""

    # The sign takes the place of the padding.
    DEFAULT_CSS = "Options { padding: 0; }"

    def action_cursor_up(self) -> None:
        if self.highlighted != 0:
            super().action_cursor_up()

    def action_cursor_down(self) -> None:
        if self.highlighted != self.option_count - 1:
            super().action_cursor_down()

    def _get_left_gutter_width(self) -> int:
        return 2

    def render_line(self, y: int) -> Strip:
        strip, line = super().render_line(y), self.scroll_offset.y + y
        if line >= len(self._lines):
            return strip
        place, part = self._lines[line]
        sign = "> " if place == self.highlighted and part == 0 else "  "
        return Strip([Segment(sign, next(iter(strip)).style), *strip])


def _place(items: Sequence[Item], item: Item) -> int:
    """The place of an item, or the place where it would be."""
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
