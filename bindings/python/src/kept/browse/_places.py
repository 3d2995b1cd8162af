"""Where stores are, how large they are, and which processes have them open."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

SYSTEM = Path("/etc/kept")
"""The folder with the administrator's files: one folder for each identifier."""


@dataclass(frozen=True)
class Place:
    """A store that can be opened, or one for which there are only files of the administrator."""

    location: str
    """What `kept.open` takes."""
    folder: Path
    is_stored: bool
    """Whether a program has made it; else there are only files of the administrator."""
    is_managed: bool
    """Whether there are files of the administrator."""


def user_folder() -> Path:
    """The parent of the user's stores, found as the library finds it."""
    # The XDG specification ignores a path that is not absolute.
    configuration, home = (os.environ.get(name, "") for name in ("XDG_CONFIG_HOME", "HOME"))
    if configuration.startswith("/"):
        return Path(configuration) / "kept"
    if not home.startswith("/"):
        try:
            home = pwd.getpwuid(os.geteuid()).pw_dir
        except KeyError:  # a user without an entry has no stores
            home = "/"
    return Path(home) / ".config/kept"


def is_identifier(location: str) -> bool:
    """Whether a location is an identifier and not a path or a scheme such as `memory:`."""
    return "/" not in location and ":" not in location


def folder_of(location: str) -> Path | None:
    """The folder of a store; None for one without a folder."""
    if is_identifier(location):
        return user_folder() / f"{location}.kept"
    if location.startswith("/") or "/" in location.partition(":")[0] or ":" not in location:
        return Path(location)
    scheme, _, path = location.partition(":")
    return Path(path) if scheme == "dir" else None


def location_of(path: str) -> str:
    """The identifier of a store that is given by the path of its folder in the user's folder; else the path."""
    folder = Path(path)
    if "/" in path and folder.suffix == ".kept" and is_identifier(folder.stem):
        try:
            if folder.samefile(user_folder() / folder.name):
                return folder.stem
        except (OSError, ValueError):
            pass
    return path


def path_of(text: str) -> Path:
    """The path that a person has written, which may begin with `~`."""
    path = Path(text.strip())
    try:
        return path.expanduser()
    except RuntimeError:  # there is no such user
        return path


def all_stores(system: Path = SYSTEM) -> list[Place]:
    """The stores of the user, and the identifiers for which the administrator has files, by name."""
    managed = {name for name in _names(system) if is_identifier(name)}
    stored = {name.removesuffix(".kept") for name in _names(user_folder()) if name.endswith(".kept")}
    return [
        Place(name, user_folder() / f"{name}.kept", name in stored, name in managed)
        for name in sorted(stored | managed)
    ]


def size_of(folder: Path) -> int:
    """The space that the files of a store take on the disk, in bytes."""
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except OSError:
                continue  # removed meanwhile
    return total


def size_text(count: int) -> str:
    """A size for people: `112 KB`."""
    for unit, size in (("GB", 1_000_000_000), ("MB", 1_000_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count // 1000} KB" if count >= 1000 else f"{count} B"


def processes(folder: Path) -> list[tuple[int, str]]:
    """The other processes that have a file of a store open, as far as this user may see: their ids and names."""
    try:
        prefix = f"{folder.resolve(strict=True)}/"
    except OSError:
        return []
    found = []
    for pid in sorted(int(name) for name in _names(Path("/proc")) if name.isdecimal()):
        if pid != os.getpid() and any(target.startswith(prefix) for target in _open_files(pid)):
            found.append((pid, _process_name(pid)))
    return found


def _open_files(pid: int) -> list[str]:
    files = f"/proc/{pid}/fd"
    targets = []
    for name in _names(Path(files)):
        try:
            targets.append(os.readlink(f"{files}/{name}"))
        except OSError:
            continue  # closed meanwhile
    return targets


def _process_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text("utf-8", "replace").strip()
    except OSError:
        return "?"


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
