"""A picture of the first screen, for documentation."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ._app import Browser


async def take(browser: Browser, size: tuple[int, int]) -> str | None:
    """Runs the program without a terminal until it has read everything. Returns the picture as SVG, or None if the
    store could not be opened."""
    from ._keys import KeysScreen

    async with browser.run_test(size=size) as pilot:
        while not browser.failure:
            await pilot.pause(0.05)
            lists = [screen for screen in browser.screen_stack if isinstance(screen, KeysScreen)]
            # The workers of this group wait for changes and never end.
            busy = any(worker.group != "follow" and not worker.is_finished for worker in browser.workers)
            if (
                len(browser.screen_stack) > 1
                and not busy
                and all(screen.session.catalog.is_complete for screen in lists)
            ):
                break
        else:
            return None
        await pilot.pause()
        return without_fonts(browser.export_screenshot(title="kept browse"))


def without_fonts(picture: str) -> str:
    """The picture without external fonts, which a web browser would fetch."""
    return re.sub(r"@font-face\s*\{[^}]*\}", "", picture)


def write(browser: Browser, size: tuple[int, int], path: Path) -> bool:
    """Writes a picture to a file. Returns false if there was nothing to show."""
    picture = asyncio.run(take(browser, size))
    if picture is not None:
        path.write_text(picture, "utf-8")
    return picture is not None
