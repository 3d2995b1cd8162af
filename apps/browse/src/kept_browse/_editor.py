"""The dialog that edits the value of a key."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, OptionList, Static, Switch, TextArea

import kept

from ._ask import Ask
from ._entry import Area, Line, Refused
from ._pending import Edit, KeysChanged, check, stored
from ._row_list import Options
from ._rows import summary_of
from ._seen import is_seen, once_drawn
from ._slider import Slider
from ._text import SECRET, count_text, many_lines, name_text, one_line, value_text
from ._undoing import finality
from ._values import NotAValue, caret, kind_of, place_text, text_of, value_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.geometry import Size
    from textual.widget import Widget

    from ._session import Session

    Finish = Callable[[Edit, bool], Awaitable[Exception | None]]
    """Commits an edit, or adds it to the pending changes. Returns the reason if it was refused."""

QUICK = 0.3
"""How long the next key press waits for a commit, in seconds, so that it reaches the screen below the dialog. A commit
that waits for another program takes longer."""

LOW, TINY = 22, 8
"""The heights, in lines, of a terminal that is too low for the whole dialog, and of a tiny one."""

LONGEST = 5_000
"""The number of characters of another program's value that the dialog shows."""

HINTS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "date": "a date such as 2026-11-20T23:44:01Z",
    "bytes": "base64, such as AP8c",
    "json": "JSON",
}


class OnOff(Switch, inherit_bindings=False):
    """A switch that Space toggles. Enter ends the dialog, as in its other widgets."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,left,right", "toggle_switch", "Turn")]


class Editor(ModalScreen[bool]):
    """Edits one key with the widget that suits its declaration.

    The store itself checks the input at each keystroke, without being changed. The dialog ends when the edit is
    committed or pending. A refused value stays, with the reason. The result is whether to use the default instead.
    """

    # The heights leave room for the reason and for another program's value in 22 lines. On a lower terminal the dialog
    # has no borders, and on a very low one it shows only the input and the problem.
    CSS = """
    Editor { align: center middle; }
    Editor > Vertical { width: 76; max-width: 98%; height: auto; max-height: 95%; border: solid $primary;
        background: $panel; padding: 0 1; }
    Editor #name { text-style: bold; height: auto; max-height: 50vh; }
    Editor #about { height: auto; max-height: 15vh; }
    Editor TextArea { height: 25vh; min-height: 6; max-height: 12; border: solid $primary; }
    Editor Input { border: solid $primary; height: 3; }
    Editor OptionList { height: auto; max-height: 25vh; border: solid $primary; }
    Editor #switch { height: 3; }
    Editor #state { width: 1fr; padding: 1; }
    Editor #problems { height: auto; min-height: 1; max-height: 20vh; }
    Editor #problem { color: $text-error; height: auto; }
    Editor #final { color: $text-warning; height: auto; max-height: 3; }
    Editor #size { color: $text-muted; height: 1; }
    Editor #other { height: auto; max-height: 25vh; border: solid $error; display: none; }
    Editor.conflict #other { display: block; }
    Editor.conflict #about { display: none; }
    Editor #other:focus { border: heavy $error; }
    Editor.low > Vertical { width: 100%; max-width: 100%; height: 1fr; max-height: 100%; border: none; }
    Editor.low #about { max-height: 2; }
    Editor.low #final { max-height: 2; }
    Editor.low.refused #final, Editor.low.refused #about, Editor.low.refused #size { display: none; }
    Editor.low TextArea, Editor.low OptionList { height: 1fr; min-height: 1; max-height: 100%; border: none; }
    Editor.low Input, Editor.low #switch, Editor.low Switch { height: 1; border: none; }
    Editor.low #state { padding: 0 1; }
    Editor.low #problems { max-height: 60%; }
    Editor.low #other, Editor.low #other:focus { border: none; max-height: 30%; min-height: 1; }
    Editor.tiny #name, Editor.tiny #about, Editor.tiny #size, Editor.tiny Slider { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel"),
        Binding("enter", "enter", "Set", priority=True),
        Binding("ctrl+s", "finish(True)", "Set", priority=True),
        Binding("ctrl+g", "finish(False)", "Add to pending", priority=True),
        Binding("ctrl+j", "break_line", "New line"),
        Binding("ctrl+d", "use_default", "Use default", priority=True),
    ]

    def __init__(self, session: Session, edit: Edit, declaration: Mapping[str, Any] | None, finish: Finish) -> None:
        super().__init__()
        self._session, self._edit, self._declaration = session, edit, declaration or {}
        self._finish = finish
        self._finishing: asyncio.Future[Exception | None] | None = None
        self._kind = kind_of(declaration)
        pending = session.pending.get(edit.key)
        # A pending value is edited further. A secret is not shown: its editor begins empty.
        shown = pending.new if pending and not pending.is_reset else edit.old
        self._value: kept.JSON = None if edit.is_secret else shown
        is_other = self._kind == "boolean" and shown is not None and not isinstance(shown, bool)
        self._asks = edit.is_secret or is_other or not (edit.revision or pending)
        """Whether an untouched editor asks before it sets its value, which is not the stored one."""
        if self._kind == "string" and isinstance(self._value, str) and self._value != many_lines(self._value):
            self._kind = "json"  # where control characters are written as escapes
        self._problem: str | None = None
        self._conflict: str | None = None
        """The sentence about another program's value, once the key was in conflict."""
        self._too_small: Size | None = None
        """The size of the terminal for which replacing that value was refused."""

    # --- its parts

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(one_line(self._edit.key), id="name", markup=False)
            with VerticalScroll(id="about", can_focus=False):
                if summary := summary_of(self._declaration):
                    yield Static(summary, markup=False)
                yield Static(self._rules(), id="rules", markup=False)
            yield from self._widgets()
            yield Static(id="final", markup=False)
            yield Static(id="size", markup=False)
            with VerticalScroll(id="problems", can_focus=False):
                yield Static(id="problem", markup=False)
            with VerticalScroll(id="other"):
                yield Static(id="other-value", markup=False)
        yield Footer()

    def _widgets(self) -> list[Widget]:
        text = text_of(self._kind, self._value)
        match self._kind:
            case "boolean":
                switch = OnOff(self._value is True, id="editor")
                return [Horizontal(switch, Static(id="state", markup=False), id="switch")]
            case "choice":
                shown = [f"{value_text(each)}{'  (now)' if self._is_now(each) else ''}" for each in self._choices]
                return [Options(*shown, id="editor", markup=False)]
            case "integer" | "number":
                slider = [] if self._edit.is_secret else self._slider()
                return [*slider, Line(text, placeholder=self._hint, id="editor", password=self._edit.is_secret)]
            case "string" if "\n" in text or len(text) > 200:
                return [Area(text, id="editor")]
            case "string" | "date" | "bytes":
                return [
                    Line(text, placeholder=self._hint, id="editor", password=self._edit.is_secret,
                         select_on_focus=False)
                ]  # fmt: skip
        return [Area(text, is_covered=self._edit.is_secret, placeholder=self._hint, id="editor")]

    @property
    def _hint(self) -> str:
        if self._edit.is_secret and self._edit.revision:
            return "the new value; Escape keeps the current one"
        return HINTS[self._kind]

    @property
    def _choices(self) -> list[Any]:
        return list(self._declaration.get("enum", ()))

    def _is_now(self, choice: Any) -> bool:
        return type(choice) is type(self._value) and bool(choice == self._value)

    def _slider(self) -> list[Widget]:
        """A slider if the declaration has bounds."""
        try:
            minimum, maximum = (Decimal(str(self._declaration[name])) for name in ("minimum", "maximum"))
            step = Decimal(str(self._declaration.get("multipleOf", 1 if self._kind == "integer" else 0)))
            if step > 0:  # the least number that the declaration allows, as the bound need not be a multiple
                minimum = (minimum / step).to_integral_value(ROUND_CEILING) * step
        except (KeyError, InvalidOperation):
            return []
        step = step or (maximum - minimum) / 100
        if not (minimum.is_finite() and maximum.is_finite()) or maximum <= minimum or step <= 0:
            return []
        return [Slider(minimum, maximum, step, id="slider")]

    def _rules(self) -> str:
        """The declaration as one line."""
        left_out = ["type", "summary", "description", "default", "enum", "properties", "items", "secret"]
        if self._edit.is_secret:
            left_out += ["const", "examples"]
        rules = [f"{name} {value_text(value)}" for name, value in self._declaration.items() if name not in left_out]
        kind = self._declaration.get("type", "not declared: JSON, with strings in quotes")
        default = self._declaration.get("default")
        shown = [] if default is None or self._edit.is_secret else [f"default {value_text(default)}"]
        if kind == "string" and self._kind == "json":
            rules.append("shown as JSON because of its control characters")
        return one_line("; ".join([str(kind), *rules, *shown]))

    def on_mount(self) -> None:
        editor = self.query_one("#editor")
        editor.focus()
        if isinstance(editor, OptionList) and self._value in self._choices:
            editor.highlighted = self._choices.index(self._value)
        if isinstance(editor, TextArea):
            editor.move_cursor(editor.document.end)  # as in a line
        self._first_state = self._state
        self._show_size()
        self._show_final()
        self._show_number(text_of(self._kind, self._value))
        self._show_state()

    # --- the input

    def _written(self) -> kept.JSON:
        """The value that the editor shows. Raises `NotAValue`."""
        editor = self.query_one("#editor")
        if isinstance(editor, Switch):
            return editor.value
        if isinstance(editor, OptionList):
            if editor.highlighted is None:
                raise NotAValue("choose a value")
            choice: kept.JSON = self._choices[editor.highlighted]
            return choice
        return value_of(self._kind, self._text)

    @property
    def _text(self) -> str:
        editor = self.query_one("#editor")
        if isinstance(editor, TextArea):
            return editor.text
        return editor.value if isinstance(editor, Input) else ""

    def _check(self) -> kept.JSON:
        """The value in the editor if the store would accept it. Otherwise shows the reason and returns None."""
        value: kept.JSON = None
        if not self.query("#editor"):
            return None  # an area is just replacing a line
        try:
            value = self._written()
            problem = check(self._session.settings, self._edit.key, value)
        except NotAValue as error:
            problem = str(error)
            if error.offset is not None and self._kind == "json":
                show = place_text if self._edit.is_secret else caret
                problem = f"{problem}\n{show(self._text, error.offset)}"
        except kept.KeptError as error:
            problem = str(error)
        self._problem = problem
        self._show_problem(problem or self._conflict or "")
        self._show_size()
        return None if problem else value

    def _show_final(self) -> None:
        """Warns if the change could not be undone."""
        final = finality(self._session.settings, [self._edit])
        self.query_one("#final", Static).update(final or "")
        self.query_one("#final").display = final is not None

    def _show_size(self) -> None:
        """Shows the number of lines and characters in a covered area."""
        is_covered = self._edit.is_secret and isinstance(self.query_one("#editor"), Area)
        lines, length = self._text.count("\n") + 1, len(self._text)
        size = self.query_one("#size", Static)
        size.update(f"{count_text(lines, 'line')}, {count_text(length, 'character')}, covered")
        size.display = is_covered

    # --- several lines

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allows a line to become an area if its value may have several lines, and the default if a value is stored.
        In an area, Enter begins a new line."""
        if action == "use_default":
            return bool(self._edit.revision)
        if action == "enter":
            return not list(self.query("#editor").results(TextArea))
        return action != "break_line" or self._line is not None

    @property
    def _line(self) -> Line | None:
        """The line, if it can become an area."""
        if self._kind not in ("string", "bytes"):
            return None
        return next(iter(self.query("#editor").results(Line)), None)

    async def action_break_line(self) -> None:
        """Starts a second line at the cursor."""
        if line := self._line:
            await self._become_area(line, "\n")

    async def on_line_several(self, message: Line.Several) -> None:
        """Takes several pasted lines."""
        if self._line is message.line:
            message.stop()
            await self._become_area(message.line, message.text)

    def on_refused(self, message: Refused) -> None:
        """Shows why nothing was pasted."""
        message.stop()
        remedy = "; kept set STORE KEY - accepts it" if message.is_text else ""
        self._show_problem(f"{message.reason}{remedy}")

    async def _become_area(self, line: Line, inserted: str) -> None:
        """Replaces a line by an area, and the text selected in the line by `inserted`."""
        start, end = sorted(line.selection)
        before = line.value[:start] + inserted
        area = Area(before + line.value[end:], is_covered=line.password, id="editor")
        with self.app.batch_update():
            box = line.parent
            assert isinstance(box, Vertical)
            await line.remove()
            await box.mount(area, before="#final")
        area.move_cursor((before.count("\n"), len(before) - before.rfind("\n") - 1))
        area.focus()
        self.refresh_bindings()
        self._check()

    # --- the end

    async def action_enter(self) -> None:
        await self.action_finish(True)

    async def action_finish(self, now: bool) -> None:
        """Ends the dialog if the value can be committed, or can be pending."""
        value = self._check()
        if self._problem is not None or self._finishing is not None:
            return
        if self._conflict:
            once_drawn(self, partial(self._replace, value, now))
        else:
            await self._ask_or_end(value, now)

    async def _replace(self, value: kept.JSON, now: bool) -> None:
        """Replaces another program's value if the user can see it."""
        if self._finishing is not None or not self.is_active:
            return
        if self._is_conflict_in_view:
            await self._ask_or_end(value, now)
        else:
            self._too_small = self.outer_size
            self._show_problem(f"Make the terminal larger, and press Ctrl+S again. {self._conflict}")

    async def _ask_or_end(self, value: kept.JSON, now: bool) -> None:
        if self._asks and self._state == self._first_state:
            self._ask_about_nothing(value, now)
        else:
            await self._end(value, now)

    def _ask_about_nothing(self, value: kept.JSON, now: bool) -> None:
        """Asks before an untouched editor sets a value that is not the stored one."""
        lost = (
            "The current secret would be lost for good." if self._edit.is_secret else "The current value would be lost."
        )
        what = "the empty text" if value == "" else value_text(value)
        question = f"You have not entered a value. Set {what}?"

        def answered(yes: bool | None) -> None:
            if yes:
                self.run_worker(self._end(value, now))

        self.app.push_screen(Ask(question, [lost] if self._edit.revision else []), answered)

    async def _end(self, value: kept.JSON, now: bool) -> None:
        """Commits a value, or adds it to the pending changes. A refused value stays."""
        self._finishing = asyncio.ensure_future(self._finish(replace(self._edit, new=value), now))
        await asyncio.wait([self._finishing], timeout=QUICK)
        if self._finishing.done():
            self._finished(self._finishing)
        else:
            self.query_one("#editor").disabled = True
            self._show_problem("waiting for another program to finish writing …")
            self._finishing.add_done_callback(lambda finishing: self.call_later(self._finished, finishing))

    def _finished(self, finishing: asyncio.Future[Exception | None]) -> None:
        self._finishing = None
        if (refusal := finishing.result()) is None:
            self.dismiss()
            return
        editor = self.query_one("#editor")
        if editor.disabled:
            editor.disabled = False
            editor.focus()
        if isinstance(refusal, KeysChanged):
            self._show_other()
        else:
            self._show_problem(str(refusal))

    def _show_other(self) -> None:
        """Shows the value that another program set. The next commit replaces it."""
        try:
            value, revision = stored(self._session.settings.explain(self._edit.key))
            self._edit = replace(self._edit, old=value, revision=revision)
        except kept.KeptError as error:
            self._show_problem(str(error))
            return
        text = "(absent)" if revision == 0 else SECRET if self._edit.is_secret else text_of(self._kind, value)
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}\n… kept get shows all of its {len(text):,} characters"
        self._conflict = (
            f'"{name_text(self._edit.key)}" changed since you edited it, and nothing was committed.'
            f" Ctrl+S replaces its new value, Escape keeps it:"
        )
        self._show_problem(self._conflict)
        self.query_one("#other-value", Static).update(many_lines(text))
        self._show_final()
        self.add_class("conflict")  # which makes room for it

    @property
    def _is_conflict_in_view(self) -> bool:
        """Whether the screen shows the value of another program and the whole sentence about it."""
        problem, other = self.query_one("#problem"), self.query_one("#other-value")
        return is_seen(self, problem, is_whole=True) and is_seen(self, other)

    def declarations_changed(self) -> None:
        """Covers everything if the key was declared secret during the edit."""
        try:
            is_secret = self._session.settings.explain(self._edit.key).secret
        except kept.KeptError:
            return  # the list below reports this
        if self._edit.is_secret or not is_secret:
            return
        self._edit = replace(self._edit, is_secret=True)
        for line in self.query("#editor").results(Line):
            line.password = True
        for area in self.query("#editor").results(Area):
            area.cover()
        for choices in self.query("#editor").results(OptionList):
            for place, choice in enumerate(self._choices):  # without the mark on the current value
                choices.replace_option_prompt_at_index(place, value_text(choice))
        self.query("#slider").remove()
        self.query_one("#rules", Static).update(self._rules())
        self.query_one("#other-value", Static).update(SECRET)
        self._show_final()
        self._check()

    @property
    def unsaved(self) -> list[str]:
        """A line with the input that would be lost; empty if nothing was entered."""
        if self._state == self._first_state:
            return []
        written = SECRET if self._edit.is_secret else one_line(str(self._state))
        return [f"{one_line(self._edit.key)}  {written}"]

    @property
    def _state(self) -> str | bool | None:
        """The contents of the editor."""
        editor = self.query_one("#editor")
        if isinstance(editor, Switch):
            return editor.value
        if isinstance(editor, OptionList):
            return None if editor.highlighted is None else value_text(self._choices[editor.highlighted])
        return self._text

    def action_cancel(self) -> None:
        """Ends the dialog without a change."""
        self._leave(False)

    def action_use_default(self) -> None:
        """Ends the dialog with the question whether to remove the stored value."""
        self._leave(True)

    def _leave(self, resets: bool) -> None:
        """Ends the dialog, after a question if it has unsaved text."""

        def ask() -> tuple[str, list[str]]:
            return "Leave the editor? This discards your text.", self.unsaved

        def answered(yes: bool | None) -> None:
            if yes:
                self.dismiss(resets)

        if self._finishing is not None:
            return
        if self.unsaved:
            self.app.push_screen(Ask(*ask(), ask), answered)
        else:
            answered(True)

    def _show_problem(self, problem: str) -> None:
        self.query_one("#problem", Static).update(many_lines(problem))
        self.query_one("#problems").scroll_home(animate=False)
        self.set_class(bool(problem), "refused")

    def on_resize(self, event: events.Resize) -> None:
        """Leaves out the parts that do not fit."""
        self.set_class(event.size.height < LOW, "low")
        self.set_class(event.size.height < TINY, "tiny")
        if self._conflict and self._problem is None and self._too_small != self.outer_size:
            self._show_problem(self._conflict)

    def on_input_changed(self, message: Input.Changed) -> None:
        self._check()
        self._show_number(message.value)

    def _show_number(self, text: str) -> None:
        for slider in self.query("#slider").results(Slider):
            try:
                slider.show(Decimal(text))
            except InvalidOperation:
                pass  # not a number yet

    def on_slider_moved(self, message: Slider.Moved) -> None:
        self.query_one("#editor", Input).value = message.text

    def on_text_area_changed(self) -> None:
        self._check()

    def on_switch_changed(self) -> None:
        self._check()
        self._show_state()

    def _show_state(self) -> None:
        """Shows the state of a switch as text, for users who see no colors."""
        for switch in self.query("#editor").results(Switch):
            self.query_one("#state", Static).update("true" if switch.value else "false")

    def on_key(self, event: events.Key) -> None:
        """Moves to the next choice that begins with the typed letter."""
        for choices in self.query("#editor").results(OptionList):
            letter, after = (event.character or "").casefold(), (choices.highlighted or 0) + 1
            names = [value_text(choice).strip('"').casefold() for choice in self._choices]
            order = [*range(after, len(names)), *range(min(after, len(names)))]
            found = next((place for place in order if letter.isalnum() and names[place].startswith(letter)), None)
            if found is not None:
                choices.highlighted = found
                event.stop()

    def on_option_list_option_highlighted(self) -> None:
        self._check()


def one_line_each(text: str) -> str:
    """Each line without control characters."""
    return "\n".join(map(one_line, text.split("\n")))
