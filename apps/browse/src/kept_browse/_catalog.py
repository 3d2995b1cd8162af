"""All keys of a store with the rows that the list shows, kept up to date by the store's notices.

Only the event loop's thread changes it. A loader on another thread reads, and passes its results on.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import kept

from ._pending import TAG
from ._rows import Past, Row, read_row

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from ._search import Query

BATCH = 500
"""The number of keys read at a time: about 20 ms of work, the longest that a keystroke has to wait."""

MANY = 2000
"""The number of declarations above which the declared keys are shown first."""

FLASH = 1.0
"""How long a changed key is highlighted, in seconds."""


@dataclass(frozen=True)
class Outline:
    """The declarations and keys of a store, before its values are read."""

    declarations: dict[str, dict[str, Any]]
    keys: list[str]
    texts: list[str]
    """The searched text of each key."""
    is_complete: bool
    """Whether undeclared keys are included."""


class Catalog:
    """The keys of a store, sorted, and a row for each one that was read."""

    def __init__(self, settings: kept.Store) -> None:
        self.settings = settings
        self.keys: list[str] = []
        self.rows: dict[str, Row] = {}
        self.declarations: dict[str, dict[str, Any]] = {}
        self.past: dict[str, Past] = {}
        self.is_complete = False
        """Whether every key was read, so that searching finds all values."""
        self.version = 0
        """Grows with each change of `keys` or `rows`."""
        self.longest = 0
        """The length of the longest key."""
        self._texts: list[str] = []
        """The searched text of each key, in the order of `keys`."""
        self._flashes: dict[str, float] = {}
        # Keys that notices updated while a loader reads: the loader may have read an older value.
        self._fresh: set[str] = set()
        self._loads = 0
        self._begun: asyncio.Future[Outline] | None = None

    # --- reading everything

    def begin(self) -> None:
        """Starts reading on another thread while the screen is built. `load` continues."""
        self._begun = asyncio.ensure_future(asyncio.to_thread(self._read_first))

    async def load(self) -> AsyncIterator[int]:
        """Reads the declarations and the keys, then their history and their rows. Yields the number of rows read so
        far: first 0 when the keys are known, twice if many are declared. A second call ends the first one."""
        self._loads += 1
        load = self._loads
        self._fresh.clear()
        self.is_complete = False
        begun, self._begun = self._begun, None
        outline = await (begun or asyncio.to_thread(self._read_first))
        if load != self._loads:
            return
        self._set_outline(outline)
        yield 0
        if not outline.is_complete:
            outline = await asyncio.to_thread(self._read_keys, outline.declarations)
            if load != self._loads:
                return
            self._set_outline(outline)
            yield 0
        keys = list(outline.keys)
        past = await asyncio.to_thread(_newest, self.settings)
        if load != self._loads:
            return
        self.past = past | {key: self.past[key] for key in self._fresh if key in self.past}
        for start in range(0, len(keys), BATCH):
            batch = keys[start : start + BATCH]
            rows = await asyncio.to_thread(self._read_rows, batch)
            if load != self._loads:
                return
            for key, row in zip(batch, rows, strict=True):
                if key not in self._fresh:
                    self._put(key, row)
            yield start + len(batch)
        self.is_complete = True
        self._fresh.clear()
        yield len(keys)

    def _read_first(self) -> Outline:
        declarations: dict[str, dict[str, Any]] = dict(self.settings.declarations())
        if len(declarations) <= MANY:
            return self._read_keys(declarations)
        # Listing the keys takes longer than reading the declarations.
        keys = sorted(declarations)
        return Outline(declarations, keys, [key.casefold() for key in keys], is_complete=False)

    def _read_keys(self, declarations: dict[str, dict[str, Any]]) -> Outline:
        # A list of the store itself would ask it for its length first, which lists all keys, too.
        keys = list(iter(self.settings))
        if declarations:
            keys = sorted({*keys, *declarations})
        return Outline(declarations, keys, [key.casefold() for key in keys], is_complete=True)

    def _read_rows(self, keys: list[str]) -> list[Row | None]:
        return [self._read(key) for key in keys]

    def _read(self, key: str) -> Row | None:
        try:
            return read_row(self.settings, key, self.declarations.get(key), self.past.get(key))
        except kept.ClosedError:
            raise
        except kept.KeptError as error:
            return Row(key, f"({error})", "", "", "", key in self.declarations, False, False, False, True, False, None)

    def _set_outline(self, outline: Outline) -> None:
        self.declarations, self.keys, self._texts = outline.declarations, list(outline.keys), outline.texts
        self.longest = max(map(len, self.keys), default=0)
        self.version += 1
        if self.rows:
            self.rows = {key: row for key in self.keys if (row := self.rows.get(key))}
            pairs = zip(self.keys, outline.texts, strict=True)
            self._texts = [row.text if (row := self.rows.get(key)) else text for key, text in pairs]
        # Keys that were added or removed during the reading.
        for key in self._fresh:
            self._put(key, self._read(key))

    # --- one key

    def row(self, key: str) -> Row | None:
        """The row of a key, read now if necessary: for the few keys on the screen."""
        if key not in self.rows and self._place(key) is not None and (row := self._read(key)):
            self._put(key, row)
        return self.rows.get(key)

    def is_secret(self, key: str) -> bool:
        """Whether a key is declared secret now. It may not have been when its value was read."""
        return bool(self.declarations.get(key, {}).get("secret"))

    def _place(self, key: str) -> int | None:
        place = bisect_left(self.keys, key)
        return place if place < len(self.keys) and self.keys[place] == key else None

    def _put(self, key: str, row: Row | None) -> None:
        place = self._place(key)
        self.version += 1
        if row is None:
            self.rows.pop(key, None)
            if place is not None:
                del self.keys[place], self._texts[place]
            return
        self.rows[key] = row
        if place is None:
            place = bisect_left(self.keys, key)
            self.keys.insert(place, key)
            self.longest = max(self.longest, len(key))
            self._texts.insert(place, row.text)
        else:
            self._texts[place] = row.text

    # --- changes

    async def apply(self, notice: kept.Notice) -> None:
        """Rereads the keys that a notice names, and lets other tasks run in between if there are many."""
        until = time.monotonic() + FLASH
        # The time of a layer's file is not the time of a write.
        past = None if notice.origin is kept.Origin.LAYER else Past(notice.time, notice.tag)
        for number, change in enumerate(notice.changes, 1):
            self._update(change.key, past, until)
            if number % 100 == 0:
                await asyncio.sleep(0)

    def _update(self, key: str, past: Past | None, until: float) -> None:
        if past:
            self.past[key] = past
        self._flashes[key] = until
        if not self.is_complete:
            self._fresh.add(key)
        if key not in self.declarations and (declaration := self.settings.declaration(key)):
            self.declarations[key] = declaration
        self._put(key, self._read(key))

    def renew(self, keys: Iterable[str], past: Mapping[str, Past] | None = None) -> None:
        """Rereads keys. No notice names a key whose stored value has changed but whose effective value has not."""
        for key in keys:
            self._update(key, (past or {}).get(key, Past(datetime.now(UTC), TAG)), time.monotonic() + FLASH)

    async def reload_past(self, revision: int) -> bool:
        """Rereads the keys that changed after a revision according to the history. Returns whether there are any."""
        changed = await asyncio.to_thread(_newest, self.settings, revision)
        keys = [key for key, past in changed.items() if key not in self.past or self.past[key].time < past.time]
        for number, key in enumerate(keys, 1):
            self.renew([key], changed)
            if number % 100 == 0:
                await asyncio.sleep(0)
        return bool(keys)

    async def reload_declarations(self) -> bool:
        """Rereads the declarations, as no notice reports one that changes no value. If any have changed, rereads their
        keys and returns true."""
        declarations, changed = await asyncio.to_thread(self._compared, dict(self.declarations))
        self.declarations = declarations
        for number, key in enumerate(changed, 1):
            self._put(key, self._read(key))
            if number % 100 == 0:
                await asyncio.sleep(0)
        return bool(changed)

    def _compared(self, before: dict[str, dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """The current declarations, and the keys whose declarations have changed. Any thread."""
        now: dict[str, dict[str, Any]] = dict(self.settings.declarations())
        return now, [key for key in before.keys() | now.keys() if before.get(key) != now.get(key)]

    def is_flashing(self, key: str) -> bool:
        """Whether a key has just changed."""
        until = self._flashes.get(key)
        if until is None:
            return False
        if time.monotonic() < until:
            return True
        del self._flashes[key]
        return False

    def forget_flashes(self) -> bool:
        """Forgets the keys that are no longer highlighted. Returns whether any still are."""
        now = time.monotonic()
        self._flashes = {key: until for key, until in self._flashes.items() if until > now}
        return bool(self._flashes)

    # --- searching

    def select(self, query: Query) -> list[str]:
        """The keys that a query finds, in order. Without a query, the live list, which changes later."""
        return self.keys if query.is_empty else query.select(self.keys, self._texts, self.rows)


def _newest(settings: kept.Store, after: int = 0) -> dict[str, Past]:
    """The newest known change of each key after a revision. Stores in memory have no history."""
    try:
        changes: Iterable[kept.PastChange] = settings.history().changes
    except kept.UnsupportedError:
        return {}
    newest: dict[str, Past] = {}
    for change in changes:
        if change.revision <= after:
            break
        newest.setdefault(change.key, Past(change.time, change.tag))
    return newest
