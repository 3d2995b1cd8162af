"""Backup: a copy of the whole store, and the way back."""

from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_uint64

from ._c.status import kept_error, kept_free
from ._c.store import StorePointer
from ._key import encoded_text


class BackingUp:
    """What only a store can do with copies of itself."""

    _handle: StorePointer

    def backup(self, path: str | os.PathLike[str], replace: bool = False) -> int:
        """Copies the store with declarations, revisions and secrets, as it is at one moment, while others write.
        Returns the revision that the copy shows.

        `path` is a file that is not there yet, or with `replace` may be; or, as a str with a slash at its end or the
        path of an empty folder, a folder, which `kept.open` opens. The copy is readable for its owner alone, and on the
        disk when this returns. `InvalidError` where something is there, `UnavailableError` where the folder of the file
        is not. In C: `kept_backup`. In Swift: `Store.backup(to:replacing:)`."""
        from ._c.backup import KEPT_BACKUP_REPLACE, kept_backup

        revision = c_uint64()
        flags = KEPT_BACKUP_REPLACE if replace else 0
        kept_backup(self._handle, _encoded_path(path), flags, byref(revision), kept_error())
        return revision.value

    def restore(self, path: str | os.PathLike[str]) -> str | None:
        """Makes the store what a backup is, in one commit that every observer hears of: values, declarations and schema
        version. Returns the path of a copy of what was there before, in the store's folder `quarantine`; None where
        nothing, or nothing else, was.

        To restore beside, open another location and restore there. `UnavailableError` where there is no backup,
        `CorruptError` for a damaged one, `UnsupportedError` for what is none: nothing is changed then.
        In C: `kept_restore`. In Swift: `Store.restore(from:)`."""
        from ._c.backup import kept_restore

        quarantine = c_char_p()
        kept_restore(self._handle, _encoded_path(path), byref(quarantine), kept_error())
        try:
            return None if quarantine.value is None else os.fsdecode(quarantine.value)
        finally:
            kept_free(quarantine)


def _encoded_path(path: str | os.PathLike[str]) -> bytes:
    return encoded_text(os.fspath(path), "a path")
