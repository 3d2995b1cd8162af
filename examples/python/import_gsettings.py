"""Declares every key of a folder of GSettings schemas, with one file for all languages.

    import_gsettings.py LOCATION FOLDER FILE

Writes FILE, a JSON Schema object with the keys as properties, and applies its declarations. No value is written: a key
reads as its declared default.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import gdeclaration
import gschema

import kept

NAMES = {
    "b": "booleans", "s": "strings", "as": "string lists", "enum": "enums", "flags": "flags", "d": "doubles",
    "i": "integers", "u": "unsigned integers", "ai": "integer lists", "ad": "double lists", "a(ss)": "lists of pairs",
}  # fmt: skip


def write_schema(file: Path, settings: list[gschema.Setting]) -> None:
    keys = {setting.key: gdeclaration.declaration(setting) for setting in settings}
    schema = {"title": "The settings of a GNOME desktop", "type": "object", "properties": file_form(keys)}
    file.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def file_form(value: Any) -> Any:
    """A value as Kept's files have it: an integer above 2^63 - 1, which only GVariant's type `t` has, as its digits."""
    if isinstance(value, dict):
        return {name: file_form(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [file_form(member) for member in value]
    return {"$numberULong": str(value)} if isinstance(value, int) and value >= 2**63 else value


def main(location: str, folder: Path, file: Path) -> None:
    began = time.perf_counter()
    schemas = gschema.read_folder(folder)
    read = time.perf_counter()
    write_schema(file, schemas.settings)
    written = time.perf_counter()
    with kept.open(location) as settings:
        settings.declare_file(file)
        declared = time.perf_counter()
        count = len(settings.declarations())

    kinds = Counter(NAMES.get(setting.kind, setting.kind) for setting in schemas.settings)
    print(f"Python: read {schemas.files} files, {schemas.schemas} schemas in {shown(read - began)}:")
    print("        " + ", ".join(f"{number} {name}" for name, number in kinds.most_common()))
    for key, reason in schemas.unread.items():
        print(f"        left out {key}: {reason}")
    print(f"        wrote them as {file.name}, {file.stat().st_size / 1000:.0f} kB: {shown(written - read)}")
    print(f"        opened a new store and declared {count} keys with that file: {shown(declared - written)}")


def shown(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:4]))
