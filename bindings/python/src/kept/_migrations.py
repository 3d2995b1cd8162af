"""Migrations: steps from one schema version of a program's settings to the next, each run once by one process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from ctypes import byref, c_char_p, c_uint32
from dataclasses import dataclass
from typing import Any, Literal

from ._c import migrations
from ._c.status import KEPT_FAILED, KEPT_OK, kept_error, kept_free
from ._c.store import StorePointer
from ._errors import InvalidError, KeptError, OutOfRangeError
from ._exit import calling_back
from ._interrupts import CallbackErrors
from ._key import encoded_text
from ._transaction import LentTransaction, Transaction

Outcome = Literal["nothing", "migrated", "fresh", "elsewhere", "read only"]

_OUTCOMES: dict[int, Outcome] = {
    migrations.KEPT_MIGRATED_NOTHING: "nothing",
    migrations.KEPT_MIGRATED: "migrated",
    migrations.KEPT_MIGRATED_FRESH: "fresh",
    migrations.KEPT_MIGRATED_ELSEWHERE: "elsewhere",
    migrations.KEPT_MIGRATED_READ_ONLY: "read only",
}
_OTHERS = {"wait": 0, "carry on": migrations.KEPT_MIGRATE_CARRY_ON}
_LATER = {"refuse": 0, "read only": migrations.KEPT_MIGRATE_READ_ONLY}


@dataclass(frozen=True)
class Migration:
    """A step that leads to a schema version: `Migration(1, "volume in percent", lambda t: t.rename("volume", VOLUME))`.

    `run` reads and writes through the transaction it is given, and must have no other effect: it is called again if
    another process writes at the same time. In C: `kept_migration`. In Swift: `Migration`.
    """

    version: int
    """The schema version that it leads to, 1 or above."""
    name: str
    """The description that errors show."""
    run: Callable[[Transaction], Any]


@dataclass(frozen=True)
class Migrated:
    """The result of `Store.migrate`. In C: `KEPT_MIGRATED…`. In Swift: `Migrated`."""

    outcome: Outcome
    """"migrated": the steps were run; "nothing": the store had the last version; "fresh": nothing was stored, so the
    store now has the last version and no step was run; "elsewhere": another process is migrating; "read only": the
    store has a later version, and this handle only reads it."""
    backup: str | None
    """The path of the copy that was made before; None if there is none."""


def schema_version(handle: StorePointer) -> int:
    """Implements `Store.schema_version`."""
    version = c_uint32()
    migrations.kept_schema_version(handle, byref(version), kept_error())
    return version.value


def migrate(handle: StorePointer, steps: Sequence[Migration], others: str, later: str, backup: bool) -> Migrated:
    """Implements `Store.migrate`."""
    flags = _flag(_OTHERS, others, "others") | _flag(_LATER, later, "later")
    flags |= 0 if backup else migrations.KEPT_MIGRATE_NO_BACKUP
    run = _Run(steps)
    result, path = c_uint32(), c_char_p()
    try:
        calling_back(
            *(migrations.kept_migrate, handle, run.steps, len(steps), flags | migrations.KEPT_MIGRATE_CONFIRMED),
            *(byref(result), byref(path), kept_error()),
            errors=run.errors,
        )
        copy = None if path.value is None else os.fsdecode(path.value)
        return Migrated(_OUTCOMES[result.value], copy)
    except KeptError as error:
        if run.failure is None:
            raise
        raise error from run.failure
    finally:
        kept_free(path)


class _Run:
    """Steps for C, and what they have raised."""

    def __init__(self, steps: Sequence[Migration]) -> None:
        self.failure: Exception | None = None
        """The exception of the last step that was called."""
        functions = [self._call(step) for step in steps]
        self.errors = CallbackErrors(*functions)
        # C has only their addresses.
        self.calls = [migrations.kept_migration_callback(function) for function in functions]
        self.steps = (migrations.kept_migration * len(steps))(*map(self._step, steps, self.calls))

    @staticmethod
    def _step(step: Migration, call: Any) -> migrations.kept_migration:
        if not 0 <= step.version < 2**32:
            raise OutOfRangeError(f"the schema version {step.version} is invalid; versions are 1 to 2^32 - 1")
        return migrations.kept_migration(step.version, 0, encoded_text(step.name, "the name of the step"), call, None)

    def _call(self, step: Migration) -> Callable[[int | None, StorePointer, Any], int]:
        def call(_: int | None, transaction: StorePointer, error: Any) -> int:
            # C reads the result from `error`, which says "failed" until the step has returned.
            try:
                self.failure = None
                lent = LentTransaction(transaction)
                try:
                    step.run(lent)
                finally:
                    lent.has_ended = True
                error[0].status = KEPT_OK
            except Exception as failure:
                self.failure = failure
                error[0].status = failure.status if isinstance(failure, KeptError) else KEPT_FAILED
                error[0].message = _sentence(failure)
            except BaseException as interrupt:
                self.errors.raised = interrupt
                error[0].status = KEPT_FAILED
            return KEPT_FAILED

        return call


def _sentence(raised: Exception) -> bytes:
    """The exception as text, cut to the size of a `kept_error`."""
    sentence = str(raised) if isinstance(raised, KeptError) else f"{type(raised).__name__}: {raised}"
    return sentence.encode("utf-8", "replace")[:495].decode("utf-8", "ignore").encode("utf-8")


def _flag(flags: dict[str, int], word: str, name: str) -> int:
    if word not in flags:
        raise InvalidError(f"migrate() takes {name}={' or '.join(map(repr, flags))}, not {word!r}")
    return flags[word]
