"""Paths that a person has typed, the folder of an open store, and sizes."""

from __future__ import annotations

import os
from pathlib import Path


def path_of(text: str) -> Path:
    """A typed path, which may begin with `~`."""
    path = Path(text.strip())
    try:
        return path.expanduser()
    except RuntimeError:  # no such user
        return path


def may_exist(path: Path) -> bool:
    """Whether a path may exist. If this user may not look there, opening it reports the reason."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        pass
    return True


class Folder:
    """The folder of an open store. It is held open, so that no later folder has the same number."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY)
        self._status = os.fstat(self._descriptor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Folder) and os.path.samestat(self._status, other._status)

    @property
    def is_readable(self) -> bool:
        """Whether this user may still read what has its path."""
        return os.access(self._path, os.R_OK | os.X_OK, effective_ids=True)

    def moved(self) -> str | None:
        """A sentence if the folder was removed or replaced."""
        try:
            now = os.stat(f"{self._path}/")
        except (FileNotFoundError, NotADirectoryError):
            return f"{self._path} was removed"
        except OSError:
            return None  # its parent cannot be searched; reading the store reports the reason
        return None if os.path.samestat(now, self._status) else f"{self._path} was replaced by another folder"

    def close(self) -> None:
        """Lets go of the folder."""
        os.close(self._descriptor)


def size_text(count: int) -> str:
    """A readable size: `112 KB`."""
    for unit, size in (("GB", 1_000_000_000), ("MB", 1_000_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count // 1000} KB" if count >= 1000 else f"{count} B"
