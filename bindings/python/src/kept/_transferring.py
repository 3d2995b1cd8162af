"""Exporting a store and importing texts, as a store offers it. `_transfer` is imported by the first call."""

from __future__ import annotations

import os
from collections.abc import Callable
from ctypes import byref, c_char_p
from typing import TYPE_CHECKING, Literal

from ._c.status import kept_error, kept_free
from ._c.store import StorePointer
from ._exit import calling_back
from ._key import encoded_text

if TYPE_CHECKING:
    from ._transfer import ImportReport

Format = Literal["kept", "json", "nested_json", "property_list", "env", "ini", "dconf"]
"""What a text that is imported is: an export of Kept; a JSON object whose members are keys, or whose objects are parts
of keys; a property list (XML, binary or old style); lines NAME=value; [section] and name = value; a dconf dump."""

Progress = Callable[[int, int], object]
"""Hears how far a long call is: how much of how much. What it raises stops the call, which then changes nothing."""


class Transferring:
    """What only a store can export and import, and not a transaction."""

    _handle: StorePointer

    def export(
        self,
        *,
        prefix: str = "",
        declarations: bool = False,
        secrets: bool = False,
        skip_unreadable: bool = False,
        progress: Progress | None = None,
    ) -> str:
        """What is stored, as it is at one moment, as one canonical JSON object: not what defaults and other layers say.

        Only keys that begin with `prefix`; `declarations` too if you say so, and the values of `secrets`, which are
        else only named. A value that cannot be read is a `CorruptError` with its key, unless it may be skipped.
        In C: `kept_export_json`. In Swift: `Store.export(_:)`."""
        from . import _transfer
        from ._c import export_and_import as c

        options = _transfer.options_of(prefix, _transfer.export_flags(declarations, secrets, skip_unreadable))
        text, heard = c_char_p(), _transfer.hearing(options, progress)
        try:
            calling_back(c.kept_export_json, self._handle, byref(options), byref(text), kept_error(), heard=heard)
            return (text.value or b"").decode("utf-8")
        finally:
            kept_free(text)

    def export_file(
        self,
        path: str | os.PathLike[str],
        *,
        prefix: str = "",
        declarations: bool = False,
        secrets: bool = False,
        skip_unreadable: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """The same into a file that only you can read, which is there whole and synced when this returns, or not at
        all. One that is there is replaced. In C: `kept_export_file`. In Swift: `Store.export(to:_:)`."""
        from . import _transfer
        from ._c import export_and_import as c

        options = _transfer.options_of(prefix, _transfer.export_flags(declarations, secrets, skip_unreadable))
        encoded = encoded_text(os.fspath(path), "a path")
        heard = _transfer.hearing(options, progress)
        calling_back(c.kept_export_file, self._handle, encoded, byref(options), kept_error(), heard=heard)

    def import_text(
        self,
        text: str | bytes,
        *,
        format: Format = "kept",
        prefix: str = "",
        separator: str = ".",
        env_prefix: str | None = None,
        replace: bool = False,
        dry_run: bool = False,
        declarations: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Imports a text as one commit: all of it, or nothing.

        Of an export only keys that begin with `prefix`; of other formats it is put in front of every key. `separator`
        stands between the parts of nested keys. With `env_prefix` only such names of a .env file, each of which is the
        key that it stands for in the environment. `replace` removes the keys with the prefix that the text does not
        have; `dry_run` changes nothing and reports what would be; `declarations` takes those too.
        `InvalidError`, with its `offset`, for a text that is not of the format, `UnsupportedError` for one of a later
        version or of another schema version than the store's; for the first key that is refused `LockedError`,
        `WrongTypeError`, `InvalidError`, `TypeConflictError` or `TooLargeError`. Nothing is changed then.
        In C: `kept_import`. In Swift: `Store.import(_:_:)`."""
        from . import _transfer
        from ._c import export_and_import as c

        flags = _transfer.import_flags(replace, dry_run, declarations)
        options = _transfer.options_of(prefix, flags, format, separator, env_prefix)
        encoded = _transfer.encoded_import(text)
        handle, size = self._handle, len(encoded)
        return _transfer.importing(c.kept_import, handle, encoded, size, options=options, progress=progress)

    def import_file(
        self,
        path: str | os.PathLike[str],
        *,
        format: Format = "kept",
        prefix: str = "",
        separator: str = ".",
        env_prefix: str | None = None,
        replace: bool = False,
        dry_run: bool = False,
        declarations: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """The same from a file. `UnavailableError` where there is none, or `DeniedError`.
        In C: `kept_import_file`. In Swift: `Store.import(contentsOf:_:)`."""
        from . import _transfer
        from ._c import export_and_import as c

        flags = _transfer.import_flags(replace, dry_run, declarations)
        options = _transfer.options_of(prefix, flags, format, separator, env_prefix)
        encoded = encoded_text(os.fspath(path), "a path")
        return _transfer.importing(c.kept_import_file, self._handle, encoded, options=options, progress=progress)
