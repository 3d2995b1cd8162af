"""An open store with the state that its screens share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import kept

from . import _pending
from ._catalog import Catalog
from ._passphrase import NoPassphrase, has_passphrase, read
from ._pending import Edit, Pending
from ._places import Folder
from ._undoing import obstacle

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Layers:
    """The layers other than the store, named like the options of `kept`."""

    managed: str | None = None
    system: str | None = None
    env_prefix: str | None = None
    has_standard: bool = True
    """Whether to read the administrator's files in the standard folder; only stores with an identifier have any."""
    passphrase_file: str | None = None
    """A file with the passphrase of the stores' secrets."""

    def options(self, place: kept.Place) -> dict[str, Any]:
        """The arguments of `kept.open`."""
        standard = self.has_standard and place.is_identifier
        return {
            "managed": self.managed or standard,
            "system": self.system or standard,
            "environment": self.env_prefix,
        }


class NoStore(Exception):
    """No store exists at a location. Viewing a store never creates it."""


def open_store(location: str, layers: Layers, *, read_only: bool = False) -> kept.Store:
    """Opens an existing store. Any thread."""
    place = kept.place(location)
    if place.state in ("absent", "folder"):
        found = "does not exist" if place.state == "absent" else "is a folder without a store"
        raise NoStore(
            f"there is no store {location}: {place.folder} {found}; a program creates it when it first opens the store"
        )
    # A store in memory has no files to read.
    read_only = read_only and place.folder is not None
    return kept.open(place.location, tag=_pending.TAG, read_only=read_only, **layers.options(place))


def own_settings() -> frozenset[str]:
    """The settings of the browser itself that are true. It has a store if the user has made it. Any thread."""
    try:
        with open_store("kept-browse", Layers(), read_only=True) as settings:
            return frozenset(key for key in ("light", "writing") if settings.get(key) is True)
    except (kept.KeptError, NoStore, OSError):
        return frozenset()


@dataclass(frozen=True)
class Commit:
    """A commit of this program."""

    revision: int
    keys: tuple[str, ...]


@dataclass
class Session:
    """A store that the browser shows."""

    location: str
    layers: Layers
    settings: kept.Store
    catalog: Catalog = field(init=False)
    pending: Pending = field(default_factory=Pending)
    commits: list[Commit] = field(default_factory=list)
    """The commits since the store was opened that have not been undone, the newest last."""
    still_locked: str | None = None
    """Why the passphrase of the file does not open the secrets of the store."""

    def __post_init__(self) -> None:
        self.catalog = Catalog(self.settings)
        path = kept.place(self.location).folder
        self._folder = None if path is None else Folder(path)

    @classmethod
    def begin(cls, location: str, layers: Layers) -> Session:
        """Opens a store. Any thread."""
        settings = open_store(location, layers)
        try:
            session = cls(kept.place(location).location, layers, settings)
            if layers.passphrase_file is not None and has_passphrase(settings):
                try:
                    settings.unlock_secrets(read(layers.passphrase_file))
                except (kept.KeptError, NoPassphrase) as error:
                    session.still_locked = str(error)
            return session
        except BaseException:
            settings.close()
            raise

    async def commit(self, edits: Sequence[Edit]) -> int | None:
        """Commits edits together on another thread, which may wait for other writers. Raises like `_pending.commit`."""
        before = [pending for edit in edits if (pending := self.pending.get(edit.key))]
        revision = await asyncio.to_thread(_pending.commit, self.settings, edits)
        self.pending.drop_same(before)
        if revision is not None:
            self.committed(revision, [edit.key for edit in edits])
            self.catalog.renew(edit.key for edit in edits)
        return revision

    def committed(self, revision: int, keys: Sequence[str]) -> None:
        """Records a commit of this program, so that it can be undone."""
        self.commits.append(Commit(revision, tuple(keys)))

    def take_pending(self, before: Session) -> None:
        """Takes over the pending changes after the store was opened again."""
        self.pending = before.pending
        is_other = self._folder is not None and self._folder != before._folder
        self.pending.compare(self.settings, is_other=is_other)

    async def undo(self, revision: int) -> list[str]:
        """Undoes a commit, which may be another program's. Returns the keys."""
        keys = await asyncio.to_thread(self.settings.undo, revision, tag=f"{_pending.TAG} undo")
        self.commits = [commit for commit in self.commits if commit.revision != revision]
        self.catalog.renew(keys)
        return keys

    async def changes_of(self, revision: int) -> list[kept.PastChange]:
        """The changes of a commit, which may be another program's; empty if the history no longer has it."""
        try:
            history = await asyncio.to_thread(self.settings.history)
        except kept.UnsupportedError:
            return []
        return [change for change in history.changes if change.revision == revision]

    async def obstacle(self, revision: int) -> str | None:
        """Why a commit cannot be undone; None if it can be. Raises what `_undoing.obstacle` does."""
        return await asyncio.to_thread(obstacle, self.settings, revision)

    async def undoable(self, commits: Sequence[Commit]) -> Commit | None:
        """The first of the given commits that can be undone."""

        def first() -> Commit | None:
            history = self.settings.history()
            return next((each for each in commits if obstacle(self.settings, each.revision, history) is None), None)

        return await asyncio.to_thread(first)

    async def refusal(self) -> str | None:
        """Why the store accepts no changes, such as one that is open read-only. Nothing is written."""
        return await asyncio.to_thread(self._refusal)

    def _refusal(self) -> str | None:
        try:
            # Even the removal of what is not there is refused. It is no key of a program.
            self.settings.reset("kept browse: may this be written?")
        except (kept.DeniedError, kept.NoSpaceError) as error:
            # That a folder can no longer be read is reported elsewhere.
            if self._folder is None or self._folder.is_readable:
                return str(error)
        except kept.KeptError:
            pass  # the store was closed or cannot be reached, which is reported elsewhere
        return None

    async def salvage(self) -> str | None:
        """A sentence if the store was damaged and salvaged, until that is acknowledged."""
        return await asyncio.to_thread(salvage_text, self.settings)

    async def trouble(self) -> str | None:
        """Why the store can no longer be read as it was opened: it was removed or replaced, or cannot be reached, or an
        administrator's file is broken."""
        if (replaced := await self.replaced()) is not None:
            return replaced
        try:
            return await asyncio.to_thread(_broken_file, self.settings)
        except kept.KeptError as error:
            return str(error)

    async def replaced(self) -> str | None:
        """A sentence if the folder was removed or replaced since it was opened, with the remedy."""
        moved = await asyncio.to_thread(self.moved)
        return moved and f"{moved}; you still see its last values. Ctrl+R in the list opens it again"

    def moved(self) -> str | None:
        """A sentence if the folder was removed or replaced since it was opened. Any thread."""
        return None if self._folder is None else self._folder.moved()

    async def damage(self) -> str | None:
        """Damage in a store that could be opened. It takes a second for a million keys."""
        if await asyncio.to_thread(self.moved):
            return None  # which `trouble` reports
        try:
            found = (await asyncio.to_thread(self.settings.verify)).damage
        except kept.KeptError as error:
            return str(error)
        return next((f'"{each.key}": {each.reason}' if each.key else each.reason for each in found), None)

    def close(self) -> None:
        """Closes the store. This may sync a file, so it must not run on the event loop's thread."""
        self.settings.close()
        if self._folder is not None:
            self._folder.close()


def salvage_text(settings: kept.Store) -> str | None:
    """A sentence if the store was damaged, with the remedy; None if it was not, or if that has been acknowledged."""
    try:
        folder = settings.salvaged
    except kept.KeptError:
        return None  # it cannot be reached, which is reported elsewhere
    if folder is None:
        return None
    return (
        "the store was damaged and salvaged; kept doctor names the keys whose values are known to be missing or older. "
        f"The damaged files are in {folder}. Press A to acknowledge the salvage"
    )


def _broken_file(settings: kept.Store) -> str | None:
    """The problem of an administrator's file, if any. Its last good values stay in effect. Raises if the store cannot
    be reached."""
    settings.revision()
    return next((file.problem for file in settings.layer_files() if file.problem), None)
