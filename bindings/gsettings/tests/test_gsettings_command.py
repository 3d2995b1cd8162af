"""GLib's own command `gsettings` compared with dconf, on every key of the desktop's schemas: equal outputs."""

from __future__ import annotations

import itertools
import subprocess
import time
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sides import DEFAULTS, SECONDS, TYPES, Answer, Side, record_all, session, side_of

# The values to set, by type; each key gets the first that differs from its default, beginning at another place.
VALUES = {
    "b": ["true", "false"],
    "i": ["-2147483648", "2147483647", "0"],
    "u": ["uint32 4294967295", "uint32 0"],
    "d": ["0.30000000000000004", "1.0000000000000001e+300", "-0.0", "2.2250738585072014e-308", "1.0"],
    "s": ["'Grüße 😀'", '"it\'s"', r"'two\nlines'", r"'a\\b\u0001'", "'{\"$date\":1}'", "''", "'$x'"],
    "as": ["['a']", "['', 'ü', \"it's\"]", "@as []", "['a', 'a']", "['$literal']"],
    "a(ss)": ["[('xkb', 'us'), ('ibus', 'ä')]", "@a(ss) []"],
    "ad": ["[0.10000000000000001, 1.0000000000000001e+300, -0.0]"],
    "ai": ["[1, -2147483648]"],
    # The types that no schema of the package has.
    "y": ["byte 0xff"],
    "n": ["int16 -32768"],
    "q": ["uint16 65535"],
    "x": ["int64 -9223372036854775808"],
    "t": ["uint64 18446744073709551615"],
    "h": ["handle 3"],
    "o": ["objectpath '/x/y'"],
    "g": ["signature 'a{sv}'"],
    "v": ["<{'x': <@as []>}>"],
    "ay": ["b'abc'"],
    "aay": ["[b'ab', b'', b'\\377']"],
    "ao": ["[objectpath '/x']"],
    "mb": ["@mb false"],
    "ms": ["@ms ''"],
    "(ii)": ["(1, -2)"],
    "(ssm(dd))": ["('a', 'b', (1.0, 2.5))"],
    "{ss}": ["{'a', 'b'}"],
    "a{ss}": ["{'': 'ü', '$k': 'v'}"],
    "a{sv}": ["{'$d': <{'e': <2.5>}>, 'a': <1>, 'b': <['x']>, 'c': <uint32 7>}"],
    "a{us}": ["{1: 'a', 4294967295: 'b'}"],
}
WRONG = ["[", "99999999999", "@ay []", "'no such nick'", "-1.5", "[1, 'a']", "@mi nothing"]
MISTAKES = [
    ("get", "org.example.absent", "key"),
    ("get", "org.gnome.desktop.sound", "absent"),
    ("get", "org.gnome.desktop.sound:/org/example/", "event-sounds"),
    ("get", "org.gnome.desktop.app-folders.folder", "name"),
    ("get", "org.gnome.desktop.app-folders.folder:no/path", "name"),
    ("set", "org.gnome.desktop.sound", "absent", "true"),
    ("set", "org.gnome.desktop.sound"),
    ("range", "org.gnome.desktop.sound", "absent"),
    ("writable", "org.gnome.desktop.sound", "absent"),
    ("reset", "org.gnome.desktop.sound", "absent"),
    ("reset-recursively", "org.example.absent"),
    ("list-keys", "org.example.absent"),
    ("no-such-command",),
]


@dataclass(frozen=True)
class Entry:
    """A key, a value to set, and the value of a user who has changed nothing."""

    schema: str
    key: str
    value: str
    default: str


def declared_keys(schemas: Path) -> set[tuple[str, str]]:
    """Every schema and key that the package's files have."""
    return {
        (schema.attrib["id"], key.attrib["name"])
        for file in (schemas / "glib-2.0/schemas").glob("*.xml")
        for schema in xml.parse(file).iter("schema")
        for key in schema.iter("key")
    }


def value_for(number: int, shape: str, present: str) -> str:
    """A value that a key accepts, and does not have."""
    kind, _, rest = shape.partition("\n")
    words = kind.split()
    if words[0] == "type":
        choices = VALUES[words[1]]
        choices = choices[number % len(choices) :] + choices
    elif words[0] == "range":
        choices = [words[2], words[3]]
    elif words[0] == "flags":
        choices = [f"[{nick}]" for nick in rest.splitlines()]
    else:
        choices = rest.splitlines()
    return next((choice for choice in choices if choice != present), present)


# ----------------------------------------------------------------------------------------------------------------
# Monitors
# ----------------------------------------------------------------------------------------------------------------


@dataclass
class Monitor:
    """A `gsettings monitor` of one schema, and the first and last of its keys with another value and the default."""

    side: Side
    schema: str
    first: Entry
    last: Entry
    file: Path
    process: subprocess.Popen[bytes] = field(init=False)
    #: How many lines it had printed before the first change that is compared.
    begun: int = field(init=False)

    @contextmanager
    def running(self) -> Iterator[None]:
        command = ["gsettings", "monitor", self.schema]
        with self.file.open("wb") as output:
            self.process = subprocess.Popen(command, env=self.side.environment, stdout=output)
        try:
            yield
        finally:
            self.process.kill()
            self.process.wait(SECONDS)

    def lines(self) -> list[str]:
        return [line for line in self.file.read_text().splitlines() if line]

    def wait(self, what: str, condition: Callable[[list[str]], bool]) -> None:
        end = time.monotonic() + SECONDS
        while not condition(self.lines()):
            assert time.monotonic() < end, f"monitor {self.schema}: {self.lines()}, expected {what}"
            time.sleep(0.005)

    def wait_until_it_hears(self) -> None:
        """The command does not say when it has begun, so its first key is changed until it prints a line.

        dconf tells of all keys of the schema if one was changed while the command began to listen. A line has the value
        that the key has when it is printed, which may be that of a later change.
        """
        end = time.monotonic() + SECONDS
        for value in itertools.cycle((self.first.value, self.first.default)):
            self.side.run("set", self.schema, self.first.key, value)
            if self.lines():
                break
            assert time.monotonic() < end, f"monitor {self.schema} prints nothing"
        self.side.run("reset", self.schema, self.first.key)
        self.side.run("set", self.schema, self.first.key, self.first.value)
        self.wait_for(self.first.key, self.first.value)
        self.side.run("reset", self.schema, self.first.key)
        self.wait_for(self.first.key, self.first.default)
        self.begun = len(self.lines())

    def wait_for(self, key: str, value: str) -> None:
        """Waits until this is the last that it has told of the key."""
        line = f"{key}: {value}"
        self.wait(line, lambda lines: [told for told in lines if told.startswith(f"{key}:")][-1:] == [line])

    def end(self) -> list[str]:
        """What it has printed, after what made it print its first line."""
        # A change has its line after those of all earlier changes.
        self.side.run("set", self.schema, self.last.key, self.last.value)
        line = f"{self.last.key}: {self.last.value}"
        self.wait(f"{line} at the end", lambda lines: lines[-1] == line)
        self.process.kill()
        self.process.wait(SECONDS)
        self.side.run("reset", self.schema, self.last.key)
        if self.first == self.last:
            return self.lines()[-3:]
        return list(itertools.dropwhile(lambda line: line.startswith(f"{self.first.key}:"), self.lines()[self.begun :]))


# ----------------------------------------------------------------------------------------------------------------
# The commands for both
# ----------------------------------------------------------------------------------------------------------------


def all_schemas(side: Side) -> list[str]:
    fixed = side.record("fresh", "list-schemas").output.split()
    relocatable = side.record("fresh", "list-relocatable-schemas").output.split()
    return sorted(fixed) + [f"{schema}:/org/example/v1.{n}/50%/é/" for n, schema in enumerate(sorted(relocatable))]


def entries_of(side: Side, schemas: list[str]) -> list[Entry]:
    keys = [(schema, key) for schema in schemas for key in side.answers[f"fresh: list-keys {schema}"].output.split()]
    for command in ("range", "describe", "writable", "get"):
        record_all(side, "fresh", ((command, *key) for key in keys))
    entries = []
    for number, (schema, key) in enumerate(keys):
        shape, default = (side.answers[f"fresh: {command} {schema} {key}"].output for command in ("range", "get"))
        entries.append(Entry(schema, key, value_for(number, shape, default.strip()), default.strip()))
    return entries


def run_all(side: Side, folder: Path) -> Side:
    folder.mkdir()
    schemas = all_schemas(side)
    side.record("fresh", "list-recursively")
    for command in ("list-keys", "list-children", "list-recursively"):
        record_all(side, "fresh", ((command, schema) for schema in schemas))
    entries = entries_of(side, schemas)
    keys = [(entry.schema, entry.key) for entry in entries]

    with ExitStack() as stack:
        monitors = []
        for number, schema in enumerate(schemas):
            of_schema = [entry for entry in entries if entry.schema == schema]
            if of_schema:
                monitors.append(Monitor(side, schema, of_schema[0], of_schema[-1], folder / str(number)))
                stack.enter_context(monitors[-1].running())
        change_and_reset(side, schemas, entries, monitors)

    record_all(side, "wrong", (("set", *key, wrong) for key, wrong in zip(keys, itertools.cycle(WRONG))))
    record_all(side, "wrong", MISTAKES)
    return side


def change_and_reset(side: Side, schemas: list[str], entries: list[Entry], monitors: list[Monitor]) -> None:
    keys = [(entry.schema, entry.key) for entry in entries]
    for monitor in monitors:
        monitor.wait_until_it_hears()

    for entry in entries:
        answer = side.record("changed", "set", entry.schema, entry.key, entry.value)
        assert answer.status == 0, f"{entry}: {answer}"
    for monitor in monitors:
        monitor.wait_for(monitor.last.key, monitor.last.value)
    record_all(side, "changed", (("get", *key) for key in keys))
    record_all(side, "changed", [("list-recursively",), *(("list-recursively", schema) for schema in schemas)])
    for entry in entries[::4]:
        side.record("unchanged", "set", entry.schema, entry.key, entry.value)

    for schema in schemas[::2]:
        side.record("reset", "reset-recursively", schema)
    for key in keys:
        if key[0] not in schemas[::2]:
            side.record("reset", "reset", *key)
    for monitor in monitors:
        monitor.wait_for(monitor.last.key, monitor.last.default)
    record_all(side, "reset", [("list-recursively",), *(("list-recursively", schema) for schema in schemas)])
    for monitor in monitors:
        lines = "".join(f"{line}\n" for line in monitor.end())
        side.answers[f"changed: monitor {monitor.schema}"] = Answer(0, lines, "")


@pytest.fixture(scope="module")
def sides(schemas: Path, build: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    """What dconf and Kept have answered."""
    folder = tmp_path_factory.mktemp("home")
    with session(schemas, folder) as common, ThreadPoolExecutor(2) as pool:
        dconf, kept = pool.map(lambda name: run_all(side_of(name, common, build), folder / name), ["dconf", "kept"])
    return dconf, kept


def different(dconf: Side, kept: Side, stage: str) -> list[str]:
    commands = {**dconf.answers, **kept.answers}.keys()
    compared = [command for command in commands if command.startswith(f"{stage}: ")]
    assert compared, f"nothing was run in the stage {stage}"
    return [
        f"{command}\n    dconf: {dconf.answers.get(command)}\n    Kept:  {kept.answers.get(command)}"
        for command in compared
        if dconf.answers.get(command) != kept.answers.get(command)
    ]


@pytest.mark.parametrize("stage", ["fresh", "changed", "unchanged", "reset", "wrong"])
def test_the_command_answers_as_on_dconf(sides: tuple[Side, Side], stage: str) -> None:
    differences = different(*sides, stage)
    assert not differences, "\n".join(differences)


def test_every_key_of_the_schemas_was_set_and_read_back(sides: tuple[Side, Side], schemas: Path) -> None:
    answers = sides[1].answers
    done = set()
    for command, answer in answers.items():
        stage, verb, *words = command.split(" ", 4)
        if (stage, verb) != ("changed:", "set"):
            continue
        schema, key, value = words
        assert answer == Answer(0, "", ""), command
        assert answers[f"changed: get {schema} {key}"].output != answers[f"fresh: get {schema} {key}"].output, command
        done.add((schema.partition(":")[0], key))
    declared = declared_keys(schemas)
    assert len(declared) > 300
    assert declared <= done


def test_what_was_reset_is_as_before(sides: tuple[Side, Side]) -> None:
    answers = sides[1].answers
    listed = [command for command in answers if command.startswith("fresh: list-recursively")]
    assert len(listed) > 1
    for command in listed:
        assert answers[command.replace("fresh", "reset")] == answers[command], command


def test_a_dictionary_comes_back_in_the_order_of_its_keys(schemas: Path, build: Path, tmp_path: Path) -> None:
    key = (TYPES, f"key-{list(DEFAULTS).index('a{ss}')}")
    with session(schemas, tmp_path) as common:
        dconf, kept = side_of("dconf", common, build), side_of("kept", common, build)
        for side in (dconf, kept):
            assert side.run("set", *key, "{'z': '1', 'a': '2'}").status == 0
        # The one difference.
        assert dconf.run("get", *key).output == "{'z': '1', 'a': '2'}\n"
        assert kept.run("get", *key).output == "{'a': '2', 'z': '1'}\n"


def test_wrong_values_are_refused(sides: tuple[Side, Side]) -> None:
    refused = [answer for command, answer in sides[1].answers.items() if command.startswith("wrong: set ")]
    refused = [answer for answer in refused if answer.status != 0 and answer.errors]
    assert len(refused) > 250
