"""What differs between two stores, snapshots, backups or exports."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._c.administration import KEPT_DIFFERENCES_SECRETS, kept_differences_json
from ._c.status import kept_error, text_from
from ._key import decoded_value, encoded_text
from ._reading import SettingsReading
from ._refusal import Known
from ._types import JSON

if TYPE_CHECKING:
    from ._c.store import StorePointer
    from ._snapshot import Snapshot
    from ._store import Store


@dataclass(frozen=True)
class Difference:
    """A key whose value differs. In Swift: `StoreDifferences.Difference`."""

    key: str
    old: JSON
    """None if there is none, if it is a secret, and if it was not kept."""
    new: JSON
    """As `old`."""
    secret: bool
    """Whether the key is secret on either side."""
    not_kept: tuple[str, ...]
    """"old" and "new", where there is a value that the history has not kept, or one of a secret."""

    @property
    def mark(self) -> str:
        """ "+" for a key that has no old value, "-" for one that has no new value, and otherwise "~"."""
        old, new = (
            value is not None or side in self.not_kept for value, side in ((self.old, "old"), (self.new, "new"))
        )
        return "~" if old and new else "-" if old else "+"


@dataclass(frozen=True)
class DeclarationDifference:
    """A key whose declaration differs. In Swift: `StoreDifferences.DeclarationDifference`."""

    key: str
    old: dict[str, Any] | None
    """None if there is none, and for a secret."""
    new: dict[str, Any] | None
    secret: bool


@dataclass(frozen=True)
class UnknownDifference:
    """A key that may or may not differ. In Swift: `StoreDifferences.Unknown`."""

    key: str
    reason: str
    """Why its value is not known, as half a sentence."""
    secret: bool
    """Whether the key is secret on either side."""


@dataclass(frozen=True)
class Differences:
    """What changes on the way from one side to the other, in the order of the keys. In Swift: `StoreDifferences`."""

    values: tuple[Difference, ...]
    declarations: tuple[DeclarationDifference, ...]
    unknown: tuple[UnknownDifference, ...]
    compares_declarations: bool
    """Whether the declarations were compared; False if an export has none."""


def differences(
    old: Store | Snapshot | str | os.PathLike[str],
    new: Store | Snapshot | str | os.PathLike[str],
    *,
    secrets: bool = False,
) -> Differences:
    """Compares the stored values and the declarations of two stores or snapshots, or of files: a str or a path is that
    of a backup or an export. `secrets` includes the values of secrets.

    Of an export or a snapshot of the keys with a prefix, only these keys are compared. A key is secret here if a side
    declares it so: the values of two exports without declarations are shown.

    A snapshot at a revision (`settings.snapshot(at=17)`) has the values of the past that the history has kept.
    `InvalidError` for a file that is neither a backup nor an export, `UnsupportedError` for a transaction, and the
    errors of `restore` and `import_file`.
    In C: `kept_differences_json`. In Swift: `StoreContents.differences(to:)`."""
    sides, flags = (*_side(old), *_side(new)), KEPT_DIFFERENCES_SECRETS if secrets else 0
    text = text_from(lambda out: kept_differences_json(*sides, flags, out, kept_error()))
    found: Any = decoded_value(text, "the differences", Known(False))
    return Differences(
        values=tuple(
            Difference(
                key=value["key"],
                old=value.get("old"),
                new=value.get("new"),
                secret=value.get("secret", False),
                not_kept=tuple(value.get("notKept", ())),
            )
            for value in found["values"]
        ),
        declarations=tuple(
            DeclarationDifference(declared["key"], declared.get("old"), declared.get("new"), "secret" in declared)
            for declared in found["declarations"]
        ),
        unknown=tuple(
            UnknownDifference(unknown["key"], unknown["reason"], "secret" in unknown) for unknown in found["unknown"]
        ),
        compares_declarations=found["comparesDeclarations"],
    )


def _side(given: Store | Snapshot | str | os.PathLike[str]) -> tuple[StorePointer | None, bytes | None]:
    """A store or a snapshot, or the path of a file, for C."""
    if isinstance(given, SettingsReading):  # also a transaction, which C refuses
        return given._handle, None
    return None, encoded_text(os.fspath(given), "the path")
