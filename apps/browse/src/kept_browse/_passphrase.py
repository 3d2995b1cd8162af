"""Passphrases: the file that has the one of a store, and what needs one."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import kept

if TYPE_CHECKING:
    from pathlib import Path

LONGEST = 1 << 16
"""The number of bytes of the file that are read, as the command does."""


class NoPassphrase(Exception):
    """A file has no passphrase, or one that others can read."""


def read(path: str) -> str:
    """The first line of a file that no other user can read."""
    try:
        with open(path, "rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise NoPassphrase(
                    f"other users can read or write {path}, which has a passphrase; run chmod 600 on it, and replace it"
                )
            line = file.read(LONGEST).split(b"\n", 1)[0].removesuffix(b"\r")
        if text := line.decode():
            return text
    except (OSError, ValueError) as error:
        if not isinstance(error, UnicodeDecodeError):
            raise NoPassphrase(f"the passphrase cannot be read from {path}: {error}") from None
    raise NoPassphrase(f"the first line of {path} is not a passphrase; write one in UTF-8")


def has_passphrase(settings: kept.Store) -> bool:
    """Whether a passphrase opens the secrets of a store."""
    try:
        return any(provider.kind == "passphrase" for provider in settings.secrets().providers)
    except kept.KeptError:
        return False  # a store in memory has none


def needs_passphrase(path: Path) -> bool:
    """Whether a file is an export with encrypted secrets. Any thread."""
    try:
        text = path.read_bytes()
        # Most files need not be parsed.
        found = json.loads(text) if b'"encryption"' in text else None
    except (OSError, ValueError, RecursionError):
        return False  # the import reports the reason
    return isinstance(found, dict) and "kept" in found and "encryption" in found
