"""Sets a key to a value given as JSON, or prints why it is refused: set_key.py LOCATION KEY JSON"""

from __future__ import annotations

import json
import sys

import kept


def main(location: str, key: str, text: str) -> int:
    try:
        with kept.open(location) as settings:
            settings[key] = json.loads(text)
    except kept.KeptError as error:
        print(f"Python: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: set_key.py LOCATION KEY JSON")
    sys.exit(main(*sys.argv[1:]))
