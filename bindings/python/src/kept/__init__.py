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
    from ._administration import (
        Finding,
        LayerFile,
        Place,
        StoreProcess,
        check_layer,
        findings,
        place,
        places,
        processes,
        text_of_value,
        value_of_text,
        verify_files,
    )
    from ._changes import Changes
    from ._datetime_ns import datetime_ns
    from ._differences import DeclarationDifference, Difference, Differences, UnknownDifference, differences
    from ._display import display_text
    from ._explanation import Explanation, LayerFinding
    from ._history import History, PastChange
    from ._import_report import ImportChange, ImportRefusal, ImportReport, NotCarried
    from ._layers import Layer
    from ._migrations import Migrated, Migration
    from ._notices import Change, Notice, Origin
    from ._observation import Subscription
    from ._secrets import SecretsProvider, SecretsStatus
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
        "DeclarationDifference": "_differences",
        "Difference": "_differences",
        "Differences": "_differences",
        "Durability": "_types",
        "Explanation": "_explanation",
        "Finding": "_administration",
        "History": "_history",
        "ImportChange": "_import_report",
        "ImportRefusal": "_import_report",
        "ImportReport": "_import_report",
        "JSON": "_types",
        "Layer": "_layers",
        "LayerFile": "_administration",
        "LayerFinding": "_explanation",
        "Migrated": "_migrations",
        "Migration": "_migrations",
        "NotCarried": "_import_report",
        "Notice": "_notices",
        "Origin": "_notices",
        "PastChange": "_history",
        "Place": "_administration",
        "SecretsProvider": "_secrets",
        "SecretsStatus": "_secrets",
        "Setting": "_setting",
        "Snapshot": "_snapshot",
        "Storable": "_types",
        "StoreProcess": "_administration",
        "Subscription": "_observation",
        "Timestamp": "_timestamps",
        "Transaction": "_transaction",
        "UnknownDifference": "_differences",
        "Verification": "_verification",
        "check_layer": "_administration",
        "datetime_ns": "_datetime_ns",
        "differences": "_differences",
        "display_text": "_display",
        "findings": "_administration",
        "place": "_administration",
        "places": "_administration",
        "processes": "_administration",
        "text_of_value": "_administration",
        "value_of_text": "_administration",
        "verify_files": "_administration",
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
    "DeclarationDifference",
    "DeniedError",
    "Difference",
    "Differences",
    "Durability",
    "Explanation",
    "FailedError",
    "Finding",
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
    "LayerFile",
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
    "Place",
    "SalvagedWarning",
    "SecretsProvider",
    "SecretsStatus",
    "Setting",
    "Settings",
    "SettingsReading",
    "ShadowedWarning",
    "Snapshot",
    "Storable",
    "Store",
    "StoreProcess",
    "Subscription",
    "Timestamp",
    "TooLargeError",
    "Transaction",
    "TypeConflictError",
    "UnavailableError",
    "UnknownDifference",
    "UnsupportedError",
    "Verification",
    "WrongTypeError",
    "check_layer",
    "datetime_ns",
    "differences",
    "display_text",
    "findings",
    "open",
    "place",
    "places",
    "processes",
    "text_of_value",
    "value_of_text",
    "verify_files",
]

__version__: str = _kept_version().decode("ascii")
