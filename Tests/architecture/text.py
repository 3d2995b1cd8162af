r"""Swift compares strings by canonical equivalence, and finds Characters in them.

Keys that differ in their normal form would be one key in a Set<String>; "\r\n" has no "\n" in it, and a "=" with a
combining mark behind it is not "=". So keys are KeyName or ExactString, and text from outside is searched by its bytes
or scalars. A path through a folder that is held begins with /proc, so messages of the local storage have the path of
the user.
"""

import pathlib
import re
import sys

keys = re.compile(
    r"\bSet<String>|\[String *:|\bDictionary<String\b|\.text [!=]= |\b(?:Set|Dictionary)\(.*\.text\b"
    r"|(?:settings|snapshot|store|transaction)\.keys\("
)
searches = r"split\((?:separator: \"|where\w+: \\)|(?:first|last)Index\(of: \"|contains\(\"|has(?:Prefix|Suffix)\(\""
characters = re.compile(
    rf"(?<!utf8)(?<!calars)\.(?:{searches})|\\\.is(?:Whitespace|Newline)\b|(?<!properties)\.is(?:Whitespace|Newline)\b"
)
path_in_message = re.compile(r'"[^"]*\\\((?:\w+\.)*path\)(?!/)[^"]*"')
places = [f"Sources/Kept{module}" for module in ("", "C", "Core", "Schema", "Secrets", "System", "Values")]
places += ["apps/command/Sources", "apps/fleet/Sources"]
# Where strings are something else than keys of a store.
no_keys = {
    "Sources/Kept/Coding/DecodingContainers.swift": "the type that a program decodes",
    "Sources/Kept/Coding/MergedNames.swift": "refuses what a Swift dictionary would merge",
    "Sources/Kept/Groups/GroupAccess.swift": "the type that a program reads",
    "Sources/Kept/Keys/Constraint.swift": "the type that a program declares",
    "Sources/Kept/Keys/RareConstraints.swift": "the type that a program declares",
    "Sources/KeptCore/Storage/Directory/DirectoryStorage.swift": "folders",
    "apps/command/Sources/kept/Words.swift": "commands and options",
    "apps/fleet/Sources/Fleet/FollowedFiles.swift": "keys of etcd",
    "apps/fleet/Sources/Fleet/Publication.swift": "keys of etcd",
    "apps/fleet/Sources/Fleet/Reporting.swift": "keys of etcd",
    "apps/fleet/Sources/Fleet/Resolution.swift": "keys of etcd",
    "apps/fleet/Sources/fleet-simulation/Answer.swift": "figures",
}
# Where the text is the program's own, that of a library or of an enumeration.
own_text = {
    "Sources/Kept/Coding/Mismatch.swift": "names of types",
    "Sources/KeptSchema/SchemaReader.swift": "an ExactString",
    "apps/command/Sources/CommandPages/Roff.swift": "the help",
    "apps/command/Sources/FormatLibraries/PropertyListFile.swift": "messages of the decoder",
    "apps/command/Sources/FormatLibraries/TOMLFile.swift": "messages of TOMLKit",
    "apps/command/Sources/kept/Main.swift": "the parser's messages, and what the parser takes for an option",
    "apps/command/Sources/kept/Terminal/Table.swift": "spaces at the end of a line",
    "apps/command/Sources/kept/Text/Guide.swift": "pages of docs/guide",
    "apps/command/Sources/kept/Text/Markdown.swift": "pages of docs/guide",
    "apps/command/Sources/kept/Words.swift": "where words end and options begin",
    "apps/fleet/Sources/Etcd/EtcdError.swift": "messages of etcd and gRPC",
    "apps/fleet/Sources/Etcd/Session.swift": "messages of etcd",
    "apps/fleet/Sources/Etcd/Watch.swift": "messages of etcd",
    "apps/fleet/Sources/fleet-simulation/Main.swift": "commands of a test",
}
found = []
for path in sorted(path for place in places for path in pathlib.Path(place).rglob("*.swift")):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code = line.split("//")[0]
        if "Generated" in path.parts:
            continue
        if keys.search(code) and str(path) not in no_keys:
            found.append(f"{path}:{number}: keys are KeyName or ExactString: {line.strip()}")
        if "Storage/Local/" in str(path) and path_in_message.search(code):
            found.append(f"{path}:{number}: write \\(shown: path): {line.strip()}")
        if characters.search(code) and str(path) not in own_text:
            found.append(f"{path}:{number}: search bytes or scalars, not Characters: {line.strip()}")
sys.exit("\n".join(found) if found else 0)
