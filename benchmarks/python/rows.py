"""rows.py FOLDER [--quick] [--only TEXT]: runs the rows of Python, all or those whose name has TEXT in it, and prints a
line of JSON for each. Stores are made in FOLDER."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engines import BareCall, Dictionary, KeptByKey, KeptByName, SQLite
from rounds import FULL, QUICK, Contestant, Row


def rows(folder: Path) -> list[Row]:
    by_key, by_name = KeptByKey(folder), KeptByName(folder)
    sqlite, dictionary, bare = SQLite(folder), Dictionary(), BareCall()
    beside_get = [
        Contestant("sqlite3", sqlite.get),
        Contestant("dict", dictionary.get, role="floor"),
        Contestant("bare ctypes call", bare.call, role="floor"),
    ]
    beside_set = [
        Contestant("sqlite3", sqlite.set),
        Contestant("bare ctypes call", bare.call, role="floor"),
    ]
    return [
        Row("get by kept.Key, read before", ["<= 100 ns"], [Contestant("Kept", by_key.get), *beside_get]),
        Row("get by name, read before", ["<= 100 ns"], [Contestant("Kept", by_name.get), *beside_get]),
        Row("set by kept.Key", ["<= 1.5 x sqlite3"], [Contestant("Kept", by_key.set), *beside_set], "writing"),
    ]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    plans = QUICK if asked.quick else FULL
    for row in rows(asked.folder):
        if asked.only in row.name:
            print(f"bench: {row.name}", file=sys.stderr)
            row.run(plans[row.kind])


main()
