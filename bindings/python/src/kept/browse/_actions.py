"""What can be done with keys, on the screen with all of them and on the page of one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import kept

from ._ask import Ask, AskText, Refusal
from ._pending import ChangedMeanwhile, Edit, is_misfit, reset_of, stored
from ._similar import closest
from ._text import count_text, names_text, one_line
from ._undoing import MOST, finality, sentence, size_of
from ._values import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from textual.screen import Screen

    from ._app import Browser
    from ._session import Commit, Session


class Actions:
    """The actions of a screen about a store. The screen has a `session` and a `key`."""

    session: Session

    @property
    def key(self) -> str | None:
        """The key that the actions are about; None if there is none."""
        raise NotImplementedError

    @property
    def listed_keys(self) -> list[str]:
        """The keys that are listed."""
        return [self.key] if self.key is not None else []

    def edits_changed(self) -> None:
        """Called when something was edited, committed or undone."""

    @property
    def _browser(self) -> Browser:
        return cast("Browser", cast("Screen[None]", self).app)

    # --- one key

    def open_key(self, key: str) -> None:
        """Opens the page of a key."""
        from ._key_page import KeyPage

        self._browser.push_screen(KeyPage(self.session, key), lambda _: self.edits_changed())

    async def action_edit(self) -> None:
        """Edits the key, with the widget that its declaration asks for."""
        if (key := self.key) is None or not self._browser.may_write():
            return
        if key not in self.session.pending and (refusal := await self._refusal(key, False)):
            how = "n on the list of keys can set it all the same"
            self._browser.tell(refusal.with_remedy(how) if refusal.can_be_overruled else str(refusal), "warning")
        else:
            self._edit(key)

    async def _refusal(self, key: str, insists: bool) -> Refusal | None:
        """Why a key is not set: it cannot be one, or it is not declared where others are. So does the command."""
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

    def _edit(self, key: str) -> None:
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
            # The editor shows what is pending. A later value has not been shown, and is a conflict.
            value, revision = pending.old, pending.revision
        edit = Edit(key, value, None, revision, found.secret, is_misfit(found))
        self._browser.push_screen(Editor(self.session, edit, declaration, self._finish))

    async def _finish(self, edit: Edit, now: bool) -> Exception | None:
        """Commits what was edited, or adds it to what is pending. Returns why that was refused."""
        is_same = edit.revision and edit.old is not None and json_text(edit.new) == json_text(edit.old)
        if now and not is_same:
            return await self._try([edit])
        try:
            if self.session.settings.revision(edit.key) != edit.revision:
                return ChangedMeanwhile([edit.key])
        except kept.KeptError as error:
            return error
        if is_same:
            self.session.pending.drop(edit.key)
        else:
            self.session.pending.add(edit)
        self.edits_changed()
        return None

    def action_new(self) -> None:
        """Asks for the name of a key, and edits it."""
        if self._browser.may_write():
            ask = AskText("A new key", "its name, such as audio.volume", self._refusal)
            self._browser.push_screen(ask, lambda key: self._edit(key) if key else None)

    def action_reset(self) -> None:
        """Asks with another key, and removes the stored value."""
        if self.key is not None and self._browser.may_write():
            self._ask_to_reset([self.key])

    def action_reset_listed(self) -> None:
        """The same for all keys that are listed and stored."""
        if self._browser.may_write():
            self._ask_to_reset(self.listed_keys)

    def _ask_to_reset(self, keys: Sequence[str]) -> None:
        settings = self.session.settings
        try:
            found = [settings.explain(key) for key in keys if settings.revision(key)]
            edits = [reset_of(each) for each in found if not each.locked]
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
            return
        if not edits:
            nothing = "nothing is stored here: what you see comes from other layers"
            self._browser.tell(_lock_of(found[0]) if found else nothing, "warning")
            return
        lines = [f"{one_line(edit.key)}  {edit.old_text}" for edit in edits]
        question = f"Remove {count_text(len(edits), 'stored value')}?"
        if final := finality(settings, edits):
            question += f" {final}"
        question += " The defaults apply again."
        if locked := len(found) - len(edits):
            question += f" {count_text(locked, 'locked key')} {'stays' if locked == 1 else 'stay'} as set."
        self._browser.push_screen(Ask(question, lines), lambda yes: self._answer(yes, edits))

    def _answer(self, yes: bool | None, edits: list[Edit]) -> None:
        if yes:
            self._browser.run_worker(self._commit(edits))

    # --- several

    async def _commit(self, edits: Sequence[Edit]) -> None:
        """Commits, and says what came of it."""
        if refusal := await self._try(edits):
            self._browser.tell(str(refusal), "error")

    async def _try(self, edits: Sequence[Edit]) -> Exception | None:
        """Commits, and says so. Returns why that was refused, for which the caller has the place to say it."""
        try:
            revision = await self.session.commit(edits)
        except (ChangedMeanwhile, kept.KeptError, TypeError, ValueError) as error:
            return error
        finally:
            self.edits_changed()
        if revision is None:
            self._browser.tell("nothing had to be changed")
            return None
        sentences = [f"committed as revision {revision}{await self._prospect(revision, edits)}"]
        try:
            for edit in edits:
                found = self.session.settings.explain(edit.key)
                if not edit.is_reset and found.layer is not None and found.layer is not kept.Layer.USER:
                    sentences.append(f'"{edit.key}" is stored, but hidden: {found.reason}')
        except kept.KeptError:
            pass  # the store was closed or cannot be reached, which is said elsewhere
        self._browser.tell("\n".join(sentences), "information" if len(sentences) == 1 else "warning")
        return None

    async def _prospect(self, revision: int, edits: Sequence[Edit]) -> str:
        """Whether a commit can be undone, for the end of a sentence."""
        try:
            obstacle = await self.session.obstacle(revision)
        except kept.KeptError:
            return ""  # the store cannot be reached, which is said elsewhere
        if obstacle is None:
            return "; u undoes it"
        return f". {finality(self.session.settings, edits) or sentence([obstacle])}"

    def action_pending(self) -> None:
        """Shows what is pending."""
        from ._pending_screen import PendingScreen

        if self.session.pending:
            self._browser.push_screen(PendingScreen(self.session), lambda _: self.edits_changed())
        else:
            self._browser.tell("nothing is pending: in an editor, Ctrl+G adds a change to what is committed together")

    async def action_undo(self) -> None:
        """Takes back the last commit that was made here."""
        if not self.session.commits:
            self._browser.tell(
                "nothing is left to undo of what you committed here; the page of a key undoes older changes"
            )
        elif self._browser.may_write():
            await self._undo_newest(self.session.commits[::-1])

    async def _undo_newest(self, commits: Sequence[Commit]) -> None:
        """Takes back the first of some commits, after a question if it cannot be made again. If it is refused, it asks
        whether to take back the first one before it that can be undone."""
        try:
            changes = await self.session.changes_of(commits[0].revision)
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
            return
        if lost := _lost(changes):
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
            before = None  # there is no history, or the store cannot be reached, which was the reason
        if before is None:
            others = "; none of the commits before it that you made here can be undone" if len(commits) > 1 else ""
            self._browser.tell(f"{refusal}{others}", "error")
            return
        place = commits.index(before)
        which = "your commit before it" if place == 1 else "the last of your commits before it that can be undone"
        question = f"{refusal}. Undo {which}, revision {before.revision}?"
        self._ask_to_undo(question, before.keys, lambda: self._undo_newest(commits[place:]))

    def _ask_to_undo(self, question: str, keys: Sequence[str], undo: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Asks before a commit is taken back."""

        def answered(yes: bool | None) -> None:
            if yes:
                self._browser.run_worker(undo())

        self._browser.push_screen(Ask(question, [one_line(key) for key in keys]), answered)

    async def _undo(self, revision: int) -> None:
        """Takes back a commit, and says what came of it."""
        if refusal := await self._try_to_undo(revision):
            self._browser.tell(str(refusal), "error")

    async def _try_to_undo(self, revision: int) -> kept.KeptError | None:
        """Takes back a commit, and says so. Returns why that was refused."""
        try:
            keys = await self.session.undo(revision)
        except kept.KeptError as error:
            return error
        finally:
            self.edits_changed()
        self._browser.tell(f"undid revision {revision}: {names_text(keys)}")
        return None

    async def undo_of_key(self, key: str, revision: int) -> None:
        """Takes back a commit for the sake of one key, after a question if it has changed others, too, or cannot be
        made again."""
        try:
            changes = await self.session.changes_of(revision)
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")
            return
        keys, lost = [change.key for change in changes], _lost(changes)
        together = "" if keys in ([], [key]) else f" It has changed {count_text(len(keys), 'key')} together."
        if together or lost:
            question = f"Undo revision {revision}?{together}{lost and f' {lost}'}"
            self._ask_to_undo(question, keys, lambda: self._undo(revision))
        else:
            await self._undo(revision)

    # --- the whole store

    def action_import(self) -> None:
        """Opens the screen that imports."""
        from ._import_screen import ImportScreen

        self._browser.push_screen(ImportScreen(self.session))

    def action_export(self) -> None:
        """Opens the screen that exports."""
        from ._export_screen import ExportScreen

        self._browser.push_screen(ExportScreen(self.session))

    def action_compare(self) -> None:
        """Opens the screen that compares."""
        from ._compare_screen import CompareScreen

        self._browser.push_screen(CompareScreen(self.session))

    def action_reopen(self) -> None:
        """Opens the store again: the folder may be another one. What is pending stays."""
        self._browser.show_store(self.session.location)


def _lost(changes: Sequence[kept.PastChange]) -> str:
    """That undoing a commit removes what the history does not bring back; nothing if it does."""
    # Of secrets, no commit is undone. The history of a stored value has its new value, however long it is.
    is_lost = any("new" in change.not_kept or size_of(change.new) > MOST for change in changes)
    return "What it has set is lost then: the history does not keep so long a value." if is_lost else ""


def _lock_of(found: kept.Explanation) -> str:
    """Who has locked a key."""
    source = next((f.source for f in found.layers if f.layer is kept.Layer.MANAGED and f.source), "the administrator")
    return f'"{found.key}" is locked by {source} and cannot be changed here'
