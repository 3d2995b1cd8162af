"""The Swift of README.md and of each article of Kept.docc, built as executables of one package that uses Kept."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
ARTICLES = sorted((ROOT / "Sources/Kept/Kept.docc/Articles").glob("*.md"))
PACKAGE = ROOT / "build" / "readme" / "swift"

MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "readme",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "kept", path: "../../..")],
  targets: [%s].map {
    .executableTarget(
      name: $0,
      dependencies: [.product(name: "Kept", package: "kept"), .product(name: "KeptStorage", package: "kept")])
  }
)
"""


def program(page: Path, language: str = "swift") -> str:
    """The blocks of a page in one language, as one program."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return "\n".join(blocks)


@cache
def executables() -> Path:
    """Builds all of them: the folder has `Readme`, and one executable named like each article's file."""
    pages = {"Readme": ROOT / "README.md"} | {page.stem: page for page in ARTICLES}
    write_if_changed(PACKAGE / "Package.swift", MANIFEST % ", ".join(f'"{name}"' for name in pages))
    for name, page in pages.items():
        write_if_changed(PACKAGE / "Sources" / name / "main.swift", program(page))
    done = subprocess.run(
        [ROOT / "scripts/swiftpm", "build", "--package-path", PACKAGE], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / ".build/debug"


def write_if_changed(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
