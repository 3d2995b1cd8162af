"""Calls that take long: on a thread of their own, with their progress, and ended by a key."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, ProgressBar, Static

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

T = TypeVar("T")


class Cancelled(Exception):
    """The person has cancelled the call. Nothing was changed."""


class Work(ModalScreen["T | Exception"], Generic[T]):
    """Runs a call, and is closed with its result or with what it has raised."""

    CSS = """
    Work { align: center middle; }
    Work > Vertical { width: 60; max-width: 95%; height: auto; border: solid $primary; background: $panel; padding: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(self, title: str, call: Callable[[Callable[[int, int], object]], T]) -> None:
        """`call` takes a callback for its progress, which raises `Cancelled` if it shall end."""
        super().__init__()
        self._title, self._call = title, call
        self._is_cancelled = False
        self._done, self._total = 0, 0

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._title, markup=False)
            yield ProgressBar(show_eta=False)
        yield Footer()

    def on_mount(self) -> None:
        self.set_interval(0.1, self._show)
        self.run_worker(self._run())

    async def _run(self) -> None:
        result: T | Exception
        try:
            result = await asyncio.to_thread(self._call, self._receive)
        except Exception as error:
            result = error
        self.dismiss(result)

    def _receive(self, done: int, total: int) -> None:
        """Called on the thread of the call."""
        if self._is_cancelled:
            raise Cancelled("cancelled; nothing was changed")
        self._done, self._total = done, total

    def _show(self) -> None:
        if self._total:
            self.query_one(ProgressBar).update(total=self._total, progress=self._done)

    def action_cancel(self) -> None:
        """Ends the call at its next step."""
        self._is_cancelled = True
