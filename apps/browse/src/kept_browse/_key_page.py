"""The page of one key: its value and where that comes from, its declaration, its history and live changes."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

import kept

from ._actions import Actions
from ._ask import ask_passphrase
from ._editor import one_line_each
from ._leaving import until_left
from ._passphrase import has_passphrase
from ._row_list import Options
from ._rows import default_of, locked_by, summary_of
from ._text import LOCKED, SECRET, fitted, many_lines, one_line, shortened, time_text, title_line, value_text
from ._values import json_text
from ._window import foot

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from ._session import Session

MOST = 200
"""The number of lines in the live log. The history has older changes."""


LONGEST = 100_000
"""The number of characters of a value that are shown."""


class KeyPage(Actions, Screen[None]):
    """One key."""

    CSS = """
    KeyPage > #title { height: 1; background: $primary; color: $text; text-style: bold; }
    KeyPage > #whole { height: auto; max-height: 50vh; padding: 0 1; }
    KeyPage > #summary { height: auto; padding: 0 1; }
    KeyPage > #value-box { height: auto; max-height: 30%; padding: 0 1; }
    KeyPage > #reason { height: auto; padding: 0 1; color: $text-muted; }
    KeyPage > TabbedContent { height: 1fr; }
    KeyPage TabPane { padding: 0 1; }
    KeyPage OptionList { height: 1fr; border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.leave", "Back", key_display="q"),
        Binding("question_mark", "app.help", "Help", key_display="?"),
        Binding("e", "edit", "Edit"),
        Binding("d", "reset", "Use default"),
        Binding("r", "reveal", "Reveal"),
        Binding("u", "undo_selected", "Undo"),
        # The tabs show these numbers themselves.
        Binding("1", "tab('layers')", "Layers", show=False),
        Binding("2", "tab('declaration')", "Declaration", show=False),
        Binding("3", "tab('history')", "History", show=False),
        Binding("4", "tab('live')", "Live", show=False),
        Binding("w", "app.writing", "Writing"),
        Binding("y", "copy_value", "Copy the value", show=False),
        Binding("Y", "copy_key", "Copy the key", show=False),
        Binding("a", "pending", "Pending", show=False),
        Binding("ctrl+r", "reopen", "Read again", show=False),
    ]

    def __init__(self, session: Session, key: str) -> None:
        super().__init__()
        self.session = session
        self._key = key
        (
            self._head,
            self._whole,
            self._summary,
            self._value,
            self._reason_line,
            self._ladder,
            self._declared,
            self._log_text,
        ) = (
            Static(id=name, markup=False)
            for name in ("title", "whole", "summary", "value", "reason", "ladder", "declared", "log")
        )
        self._past = Options(id="past", markup=False)
        self._is_revealed = False
        self._changes: list[kept.PastChange] = []
        self._log: deque[kept.Change[kept.JSON]] = deque(maxlen=MOST)
        self._declaration: object = None
        self._is_secret = False
        self._locked_by: str | None = None

    @property
    def key(self) -> str:
        return self._key

    @property
    def is_revealed(self) -> bool:
        return self._is_secret and self._is_revealed

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._whole
        yield self._summary
        with VerticalScroll(id="value-box"):
            yield self._value
        yield self._reason_line
        with TabbedContent(id="tabs"):
            with TabPane("1 Layers", id="layers"), VerticalScroll():
                yield self._ladder
            with TabPane("2 Declaration", id="declaration"), VerticalScroll():
                yield self._declared
            with TabPane("3 History", id="history"):
                yield self._past
            with TabPane("4 Live", id="live"), VerticalScroll():
                yield self._log_text
        yield from foot()

    def on_mount(self) -> None:
        self._show()
        self.run_worker(self._follow(), group="follow")

    @until_left
    async def _follow(self) -> None:
        """Shows each change of the key, as an observer receives it."""
        try:
            async with self.session.settings.changes(self._key) as changes:
                async for change in changes:
                    self._log.appendleft(change)
                    self._show()
        except kept.KeptError as error:
            self._browser.tell(str(error), "error")

    # --- drawing

    @work(group="show", exclusive=True)
    @until_left
    async def _show(self) -> None:
        try:
            # The provider of an encrypted secret may be a program that takes long.
            found = await asyncio.to_thread(self.session.settings.explain, self._key)
            declaration = self.session.settings.declaration(self._key)
        except kept.KeptError as error:
            self._value.update(one_line(f"({error})"))
            return
        try:
            history, nothing = await asyncio.to_thread(self._history), "No changes are recorded."
        except kept.KeptError as error:
            history, nothing = self._changes, one_line(f"({error})")
        if found.secret and not self._is_secret:
            self._is_revealed = False
        self._is_secret, self._declaration, self._locked_by = found.secret, declaration, locked_by(found)
        self.refresh_bindings()
        states = [name for name, holds in (("LOCKED", found.locked), ("SECRET", found.secret)) if holds]
        name = one_line(self._key)
        title = title_line(name, states, self._browser.mode_text, self.size.width or 80)
        self._head.update(title)
        self._whole.update(name)
        self._whole.display = title.startswith(" …")  # the title shows only its end
        self._summary.update(summary_of(declaration))
        self._summary.display = bool(summary_of(declaration))
        self._value.update(self._value_text(found))
        self._reason_line.update(one_line(self._reason(found)))
        self._ladder.update("\n".join(_ladder(found)))
        self._declared.update("\n".join(_declared(declaration, found.secret)))
        log = "\n".join(_line_of(change, found.secret) for change in self._log)
        self._log_text.update(log or "Changes by any process appear here as they happen.")
        self._show_history(history, nothing)

    def _history(self) -> list[kept.PastChange]:
        try:
            return list(self.session.settings.history(self._key).changes)
        except kept.UnsupportedError:
            return []

    def _value_text(self, found: kept.Explanation) -> str:
        if found.layer is None:
            return "(absent)"
        if self._locked_by:
            return f"{LOCKED}  r asks for the passphrase" if has_passphrase(self.session.settings) else LOCKED
        if found.secret and not self._is_revealed:
            return f"{SECRET}  r reveals it"
        try:
            value = self.session.settings.get(self._key) if found.secret else found.value
        except kept.KeptError as error:
            return one_line(f"({error})")
        match value:
            case str():
                return _at_most(many_lines(value)) or '""'
            case list() | dict():
                return _at_most(many_lines(json_text(value)))
        return value_text(value)

    def _reason(self, found: kept.Explanation) -> str:
        parts = [found.reason, *filter(None, [self._locked_by])]
        if found.layer is kept.Layer.USER and not found.locked:
            below = default_of(found)
            default = "" if below is None or found.secret else f", {shortened(value_text(below.value))}"
            parts.append(f"d uses the default{default}" if below else "d removes the stored value")
        if edit := self.session.pending.get(self._key):
            parts.append(f"pending: {SECRET if found.secret and not edit.is_reset else shortened(edit.text)}")
        return "; ".join(parts)

    def _show_history(self, changes: list[kept.PastChange], nothing: str) -> None:
        past = self._past
        if changes and changes == self._changes:
            return
        # The cursor stays on its change when newer ones arrive.
        before = None if past.highlighted is None or not self._changes else self._changes[past.highlighted].revision
        self._changes = changes
        past.clear_options()
        past.add_options([Option(_past_line(change)) for change in changes] or [Option(nothing, disabled=True)])
        if changes:
            past.highlighted = next((place for place, change in enumerate(changes) if change.revision == before), 0)

    # --- actions

    def edits_changed(self) -> None:
        """Draws everything again."""
        if self.is_mounted:
            self._show()

    def declarations_changed(self) -> None:
        """Draws everything again if the declaration has changed: the key may be secret now."""
        try:
            if self.session.settings.declaration(self._key) != self._declaration:
                self.edits_changed()
        except kept.KeptError:
            pass  # the list below reports this

    def mode_changed(self) -> None:
        """Draws the page again with the new mode."""
        self.edits_changed()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only a secret is revealed."""
        return action != "reveal" or self._is_secret

    def action_reveal(self) -> None:
        """Shows the value of a secret, or covers it again. If it is locked, asks for the passphrase of the store."""
        if self._locked_by is None:
            self._is_revealed = not self._is_revealed
            self.edits_changed()
        elif has_passphrase(self.session.settings):
            ask = ask_passphrase("The passphrase of the store", self.session.settings.unlock_secrets)
            self._browser.push_screen(ask, self._unlocked)
        else:
            self._browser.tell(self._locked_by, "warning")

    def _unlocked(self, passphrase: str | None) -> None:
        if passphrase is not None:
            self._is_revealed = True
            self.edits_changed()

    def action_tab(self, name: str) -> None:
        """Shows another tab."""
        self.query_one("#tabs", TabbedContent).active = name
        if name == "history":
            self._past.focus()

    async def action_undo_selected(self) -> None:
        """Undoes the change selected in the history, or else the last one since the store was opened."""
        past = self._past
        if self.query_one("#tabs", TabbedContent).active == "history" and past.highlighted is not None:
            revision = self._changes[past.highlighted].revision if self._changes else None
        else:
            own = (commit.revision for commit in reversed(self.session.commits) if self._key in commit.keys)
            revision = next(own, None)
        if revision is None:
            nothing = "you have not changed this key since the store was opened"
            self._browser.tell(f"{nothing}; 3 shows its history, where u undoes older changes")
        elif self._browser.may_write():
            await self.undo_of_key(self._key, revision)


def _at_most(text: str) -> str:
    """A text that a screen can hold, as values may have 16 MiB."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… kept get shows all of its {len(text):,} characters"


def _ladder(found: kept.Explanation) -> list[str]:
    """The value of each layer, the highest first."""
    lines = []
    for finding in found.layers:
        mark = ">" if finding.outcome in ("wins", "locks") else "!" if finding.outcome == "skipped" else " "
        has_value = finding.outcome in ("wins", "hidden", "skipped", "ignored")
        value = "" if not has_value else SECRET if found.secret else value_text(finding.value)
        parts = [value, one_line(finding.source or ""), one_line(finding.problem or "")]
        lines.append(
            f"{mark} {finding.layer.name.lower():12} {finding.outcome:8} {'   '.join(filter(None, parts))}".rstrip()
        )
    return lines


def _declared(declaration: dict[str, kept.JSON] | None, is_secret: bool) -> list[str]:
    if declaration is None:
        return ["The key is not declared: it may hold any value."]
    first = ("summary", "description", "type", "default")
    names = [*(name for name in first if name in declaration), *(name for name in declaration if name not in first)]
    lines = []
    for name in names:
        value = declaration[name]
        if is_secret and name in ("default", "enum", "const", "examples"):
            text = SECRET
        else:
            text = value if name in ("summary", "description", "type") and isinstance(value, str) else value_text(value)
        lines.append(f"{name:12} {one_line_each(text)}")
    return lines


def _past_line(change: kept.PastChange) -> str:
    if change.secret:
        values = SECRET
    else:
        old, new = (
            "(not kept)" if name in change.not_kept else "(absent)" if value is None else shortened(value_text(value))
            for name, value in (("old", change.old), ("new", change.new))
        )
        values = f"{old} -> {new}"
    return f"{change.revision:>6}  {time_text(change.time)}  {fitted(one_line(change.tag or ''), 16)}  {values}"


def _line_of(change: kept.Change[kept.JSON], is_secret: bool) -> str:
    if change.secret or is_secret:
        values = SECRET
    else:
        values = " -> ".join("(absent)" if value is None else value_text(value) for value in (change.old, change.new))
    origin = change.origin.name.lower()
    return f"{time_text(change.time)}  {origin:8} {fitted(one_line(change.tag or ''), 16)}  {values}"
