"""Whether the person can see a part of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.errors import NoWidget

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget


def is_seen(screen: Screen[Any], widget: Widget, *, is_whole: bool = False) -> bool:
    """Whether the terminal shows a widget, or at least a line of it, and no notice lies over that."""
    try:
        found = screen.find_widget(widget)
        region = found.visible_region
        if not region or (is_whole and region.height < found.region.height):
            return False
        lines = range(region.y, region.bottom if is_whole else region.y + 1)
        return all(screen.get_widget_at(x, y)[0] is widget for y in lines for x in range(region.x, region.right))
    except NoWidget:
        return False
