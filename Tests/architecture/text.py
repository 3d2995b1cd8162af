r"""Swift compares strings by canonical equivalence, and finds Characters in them.

Keys that differ in their normal form would be one key in a Set<String>; "\r\n" has no "\n" in it, and a "=" with a
combining mark behind it is no "=". So keys are KeyName or ExactString, and text from outside is searched by its bytes
or scalars.
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
places = ["Sources/Kept", "Sources/KeptC", "Sources/KeptCore", "tools/Sources", "tools/fleet/Sources"]
# Where strings are something else than keys of a store.
no_keys = {
    "Sources/Kept/Coding/DecodingContainers.swift": "the type that a program decodes",
    "Sources/Kept/Coding/MergedNames.swift": "refuses what a Swift dictionary would merge",
    "Sources/Kept/Groups/GroupAccess.swift": "the type that a program reads",
    "Sources/Kept/Keys/Constraint.swift": "the type that a program declares",
    "Sources/Kept/Keys/RareConstraints.swift": "the type that a program declares",
    "Sources/KeptCore/Storage/Directory/DirectoryStorage.swift": "folders",
    "tools/Sources/kept/Words.swift": "commands and options",
    "tools/fleet/Sources/Fleet/FollowedFiles.swift": "keys of etcd",
    "tools/fleet/Sources/Fleet/Publication.swift": "keys of etcd",
    "tools/fleet/Sources/Fleet/Reporting.swift": "keys of etcd",
    "tools/fleet/Sources/Fleet/Resolution.swift": "keys of etcd",
    "tools/fleet/Sources/fleet-simulation/Answer.swift": "figures",
}
# Where the text is the program's own, that of a library or of an enumeration.
own_text = {
    "Sources/Kept/Coding/Mismatch.swift": "names of types",
    "Sources/KeptCore/Declarations/SchemaReader.swift": "an ExactString",
    "tools/Sources/FormatLibraries/PropertyListFile.swift": "messages of the decoder",
    "tools/Sources/FormatLibraries/TOMLFile.swift": "messages of TOMLKit",
    "tools/Sources/kept/Commands/Manual.swift": "the help",
    "tools/Sources/kept/Main.swift": "the parser's messages, and what the parser takes for an option",
    "tools/Sources/kept/Terminal/Table.swift": "spaces at the end of a line",
    "tools/Sources/kept/Text/Guide.swift": "docs/guide/command.md",
    "tools/Sources/kept/Text/Markdown.swift": "docs/guide/command.md",
    "tools/Sources/kept/Words.swift": "the help",
    "tools/fleet/Sources/Etcd/EtcdError.swift": "messages of etcd and gRPC",
    "tools/fleet/Sources/Etcd/Session.swift": "messages of etcd",
    "tools/fleet/Sources/Etcd/Watch.swift": "messages of etcd",
    "tools/fleet/Sources/fleet-simulation/Main.swift": "commands of a test",
}
found = []
for path in sorted(path for place in places for path in pathlib.Path(place).rglob("*.swift")):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        code = line.split("//")[0]
        if "Generated" in path.parts:
            continue
        if keys.search(code) and str(path) not in no_keys:
            found.append(f"{path}:{number}: keys are KeyName or ExactString: {line.strip()}")
        if characters.search(code) and str(path) not in own_text:
            found.append(f"{path}:{number}: search bytes or scalars, not Characters: {line.strip()}")
sys.exit("\n".join(found) if found else 0)
