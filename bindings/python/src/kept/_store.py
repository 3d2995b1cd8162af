"""Methods of a store that a transaction does not have."""

from __future__ import annotations

import os
import time
import weakref
from ctypes import POINTER, byref, c_char_p

from ._backup import BackingUp
from ._c.status import KEPT_SALVAGED, kept_error, kept_free
from ._c.store import (
    kept_acknowledge_salvage,
    kept_close,
    kept_flush,
    kept_open,
    kept_options,
    kept_salvaged,
    kept_store,
    kept_store_generation,
    kept_store_layers,
)
from ._errors import AbsentError, ConflictError, InvalidError, SalvagedWarning, warn
from ._exit import calling_back, close, expect_callbacks, later, opened
from ._key import A_PREFIX, encoded_key, encoded_text, encoded_value
from ._memory import NOTHING, UNKNOWN, memory_at, numbers_of, remember, word_at
from ._refusal import AnyOf
from ._reports import c_report, forget, reporting
from ._settings import Settings
from ._transfer import Transferring
from ._typing import TYPE_CHECKING, TypeVar, overload
from ._undoing import Undoing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Literal, NoReturn, Self

    from ._administration import LayerFile
    from ._changes import Changes
    from ._key import Key
    from ._memory import Word
    from ._migrations import Migrated, Migration
    from ._notices import Change, Notice
    from ._observation import Subscription
    from ._secrets import SecretsProvider, SecretsStatus
    from ._snapshot import Snapshot
    from ._transaction import Transaction
    from ._types import JSON, Storable

T = TypeVar("T")


class Store(Settings, Transferring, BackingUp, Undoing):
    """An open settings store; made by `kept.open`, ended by `close` or the end of a `with` block.

    A store that is dropped is closed, unless a subscription needs it; if it was opened with layers, another thread
    closes it. Every store is closed when Python ends, which waits for running callbacks; Ctrl-C ends the wait.
    In C: `kept_store`. In Swift: `Store`.
    """

    _layers: Word | None = None
    """The count of layer changes; None if no layer can change."""

    def __init__(self, location: str, options: kept_options) -> None:
        """Opens a store. Programs call `kept.open`."""
        self._location = location
        self._busy_timeout: float = options.busy_timeout_ms / 1000
        self._handle = POINTER(kept_store)()
        location_text = encoded_text(self._location, "the location")
        self._reports = reporting(self._location)
        options.report, options.report_context = c_report, self._reports
        error, drop = kept_error(), _close
        if options.managed or options.system or options.environment or options.argc:
            expect_callbacks()
            drop = _drop
        try:
            status = calling_back(self._open, location_text, options, error)
            self._close = weakref.finalize(self, drop, id(self._handle), self._reports)
        except BaseException:
            # An interrupt may come after it was opened.
            _close(id(self._handle), self._reports)
            kept_close(self._handle)
            raise
        self._close.atexit = False  # _exit closes it
        self._find_layers()
        if status == KEPT_SALVAGED:
            try:
                warn(error.message.decode("utf-8", "replace"), SalvagedWarning)
            except BaseException:
                # Where warnings are errors, the program does not get the store.
                self.close()
                raise

    def _open(self, location: bytes, options: kept_options, error: kept_error) -> int:
        status: int = kept_open(location, byref(options), byref(self._handle), error)
        opened(self._handle)
        return status

    # --- its life

    @property
    def _is_open(self) -> bool:
        return self._close.alive

    def close(self) -> None:
        """Closes the store and syncs its writes to the disk. Its subscriptions end: no further callback begins.
        It waits for callbacks that run on other threads, and raises an interrupt only after that. Any thread; the
        second call does nothing. Later calls raise `ClosedError`. In C: `kept_close`."""
        if self._is_open:
            _close(id(self._handle), self._reports)
            # Not before: if an interrupt comes in between, dropping the store still closes it.
            self._close.detach()
        self._generation, self._memory = UNKNOWN, NOTHING

    def flush(self) -> None:
        """Syncs every finished write of all processes, so that it survives power loss. In C: `kept_flush`."""
        kept_flush(self._handle, kept_error())

    async def aflush(self) -> None:
        """`flush` on a thread of the event loop, so that the loop is not blocked. Cancelling it does not wait, and the
        sync continues. In Swift: `Store.flush()`."""
        from asyncio import to_thread

        await to_thread(self.flush)

    @property
    def salvaged(self) -> str | None:
        """The folder with the damaged files from which the store was salvaged: values may be missing, or older than
        the last commit. None if there was no damage, or if it was acknowledged. In C: `kept_salvaged`."""
        path = c_char_p()
        try:
            kept_salvaged(self._handle, byref(path), kept_error())
        except AbsentError:
            return None
        try:
            return os.fsdecode(path.value or b"")
        finally:
            kept_free(path)

    def acknowledge_salvage(self) -> None:
        """Acknowledges a salvage: opening the store no longer reports it. The damaged files stay in place.
        In C: `kept_acknowledge_salvage`."""
        kept_acknowledge_salvage(self._handle, kept_error())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<kept.Store {self._location!r}{'' if self._is_open else ', closed'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} cannot be copied or pickled; open its location again")

    # --- reading

    def _read(self, key: str | Key[Any]) -> Any:
        """Reads, and remembers the value if nothing has changed since."""
        if self._generation is UNKNOWN:
            self._find_generation()
        memory = self._memory
        if self._generation != memory[0]:
            numbers = numbers_of(self._generation)
            if numbers[0] % 2:
                return super()._read(key)
            self._memory = memory = memory_at(numbers)
        value = super()._read(key)
        if self._generation == memory[0]:
            remember(memory[1], key, value)
        return value

    def _find_generation(self) -> None:
        """Called by the first read."""
        word = word_at(kept_store_generation(self._handle).contents)
        # No call is between the test and the assignment, so `_find_layers` cannot run on another thread between them.
        self._generation = word if self._layers is None else (word, self._layers)
        # If `close` runs on another thread at the same time, the later of the two sees what the other has set.
        if not self._is_open:
            self._generation = UNKNOWN

    def _find_layers(self) -> None:
        """Makes the memory depend on the layers too, if they can change. The next read finds the generation."""
        word = kept_store_layers(self._handle)
        if word and self._layers is None:
            self._layers = word_at(word.contents)
            self._generation, self._memory = UNKNOWN, NOTHING

    def register(self, defaults: Mapping[str, Storable]) -> None:
        """Registers defaults for this handle, above those that keys are declared with. They are not stored, and end
        with the handle. None removes one. In C: `kept_register_json`. In Swift: `Store.register(defaults:)`."""
        from ._c.layers import kept_register_json

        names = tuple(name for name in defaults if isinstance(name, str))
        json = encoded_value(defaults, "register()", AnyOf(self, names))
        kept_register_json(self._handle, json, kept_error())
        self._find_layers()

    def layer_files(self) -> tuple[LayerFile, ...]:
        """The files of this handle's layers, and the state of each; those of the highest layer first.
        In C: `kept_layer_files_json`. In Swift: `Store.layerFiles()`."""
        from ._administration import layer_files

        return layer_files(self._handle)

    def snapshot(self, prefix: str = "", *, at: int | None = None) -> Snapshot:
        """Takes a snapshot: `with settings.snapshot() as s:` reads one revision of all keys that begin with `prefix`,
        layers and defaults included. Other processes may write at the same time.

        With `at`, it has the values that were stored at that revision, as far as the history has them, with the
        current declarations and layers. `AbsentError` if the history does not have the revision, see
        `History.missing`. In C: `kept_snapshot`, `kept_snapshot_at`. In Swift: `Store.snapshot(prefix:)`,
        `Store.snapshot(prefix:at:)`."""
        from ._snapshot import Snapshot

        return Snapshot(self._handle, prefix, at)

    # --- writing with conditions

    @overload
    def set(self, key: Key[T], value: T, *, if_revision: int, durable: bool = False) -> int: ...
    @overload
    def set(self, key: Key[T], value: T, *, if_revision: None = None, durable: bool = False) -> None: ...
    @overload
    def set(self, key: str, value: Storable, *, if_revision: int, durable: bool = False) -> int: ...
    @overload
    def set(self, key: str, value: Storable, *, if_revision: None = None, durable: bool = False) -> None: ...
    def set(self, key: Any, value: Any, *, if_revision: int | None = None, durable: bool = False) -> int | None:
        """Sets a key as `[]` does, with conditions.

        With `if_revision`, it sets the key only if that is the key's revision (0: the key is absent), and returns the
        new revision; otherwise it raises a `ConflictError` and writes nothing. With `durable`, the value survives power
        loss when this returns; if the sync fails after a compare-and-set, the error is raised but the value is written.
        In C: `kept_set_json_if`. In Swift: `Store.set(_:forKey:ifRevision:)`."""
        if if_revision is not None:
            from ._transaction import set_if

            revision = set_if(self, key, value, if_revision)
            if durable:
                self.flush()
            return revision
        if durable:
            with self.transaction(durable=True) as transaction:
                transaction[key] = value
        else:
            self[key] = value
        return None

    # --- transactions

    def transaction(self, durable: bool = False, *, tag: str | None = None) -> Transaction:
        """Begins a transaction: `with settings.transaction() as t:` commits at the end, rolls back on an exception.

        With `durable`, the commit survives power loss; otherwise the store's durability holds. Observers in every
        process receive `tag` instead of the store's own. If another writer was faster, the commit is a `ConflictError`;
        `run_transaction` retries by itself. In C: `kept_begin`."""
        from ._transaction import Transaction

        return Transaction(self._handle, durable, tag)

    def run_transaction(self, body: Callable[[Transaction], T], durable: bool = False, *, tag: str | None = None) -> T:
        """Runs `body` in a transaction, commits, and returns the result of `body`. If another writer was faster, it
        starts again, so `body` must have no effect outside the transaction. `ConflictError` if that goes on for the
        store's `busy_timeout`, or if `body` expects a revision that is not current any more.
        In Swift: `Store.transaction`."""
        deadline = time.monotonic() + self._busy_timeout
        refused: tuple[str, int] | None = None
        attempt = 0
        while True:
            transaction = self.transaction(durable, tag=tag)
            try:
                with transaction:
                    result = body(transaction)
                return result
            except ConflictError:
                hopeless = transaction._refused is not None and transaction._refused == refused
                if hopeless or time.monotonic() >= deadline:
                    raise
                refused = transaction._refused
            from random import uniform

            # A random pause, longer each time, so that the same writers do not conflict again.
            time.sleep(uniform(0, 20e-6 * 2 ** min(attempt, 8)))
            attempt += 1

    def _together(self, steps: Callable[[Settings], T]) -> T:
        return self.run_transaction(steps)

    # --- migrations

    @property
    def schema_version(self) -> int:
        """The schema version of the store, which programs set by `migrate`; 0 if none has.
        `UnsupportedError` for a storage without schema versions. In C: `kept_schema_version`.
        In Swift: `Store.schemaVersion()`."""
        from ._migrations import schema_version

        return schema_version(self._handle)

    def migrate(
        self,
        steps: Sequence[Migration],
        *,
        others: Literal["wait", "carry on"] = "wait",
        later: Literal["refuse", "read only"] = "refuse",
        backup: bool = True,
    ) -> Migrated:
        """Brings the store to the version of the last step. One process runs the steps to versions above the store's,
        in order and in one transaction, after it has made a copy in the store's folder `backups`.

        If a step raises, nothing is changed, and an exception with the step's version and name is raised from it. While
        another process migrates, `others` says whether to wait for it, at most the `busy_timeout`, or to carry on
        reading. If the store has a `later` version, this raises `UnsupportedError`, or lets this handle only read the
        store: its writes raise `DeniedError`. `InvalidError` if the versions do not rise from 1; `BusyError`.
        In C: `kept_migrate`. In Swift: `Store.migrate`."""
        from ._migrations import migrate

        return migrate(self._handle, steps, others, later, backup)

    # --- secrets

    def secrets(self, *, ask: bool = False, passphrase: str | None = None) -> SecretsStatus:
        """How the store keeps its secrets. With `ask`, each provider is asked for the key, which may run programs.
        `UnsupportedError` for a store that is not in a folder of its own, and `UnavailableError` if its secrets are
        encrypted and the file with their keys is lost.
        In C: `kept_secrets_json`. In Swift: `Store.secretsStatus()`."""
        return self._secrets("check" if ask else "show", None, passphrase)

    def keep_secrets_plain(self) -> SecretsStatus:
        """Decides that secrets are stored as they are. `InvalidError` if they are encrypted.
        In C: `kept_secrets_json`. In Swift: `Store.keepSecretsPlain()`."""
        return self._secrets("plain")

    def encrypt_secrets(self, provider: SecretsProvider) -> SecretsStatus:
        """Encrypts the secrets that the store has, those in the history too, and all that are set from now on. A
        process that is killed loses nothing, and the same call goes on.
        `InvalidError` if they are encrypted with another provider.
        In C: `kept_secrets_json`. In Swift: `Store.encryptSecrets(with:)`."""
        return self._secrets("encrypt", provider)

    def add_secrets_provider(self, provider: SecretsProvider, *, passphrase: str | None = None) -> SecretsStatus:
        """Adds something that can give the key, or renews it. With the `passphrase` of the store, this is how it gets a
        key on another machine. `UnavailableError` if no provider gives the key.
        In C: `kept_secrets_json`. In Swift: `Store.addSecretsProvider(_:passphrase:)`."""
        return self._secrets("add", provider, passphrase)

    def remove_secrets_provider(self, provider: SecretsProvider) -> SecretsStatus:
        """Removes something that can give the key. `AbsentError` if the store does not have it, and `InvalidError` for
        the last one. In C: `kept_secrets_json`. In Swift: `Store.removeSecretsProvider(_:)`."""
        return self._secrets("remove", provider)

    def rotate_secrets(self, *, passphrase: str | None = None) -> SecretsStatus:
        """Makes a new data key, and encrypts all secrets with it. `UnavailableError`, with nothing changed, if a
        provider does not give its key. In C: `kept_secrets_json`. In Swift: `Store.rotateSecrets(passphrase:)`."""
        return self._secrets("rotate", None, passphrase)

    def unlock_secrets(self, passphrase: str) -> SecretsStatus:
        """Uses the passphrase of the store in this process.
        In C: `kept_secrets_json`. In Swift: `Store.unlockSecrets(passphrase:)`."""
        return self._secrets("unlock", None, passphrase)

    def _secrets(
        self, do: str, provider: SecretsProvider | None = None, passphrase: str | None = None
    ) -> SecretsStatus:
        from ._secrets import secrets

        return secrets(self._handle, do, provider, passphrase)

    # --- observation

    @overload
    def observe(self, key: Key[T], *, initial: bool = ...) -> Callable[[Callable[[Change[T]], Any]], Subscription]: ...
    @overload
    def observe(self, key: Key[T], callback: Callable[[Change[T]], Any], *, initial: bool = ...) -> Subscription: ...
    @overload
    def observe(self, key: str, *, initial: bool = ...) -> Callable[[Callable[[Change[JSON]], Any]], Subscription]: ...
    @overload
    def observe(self, key: str, callback: Callable[[Change[JSON]], Any], *, initial: bool = ...) -> Subscription: ...
    @overload
    def observe(self, *, prefix: str, initial: bool = ...) -> Callable[[Callable[[Notice], Any]], Subscription]: ...
    @overload
    def observe(self, *, prefix: str, callback: Callable[[Notice], Any], initial: bool = ...) -> Subscription: ...
    def observe(
        self,
        key: str | Key[Any] | None = None,
        callback: Callable[[Any], Any] | None = None,
        *,
        prefix: str | None = None,
        initial: bool = False,
    ) -> Any:
        """Calls back with a `Change` at each change of `key`, or with a `Notice` at each commit that changes keys with
        `prefix` ("" is every key), by any process. Commits of other processes may be merged.

        Without a callback it is a decorator, and the result is a context manager: `@settings.observe(VOLUME)`, or
        `with settings.observe(VOLUME, show):`. The callback runs on a thread of the library, one call at a time and in
        the order of the commits; with `initial`, first on this thread with the current values. Its exceptions go to
        `logging.getLogger("kept")` and `sys.unraisablehook`. In C: `kept_observe`. In Swift: `Store.observe`."""
        from ._observation import subscribe

        encoded = _encoded_subject("observe()", key, prefix)

        def subscribed(callback: Callable[[Any], Any]) -> Subscription:
            return subscribe(self, callback, key, encoded, initial)

        return subscribed if callback is None else subscribed(callback)

    @overload
    def changes(self, key: Key[T], *, initial: bool = ...) -> Changes[Change[T]]: ...
    @overload
    def changes(self, key: str, *, initial: bool = ...) -> Changes[Change[JSON]]: ...
    @overload
    def changes(self, *, prefix: str, initial: bool = ...) -> Changes[Notice]: ...
    def changes(
        self, key: str | Key[Any] | None = None, *, prefix: str | None = None, initial: bool = False
    ) -> Changes[Any]:
        """The changes of `observe`, for asyncio: `async for change in settings.changes(VOLUME)`.

        It yields every change after this call, of all processes and in order, with `initial` first the current values,
        and ends when the store is closed. For a task that is slower than the writers, commits are merged by key: it
        misses states in between, but not the last. `WrongTypeError` comes from a change's `old` and `new`, not from the
        loop. Any thread, any loop; each task needs its own. In Swift: `Store.changes(of:)`."""
        from ._changes import Changes

        return Changes(self, key, _encoded_subject("changes()", key, prefix), initial)


def _close(number: int, reports: int) -> None:
    close(number)
    forget(reports)


def _drop(number: int, reports: int) -> None:
    """Closes a store with layers, for which the library's thread may be logging a report."""
    later(lambda: _close(number, reports))


def _encoded_subject(asking: str, key: str | Key[Any] | None, prefix: str | None) -> bytes:
    """The key or the prefix to observe, for C."""
    if (key is None) == (prefix is None):
        raise InvalidError(f"{asking} takes exactly one of a key and prefix=…")
    return encoded_key(key) if key is not None else encoded_text(prefix or "", A_PREFIX)
