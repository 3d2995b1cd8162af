"""Runs long calls on a thread of their own, shows their progress, and lets a key cancel them."""

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
    """The user cancelled the call. Nothing was changed."""


class Work(ModalScreen["T | Exception"], Generic[T]):
    """Runs a call, and closes with its result or its exception."""

    CSS = """
    Work { align: center middle; }
    Work > Vertical { width: 60; max-width: 95%; height: auto; border: solid $primary; background: $panel; padding: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(
        self, title: str, call: Callable[[Callable[[int, int], object]], T], *, only_reads: bool = False
    ) -> None:
        """`call` takes a callback for its progress, which raises `Cancelled` after the user has cancelled. If it only
        reads, the screen does not wait for that."""
        super().__init__()
        self._title, self._call, self._only_reads = title, call, only_reads
        self._is_cancelled = self._is_left = False
        self._result: list[T | Exception] = []
        """Empty before the call ends, and after the screen is dismissed."""
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
        self._leave(result)

    def _leave(self, result: T | Exception) -> None:
        if not self._is_left:
            self._is_left = True
            self._result.append(result)
            self.on_screen_resume()

    def on_screen_resume(self) -> None:
        # Textual dismisses the top screen, which may be a question or the help.
        if self._result and self.is_active:
            self.dismiss(self._result.pop())

    def _receive(self, done: int, total: int) -> None:
        """Called on the call's thread."""
        if self._is_cancelled:
            raise self._cancelled
        self._done, self._total = done, total

    @property
    def _cancelled(self) -> Cancelled:
        return Cancelled("cancelled; nothing was changed")

    def _show(self) -> None:
        if self._total:
            self.query_one(ProgressBar).update(total=self._total, progress=self._done)

    def action_cancel(self) -> None:
        """Cancels the call at its next step."""
        self._is_cancelled = True
        if self._only_reads:
            self._leave(self._cancelled)
