"""Exporting a store and importing texts: what is asked for, and the report of what an import has changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from ctypes import byref, c_char_p
from dataclasses import dataclass
from typing import Any, Literal

from ._c import export_and_import as c
from ._c.status import kept_error, kept_free
from ._c.store import StorePointer
from ._errors import InvalidError
from ._exit import calling_back
from ._json import JSON, decode
from ._key import encoded_text

Format = Literal["kept", "json", "nested_json", "property_list", "env", "ini", "dconf"]
"""What a text that is imported is: an export of Kept; a JSON object whose members are keys, or whose objects are parts
of keys; a property list (XML, binary or old style); lines NAME=value; [section] and name = value; a dconf dump."""

Progress = Callable[[int, int], object]
"""Hears how far a long call is: how much of how much. What it raises stops the call, which then changes nothing."""


@dataclass(frozen=True)
class ImportChange:
    """A key with another value. In Swift: `ImportReport.Change`."""

    key: str
    old: JSON
    """None: there was none that could be read, or it is a secret."""
    new: JSON
    """None: it is a secret."""
    secret: bool


@dataclass(frozen=True)
class ImportRefusal:
    """A key that cannot be stored. In Swift: `ImportReport.Refusal`."""

    key: str
    reason: str


@dataclass(frozen=True)
class NotCarried:
    """Something in a text that was not taken over, or not as it was. In Swift: `NotCarried`."""

    place: str
    """Where it stands: "line 3", or the name that it has in the text."""
    reason: str


@dataclass(frozen=True)
class ImportReport:
    """What an import has done; of a dry run, what it would do. In Swift: `ImportReport`."""

    revision: int
    """The store's revision after it; of a dry run, the one that it was compared with."""
    changed: tuple[ImportChange, ...]
    removed: tuple[str, ...]
    declared: tuple[str, ...]
    """The keys that are declared otherwise than before, or not any more."""
    unchanged: int
    """How many keys had the value already."""
    refused: tuple[ImportRefusal, ...]
    """The keys that cannot be stored; other than in a dry run there are none."""
    not_carried: tuple[NotCarried, ...]


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
        options = _options(prefix, _export_flags(declarations, secrets, skip_unreadable))
        text = c_char_p()
        with _Hearing(options, progress):
            c.kept_export_json(self._handle, byref(options), byref(text), kept_error())
        return _taken(text).decode("utf-8")

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
        options = _options(prefix, _export_flags(declarations, secrets, skip_unreadable))
        encoded = encoded_text(os.fspath(path), "a path")
        with _Hearing(options, progress):
            c.kept_export_file(self._handle, encoded, byref(options), kept_error())

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
        flags = _import_flags(replace, dry_run, declarations)
        options = _options(prefix, flags, format, separator, env_prefix)
        encoded = _encoded(text)
        report = c_char_p()
        with _Hearing(options, progress):
            c.kept_import(self._handle, encoded, len(encoded), byref(options), byref(report), kept_error())
        return _report(_taken(report))

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
        flags = _import_flags(replace, dry_run, declarations)
        options = _options(prefix, flags, format, separator, env_prefix)
        encoded, report = encoded_text(os.fspath(path), "a path"), c_char_p()
        with _Hearing(options, progress):
            c.kept_import_file(self._handle, encoded, byref(options), byref(report), kept_error())
        return _report(_taken(report))


class _Hearing:
    """Lets a progress callback be called during a call of C, and raises what it has raised."""

    def __init__(self, options: c.kept_transfer_options, progress: Progress | None) -> None:
        self._interrupt: BaseException | None = None
        if progress is None:
            return

        def hear(_: int | None, done: int, total: int) -> int:
            try:
                progress(done, total)
                return 0
            except BaseException as interrupt:  # C could not pass it on
                self._interrupt = interrupt
                return 1

        options.progress = c.kept_progress_callback(hear)

    def __enter__(self) -> None:
        self._calling = calling_back()
        self._calling.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._calling.__exit__(kind, error, trace)
        if self._interrupt is not None:
            raise self._interrupt from None


def _export_flags(declarations: bool, secrets: bool, skip_unreadable: bool) -> int:
    return (
        declarations * c.KEPT_TRANSFER_DECLARATIONS
        | secrets * c.KEPT_TRANSFER_SECRETS
        | skip_unreadable * c.KEPT_TRANSFER_READABLE
    )


def _import_flags(replace: bool, dry_run: bool, declarations: bool) -> int:
    return (
        replace * c.KEPT_TRANSFER_REPLACE
        | dry_run * c.KEPT_TRANSFER_DRY_RUN
        | declarations * c.KEPT_TRANSFER_DECLARATIONS
    )


_FORMATS: dict[str, int] = {
    "kept": c.KEPT_FORMAT_KEPT,
    "json": c.KEPT_FORMAT_JSON,
    "nested_json": c.KEPT_FORMAT_NESTED_JSON,
    "property_list": c.KEPT_FORMAT_PROPERTY_LIST,
    "env": c.KEPT_FORMAT_ENV,
    "ini": c.KEPT_FORMAT_INI,
    "dconf": c.KEPT_FORMAT_DCONF,
}


def _options(
    prefix: str, flags: int, format: str = "kept", separator: str = ".", env_prefix: str | None = None
) -> c.kept_transfer_options:
    if format not in _FORMATS:
        raise InvalidError(f"the format is {format!r}; it must be one of {', '.join(_FORMATS)}")
    options = c.KEPT_TRANSFER_OPTIONS_INIT()
    options.flags, options.format = flags, _FORMATS[format]
    options.prefix = encoded_text(prefix, "a prefix")
    options.separator = encoded_text(separator, "a separator")
    options.env_prefix = None if env_prefix is None else encoded_text(env_prefix, "a prefix")
    return options


def _encoded(text: str | bytes) -> bytes:
    """Bytes as they are; of text that is none, C says at which byte."""
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise InvalidError(f"what is imported is a {type(text).__qualname__}; it must be a str or bytes")
    return text.encode("utf-8", "surrogatepass")


def _taken(text: c_char_p) -> bytes:
    """A text that C has returned, which is freed."""
    try:
        return text.value or b""
    finally:
        kept_free(text)


def _report(text: bytes) -> ImportReport:
    told: Any = decode(text, "a report")
    return ImportReport(
        revision=told["revision"],
        changed=tuple(
            ImportChange(change["key"], change.get("old"), change.get("new"), "secret" in change)
            for change in told["changed"]
        ),
        removed=tuple(told["removed"]),
        declared=tuple(told["declared"]),
        unchanged=told["unchanged"],
        refused=tuple(ImportRefusal(refusal["key"], refusal["reason"]) for refusal in told["refused"]),
        not_carried=tuple(NotCarried(lost["place"], lost["reason"]) for lost in told["notCarried"]),
    )
