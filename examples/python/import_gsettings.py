"""Writes every key of a folder of GSettings schemas, with its typed default, in one transaction.

    import_gsettings.py LOCATION FOLDER
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import gschema

import kept

NAMES = {
    "b": "booleans", "s": "strings", "as": "string lists", "enum": "enums", "flags": "flags", "d": "doubles",
    "i": "integers", "u": "unsigned integers", "ai": "integer lists", "ad": "double lists", "a(ss)": "lists of pairs",
}  # fmt: skip


def main(location: str, folder: Path) -> None:
    began = time.perf_counter()
    schemas = gschema.read_folder(folder)
    read = time.perf_counter()
    with kept.open(location) as settings:
        with settings.transaction() as transaction:
            for setting in schemas.settings:
                transaction[setting.key] = setting.default
        written = time.perf_counter()
        count, revision = len(settings), settings.revision(schemas.settings[0].key)

    kinds = Counter(NAMES.get(setting.kind, setting.kind) for setting in schemas.settings)
    print(f"Python: read {schemas.files} files, {schemas.schemas} schemas in {(read - began) * 1000:.1f} ms:")
    print("        " + ", ".join(f"{number} {name}" for name, number in kinds.most_common()))
    for key, reason in schemas.unread.items():
        print(f"        left out {key}: {reason}")
    print(f"        wrote {count} keys in one transaction, revision {revision}, in {(written - read) * 1000:.1f} ms")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
