"""Migrating and renaming, as a store and a transaction offer them. `_migrations` is imported by the first call."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_uint32
from typing import TYPE_CHECKING, Any, Literal

from ._c.status import kept_error
from ._c.store import StorePointer
from ._errors import AbsentError
from ._key import Key, encoded_key

if TYPE_CHECKING:
    from ._migrations import Migrated, Migration


class Renaming:
    """What a store and a transaction can do with names."""

    _handle: StorePointer

    def rename(self, key: str | Key[Any], to: str | Key[Any]) -> bool:
        """Moves what is stored under a key, and what it is declared as, to another key, in one commit. False where the
        key is neither stored nor declared; `InvalidError` where the other one is; `LockedError`.
        In C: `kept_rename`. In Swift: `rename(_:to:)`."""
        from ._c.migrations import kept_rename

        try:
            kept_rename(self._handle, encoded_key(key), encoded_key(to), kept_error())
        except AbsentError:
            return False
        return True


class Migrating:
    """What only a store can do: have a schema version, and be brought to a later one."""

    _handle: StorePointer

    @property
    def schema_version(self) -> int:
        """The number that programs have given to the shape of what is stored; 0: none has. `UnsupportedError` for a
        storage that keeps none. In C: `kept_schema_version`. In Swift: `Store.schemaVersion()`."""
        from ._c.migrations import kept_schema_version

        version = c_uint32()
        kept_schema_version(self._handle, byref(version), kept_error())
        return version.value

    def migrate(
        self,
        steps: Sequence[Migration],
        *,
        others: Literal["wait", "carry on"] = "wait",
        later: Literal["refuse", "read only"] = "refuse",
        backup: bool = True,
    ) -> Migrated:
        """Brings the store to the version of the last step: runs those that lead to versions above its own, in order,
        by one process and in one transaction, after a copy to the store's folder `backups`.

        A step that raises changes nothing: an exception with its version and name comes out, with what it raised as
        `__cause__`. While another process migrates, `others` waits for it, as long as the `busy_timeout`, or carries
        on reading. A store of a `later` version is an `UnsupportedError`, or is only read by this handle: then its
        writes raise `DeniedError`. `InvalidError` for versions that do not rise, from 1; `BusyError`.
        In C: `kept_migrate`. In Swift: `Store.migrate`."""
        from ._migrations import migrate

        return migrate(self._handle, steps, others, later, backup)
