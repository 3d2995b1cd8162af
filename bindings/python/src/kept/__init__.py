"""Kept: a typed settings store that Swift, C and Python programs on one machine share.

    import kept

    VOLUME = kept.Key("audio.volume", int, default=50)

    with kept.open("com.example.player") as settings:
        settings[VOLUME] += 10                      # an int, to mypy too
        settings["window"] = {"size": [800, 600]}   # kept.JSON, by name
        print(settings[VOLUME], settings["window"])

Callbacks (`settings.observe`) and `async for change in settings.changes(VOLUME)` report the changes of every
process. Start with `kept.open`, `kept.Key` and `kept.Store`. Errors are subclasses of `kept.KeptError`.
"""

from . import _forking, _typing  # noqa: F401 (_forking registers what runs before a fork)
from ._c.status import kept_version as _kept_version
from ._errors import (
    AbsentError,
    BusyError,
    ClosedError,
    ConflictError,
    CorruptError,
    DeniedError,
    FailedError,
    ForkedError,
    InvalidError,
    KeptError,
    LockedError,
    MisfitWarning,
    NoSpaceError,
    OutOfRangeError,
    SalvagedWarning,
    ShadowedWarning,
    TooLargeError,
    TypeConflictError,
    UnavailableError,
    UnsupportedError,
    WrongTypeError,
)
from ._key import Key
from ._opening import open
from ._reading import SettingsReading
from ._settings import Settings
from ._store import Store

# Programs that only read and write need none of these. Each module is imported at the first use of one of its names.
if _typing.TYPE_CHECKING:
    from ._changes import Changes
    from ._datetime_ns import datetime_ns
    from ._display import display_text
    from ._explanation import Explanation, LayerFinding
    from ._history import History, PastChange
    from ._import_report import ImportChange, ImportRefusal, ImportReport, NotCarried
    from ._layers import Layer
    from ._migrations import Migrated, Migration
    from ._notices import Change, Notice, Origin
    from ._observation import Subscription
    from ._setting import Setting
    from ._snapshot import Snapshot
    from ._timestamps import Timestamp
    from ._transaction import Transaction
    from ._types import JSON, Durability, Storable
    from ._verification import Damage, Verification
else:
    _HOMES = {
        "Change": "_notices",
        "Changes": "_changes",
        "Damage": "_verification",
        "Durability": "_types",
        "Explanation": "_explanation",
        "History": "_history",
        "ImportChange": "_import_report",
        "ImportRefusal": "_import_report",
        "ImportReport": "_import_report",
        "JSON": "_types",
        "Layer": "_layers",
        "LayerFinding": "_explanation",
        "Migrated": "_migrations",
        "Migration": "_migrations",
        "NotCarried": "_import_report",
        "Notice": "_notices",
        "Origin": "_notices",
        "PastChange": "_history",
        "Setting": "_setting",
        "Snapshot": "_snapshot",
        "Storable": "_types",
        "Subscription": "_observation",
        "Timestamp": "_timestamps",
        "Transaction": "_transaction",
        "Verification": "_verification",
        "datetime_ns": "_datetime_ns",
        "display_text": "_display",
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        globals()[name] = value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        return value

    def __dir__():
        return sorted(globals().keys() | _HOMES.keys())


__all__ = [
    "AbsentError",
    "BusyError",
    "Change",
    "Changes",
    "ClosedError",
    "ConflictError",
    "CorruptError",
    "Damage",
    "DeniedError",
    "Durability",
    "Explanation",
    "FailedError",
    "ForkedError",
    "History",
    "ImportChange",
    "ImportRefusal",
    "ImportReport",
    "InvalidError",
    "JSON",
    "KeptError",
    "Key",
    "Layer",
    "LayerFinding",
    "LockedError",
    "Migrated",
    "Migration",
    "MisfitWarning",
    "NoSpaceError",
    "NotCarried",
    "Notice",
    "Origin",
    "OutOfRangeError",
    "PastChange",
    "SalvagedWarning",
    "Setting",
    "Settings",
    "SettingsReading",
    "ShadowedWarning",
    "Snapshot",
    "Storable",
    "Store",
    "Subscription",
    "Timestamp",
    "TooLargeError",
    "Transaction",
    "TypeConflictError",
    "UnavailableError",
    "UnsupportedError",
    "Verification",
    "WrongTypeError",
    "datetime_ns",
    "display_text",
    "open",
]

__version__: str = _kept_version().decode("ascii")
