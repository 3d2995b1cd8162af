"""Which libkept.so is used, and how a prototype is declared.

Looked for in this order: the file that `KEPT_LIBRARY` names, the one inside this package, the system's. The variable
is ignored if the program has other rights than the user who runs it, as a program with a set-user-ID bit has.
"""

from __future__ import annotations

import ctypes
import os

# Not from `_typing`: this module must work alone, before the package does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ctypes import _NamedFuncPointer
    from typing import Any

SONAME = "libkept.so.0"


def find() -> str:
    """The file, or the name for the system's linker to find. A file that `KEPT_LIBRARY` names is never replaced."""
    if named := _variable("KEPT_LIBRARY"):
        return named
    packaged = os.path.join(os.path.dirname(os.path.dirname(__file__)), SONAME)
    return packaged if os.path.exists(packaged) else SONAME


def _variable(name: str) -> str | None:
    """An environment variable; None in a program with other rights than its user, as for secure_getenv(3)."""
    try:
        secure_getenv = ctypes.CDLL(None).secure_getenv
    except (AttributeError, OSError):
        has_other_rights = os.geteuid() != os.getuid() or os.getegid() != os.getgid()
        return None if has_other_rights else os.environ.get(name)
    secure_getenv.restype, secure_getenv.argtypes = ctypes.c_char_p, [ctypes.c_char_p]
    text = secure_getenv(os.fsencode(name))
    return None if text is None else os.fsdecode(text)


def load() -> ctypes.CDLL:
    """Loads the library. ImportError says which file could not be loaded, and what can be done."""
    file = find()
    try:
        # CDLL lets go of the interpreter's lock during a call: callbacks on the library's thread need it.
        return ctypes.CDLL(file)
    except OSError as error:
        advice = "set KEPT_LIBRARY to a libkept.so, install the wheel, or install the library into the system"
        raise ImportError(f"kept needs its C library, but {file} cannot be loaded ({error}); {advice}") from error


library = load()


def prototype(
    name: str, result: Any, arguments: list[Any], errcheck: Callable[..., Any] | None = None
) -> _NamedFuncPointer:
    """A function of the library. `errcheck` sees every result before the caller does."""
    try:
        function: _NamedFuncPointer = getattr(library, name)
    except AttributeError:
        advice = "install the library and the package in the same version"
        raise ImportError(f"{library._name} lacks {name}, which this package needs; {advice}") from None
    function.restype = result
    function.argtypes = arguments
    if errcheck is not None:
        function.errcheck = errcheck
    return function
