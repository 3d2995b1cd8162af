"""Puts text into a page, between two markers."""

from __future__ import annotations

from pathlib import Path

BEGIN = "<!-- scripts/bench --write prints what is below -->"
END = "<!-- scripts/bench --write prints what is above -->"


def write(path: Path, text: str) -> None:
    whole = path.read_text()
    try:
        before, rest = whole.split(BEGIN)
        _, after = rest.split(END)
    except ValueError:
        raise SystemExit(f'{path} needs the lines "{BEGIN}" and "{END}", once each') from None
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
