"""Whether the user can see a part of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.errors import NoWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen
    from textual.widget import Widget


DELAY = 1 / 60
"""The time until a screen is asked again for its size, in seconds."""


def once_drawn(screen: Screen[Any], call: Callable[[], object]) -> None:
    """Calls `call` once a screen is drawn for the size of the terminal, which Textual passes on with a delay."""

    def drawn() -> object:
        if screen.outer_size == screen.app.size:
            return call()
        return screen.set_timer(DELAY, lambda: once_drawn(screen, call))

    screen.call_after_refresh(drawn)


def is_seen(screen: Screen[Any], widget: Widget, *, is_whole: bool = False) -> bool:
    """Whether the terminal shows a widget, or at least one line of it, and nothing covers that."""
    try:
        found = screen.find_widget(widget)
        region = found.visible_region
        if not region or (is_whole and region.height < found.region.height):
            return False
        lines = range(region.y, region.bottom if is_whole else region.y + 1)
        return all(screen.get_widget_at(x, y)[0] is widget for y in lines for x in range(region.x, region.right))
    except NoWidget:
        return False
