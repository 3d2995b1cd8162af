"""The screen with the changes that wait, which are committed as one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

import kept

from ._actions import Actions
from ._conflict import Conflict
from ._pending import ChangedMeanwhile, Edit
from ._text import count_text, one_line
from ._undoing import finality, why_final

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._session import Session


HINT = "They are committed together or not at all. What another program has changed since is shown to you first."


class PendingScreen(Actions, Screen[None]):
    """What would change, a line for each key: its value now, and the new one."""

    CSS = """
    PendingScreen > #title { height: 1; background: $primary; color: $text; text-style: bold; padding: 0 1; }
    PendingScreen > #hint { height: auto; max-height: 4; color: $text-muted; padding: 0 1; }
    PendingScreen > OptionList { height: 1fr; border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "commit", "Commit all"),
        Binding("e", "edit", "Edit"),
        Binding("delete,d", "drop", "Discard one", key_display="d"),
        Binding("D", "drop_all", "Discard all"),
        Binding("w", "app.writing", "Writing", show=False),
        Binding("ctrl+r", "reopen", "Read again", show=False),
        Binding("question_mark", "app.help", "Help", key_display="?"),
        Binding("escape,q", "app.leave", "Back", key_display="q"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._is_committing = False
        self._head = Static(id="title", markup=False)
        self._hint = Static(id="hint", markup=False)
        self._options = OptionList(id="edits", markup=False)

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._hint
        yield self._options
        yield Footer()

    def on_mount(self) -> None:
        self.edits_changed()
        self._options.focus()

    @property
    def key(self) -> str | None:
        place = self._options.highlighted
        edits = self.session.pending.edits
        return None if place is None or place >= len(edits) else edits[place].key

    def edits_changed(self) -> None:
        """Draws the list again; leaves the screen when nothing is pending."""
        # Textual takes a screen below a dialog for a current one.
        if self.app.screen is not self or not self.query("#edits"):
            return  # it is not the topmost one, or is left while a commit ends
        if not self.session.pending:
            self.dismiss()
            return
        self._draw()

    def _draw(self) -> None:
        edits = self.session.pending.edits
        options = self._options
        place = options.highlighted or 0
        options.clear_options()
        options.add_options([Option(f"{_title(edit)}\n    - {edit.old_text}\n    + {edit.text}") for edit in edits])
        self._hint.update(finality(self.session.settings, edits) or HINT)
        options.highlighted = min(place, len(edits) - 1)
        parts = [count_text(len(edits), "pending change"), self._browser.mode_text, one_line(self.session.location)]
        self._head.update("  ·  ".join(parts))

    def mode_changed(self) -> None:
        """Draws whether writing is allowed."""
        self.edits_changed()

    def declarations_changed(self) -> None:
        """Covers what has become a secret, also below a dialog."""
        if self.query("#edits") and self.session.pending:
            self._draw()

    def on_screen_resume(self) -> None:
        self.edits_changed()

    def action_commit(self) -> None:
        """Commits everything."""
        if self._is_committing or self.app.screen is not self:
            return  # the key was pressed again before what the first one led to
        if self._browser.may_write():
            self._is_committing = True
            # Of the browser, because the commit ends this screen, and its own workers with it.
            self._browser.run_worker(self._commit_all())

    async def _commit_all(self) -> None:
        """Commits everything, or shows what other programs have changed."""
        try:
            refusal = await self._try(self.session.pending.edits)
        finally:
            self._is_committing = False
        if isinstance(refusal, ChangedMeanwhile):
            self._ask_about_conflict()
        elif refusal:
            self._browser.tell(str(refusal), "error")

    def _ask_about_conflict(self) -> None:
        """Shows the first value of another program that was not shown yet, and asks whether it may be replaced."""
        if self.app.screen is not self:
            return  # it was left while the commit ended
        try:
            if edit := self.session.pending.conflict(self.session.settings):
                question = Conflict(self.session.settings, edit)
                self.app.push_screen(question, lambda answer: self._answered(edit, answer))
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")

    def _answered(self, edit: Edit, answer: Edit | bool | None) -> None:
        """Goes on to the next conflict, unless the question was left."""
        if answer is None:
            return
        if isinstance(answer, Edit):
            self.session.pending.put(answer)
        else:
            self.session.pending.drop(edit.key)
        self.edits_changed()
        self._ask_about_conflict()

    def action_drop(self) -> None:
        """Discards the change under the cursor. The store is not touched."""
        if self.key is not None:
            self.session.pending.drop(self.key)
            self.edits_changed()

    def action_drop_all(self) -> None:
        """Discards everything."""
        self.session.pending.clear()
        self.edits_changed()


def _title(edit: Edit) -> str:
    return f"~ {one_line(edit.key)}{'  (cannot be undone)' if why_final(edit) else ''}"
