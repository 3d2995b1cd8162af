"""A process that changes stores for tests. It is started once and executes requests line by line.

A request is a line of JSON: `open` with a location, or `run` with Python code that uses the store as `settings`. The
answer is a line of JSON: null, or the error.
"""

from __future__ import annotations

import json
import sys
import traceback

import kept


def main() -> None:
    settings: kept.Store | None = None
    for line in sys.stdin:
        request = json.loads(line)
        problem = None
        try:
            if "run" in request:
                exec(request["run"], {"kept": kept, "settings": settings})
            else:
                if settings is not None:
                    settings.close()
                location = request["open"]
                settings = None if location is None else kept.open(location, tag="the writer")
        except Exception:
            problem = traceback.format_exc()
        print(json.dumps(problem), flush=True)


if __name__ == "__main__":
    main()
