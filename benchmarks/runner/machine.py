"""The conditions of a figure: cores, versions, and other activity of the machine."""

from __future__ import annotations

import dbm
import os
import platform
import re
import resource
import sqlite3
import subprocess
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory


def _answer(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


LIBRARY = ["Sources", "include", "Package.swift"]
"""The parts of the repository on which the figures depend."""


def _kept(header: Path) -> str:
    numbers = re.findall(r"^#define KEPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read_text(), re.MULTILINE)
    commit = _answer("git", "log", "-1", "--format=%h", "--", *LIBRARY)
    changed = " with changes" if _answer("git", "status", "--porcelain", "--", *LIBRARY) else ""
    return f"{'.'.join(numbers)} ({commit}{changed})"


def _swift() -> str:
    found = re.search(r"Swift version (\S+)", _answer("swift", "--version"))
    return found[1] if found else "unknown"


def _library(name: str) -> str:
    return _answer("pkg-config", "--modversion", name)


def versions(header: Path) -> dict[str, str]:
    """The versions of Kept and all its rivals."""
    return {
        "Kept": _kept(header),
        "SQLite": _library("sqlite3"),
        "LMDB": _library("lmdb"),
        "GLib": _library("glib-2.0"),
        "dconf": _answer("dpkg-query", "--show", "--showformat=${source:Upstream-Version}", "dconf-service"),
        "Swift": _swift(),
        "Python": platform.python_version(),
        "sqlite3": sqlite3.sqlite_version,
        "shelve": _shelf(),
        "diskcache": metadata.version("diskcache"),
        "py-lmdb": metadata.version("lmdb"),
    }


def _shelf() -> str:
    """The kind of file that shelve creates here."""
    with TemporaryDirectory() as folder:
        file = f"{folder}/shelf"
        dbm.open(file, "c").close()
        return f"on {dbm.whichdb(file)}"


def counted_with() -> dict[str, str]:
    """The conditions of a number of instructions, apart from Kept itself."""
    return {
        "processor": platform.machine(),
        "Swift": _swift(),
        "glibc": platform.libc_ver()[1],
        "Python": platform.python_version(),
        "Valgrind": _answer("valgrind", "--version").removeprefix("valgrind-"),
    }


def processor() -> str:
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


@dataclass
class Load:
    """The share of the cores that other programs have used since this object was created."""

    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    began: float = field(default_factory=time.monotonic)
    busy: float = field(default_factory=lambda: _busy_seconds() - _own_seconds())

    def of_others(self) -> float:
        """From 0 to 1: all cores, all the time."""
        elapsed = (time.monotonic() - self.began) * self.cores
        return max(0.0, (_busy_seconds() - _own_seconds() - self.busy) / elapsed)


def _busy_seconds() -> float:
    """All time that is not idle, and not waiting for a disk."""
    user, nice, system, _idle, _iowait, irq, softirq, steal, *_ = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    )
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in own)
