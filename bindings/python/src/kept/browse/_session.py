"""An open store, and what the screens about it share."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import kept

from . import _pending
from ._catalog import Catalog
from ._pending import Edit, Pending
from ._places import folder_of, is_identifier, location_of
from ._undoing import obstacle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Layers:
    """The layers beside the store, as the options of `kept` name them."""

    managed: str | None = None
    system: str | None = None
    env_prefix: str | None = None
    has_standard: bool = True
    """Whether the administrator's files are read from their fixed place, which only stores with an identifier have."""

    def options(self, location: str) -> dict[str, Any]:
        """The arguments of `kept.open`."""
        standard = self.has_standard and is_identifier(location)
        return {
            "managed": self.managed or standard,
            "system": self.system or standard,
            "environment": self.env_prefix,
        }


class NoStore(Exception):
    """There is no store at a location. Looking at one does not make it."""


def open_store(location: str, layers: Layers) -> kept.Store:
    """Opens a store that exists. Any thread."""
    folder = folder_of(location)
    if folder is not None and not folder.exists():
        raise NoStore(
            f"there is no store {location}: {folder} does not exist; a program makes it when it first opens it"
        )
    return kept.open(location, tag=_pending.TAG, **layers.options(location))


@dataclass(frozen=True)
class Commit:
    """A commit that was made here."""

    revision: int
    keys: tuple[str, ...]


@dataclass
class Session:
    """A store that is looked at."""

    location: str
    layers: Layers
    settings: kept.Store
    catalog: Catalog = field(init=False)
    pending: Pending = field(default_factory=Pending)
    commits: list[Commit] = field(default_factory=list)
    """The commits made here that were not undone, the newest last."""

    def __post_init__(self) -> None:
        self.catalog = Catalog(self.settings)
        self._folder = folder_of(self.location)
        self._identity = _identity(self._folder)

    @classmethod
    def begin(cls, location: str, layers: Layers) -> Session:
        """Opens a store. Any thread."""
        location = location_of(location)
        return cls(location, layers, open_store(location, layers))

    async def commit(self, edits: Sequence[Edit]) -> int | None:
        """Commits edits together on another thread, which may wait for other writers. Errors as `_pending.commit`."""
        before = {edit.key: self.pending.get(edit.key) for edit in edits}
        revision = await asyncio.to_thread(_pending.commit, self.settings, edits)
        for key, edit in before.items():
            if self.pending.get(key) is edit:
                self.pending.drop(key)  # what was pending is what was edited further
        if revision is not None:
            self.committed(revision, [edit.key for edit in edits])
            self.catalog.renew(edit.key for edit in edits)
        return revision

    def committed(self, revision: int, keys: Sequence[str]) -> None:
        """Notes a commit that was made here, so that it can be undone."""
        self.commits.append(Commit(revision, tuple(keys)))

    def take_pending(self, before: Session) -> None:
        """Takes over what was pending in the store before it was opened again."""
        self.pending = before.pending
        self.pending.compare(self.settings, is_other=self._identity != before._identity)

    async def undo(self, revision: int) -> list[str]:
        """Takes back a commit, which may be another program's. Returns the keys."""
        keys = await asyncio.to_thread(self.settings.undo, revision, tag=f"{_pending.TAG} undo")
        self.commits = [commit for commit in self.commits if commit.revision != revision]
        self.catalog.renew(keys)
        return keys

    async def changes_of(self, revision: int) -> list[kept.PastChange]:
        """What a commit has changed, which may be another program's. None if the history has it no more."""
        try:
            history = await asyncio.to_thread(self.settings.history)
        except kept.UnsupportedError:
            return []
        return [change for change in history.changes if change.revision == revision]

    async def obstacle(self, revision: int) -> str | None:
        """Why a commit cannot be undone; None if it can be."""
        return await asyncio.to_thread(obstacle, self.settings, revision)

    async def undoable(self, commits: Sequence[Commit]) -> Commit | None:
        """The first of some commits that can be undone."""

        def first() -> Commit | None:
            history = self.settings.history()
            return next((each for each in commits if obstacle(self.settings, each.revision, history) is None), None)

        return await asyncio.to_thread(first)

    async def salvage(self) -> str | None:
        """That the store was damaged and salvaged, as long as nobody has acknowledged that."""
        return await asyncio.to_thread(salvage_text, self.settings)

    async def trouble(self) -> str | None:
        """What keeps the store from being read as it was opened: it was removed, replaced, or cannot be reached."""
        if (replaced := await self.replaced()) is not None:
            return replaced
        try:
            return await asyncio.to_thread(_broken_file, self.settings)
        except kept.KeptError as error:
            return str(error)

    async def replaced(self) -> str | None:
        """That the folder was removed or replaced since it was opened."""
        if self._folder is None or (now := await asyncio.to_thread(_identity, self._folder)) == self._identity:
            return None
        what = "was removed" if now is None else "was replaced by another folder"
        return f"{self._folder} {what}; what you see is what it held. Ctrl+R opens it again"

    def close(self) -> None:
        """Closes the store. It may sync a file: not on the thread of the event loop."""
        self.settings.close()


def salvage_text(settings: kept.Store) -> str | None:
    """That the store was damaged, and what can be done; None if it was not, or if that was acknowledged."""
    try:
        folder = settings.salvaged
    except kept.KeptError:
        return None  # it cannot be reached, which is said elsewhere
    if folder is None:
        return None
    return (
        f"the store was damaged, and what could be read was salvaged: values may be missing. The damaged files are in "
        f"{folder}. A acknowledges it"
    )


def _broken_file(settings: kept.Store) -> str | None:
    """What is wrong with a file of the administrator: then its last good values hold. Raises if the store cannot be
    reached."""
    settings.revision()
    # For a key that no layer has, since a value of a layer may have a problem, too.
    layers = settings.explain("kept browse: no such key").layers
    return next((finding.problem for finding in layers if finding.problem), None)


def _identity(folder: Path | None) -> tuple[int, int] | None:
    """What tells a folder from another one of the same name; None if there is none."""
    if folder is None:
        return None
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino
