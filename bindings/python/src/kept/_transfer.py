"""Exporting a store and importing texts: what is asked for, and the report of what an import has changed."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_char_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._c import export_and_import as c
from ._c.status import kept_error, kept_free
from ._errors import InvalidError
from ._exit import calling_back
from ._interrupts import Heard
from ._json import JSON
from ._key import A_PREFIX, decoded_value, encoded_text
from ._refusal import Known, with_article

if TYPE_CHECKING:
    from ._transferring import Progress


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


def hearing(options: c.kept_transfer_options, progress: Progress | None) -> Heard | None:
    """Lets a progress callback be called during a call of C that is made with these options."""
    if progress is None:
        return None

    def hear(_: int | None, done: int, total: int) -> int:
        try:
            # What the call before this one was interrupted by stops C now, should it have gone on.
            if heard.raised is None:
                progress(done, total)
                return 0
        except BaseException as raised:
            heard.raised = raised
        return 1

    heard = Heard(hear)
    options.progress = c.kept_progress_callback(hear)
    return heard


def export_flags(declarations: bool, secrets: bool, skip_unreadable: bool) -> int:
    """What an export is to hold, as C takes it."""
    return (
        declarations * c.KEPT_TRANSFER_DECLARATIONS
        | secrets * c.KEPT_TRANSFER_SECRETS
        | skip_unreadable * c.KEPT_TRANSFER_READABLE
    )


def import_flags(replace: bool, dry_run: bool, declarations: bool) -> int:
    """What an import is to do, as C takes it."""
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


def options_of(
    prefix: str, flags: int, format: str = "kept", separator: str = ".", env_prefix: str | None = None
) -> c.kept_transfer_options:
    """Options as C takes them. A format that there is none of is an `InvalidError`."""
    if format not in _FORMATS:
        raise InvalidError(f"the format is {format!r}; it must be one of {', '.join(_FORMATS)}")
    options = c.KEPT_TRANSFER_OPTIONS_INIT()
    options.flags, options.format = flags, _FORMATS[format]
    options.prefix = encoded_text(prefix, A_PREFIX)
    options.separator = encoded_text(separator, "a separator")
    options.env_prefix = None if env_prefix is None else encoded_text(env_prefix, "a prefix of names")
    return options


def encoded_import(text: str | bytes) -> bytes:
    """Bytes as they are; of text that is none, C says at which byte."""
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise InvalidError(f"what is imported is {with_article(type(text).__qualname__)}; it must be a str or bytes")
    return text.encode("utf-8", "surrogatepass")


def importing(
    function: Callable[..., Any], *arguments: Any, options: c.kept_transfer_options, progress: Progress | None
) -> ImportReport:
    """Imports with a function of C, and gives its report."""
    report, heard = c_char_p(), hearing(options, progress)
    try:
        calling_back(function, *arguments, byref(options), byref(report), kept_error(), heard=heard)
        return _report_of(report.value or b"")
    finally:
        kept_free(report)


def _report_of(text: bytes) -> ImportReport:
    """The report that C has written."""
    # It has no values of secrets.
    told: Any = decoded_value(text, "a report", Known(False))
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
