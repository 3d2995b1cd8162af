"""The programs in docs/guide/generate.md share a store, and print what the guide says.

Needs the command: the one that `KEPT_COMMAND` names, or the one in build/; and libkept.so as test_guides.py does.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

from guides import promised_by_c, promised_by_python, wide_lines
from swift_package import COMMAND, ROOT, executables, generate, program
from swift_package import GENERATE_GUIDE as GUIDE
from test_articles import promised as promised_by_swift
from test_guides import LIBRARY, check, lines_of


def test_four_programs_share_generated_keys(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    generate(GUIDE, tmp_path)

    (tmp_path / "main.c").write_text(program(GUIDE, "c"), "utf-8")
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
    binary = tmp_path / "main"
    lines_of("cc", *flags, "-o", binary, tmp_path / "main.c", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", home=home)
    check(promised_by_c(program(GUIDE, "c")), lines_of(binary, home=home))

    (tmp_path / "main.cpp").write_text(program(GUIDE, "cpp"), "utf-8")
    lines_of(
        *("c++", "-std=c++17", *flags[1:], "-o", binary, tmp_path / "main.cpp", LIBRARY),
        f"-Wl,-rpath,{LIBRARY.parent}",
        home=home,
    )
    check(promised_by_c(program(GUIDE, "cpp")), lines_of(binary, home=home))

    (tmp_path / "main.py").write_text(program(GUIDE, "python"), "utf-8")
    check(promised_by_python(program(GUIDE, "python")), lines_of(sys.executable, tmp_path / "main.py", home=home))
    checked = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "main.py", "player.py"]
    paths = {"MYPYPATH": str(ROOT / "bindings/python/src")}
    said = subprocess.run(checked, cwd=tmp_path, env=os.environ | paths, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout

    check(promised_by_swift(GUIDE), lines_of(executables() / "GenerateGuide", home=home))


def test_the_pages_have_the_examples_of_the_guide(tmp_path: Path) -> None:
    (tmp_path / "player.schema.json").write_text(program(GUIDE, "json"), "utf-8")
    script = program(GUIDE, "bash").split("\n\n")[0].replace("kept generate", f"{COMMAND} generate")
    shown = "\n".join(lines_of("sh", "-ec", f"cd {tmp_path}\n{script}", home=tmp_path))
    assert "kept set STORE audio.volume 1" in shown
    assert "## `audio.volume`" in (tmp_path / "player.md").read_text("utf-8")
    page = (tmp_path / "player.html").read_text("utf-8")
    section = GUIDE.read_text("utf-8").split("## Pages of reference\n")[1].split("\n## ")[0]
    examples = re.findall(r"^\| `([^`]*)` ", section, flags=re.MULTILINE)
    assert len(examples) == 4
    assert [each for each in examples if f"<code>{html.escape(each, quote=True)}</code>" not in page] == []


def test_the_guide_says_what_it_prints() -> None:
    assert len(promised_by_c(program(GUIDE, "cpp"))) == 2
    assert len(promised_by_c(program(GUIDE, "c"))) == len(promised_by_python(program(GUIDE, "python"))) == 2
    assert len(promised_by_swift(GUIDE)) == 2


def test_the_code_of_the_guide_fits_the_page() -> None:
    assert wide_lines(GUIDE, "c|cpp|python|sh|bash|json|swift|cmake") == []
