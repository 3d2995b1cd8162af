"""Swift programs for tests, built as a package that uses Kept, in Kept's own build folder: Kept is compiled once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "%s",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "kept", path: "../..")],
  targets: [%s].map {
    .executableTarget(
      name: $0,
      dependencies: [.product(name: "Kept", package: "kept"), .product(name: "KeptStorage", package: "kept")],
      swiftSettings: [.treatAllWarnings(as: .error)])
  }
)
"""


def build(package: str, programs: dict[str, dict[str, str]], **variables: str) -> subprocess.CompletedProcess[str]:
    """Builds programs, each with the texts of its files, as the package `build/PACKAGE`."""
    folder = ROOT / "build" / package
    files = {folder / "Package.swift": MANIFEST % (package, ", ".join(f'"{name}"' for name in programs))}
    for program, texts in programs.items():
        files |= {folder / "Sources" / program / name: text for name, text in texts.items()}
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
    # It waits for other builds, and takes minutes on a busy machine.
    command: list[str | Path] = [ROOT / "scripts/swiftpm", "build", "--package-path", folder]
    return subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, timeout=1200, check=False
    )


def executables(package: str, programs: dict[str, dict[str, str]]) -> Path:
    """The folder of the executables of programs, which are built."""
    done = build(package, programs)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return ROOT / ".build" / "debug"
