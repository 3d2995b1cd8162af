"""Compares the values of a store with their declared defaults: compare_defaults.py LOCATION

Prints the differences, and the keys that are not declared. Exits with 1 if there are any.
"""

from __future__ import annotations

import json
import sys
import time

import kept


def main(location: str) -> int:
    began = time.perf_counter()
    with kept.open(location) as settings:
        defaults = {key: declaration.get("default") for key, declaration in settings.declarations().items()}
        values = {key: settings.get(key) for key in defaults}
        milliseconds = (time.perf_counter() - began) * 1000
        unset = sum(settings.layer(key) is kept.Layer.DECLARED for key in defaults)
        undeclared = {key: value for key, value in settings.items() if key not in defaults}

    different = [key for key in defaults if values[key] != defaults[key]]
    print(f"Python: read {len(values)} declared keys in {milliseconds:.1f} ms, {unset} of them not set:")
    for key in different:
        print(f"        {key} is {shown(values[key])}, by default {shown(defaults[key])}")
    for key, value in undeclared.items():
        print(f"        {key} is not declared: {shown(value)}")
    print(f"        {len(values) - len(different)} equal to their declared defaults")
    return 1 if different or undeclared else 0


def shown(value: object) -> str:
    return json.dumps(value, default=str)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
