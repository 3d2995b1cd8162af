"""What a figure depends on: cores, versions, and what else the machine was doing."""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path


def _answer(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


LIBRARY = ["Sources", "include", "Package.swift"]
"""What the figures depend on, of all that is in the repository."""


def _kept(header: Path) -> str:
    numbers = re.findall(r"^#define KEPT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read_text(), re.MULTILINE)
    commit = _answer("git", "log", "-1", "--format=%h", "--", *LIBRARY)
    changed = " with changes" if _answer("git", "status", "--porcelain", "--", *LIBRARY) else ""
    return f"{'.'.join(numbers)} ({commit}{changed})"


def versions(header: Path) -> dict[str, str]:
    swift = re.search(r"Swift version (\S+)", _answer("swift", "--version"))
    return {
        "Kept": _kept(header),
        "SQLite": _answer("pkg-config", "--modversion", "sqlite3"),
        "LMDB": _answer("pkg-config", "--modversion", "lmdb"),
        "Swift": swift[1] if swift else "unknown",
        "Python": platform.python_version(),
    }


def today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


@dataclass
class Load:
    """How much of the cores programs other than ours have used since it was made."""

    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    began: float = field(default_factory=time.monotonic)
    busy: float = field(default_factory=lambda: _busy_seconds() - _own_seconds())

    def of_others(self) -> float:
        """From 0 to 1: all cores, all the time."""
        elapsed = (time.monotonic() - self.began) * self.cores
        return max(0.0, (_busy_seconds() - _own_seconds() - self.busy) / elapsed)


def _busy_seconds() -> float:
    """All that is not idle, and not waiting for a disk."""
    user, nice, system, _idle, _iowait, irq, softirq, steal, *_ = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    )
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in own)
