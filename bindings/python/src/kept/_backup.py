"""Backup: copying, restoring and verifying a whole store."""

from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_uint64

from ._c.status import kept_error, kept_free
from ._c.store import StorePointer
from ._exit import calling_back
from ._key import encoded_text
from ._transfer import encoded_passphrase, reporting
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._transfer import Progress
    from ._verification import Verification


class BackingUp:
    """Copies of a store: methods that a transaction does not have."""

    _handle: StorePointer

    def backup(self, path: str | os.PathLike[str], replace: bool = False) -> int:
        """Copies the store at one revision, with declarations, revisions and secrets. Other processes may write at the
        same time. Returns the revision of the copy.

        `path` names a new file, or with `replace` one that may exist. A str with a slash at its end, or the path of an
        empty folder, names a folder instead, which `kept.open` opens. Only its owner can read the copy, and it is
        synced when this returns. `InvalidError` if the path exists, `UnavailableError` if its parent folder does not.
        In C: `kept_backup`. In Swift: `Store.backup(to:replacing:)`."""
        from ._c.backup import KEPT_BACKUP_REPLACE, kept_backup

        revision = c_uint64()
        flags = KEPT_BACKUP_REPLACE if replace else 0
        kept_backup(self._handle, _encoded_path(path), flags, byref(revision), kept_error())
        return revision.value

    def restore(self, path: str | os.PathLike[str], *, passphrase: str | None = None) -> str | None:
        """Replaces values, declarations and schema version by those of a backup, in one commit that observers receive.
        Returns the path of a copy of the old content, in the store's folder `quarantine`; None if the store was empty
        or had the same content.

        To keep the store, open another location and restore there. `passphrase` is the one of the store that was
        copied, if nothing else opens its secrets. `UnavailableError` if there is no backup, or nothing opens its
        secrets; `DeniedError` for a wrong passphrase; `InvalidError` if encrypted secrets would become plain;
        `CorruptError` if it is damaged, `UnsupportedError` if the file is not a backup. Then nothing is changed.
        In C: `kept_restore`. In Swift: `Store.restore(from:passphrase:)`."""
        from ._c.backup import kept_restore

        quarantine, words = c_char_p(), encoded_passphrase(passphrase)
        kept_restore(self._handle, _encoded_path(path), words, byref(quarantine), kept_error())
        try:
            return None if quarantine.value is None else os.fsdecode(quarantine.value)
        finally:
            kept_free(quarantine)

    def verify(self, *, progress: Progress | None = None) -> Verification:
        """Reads everything that is stored, and checks the files. Nothing is changed, and others may write at the
        same time.

        Damage is a result, and not an exception. A damaged store in a folder is salvaged by the next process that opens
        it exclusively. `progress` counts keys, after the files were checked. `UnsupportedError` for a storage that
        cannot list its keys.
        In C: `kept_verify_json`. In Swift: `Store.verify(progress:)`."""
        from ._c.backup import kept_verify_json
        from ._verification import verification_of

        text = c_char_p()
        callback, errors = reporting(progress)
        try:
            calling_back(kept_verify_json, self._handle, callback, None, byref(text), kept_error(), errors=errors)
            return verification_of(text.value or b"")
        finally:
            kept_free(text)


def _encoded_path(path: str | os.PathLike[str]) -> bytes:
    return encoded_text(os.fspath(path), "the path")
