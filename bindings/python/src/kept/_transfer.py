"""Exporting a store and importing texts."""

from __future__ import annotations

import os
from ctypes import byref, c_char_p

from ._c.status import kept_error, kept_free
from ._errors import InvalidError
from ._exit import calling_back
from ._key import A_PREFIX, encoded_text
from ._refusal import with_article
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from ._c.export_and_import import kept_transfer_options
    from ._c.store import StorePointer
    from ._import_report import ImportReport
    from ._interrupts import CallbackErrors
    from ._types import Format

Progress: TypeAlias = "Callable[[int, int], object]"
"""Called with the work that is done and the whole work. If it raises, the call stops and changes nothing."""


class Transferring:
    """Exports and imports of a store: methods that a transaction does not have."""

    _handle: StorePointer

    def export(
        self,
        *,
        prefix: str = "",
        declarations: bool = False,
        secrets: bool = False,
        passphrase: str | None = None,
        plain: bool = False,
        skip_unreadable: bool = False,
        progress: Progress | None = None,
    ) -> str:
        """Exports the stored values, as of one revision, as one canonical JSON object. Defaults and other layers are
        not part of it.

        It holds the keys that begin with `prefix`; with `declarations`, also what they are declared as; with `secrets`,
        also the values of secrets, which are otherwise only named. They are encrypted with `passphrase`, or with
        `plain` left as they are, readable for anyone who can read the export; with neither, an `InvalidError`. A value
        that cannot be read is a `CorruptError` with its key, or is left out with `skip_unreadable`.
        In C: `kept_export_json`. In Swift: `Store.export(_:)`."""
        from ._c.export_and_import import kept_export_json

        options = _export_options(prefix, declarations, secrets, passphrase, plain, skip_unreadable)
        text, errors = c_char_p(), _add_progress(options, progress)
        try:
            calling_back(kept_export_json, self._handle, byref(options), byref(text), kept_error(), errors=errors)
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
        passphrase: str | None = None,
        plain: bool = False,
        skip_unreadable: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Exports to a file, as `export`. The file is written atomically and synced, and only you can read it. A file
        with this name is replaced. In C: `kept_export_file`. In Swift: `Store.export(to:_:)`."""
        from ._c.export_and_import import kept_export_file

        options = _export_options(prefix, declarations, secrets, passphrase, plain, skip_unreadable)
        encoded = encoded_text(os.fspath(path), "the path")
        errors = _add_progress(options, progress)
        calling_back(kept_export_file, self._handle, encoded, byref(options), kept_error(), errors=errors)

    def import_text(
        self,
        text: str | bytes,
        *,
        format: Format = "kept",
        prefix: str = "",
        separator: str = ".",
        replace: bool = False,
        dry_run: bool = False,
        declarations: bool = False,
        passphrase: str | None = None,
        plain: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Imports a text in one commit: all of it, or nothing.

        The format `"kept"` is an export; its keys that begin with `prefix` are taken. With `"json"` the
        members of any JSON object are keys, and with `"nested_json"` the objects in it are parts of keys, which
        `separator` joins; `prefix` is put in front of every key. `replace` removes the keys with the prefix that the
        text does not have; `dry_run` changes nothing and reports what would change; `declarations` takes declarations
        too. An export with encrypted secrets needs its `passphrase`: without one, an `UnavailableError`, and with a
        wrong one, a `DeniedError`. A store that keeps secrets plain refuses them with an `InvalidError`, unless `plain`
        allows it.
        `InvalidError`, with its `offset`, for a text that is not of the format; `UnsupportedError` for a later version
        of the format or another schema version than the store's; for the first key that is refused `LockedError`,
        `WrongTypeError`, `InvalidError`, `TypeConflictError` or `TooLargeError`. In these cases nothing is changed.
        In C: `kept_import`. In Swift: `Store.import(_:_:)`."""
        from ._c.export_and_import import kept_import

        options = _import_options(prefix, replace, dry_run, declarations, format, separator, passphrase, plain)
        encoded = _encoded_import(text)
        return _importing(kept_import, self._handle, encoded, len(encoded), options=options, progress=progress)

    def import_file(
        self,
        path: str | os.PathLike[str],
        *,
        format: Format = "kept",
        prefix: str = "",
        separator: str = ".",
        replace: bool = False,
        dry_run: bool = False,
        declarations: bool = False,
        passphrase: str | None = None,
        plain: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Imports a file, as `import_text`. `UnavailableError` if there is no such file, or `DeniedError`.
        In C: `kept_import_file`. In Swift: `Store.import(contentsOf:_:)`."""
        from ._c.export_and_import import kept_import_file

        options = _import_options(prefix, replace, dry_run, declarations, format, separator, passphrase, plain)
        encoded = encoded_text(os.fspath(path), "the path")
        return _importing(kept_import_file, self._handle, encoded, options=options, progress=progress)


def _export_options(
    prefix: str, declarations: bool, secrets: bool, passphrase: str | None, plain: bool, skip_unreadable: bool
) -> kept_transfer_options:
    """Options of an export for C."""
    from ._c import export_and_import as c

    options = c.KEPT_TRANSFER_OPTIONS_INIT()
    options.flags = (
        declarations * c.KEPT_TRANSFER_DECLARATIONS
        | secrets * c.KEPT_TRANSFER_SECRETS
        | plain * c.KEPT_TRANSFER_PLAIN
        | skip_unreadable * c.KEPT_TRANSFER_READABLE
    )
    options.prefix = encoded_text(prefix, A_PREFIX)
    options.passphrase = encoded_passphrase(passphrase)
    return options


def encoded_passphrase(passphrase: str | None) -> bytes | None:
    """A passphrase for C."""
    return None if passphrase is None else encoded_text(passphrase, "the passphrase")


def _import_options(
    prefix: str,
    replace: bool,
    dry_run: bool,
    declarations: bool,
    format: Format,
    separator: str,
    passphrase: str | None,
    plain: bool,
) -> kept_transfer_options:
    """Options of an import for C. An unknown format is an `InvalidError`."""
    from typing import get_args

    from ._c import export_and_import as c
    from ._types import Format

    if format not in get_args(Format):
        raise InvalidError(f"the format is {format!r}; it must be one of {', '.join(get_args(Format))}")
    options = c.KEPT_TRANSFER_OPTIONS_INIT()
    options.flags = (
        replace * c.KEPT_TRANSFER_REPLACE
        | dry_run * c.KEPT_TRANSFER_DRY_RUN
        | declarations * c.KEPT_TRANSFER_DECLARATIONS
        | plain * c.KEPT_TRANSFER_PLAIN
        | (format == "json") * c.KEPT_TRANSFER_FLAT
        | (format == "nested_json") * c.KEPT_TRANSFER_NESTED
    )
    options.prefix = encoded_text(prefix, A_PREFIX)
    options.separator = encoded_text(separator, "the separator")
    options.passphrase = encoded_passphrase(passphrase)
    return options


def reporting(progress: Progress | None) -> tuple[Any, CallbackErrors | None]:
    """The callback of a C call that reports its progress, and what it raises; it must live as long as the call."""
    from ._c.export_and_import import kept_progress_callback

    if progress is None:
        return kept_progress_callback(), None
    from ._interrupts import CallbackErrors

    def receive(_: int | None, done: int, total: int) -> int:
        try:
            # If the last call was interrupted and C went on, this one stops it.
            if errors.raised is None:
                progress(done, total)
                return 0
        except BaseException as raised:
            errors.raised = raised
        return 1

    errors = CallbackErrors(receive)
    return kept_progress_callback(receive), errors


def _add_progress(options: kept_transfer_options, progress: Progress | None) -> CallbackErrors | None:
    """Puts a progress callback into the options of a C call."""
    options.progress, errors = reporting(progress)
    return errors


def _encoded_import(text: str | bytes) -> bytes:
    """The text in UTF-8. Bytes are passed on: C reports the offset at which they are not UTF-8."""
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise InvalidError(f"the text to import is {with_article(type(text).__qualname__)}; it must be a str or bytes")
    return text.encode("utf-8", "surrogatepass")


def _importing(
    function: Callable[..., Any], *arguments: Any, options: kept_transfer_options, progress: Progress | None
) -> ImportReport:
    """Imports with a function of C, and returns its report."""
    from ._import_report import report_of

    report, errors = c_char_p(), _add_progress(options, progress)
    try:
        calling_back(function, *arguments, byref(options), byref(report), kept_error(), errors=errors)
        return report_of(report.value or b"")
    finally:
        kept_free(report)
