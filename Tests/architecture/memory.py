"""Memory whose allocation may fail is taken in one way (CPlatform/Memory.h), which the tests make fail.

json-c's reader is not used because it reports success when memory is short.
"""

import pathlib
import re
import sys

found = []
for folder, suffix, call in (
    ("Sources", ".swift", r"\b(malloc|calloc|realloc|strdup|strndup)\("),
    ("bindings/c/src", ".c", r"json_tokener_parse"),
):
    for path in sorted(pathlib.Path(folder).rglob("*" + suffix)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(call, line):
                found.append(f"{path}:{number}: {line.strip()}")
advice = "allocate memory with CText or kept_resized_memory, and build json-c's objects one by one:\n"
sys.exit(advice + "\n".join(found) if found else 0)
