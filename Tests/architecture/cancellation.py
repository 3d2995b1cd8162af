"""A thread that is cancelled in the middle of a call would keep its locks.

So an exported function that may wait runs in `uncancelled`, or in `boundary`, which `read`, `readString` and `write`
call.
"""

import pathlib
import re
import sys

only_reads_memory = re.compile(r"kept_(notice_(?!free)\w+|version|status_text|free)$")
unprotected = []
for path in sorted(pathlib.Path("Sources/KeptC").glob("*.swift")):
    for function in path.read_text(encoding="utf-8").split('@_cdecl("')[1:]:
        name, body = function.split('"', 1)
        body = re.split(r"\n}?\n\n", body)[0]
        if not name.startswith("kept_") or only_reads_memory.match(name):
            continue
        if not re.search(r"\b(boundary|uncancelled|read|readString|write)[ (]", body):
            unprotected.append(f"{path}: {name}")
sys.exit("exported functions that can be cancelled in the middle:\n" + "\n".join(unprotected) if unprotected else 0)
