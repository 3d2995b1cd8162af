"""Functions for programs that show and check the settings of others."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from ctypes import byref
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ._c.administration import (
    kept_findings_json,
    kept_json_to_text,
    kept_layer_check,
    kept_layer_files_json,
    kept_place_json,
    kept_places_json,
    kept_processes_json,
    kept_text_to_json,
    kept_verify_files_json,
)
from ._c.status import kept_error, text_from
from ._c.store import KEPT_OPTIONS_INIT, KEPT_READ_ONLY, KEPT_READ_WRITE, StorePointer
from ._errors import InvalidError
from ._exit import calling_back
from ._key import decoded_value, encoded_text, encoded_value
from ._layers import Layer
from ._opening import add_layers, text_of_location
from ._refusal import Known, with_article
from ._transfer import Progress, reporting
from ._types import JSON, Storable


@dataclass(frozen=True)
class LayerFile:
    """A file that a layer of a store is read from, and its state. In Swift: `LayerFileState`."""

    layer: Layer
    path: str
    state: Literal["absent", "read", "broken"]
    """An absent file is an empty layer. If a file is broken, the layer keeps its last good contents."""
    problem: str | None
    """Why the file is broken, in one sentence."""


@dataclass(frozen=True)
class Place:
    """A place where a store is or could be, as it was when this was made. In Swift: `StorePlace`."""

    location: str
    """The identifier, also if the path of its folder was given; otherwise the given location."""
    is_identifier: bool
    """Whether the location is an identifier, so that the administrator's standard files apply."""
    folder: str | None
    """The folder, whether or not it exists; None if the location has none, such as "memory:"."""
    state: Literal["absent", "store", "folder", "file", "unknown"]
    """"store" also for a damaged one and in memory, "folder" for one that contains no store, "file" for anything else,
    and "unknown" for a place that cannot be examined: `kept.open` reports the reason."""
    identity: str | None
    """A text that another folder does not have, nor a later one of the same name; None if there is no folder."""
    bytes: int
    """The bytes that the store takes on the disk, as far as this user can find them: its files, and what is in its
    folder quarantine. 0 unless the state is "store"."""
    layer_files: tuple[LayerFile, ...]
    """The administrator's standard files, the managed layer first; empty without an identifier."""


@dataclass(frozen=True)
class StoreProcess:
    """Another process that has a file of a store open. In Swift: `StoreProcess`."""

    pid: int
    name: str
    """The name of its program as the kernel has it, which is at most 15 bytes."""
    since: datetime | None
    """The second at which it was started, in UTC; None if that is not known."""
    writing: bool
    """Whether it has a file of the store open for writing."""


@dataclass(frozen=True)
class Finding:
    """Something that an examination of a store has found. In Swift: `Finding`."""

    severity: Literal["note", "attention", "damage"]
    """"note" is a fact; with "damage" something cannot be read, or the store cannot be opened."""
    what: str
    """One sentence. It is not escaped: see `display_text`."""
    remedy: str | None = None
    """What can be done about it, with the command for it, quoted for a shell."""
    key: str | None = None
    """The key that it is about."""
    repairable: bool = False
    """Whether `kept doctor --repair` ends it."""


def place(location: str | os.PathLike[str]) -> Place:
    """Describes the place of a store, given as for `kept.open`. Nothing is opened, created or repaired.

    Raises `InvalidError` for a location that `kept.open` would refuse, and `UnavailableError` for an identifier if the
    user has no home folder. In C: `kept_place_json`. In Swift: `StorePlace(_:)`."""
    encoded = encoded_text(text_of_location(location), "the location")
    return _place(answer(lambda out: kept_place_json(encoded, out, kept_error())))


def places(folder: str | os.PathLike[str] | None = None) -> tuple[Place, ...]:
    """The stores of the user, with the identifiers that have only files of the administrator; or the stores in a
    folder. In the order of their locations.

    Everything whose name ends with ".kept" is listed, whatever its state is, and other stores if a folder is given.
    Names that are not UTF-8 are left out.
    Raises `DeniedError` or `UnavailableError` if the folder cannot be listed; a user without a folder has no stores.
    In C: `kept_places_json`. In Swift: `StorePlace.all(in:)`."""
    encoded = None if folder is None else encoded_text(os.fspath(folder), "the folder")
    return tuple(map(_place, answer(lambda out: kept_places_json(encoded, out, kept_error()))))


def processes(location: str | os.PathLike[str]) -> tuple[StoreProcess, ...]:
    """The other processes that have a file of a store open, as far as this user may see them: those of the same user,
    and of the same container; root sees those of all users. In the order of their ids. Nothing is opened.

    Raises as `place` does. In C: `kept_processes_json`. In Swift: `StorePlace.processes()`."""
    encoded = encoded_text(text_of_location(location), "the location")
    return tuple(
        StoreProcess(
            pid=each["pid"],
            name=each["name"],
            since=datetime.fromisoformat(each["since"]) if "since" in each else None,
            writing=each["writing"],
        )
        for each in answer(lambda out: kept_processes_json(encoded, out, kept_error()))
    )


def findings(
    location: str | os.PathLike[str],
    *,
    managed: bool | str | os.PathLike[str] = False,
    system: bool | str | os.PathLike[str] = False,
    arguments: Sequence[str] | None = None,
    environment: str | None = None,
    read_only: bool = False,
    progress: Progress | None = None,
) -> tuple[Finding, ...]:
    """Examines a store: its files and their checksums, all values and declarations, the files of the layers,
    permissions and owners, the file system, and which processes have it open.

    The arguments are those of `kept.open`. A store that cannot be opened is a finding, and not an exception; then
    everything that may be the reason is found. No store is created, and nothing is repaired except what every opening
    repairs; with `read_only`, nothing is changed. A store that this process has open is examined as it is. `progress`
    counts keys, as in `Store.verify`; an exception from it ends the examination.

    Raises `UnavailableError` if there is no store, `UnsupportedError` for a storage that cannot list its keys, and what
    `place` raises. In C: `kept_findings_json`. In Swift: `StorePlace.examine(options:progress:)`."""
    encoded, options = encoded_text(text_of_location(location), "the location"), KEPT_OPTIONS_INIT()
    options.access = KEPT_READ_ONLY if read_only else KEPT_READ_WRITE
    add_layers(options, managed, system, arguments, environment)
    callback, errors = reporting(progress)

    def call(out: Any) -> object:
        error = kept_error()
        return calling_back(kept_findings_json, encoded, byref(options), callback, None, out, error, errors=errors)

    return _findings(call)


def verify_files(location: str | os.PathLike[str]) -> tuple[Finding, ...]:
    """Checks every block, record, commit and past change in the files of a store, or in a backup. The store is not
    opened: nothing is created, locked or changed. So it may be in use, a copy, or on a medium that cannot be written.

    Each finding is damage: `what` has the file and the place, and the keys, as far as their names can be read.
    Raises `UnavailableError` if there is no store, or a file cannot be read; `DeniedError` if other users may write the
    files; `UnsupportedError` for a location without such files, and for a file that is not a backup; and `BusyError` if
    others replace the files each time. In C: `kept_verify_files_json`. In Swift: `StorePlace.verifyFiles()`."""
    encoded = encoded_text(text_of_location(location), "the location")
    return _findings(lambda out: kept_verify_files_json(encoded, out, kept_error()))


def _findings(call: Callable[[Any], object]) -> tuple[Finding, ...]:
    return tuple(
        Finding(each["severity"], each["what"], each.get("remedy"), each.get("key"), each["repairable"])
        for each in answer(call)
    )


def _place(members: dict[str, Any]) -> Place:
    return Place(
        location=members["location"],
        is_identifier=members["identifier"],
        folder=members.get("folder"),
        state=members["state"],
        identity=members.get("identity"),
        bytes=members["bytes"],
        layer_files=_layer_files(members["layerFiles"]),
    )


def _layer_files(files: list[dict[str, Any]]) -> tuple[LayerFile, ...]:
    return tuple(
        LayerFile(Layer[file["layer"].upper()], file["path"], file["state"], file.get("problem")) for file in files
    )


def answer(call: Callable[[Any], object]) -> Any:
    """The value of the JSON that a function of the library gives."""
    return decoded_value(text_from(call), "the answer", Known(False))


def check_layer(text: str | bytes, layer: Layer) -> None:
    """Checks the text of a layer's file before it is written: whether stores will accept it. Values are not compared
    with declarations.

    Raises what reading the file would report, with "the document" in place of the path: an `InvalidError`, with
    `offset` if the text is not JSON, or a `TooLargeError`. In C: `kept_layer_check`. In Swift: `Layer.check(_:)`."""
    document = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    kept_layer_check(document, len(document), layer.value, kept_error())


def layer_files(handle: StorePointer) -> tuple[LayerFile, ...]:
    return _layer_files(answer(lambda out: kept_layer_files_json(handle, out, kept_error())))


def value_of_text(text: str, type: str | None = None) -> JSON:
    """Reads a text that a person has written, as a value of a declared type such as `"integer"`; without one, the text
    is Kept's JSON. A string is the text as it is. Other types take what `text_of_value` gives, JSON, and what the
    arguments and the environment take. The rules of a declaration are not checked.

    Raises `InvalidError`, with `offset` if the text is JSON with an error.
    In C: `kept_text_to_json`. In Swift: `Value(text:as:)`."""
    if not isinstance(text, str):
        raise InvalidError(f"the text is {with_article(text.__class__.__qualname__)}; it must be a str")
    document, word = text.encode("utf-8", "surrogatepass"), _encoded_type(type)
    json: JSON = answer(lambda out: kept_text_to_json(document, len(document), word, out, kept_error()))
    return json


def _encoded_type(type: str | None) -> bytes | None:
    return None if type is None else encoded_text(type, "the type")


def text_of_value(value: Storable, type: str | None = None) -> str:
    """A value as the text that people read: for the declared types `"string"`, `"date"` and `"bytes"` the text itself,
    RFC 3339 in UTC, and base64; otherwise Kept's JSON. It is not escaped: see `display_text`.
    In C: `kept_json_to_text`. In Swift: `Value.text(as:)`."""
    json, word = encoded_value(value, "the value", Known(False)), _encoded_type(type)
    return text_from(lambda out: kept_json_to_text(json, word, out, kept_error())).decode()
