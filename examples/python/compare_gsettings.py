"""Compares the declarations and values of a store's keys with the GSettings schemas they were declared from.

    compare_gsettings.py LOCATION FOLDER

Compares values, types and constraints. Prints the differences, and what the store has in addition to the schemas.
Exits with 1 if there are any.
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


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types: in Python 1 == 1.0 == True."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return type(a) is type(b) and bool(a == b)


def shown(value: Any) -> str:
    return json.dumps(value, default=str)


def print_constraints(schemas: list[gschema.Setting], declarations: dict[str, Any]) -> None:
    """Which constraints of the XML the store has, and which it lacks."""
    known: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for setting in schemas:
        for constraint, is_known in gdeclaration.constraints(setting, declarations.get(setting.key, {})).items():
            (known if is_known else unknown)[constraint] += 1
    for what, counter in ("carried over", known), ("not carried over", unknown):
        print(f"        {what}: " + ", ".join(f"{number} {name}" for name, number in counter.most_common()))


def main(location: str, folder: Path) -> int:
    schemas = gschema.read_folder(folder).settings
    expected = {setting.key: setting.default for setting in schemas}
    began = time.perf_counter()
    with kept.open(location) as settings:
        found = {key: settings.get(key) for key in expected}
        milliseconds = (time.perf_counter() - began) * 1000
        defaults = sum(settings.layer(key) is kept.Layer.DECLARED for key in expected)
        declarations = settings.declarations()
        beyond = {key: value for key, value in settings.items() if key not in expected}

    declared = {setting.key: gdeclaration.declaration(setting) for setting in schemas}
    misdeclared = [key for key in declarations.keys() | declared if not same(declarations.get(key), declared.get(key))]
    different = [key for key in expected if not same(found[key], expected[key])]
    print(f"Python: read {len(found)} keys in {milliseconds:.1f} ms, {defaults} of them their declared defaults:")
    for key in sorted(misdeclared):
        print(f"        {key} is declared as {shown(declarations.get(key))}, in the XML {shown(declared.get(key))}")
    for key in different:
        print(f"        {key} is {shown(found[key])}, in the XML {shown(expected[key])}")
    for key, value in beyond.items():
        print(f"        {key} is not in the XML: {shown(value)}")
    print(f"        {len(expected)} keys, {len(expected) - len(different)} equal to the XML, with their types")
    print(f"        {len(declared)} declarations, {len(declared.keys() - set(misdeclared))} equal to the XML")
    if misdeclared or different or beyond:
        return 1
    print_constraints(schemas, declarations)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
