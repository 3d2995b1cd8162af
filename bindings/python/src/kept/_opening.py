"""Opening a store: its location and its options for C."""

from __future__ import annotations

import os
from ctypes import c_char_p

from ._c.store import KEPT_DURABLE, KEPT_OPTIONS_INIT, KEPT_READ_ONLY, KEPT_READ_WRITE, KEPT_SHARED, KEPT_STANDARD_FILE
from ._errors import InvalidError
from ._key import encoded_text
from ._store import Store
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._c.store import kept_options
    from ._types import Durability


def open(
    location: str | os.PathLike[str],
    *,
    durability: Durability = "shared",
    busy_timeout: float = 5.0,
    read_only: bool = False,
    tag: str | None = None,
    managed: bool | str | os.PathLike[str] = False,
    system: bool | str | os.PathLike[str] = False,
    arguments: Sequence[str] | None = None,
    environment: str | None = None,
) -> Store:
    """Opens a store, and creates it if there is none.

    `location` is an identifier such as "com.example.player" (lives in $XDG_CONFIG_HOME/kept/<identifier>.kept/, by
    default in ~/.config, where ~ is HOME or the home folder in the user database), a path to the store's folder (a str
    with a slash, or any `Path`), "memory:" for a new store without a file, or "memory:name" for one that this process
    shares by name. `durability` is the default for writes: "shared" survives kill -9 of every process, "durable"
    survives power loss too. `busy_timeout` is the time, in seconds, that a write waits for other writers before it
    raises a `BusyError`: 0 to 4,294,967, which is 49 days. `read_only` opens a store that exists and changes nothing:
    no thread, no lock, no file. Then writes raise a `DeniedError`, `observe` and `changes` an `UnsupportedError`. `tag`
    names the program: observers in every process find it in `Notice.tag` and `Change.tag`.

    The other arguments add layers: `managed` and `system` are files of the administrator, a path or True for
    /etc/kept/<identifier>/managed.json and system.json; `arguments` is a command line such as `sys.argv`; `environment`
    is the prefix of the environment variables to read, such as "PLAYER_". A file that cannot be read and a value that
    does not fit are warnings in `logging.getLogger("kept")`, on any thread.

    If a store was damaged and has been salvaged, every open shows a `SalvagedWarning` until `acknowledge_salvage` is
    called. Where warnings are errors, it is raised and the store is closed: `python -W error -W
    default::kept.SalvagedWarning` opens it.

    Raises `InvalidError`, `DeniedError`, `NoSpaceError`, `CorruptError`, `UnavailableError` or `UnsupportedError`.
    In C: `kept_open`. In Swift: `Store.open(_:)`.
    """
    if durability not in ("shared", "durable"):
        raise InvalidError(f'durability is {durability!r}; it must be "shared" or "durable"')
    if not 0 <= busy_timeout <= 4_294_967:
        raise InvalidError(f"busy_timeout is {busy_timeout!r}; it must be 0 to 4,294,967 seconds")
    options = KEPT_OPTIONS_INIT()
    options.durability = KEPT_DURABLE if durability == "durable" else KEPT_SHARED
    options.busy_timeout_ms = round(busy_timeout * 1000)
    options.access = KEPT_READ_ONLY if read_only else KEPT_READ_WRITE
    options.tag = None if tag is None else encoded_text(tag, "the tag")
    add_layers(options, managed, system, arguments, environment)
    return Store(text_of_location(location), options)


def add_layers(
    options: kept_options,
    managed: bool | str | os.PathLike[str],
    system: bool | str | os.PathLike[str],
    arguments: Sequence[str] | None,
    environment: str | None,
) -> None:
    options.managed, options.system = _encoded_file(managed, "managed"), _encoded_file(system, "system")
    options.environment = None if environment is None else encoded_text(environment, "the prefix of the environment")
    if arguments is not None:
        options.argv, options.argc = _encoded_arguments(arguments), len(arguments)


def _encoded_file(file: bool | str | os.PathLike[str], layer: str) -> bytes | None:
    """The file of a layer for C."""
    if isinstance(file, bool):
        return KEPT_STANDARD_FILE if file else None
    encoded = os.fsencode(file)
    if not encoded or b"\0" in encoded:
        raise InvalidError(f"the file of the {layer} layer is {file!r}; use a path, or True for its standard path")
    return encoded


def _encoded_arguments(arguments: Sequence[str]) -> Any:
    """A command line for C. Bytes that are not UTF-8 are passed as Python has received them."""
    if isinstance(arguments, str):
        raise InvalidError("arguments is a str; pass a list such as sys.argv")
    try:
        encoded = [os.fsencode(argument) for argument in arguments]
    except (TypeError, UnicodeEncodeError) as error:
        raise InvalidError(f"an argument cannot be passed on a command line: {error}") from None
    if any(b"\0" in argument for argument in encoded):
        raise InvalidError("an argument contains a NUL, which a command line cannot contain")
    return (c_char_p * len(encoded))(*encoded)


def text_of_location(location: str | os.PathLike[str]) -> str:
    """The location as text. A `Path` is always a path, so one without a slash gets one: it is not an identifier."""
    if isinstance(location, os.PathLike):
        path = os.fspath(location)
        return path if not isinstance(path, str) or "/" in path else f"./{path}"
    return location
