"""Snapshots: an immutable view of one revision."""

from __future__ import annotations

import weakref
from ctypes import POINTER, byref
from types import TracebackType
from typing import NoReturn, Self

from ._c.snapshots import kept_snapshot, kept_snapshot_at, kept_snapshot_end
from ._c.status import kept_error
from ._c.store import StorePointer, kept_store
from ._key import A_PREFIX, encoded_text, revision_number
from ._reading import SettingsReading


class Snapshot(SettingsReading):
    """The values of one revision, as an immutable mapping. Other processes may write at the same time.

    Made by `Store.snapshot`. It holds no lock, and can be read after its store was closed: until it is ended, it keeps
    the files open that the store had, and their disk space. Ended by `close`, the end of a `with` block, or when it is
    dropped; later calls are a `ClosedError`.
    Keys outside its prefix are an `InvalidError`. A value that could not be read is a `CorruptError` when its key is
    read, and never counts as absent; one that the history has not kept is an `UnsupportedError`. In C:
    `kept_snapshot`, `kept_snapshot_at`. In Swift: `Snapshot`.
    """

    def __init__(self, store: StorePointer, prefix: str, at: int | None = None) -> None:
        """Takes a snapshot of an open store. Programs call `Store.snapshot`."""
        self._handle = POINTER(kept_store)()
        self._prefix = prefix
        text = encoded_text(prefix, A_PREFIX)
        if at is None:
            kept_snapshot(store, text, byref(self._handle), kept_error())
        else:
            kept_snapshot_at(store, text, revision_number(at), byref(self._handle), kept_error())
        self._end = weakref.finalize(self, kept_snapshot_end, self._handle)
        self._end.atexit = False

    def close(self) -> None:
        """Ends the snapshot and frees its copy. Does nothing to one that has ended. In C: `kept_snapshot_end`."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._end.alive:
            return "<kept.Snapshot, closed>"
        return f"<kept.Snapshot of revision {self.revision()}{f', {self._prefix!r}' if self._prefix else ''}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} cannot be copied or pickled; use dict(snapshot)")
