"""Files are opened in Sources/KeptSystem/Files, which checks their owners and permissions.

The environment is read by kept_variable(), which handles set-user-ID programs; access(2) would check the rights of
their callers. Only C calls count: a Swift function may be named `open`.
"""

import pathlib
import re
import sys

names = "openat|fopen|fdopen|freopen|creat|kept_open_at|kept_open_named|kept_hold_at"
homes = {
    rf"\b(?:{names})\(|(?<![.\w`])open\([^)]*\bO_[A-Z]+|\b(?:CPlatform|Glibc|Musl|Darwin)\.open\(": "KeptSystem/Files/",
    r"\b(?:secure_)?getenv\(|\benviron\b": "nowhere",
    # This initialiser repairs bytes that are not UTF-8, so a path would name another file. Library messages may use it.
    r"\bString\(cString: (?!strerror\(|loaderMessage\))": "KeptUserDefaults/",
    r"(?<![.\w`])f?access(?:at)?\((?!.*\bAT_EACCESS\b)|\bget[ug]id\(": "nowhere",
}
# This call opens a folder and reads nothing.
allowed = {("Sources/KeptCore/Storage/StoreFolder.swift", "kept_open_at(AT_FDCWD, path, O_RDONLY, 0)")}
found = []
for path in sorted(pathlib.Path("Sources").rglob("*.swift")):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code = line.split("//")[0]
        for pattern, home in homes.items():
            if home in str(path) or not re.search(pattern, code):
                continue
            if not any(str(path) == name and call in code for name, call in allowed):
                found.append(f"{path}:{number}: {line.strip()}")
sys.exit("calls in the wrong place:\n" + "\n".join(found) if found else 0)
