"""Actions on keys, shared by the list of keys and the page of one key."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import kept

from ._ask import Ask, AskText, Refusal
from ._entry import Line
from ._pending import Edit, KeysChanged, is_misfit, redeclared, reset_of, stored
from ._rows import default_of, type_of_value
from ._similar import closest
from ._text import count_text, names_text, one_line, shortened, value_text
from ._undoing import MOST, NOT_KNOWN, finality, sentence, size_of
from ._values import json_text, text_of
from ._window import window_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from ._session import Commit, Session
    from ._window import Window


MOST_COPIED = 65_536
"""The number of characters that are copied. Terminals ignore much longer texts."""


class Actions:
    """The actions of a screen that shows a store. The screen has a `session` and a `key`."""

    session: Session

    @property
    def key(self) -> str | None:
        """The key that the actions apply to, or None."""
        raise NotImplementedError

    @property
    def listed_keys(self) -> list[str]:
        """The listed keys."""
        return [self.key] if self.key is not None else []

    def edits_changed(self) -> None:
        """Called after an edit, a commit or an undo."""

    def go_to(self, key: str) -> None:
        """Called after a new key was set."""

    @property
    def _browser(self) -> Window:
        return window_of(self)

    # --- one key

    def open_key(self, key: str) -> None:
        """Opens the page of a key."""
        self._browser.open_key(self.session, key, self.edits_changed)

    async def action_edit(self) -> None:
        """Edits the key with the widget that suits its declaration."""
        if (key := self.key) is None or not self._browser.may_write():
            return
        if key not in self.session.pending and (refusal := await self._refusal(key, False)):
            how = "n in the list of keys can set it anyway"
            self._browser.tell(refusal.with_remedy(how) if refusal.can_be_overruled else str(refusal), "warning")
        else:
            self._edit(key)

    async def _refusal(self, key: str, insists: bool) -> Refusal | None:
        """Why a key is not set: its name is invalid, or the store declares other keys but not this one. `kept set` does
        the same."""
        settings, catalog = self.session.settings, self.session.catalog
        try:
            found = settings.explain(key)
            is_known = found.layer is not None or settings.revision(key) or settings.declaration(key) is not None
        except kept.KeptError as error:
            return Refusal(str(error))
        if not is_known and (replaced := await self.session.replaced()):
            return Refusal(replaced)
        if insists or is_known or not catalog.declarations:
            return None
        similar = await asyncio.to_thread(closest, key, list(catalog.keys))
        meant = "" if similar is None else f'; did you mean "{one_line(similar)}"?'
        return Refusal(f'"{one_line(key)}" is not declared in this store{meant}', can_be_overruled=True)

    def _edit(self, key: str, edited: Callable[[str], None] | None = None) -> None:
        from ._editor import Editor

        try:
            found = self.session.settings.explain(key)
            if found.locked:
                self._browser.tell(_lock_of(found), "warning")
                return
            declaration = self.session.settings.declaration(key)
            value, revision = stored(found)
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
            return
        if pending := self.session.pending.get(key):
            # The editor shows the pending value. A value stored since then was not shown, so it is a conflict.
            value, revision = pending.old, pending.revision
        edit = Edit(key, value, None, revision, found.secret, is_misfit(found))
        self._browser.push_screen(
            Editor(self.session, edit, declaration, self._finish),
            lambda resets: self._ask_to_reset([key]) if resets else edited and edited(key),
        )

    async def _finish(self, edit: Edit, now: bool) -> Exception | None:
        """Commits an edit, or adds it to the pending changes. Returns the reason if it was refused."""
        is_same = edit.revision and edit.old is not None and json_text(edit.new) == json_text(edit.old)
        if now and not is_same:
            return await self._try([edit])
        try:
            if self.session.settings.revision(edit.key) != edit.revision:
                return KeysChanged([edit.key])
        except kept.KeptError as error:
            return error
        if is_same:
            self.session.pending.drop(edit.key)
        else:
            self.session.pending.add(edit)
        self.edits_changed()
        return None

    def action_new(self) -> None:
        """Asks for the name of a key and edits that key."""
        if self._browser.may_write():
            ask = AskText("A new key", Line(placeholder="its name, such as audio.volume"), self._refusal)
            self._browser.push_screen(ask, lambda key: self._edit(key, self.go_to) if key else None)

    def action_reset(self) -> None:
        """Removes the stored value after a question, which a different key answers."""
        if self.key is not None and self._browser.may_write():
            self._ask_to_reset([self.key])

    def action_reset_listed(self) -> None:
        """Does the same for all listed keys that have a stored value."""
        if self._browser.may_write():
            self._ask_to_reset(self.listed_keys)

    def _ask_to_reset(self, keys: Sequence[str]) -> None:
        settings = self.session.settings
        edits: list[Edit] = []

        def ask() -> tuple[str, list[str]] | None:
            """The question about the keys that are not locked now."""
            now = [settings.explain(edit.key) for edit in asked]
            edits[:] = [redeclared(edit, each) for edit, each in zip(asked, now, strict=True) if not each.locked]
            if not edits:
                nothing = "there is no stored value to remove; other layers cannot be changed here"
                self._browser.tell(_lock_of((now or found)[0]) if found else nothing, "warning")
                return None
            question = f"Remove {count_text(len(edits), 'stored value')}?"
            if final := finality(settings, edits):
                question += f" {final}"
            question += f" The defaults apply again{_default_in(now)}."
            if locked := len(found) - len(edits):
                question += f" {count_text(locked, 'locked key')} {'stays' if locked == 1 else 'stay'} as set."
            short = shortened if len(edits) > 1 else str
            lost = {
                each.key: f"; pending: {short(each.text)}" for each in self.session.pending.edits if not each.is_reset
            }
            if count := sum(edit.key in lost for edit in edits):
                question += f" This also discards {count_text(count, 'pending change')}."
            return question, [f"{one_line(edit.key)}  {short(edit.old_text)}{lost.get(edit.key, '')}" for edit in edits]

        try:
            found = [settings.explain(key) for key in keys if settings.revision(key)]
            asked = [reset_of(each) for each in found if not each.locked]
            question = ask()
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
            return
        if question is not None:
            self._browser.push_screen(Ask(*question, ask), lambda yes: self._answer(yes, edits))

    def _answer(self, yes: bool | None, edits: list[Edit]) -> None:
        if yes:
            self._browser.run_worker(self._commit(edits))

    # --- copying

    @property
    def is_revealed(self) -> bool:
        """Whether the screen shows the value of the key although it is secret."""
        return False

    def action_copy_key(self) -> None:
        """Copies the key."""
        if self.key is not None:
            self._copy("key", self.key)

    def action_copy_value(self) -> None:
        """Copies the value, but a secret only while it is shown."""
        if self.key is None:
            return
        try:
            found = self.session.settings.explain(self.key)
            value = self.session.settings.get(self.key) if found.secret and self.is_revealed else found.value
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
            return
        if found.secret and not self.is_revealed:
            self._browser.tell("to copy a secret, open the page of its key and reveal it with r", "warning")
        elif found.layer is None:
            self._browser.tell("the key has no value to copy", "warning")
        else:
            self._copy("value", text_of(type_of_value(value), value))

    def _copy(self, what: str, text: str) -> None:
        if len(text) > MOST_COPIED:
            self._browser.tell(f"the {what} is too long for the clipboard; kept get prints it", "warning")
        else:
            self._browser.copy_to_clipboard(text)
            self._browser.tell(f"copied the {what}, if the terminal supports that (OSC 52)")

    # --- several

    async def _commit(self, edits: Sequence[Edit]) -> None:
        """Commits and reports the result."""
        if refusal := await self._try(edits):
            self._browser.tell(str(refusal), "error")

    async def _try(self, edits: Sequence[Edit]) -> Exception | None:
        """Commits and reports success. Returns the reason for a refusal, which the caller shows where it fits."""
        try:
            revision = await self.session.commit(edits)
        except (KeysChanged, kept.KeptError, TypeError, ValueError) as error:
            return error
        finally:
            self.edits_changed()
        if revision is None:
            self._browser.tell("nothing changed: the store already has these values")
            return None
        sentences = [f"committed as revision {revision}{await self._prospect(revision, edits)}"]
        try:
            for edit in edits:
                found = self.session.settings.explain(edit.key)
                if not edit.is_reset and found.layer is not None and found.layer is not kept.Layer.USER:
                    sentences.append(f'"{edit.key}" is stored, but hidden: {found.reason}')
        except kept.KeptError:
            pass  # the store was closed or cannot be reached, which is reported elsewhere
        self._browser.tell("\n".join(sentences), "information" if len(sentences) == 1 else "warning")
        return None

    async def _prospect(self, revision: int, edits: Sequence[Edit]) -> str:
        """Whether a commit can be undone, as the end of a sentence."""
        try:
            obstacle = await self.session.obstacle(revision)
        except kept.KeptError:
            return f". {finality(self.session.settings, edits) or NOT_KNOWN}"
        if obstacle is None:
            return "; u in the list undoes it"
        return f". {finality(self.session.settings, edits) or sentence([obstacle])}"

    def action_pending(self) -> None:
        """Shows the pending changes."""
        if self.session.pending:
            self._browser.open_pending(self.session, self.edits_changed)
        else:
            self._browser.tell("no changes are pending; Ctrl+G in an editor adds one")

    async def action_undo(self) -> None:
        """Undoes the last commit since the store was opened."""
        if not self.session.commits:
            nothing = "you have no commits to undo since the store was opened; undos do not count"
            self._browser.tell(f"{nothing}. The page of a key undoes older changes")
        elif self._browser.may_write():
            await self._undo_newest(self.session.commits[::-1])

    async def _undo_newest(self, commits: Sequence[Commit]) -> None:
        """Undoes the first of the given commits, after a question if that loses values. If it is refused, asks whether
        to undo the next of them that can be undone."""
        try:
            changes = await self.session.changes_of(commits[0].revision)
            # If the undo would be refused, there is nothing to ask.
            lost = _lost(changes) if await self.session.obstacle(commits[0].revision) is None else ""
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
            return
        if lost:
            self._ask_to_undo(
                f"Undo revision {commits[0].revision}? {lost}", commits[0].keys, lambda: self._undo_first(commits)
            )
        else:
            await self._undo_first(commits)

    async def _undo_first(self, commits: Sequence[Commit]) -> None:
        refusal = await self._try_to_undo(commits[0].revision)
        if refusal is None:
            return
        try:
            before = await self.session.undoable(commits[1:])
        except kept.KeptError:
            before = None  # no history, or the store cannot be reached, which is also the reason of the refusal
        if before is None:
            others = "; your earlier commits since the store was opened cannot be undone either"
            self._browser.tell(f"{refusal}{others * (len(commits) > 1)}", "error")
            return
        place = commits.index(before)
        which = "your previous commit" if place == 1 else "the last of your earlier commits that can be undone"
        question = f"{refusal}. Undo {which}, revision {before.revision}?"
        self._ask_to_undo(question, before.keys, lambda: self._undo_newest(commits[place:]))

    def _ask_to_undo(self, question: str, keys: Sequence[str], undo: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Asks before undoing a commit."""

        def answered(yes: bool | None) -> None:
            if yes:
                self._browser.run_worker(undo())

        self._browser.push_screen(Ask(question, [one_line(key) for key in keys]), answered)

    async def _undo(self, revision: int) -> None:
        """Undoes a commit and reports the result."""
        if refusal := await self._try_to_undo(revision):
            self._browser.tell(str(refusal), "error")

    async def _try_to_undo(self, revision: int) -> kept.KeptError | None:
        """Undoes a commit and reports success. Returns the reason if it was refused."""
        try:
            keys = await self.session.undo(revision)
        except kept.KeptError as error:
            return error
        finally:
            self.edits_changed()
        self._browser.tell(f"undid revision {revision}: {names_text(keys)}")
        return None

    async def undo_of_key(self, key: str, revision: int) -> None:
        """Undoes a commit from the page of a key, after a question if the commit also changed other keys or if undoing
        it loses values."""
        try:
            changes = await self.session.changes_of(revision)
            obstacle = await self.session.obstacle(revision)
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
            return
        if obstacle is not None:
            await self._undo(revision)  # which reports the reason
            return
        keys, lost = [change.key for change in changes], _lost(changes)
        together = "" if keys in ([], [key]) else f" It changed {count_text(len(keys), 'key')}."
        if together or lost:
            question = f"Undo revision {revision}?{together}{lost and f' {lost}'}"
            self._ask_to_undo(question, keys, lambda: self._undo(revision))
        else:
            await self._undo(revision)

    # --- the whole store

    def action_import(self) -> None:
        """Opens the import screen."""
        self._browser.open_import(self.session)

    def action_export(self) -> None:
        """Opens the export screen."""
        self._browser.open_export(self.session)

    def action_compare(self) -> None:
        """Opens the comparison screen."""
        self._browser.open_compare(self.session)

    def action_reopen(self) -> None:
        """Opens the store again, as its folder may have been replaced. Pending changes are kept."""
        self._browser.show_store(self.session.location)


def _lost(changes: Sequence[kept.PastChange]) -> str:
    """A sentence if undoing a commit removes values that the history cannot restore; else empty."""
    # Commits of secrets cannot be undone. The history of a stored value has its new value, however long it is.
    is_lost = any(not change.secret and ("new" in change.not_kept or size_of(change.new) > MOST) for change in changes)
    return "Its values will be lost: the history does not keep values that long." if is_lost else ""


def _default_in(found: Sequence[kept.Explanation]) -> str:
    """The default of a single key, as part of a sentence."""
    default = default_of(found[0]) if len(found) == 1 and not found[0].secret else None
    return f": {shortened(value_text(default.value))}" if default else ""


def _lock_of(found: kept.Explanation) -> str:
    """A sentence that says who locked a key."""
    source = next((f.source for f in found.layers if f.layer is kept.Layer.MANAGED and f.source), "the administrator")
    return f'"{found.key}" is locked by {source} and cannot be changed here'
