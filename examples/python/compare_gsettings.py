"""Compares what a store holds with the schemas it was filled from, value by value and type by type.

    compare_gsettings.py LOCATION FOLDER

Shows what differs, and what the store holds beyond the schemas. Exits with 1 if anything does.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import gschema

import kept


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types: in Python 1 == 1.0 == True."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


def shown(value: Any) -> str:
    return json.dumps(value, default=str)


def main(location: str, folder: Path) -> int:
    expected = {setting.key: setting.default for setting in gschema.read_folder(folder).settings}
    began = time.perf_counter()
    with kept.open(location) as settings:
        found = dict(settings.items())
    milliseconds = (time.perf_counter() - began) * 1000

    different = [key for key in expected if key not in found or not same(found[key], expected[key])]
    beyond = [key for key in found if key not in expected]
    print(f"Python: read {len(found)} keys in {milliseconds:.1f} ms and compared them with the XML:")
    for key in different:
        print(f"        {key} is {shown(found.get(key))}, in the XML {shown(expected[key])}")
    for key in beyond:
        print(f"        {key} is not in the XML: {shown(found[key])}")
    print(f"        {len(expected)} keys, {len(expected) - len(different)} equal")
    return 1 if different or beyond else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
