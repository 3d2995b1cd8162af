"""How a store keeps its secrets, and what has their key."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

from ._administration import answer
from ._c.administration import kept_secrets_json
from ._c.status import kept_error
from ._c.store import StorePointer
from ._key import encoded_value
from ._refusal import Known


@dataclass(frozen=True)
class SecretsProvider:
    """What has the key of a store's secrets: `SecretsProvider("systemd-creds")`, `SecretsProvider("secret-service")`,
    `SecretsProvider("file", path=…)`, `SecretsProvider("program", arguments=…)` or
    `SecretsProvider("passphrase", passphrase=…)`. In Swift: `SecretsProvider`."""

    kind: str
    """`"systemd-creds"`, `"secret-service"` for the user's keyring, `"file"`, `"program"` or `"passphrase"`."""
    path: str | None = None
    """The absolute path of a file that only its owner can read; it is made if it does not exist."""
    arguments: tuple[str, ...] | None = None
    """A program that prints the key, with an absolute path, and its arguments."""
    passphrase: str | None = None
    """A passphrase; None in a `SecretsStatus`."""
    reason: str | None = None
    """In a `SecretsStatus`: why it does not give the key; None if it does, or was not asked."""

    @staticmethod
    def key_file(path: str | os.PathLike[str]) -> SecretsProvider:
        """A file with an absolute path that only its owner can read; it is made if it does not exist."""
        return SecretsProvider("file", path=os.fspath(path))

    def __repr__(self) -> str:
        """A passphrase is not shown."""
        shown = {"path": self.path, "arguments": self.arguments, "reason": self.reason}
        return f"SecretsProvider({self.kind!r}{''.join(f', {name}={text!r}' for name, text in shown.items() if text)})"


@dataclass(frozen=True)
class SecretsStatus:
    """How a store keeps its secrets. In Swift: `SecretsStatus`."""

    state: Literal["undecided", "plain", "encrypted"]
    """A store without a decision refuses to store a secret."""
    providers: tuple[SecretsProvider, ...]
    """What can give the key. The first one is tried first."""
    created: str | None
    """When the data key was made that encrypts new secrets."""
    unsealed: int
    """How many secrets, and old secrets in the history, are plain, or have an older data key."""


def secrets(
    handle: StorePointer, do: str, provider: SecretsProvider | None = None, passphrase: str | None = None
) -> SecretsStatus:
    """Sends a request, and returns the state after it."""
    request: dict[str, Any] = {"do": do}
    if passphrase is not None:
        request["passphrase"] = passphrase
    if provider is not None:
        words = {"path": provider.path, "arguments": provider.arguments, "passphrase": provider.passphrase}
        request["provider"] = {"kind": provider.kind} | {name: word for name, word in words.items() if word is not None}
    encoded = encoded_value(request, "the request", Known(True))
    members = answer(lambda out: kept_secrets_json(handle, encoded, out, kept_error()))
    providers = tuple(
        SecretsProvider(
            each["kind"],
            each.get("path"),
            None if "arguments" not in each else tuple(each["arguments"]),
            reason=each.get("reason"),
        )
        for each in members["providers"]
    )
    return SecretsStatus(members["state"], providers, members.get("created"), members["unsealed"])
