"""Runs the program in a test, and reads its screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual.events import Callback, Resize
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from kept_browse._app import Browser
from kept_browse._keys import KeysScreen
from kept_browse._row_list import RowList
from kept_browse._session import Layers, Session

SECONDS = 60.0
"""The time limit for reaching a state, in seconds. Tests pass much sooner."""

S = TypeVar("S", bound=Screen[Any])
W = TypeVar("W", bound=Widget)

Body = Callable[[Pilot[int]], Coroutine[Any, Any, None]]


def browse(location: Path | str | None, body: Body, *, size: tuple[int, int] = (100, 30), **options: Any) -> Browser:
    """Runs the program while `body` uses it. A named store has been read when `body` begins."""
    options.setdefault("layers", Layers(has_standard=False))
    browser = Browser(None if location is None else str(location), **options)

    async def running() -> None:
        async with browser.run_test(size=size) as pilot:
            if location is not None:
                await wait_for(pilot, lambda: is_loaded(browser), "the keys are read")
            await body(pilot)

    asyncio.run(running())
    return browser


def app_of(pilot: Pilot[int]) -> Browser:
    assert isinstance(pilot.app, Browser)
    return pilot.app


_handled: list[None] = []
"""An element for each message that a widget has begun to handle."""


def count(message: Message) -> None:
    """Called for each message. The waiting itself consists of callbacks, which are not counted."""
    if not isinstance(message, Callback):
        _handled.append(None)


async def settle(pilot: Pilot[int]) -> None:
    """Waits until the screen is drawn for the size of the terminal, and all messages are handled, with those that they
    lead to. A screen that is never at rest, such as one with a progress bar, is left after some rounds."""
    quiet = 0
    for _ in range(50):
        before = len(_handled)
        if pilot.app.screen_stack:
            pilot.app.screen._on_timer_update()
        # This waits for the messages that there are, but not for those that they lead to.
        await pilot._wait_for_screen(SECONDS)
        # The last message of a quiet round may have led to another one, which the next round handles.
        quiet = quiet + 1 if len(_handled) == before and pilot.app._resize_timer is None else 0
        if quiet == 2:
            break


async def wait_for(pilot: Pilot[int], condition: Callable[[], object], what: str) -> None:
    """Waits until a condition holds, and what led to it is drawn. If it does not, the error names `what`."""
    until = time.monotonic() + SECONDS
    while not condition():
        if pilot.app._exception is not None:
            raise pilot.app._exception
        assert time.monotonic() < until, f"{what} has not come; the screen is\n{screen_text(pilot)}"
        await pilot.pause(0.01)
    await settle(pilot)


class HeldSizes:
    """Holds a new size of the terminal back from the screens, as Textual does for a short time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._pass_on, self._is_holding = Browser._check_resize, True
        monkeypatch.setattr(Browser, "_check_resize", lambda app: None if self._is_holding else self._pass_on(app))

    def release(self, pilot: Pilot[int]) -> None:
        """Passes the size on."""
        self._is_holding = False
        app_of(pilot)._check_resize()


async def resize_again(pilot: Pilot[int]) -> None:
    """Passes the size of the terminal to the screen once more, as Textual sometimes does."""
    pilot.app.screen.post_message(Resize(pilot.app.size, pilot.app.size))
    await settle(pilot)


async def wait_for_text(pilot: Pilot[int], text: str) -> None:
    """Waits until the screen shows a text."""
    await wait_for(pilot, lambda: text in screen_text(pilot), f"the text {text!r}")


async def wait_until_gone(pilot: Pilot[int], text: str) -> None:
    """Waits until the screen no longer shows a text."""
    await wait_for(pilot, lambda: text not in screen_text(pilot), f"a screen without {text!r}")


async def wait_for_screen(pilot: Pilot[int], kind: type[S]) -> S:
    """Waits until the topmost screen is of the given kind and is drawn."""
    while True:
        # The footer is the last part of every screen.
        await wait_for(
            pilot, lambda: isinstance(pilot.app.screen, kind) and pilot.app.screen.query("Footer"), kind.__name__
        )
        if isinstance(screen := pilot.app.screen, kind):  # and not one that was just closed by an answer
            return screen


async def wait_for_message(pilot: Pilot[int], text: str) -> None:
    """Waits until the last message contains a text."""
    await wait_for(
        pilot, lambda: any(text.casefold() in each.casefold() for each in messages(pilot)), f"the message {text!r}"
    )


def messages(pilot: Pilot[int]) -> list[str]:
    """The last message, until it ends."""
    return list(filter(None, [app_of(pilot).message[1]]))


def screen_lines(pilot: Pilot[int]) -> list[str]:
    """The lines of the topmost screen."""
    return [strip.text for strip in pilot.app.screen._compositor.render_strips()]


def screen_text(pilot: Pilot[int]) -> str:
    """The text of the topmost screen."""
    return "\n".join(screen_lines(pilot))


def line_with(pilot: Pilot[int], text: str) -> str:
    """The first line of the screen that contains a text."""
    return next((line for line in screen_lines(pilot) if text in line), "")


def is_loaded(browser: Browser) -> bool:
    """Whether the list of keys exists and all keys have been read."""
    return any(isinstance(screen, KeysScreen) and screen.session.catalog.is_complete for screen in browser.screen_stack)


def keys_screen(pilot: Pilot[int]) -> KeysScreen:
    """The list of keys, which may be below another screen."""
    return next(screen for screen in reversed(pilot.app.screen_stack) if isinstance(screen, KeysScreen))


def count_looks(screen: KeysScreen) -> list[None]:
    """A list that grows by one element whenever the screen looks for problems."""
    looks: list[None] = []
    trouble = screen.session.trouble

    async def counted() -> str | None:
        looks.append(None)
        return await trouble()

    screen.session.trouble = counted  # type: ignore[method-assign]
    return looks


def session_of(pilot: Pilot[int]) -> Session:
    return keys_screen(pilot).session


def rows(pilot: Pilot[int]) -> RowList:
    return keys_screen(pilot).query_one("#rows", RowList)


def listed(pilot: Pilot[int]) -> list[str]:
    """The keys in the list, in order."""
    return keys_screen(pilot).listed_keys


def text_of(pilot: Pilot[int], selector: str) -> str:
    """The text of a widget on the topmost screen; empty if the widget does not exist."""
    return "".join(str(part.content) for part in pilot.app.screen.query(selector).results(Static))


async def search(pilot: Pilot[int], text: str) -> None:
    """Types a search and returns to the list."""
    await pilot.press("slash")
    keys_screen(pilot).query_one("#search", Input).value = text
    await pilot.pause()
    await pilot.press("enter")


async def go_to(pilot: Pilot[int], key: str) -> None:
    """Puts the cursor of the list on a key."""
    rows(pilot).put_cursor(key)
    await pilot.pause()
    assert keys_screen(pilot).key == key


async def allow_writing(pilot: Pilot[int]) -> None:
    await pilot.press("w")
    await wait_for_text(pilot, "WRITING")


async def open_editor(pilot: Pilot[int], key: str) -> Widget:
    """Allows writing and opens the editor of a key. Returns the widget with the value."""
    from kept_browse._editor import Editor

    if app_of(pilot).mode_text != "WRITING":
        await allow_writing(pilot)
    await go_to(pilot, key)
    await pilot.press("e")
    editor = await wait_for_screen(pilot, Editor)
    return editor.query_one("#editor")


async def leave_editor(pilot: Pilot[int]) -> None:
    """Leaves an editor, and discards its text on a terminal of any size."""
    from kept_browse._ask import Ask

    await pilot.press("escape")
    if isinstance(pilot.app.screen, Ask):
        pilot.app.screen.dismiss(True)
    await wait_for(pilot, lambda: not pilot.app.screen.query("#editor, #asked"), "the end")


async def type_value(pilot: Pilot[int], text: str) -> None:
    """Replaces the text in the editor."""
    from textual.widgets import TextArea

    editor = pilot.app.screen.query_one("#editor")
    if isinstance(editor, TextArea):
        editor.text = text
    else:
        assert isinstance(editor, Input)
        editor.value = text
    await pilot.pause()
