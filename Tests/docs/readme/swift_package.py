"""The Swift of README.md, of docs/guide/generate.md and of each article of Kept.docc, built as executables."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import swift_programs
from swift_programs import ROOT

README = ROOT / "README.md"
GENERATE_GUIDE = ROOT / "docs/guide/generate.md"
ARTICLES = sorted((ROOT / "Sources/Kept/Kept.docc/Articles").glob("*.md"))
COMMAND = Path(os.environ.get("KEPT_COMMAND", ROOT / "build/bin/kept")).resolve()


def program(page: Path, language: str = "swift") -> str:
    """The blocks of a page in one language, as one program."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return "\n".join(blocks)


def generate(page: Path, folder: Path, declarations: str | None = None) -> None:
    """Runs the commands of a page, which write the keys of its file of declarations, or of others, as code."""
    (folder / "player.schema.json").write_text(declarations or program(page, "json"), "utf-8")
    script = program(page, "sh").replace("kept generate", f"{COMMAND} generate")
    assert script.count(f"{COMMAND} generate") == len(script.splitlines())
    done = subprocess.run(["sh", "-ec", script], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@cache
def executables() -> Path:
    """The folder with `Readme`, `GenerateGuide`, and one executable named like each article's file."""
    programs = {page.stem: {"main.swift": program(page)} for page in ARTICLES}
    for name, page in (("Readme", README), ("GenerateGuide", GENERATE_GUIDE)):
        with TemporaryDirectory() as folder:
            generate(page, Path(folder))
            keys = Path(folder, "Player.swift").read_text("utf-8")
        programs[name] = {"main.swift": program(page), "Player.swift": keys}
    return swift_programs.executables("readme", programs)
