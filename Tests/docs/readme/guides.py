"""The programs in docs/guide/c.md, cxx.md and python.md, and the lines that these pages say they print."""

from __future__ import annotations

import re
from pathlib import Path

from swift_package import ROOT, program

C_GUIDE = ROOT / "docs/guide/c.md"
CXX_GUIDE = ROOT / "docs/guide/cxx.md"
PYTHON_GUIDE = ROOT / "docs/guide/python.md"
HEADERS = [ROOT / "include", ROOT / "bindings/c/include"]
"""The include folder that `pkg-config --cflags kept` names."""

COLUMNS = 76


def c_programs(page: Path, language: str) -> dict[str, str]:
    """The C or C++ blocks that are programs, by the titles of their sections."""
    programs: dict[str, str] = {}
    for section in re.split(r"^##+ ", page.read_text("utf-8"), flags=re.MULTILINE):
        title = section.splitlines()[0]
        blocks = re.findall(rf"^```{language}\n(.*?)^```$", section, flags=re.DOTALL | re.MULTILINE)
        found = [block for block in blocks if "int main" in block]
        names = [title] if len(found) == 1 else [f"{title} ({number})" for number in range(1, len(found) + 1)]
        programs |= dict(zip(names, found, strict=True))
    return programs


def python_program() -> str:
    """The Python blocks, in order."""
    return program(PYTHON_GUIDE, "python")


def promised_by_c(text: str) -> list[str]:
    """The `//` comments behind a printf, puts or std::cout, or alone on the next line."""
    return re.findall(r"\b(?:printf\(|puts\(|std::cout)[^;]*;(?: +|\n *)// (.*)$", text, flags=re.MULTILINE)


def promised_by_python(text: str) -> list[str]:
    """The comments behind a print, or alone on the next line."""
    return re.findall(r"\bprint\(.*\)(?:  |\n *)# (.*)$", text, flags=re.MULTILINE)


def wide_lines(page: Path, languages: str = "c|cpp|python|sh") -> list[str]:
    """The lines of code of a page that exceed its width; a line of output, alone after a print, may be longer."""
    fences = rf"^```(?:{languages})\n(.*?)^```$"
    blocks = re.findall(fences, page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    code = [re.sub(r"(\b(?:(?:print|printf|puts)\(|std::cout).*;?\n) *(?://|#) .*\n", r"\1", block) for block in blocks]
    return [line for block in code for line in block.splitlines() if len(line) > COLUMNS]
