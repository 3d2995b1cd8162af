"""The screen with the pending changes, which are committed as one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import chop_cells
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Static
from textual.widgets.option_list import Option

import kept

from ._actions import Actions
from ._ask import Ask
from ._conflict import Conflict
from ._pending import Edit, KeysChanged
from ._row_list import Options
from ._text import count_text, fitted, name_text, one_line
from ._undoing import finality, why_final
from ._window import foot

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._session import Session


HINT = "They are committed together or not at all. Changes of other programs to the same keys are shown first."


class PendingScreen(Actions, Screen[None]):
    """The pending changes: each key with its current value and the new one."""

    CSS = """
    PendingScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    PendingScreen > #hint { height: auto; max-height: 4; color: $text-muted; padding: 0 1; }
    PendingScreen > OptionList { height: 1fr; border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.leave", "Back", key_display="q"),
        Binding("question_mark", "app.help", "Help", key_display="?"),
        Binding("ctrl+s", "commit", "Commit all"),
        Binding("e", "edit", "Edit"),
        Binding("delete,d", "drop", "Discard one", key_display="d"),
        Binding("D", "drop_all", "Discard all"),
        Binding("w", "app.writing", "Writing", show=False),
        Binding("ctrl+r", "reopen", "Read again", show=False),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._is_committing = False
        self._head = Static(id="title", markup=False)
        self._hint = Static(id="hint", markup=False)
        self._options = Options(id="edits", markup=False)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._hint
        yield self._options
        yield from foot()

    def on_mount(self) -> None:
        self.edits_changed()
        self._options.focus()

    @property
    def key(self) -> str | None:
        place = self._options.highlighted
        edits = self.session.pending.edits
        return None if place is None or place >= len(edits) else edits[place].key

    def edits_changed(self) -> None:
        """Draws the list again, or leaves the screen when nothing is pending."""
        if not self.is_active or not self.query("#edits"):
            return  # this screen is not on top, or was left while a commit was ending
        if not self.session.pending:
            self.dismiss()
            return
        self._draw()

    def _draw(self) -> None:
        edits = self.session.pending.edits
        options = self._options
        place = options.highlighted or 0
        options.clear_options()
        width = max(10, self.app.size.width - 10)
        settings = self.session.settings
        texts = [
            (_title(settings, edit), _two_lines(edit.old_text, width), _two_lines(edit.text, width)) for edit in edits
        ]
        options.add_options([Option(f"{title}\n    - {old}\n    + {new}") for title, old, new in texts])
        self._hint.update(finality(self.session.settings, edits) or HINT)
        options.highlighted = min(place, len(edits) - 1)
        parts = [count_text(len(edits), "pending change"), self._browser.mode_text, one_line(self.session.location)]
        self._head.update("  ·  ".join(parts))

    def mode_changed(self) -> None:
        """Draws the screen again with the new mode."""
        self.edits_changed()

    def declarations_changed(self) -> None:
        """Covers the values of keys that have become secret, even below a dialog."""
        if self.query("#edits") and self.session.pending:
            self._draw()

    def on_screen_resume(self) -> None:
        self.edits_changed()

    def action_commit(self) -> None:
        """Commits everything."""
        if self._is_committing or not self.is_active:
            return  # the key was pressed again before the first press took effect
        if self._browser.may_write():
            self._is_committing = True
            # A worker of the browser, because the commit ends this screen together with its own workers.
            self._browser.run_worker(self._commit_all())

    async def _commit_all(self) -> None:
        """Commits everything, or shows the conflicting values of other programs."""
        try:
            refusal = await self._try(self.session.pending.edits)
        finally:
            self._is_committing = False
        if isinstance(refusal, KeysChanged):
            self._ask_about_conflict()
        elif refusal:
            self._browser.tell(str(refusal), "error")

    def _ask_about_conflict(self) -> None:
        """Shows the first value of another program that has not been shown yet, and asks whether to replace it."""
        if not self.is_active:
            return  # the screen was left while the commit was ending
        try:
            if edit := self.session.pending.conflict(self.session.settings):
                question = Conflict(self.session.settings, edit)
                self.app.push_screen(question, lambda answer: self._answered(edit, answer))
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")

    def _answered(self, edit: Edit, answer: Edit | bool | None) -> None:
        """Continues with the next conflict, unless the question was left unanswered."""
        if answer is None:
            return
        if isinstance(answer, Edit):
            self.session.pending.put(answer)
        else:
            self.session.pending.drop(edit.key)
        self.edits_changed()
        self._ask_about_conflict()

    def action_drop(self) -> None:
        """Discards the change under the cursor after a question, without touching the store."""
        if self.key is not None:
            self._ask_to_drop(f'Discard the pending change of "{name_text(self.key)}"?', [self.key])

    def action_drop_all(self) -> None:
        """Discards everything after a question."""
        keys = [edit.key for edit in self.session.pending.edits]
        self._ask_to_drop(f"Discard {count_text(len(keys), 'pending change')}?", keys)

    def _ask_to_drop(self, question: str, keys: list[str]) -> None:
        pending = self.session.pending

        def ask() -> tuple[str, list[str]]:
            return question, pending.lines(keys)

        def answered(yes: bool | None) -> None:
            if yes:
                for key in keys:
                    pending.drop(key)
                self.edits_changed()

        self.app.push_screen(Ask(*ask(), ask), answered)


def _two_lines(text: str, width: int) -> str:
    return "\n      ".join(chop_cells(fitted(text, 2 * width).rstrip(), width))


def _title(settings: kept.Store, edit: Edit) -> str:
    return f"~ {one_line(edit.key)}{'  (cannot be undone)' if why_final(settings, edit) else ''}"
