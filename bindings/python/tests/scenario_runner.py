"""The Python runner of the shared scenarios: what each step does. Tests/scenarios/README.md explains them.

A step takes its fields out as it obeys them; a remaining field is an error. Functions of the package are called through
it; only the rest (JSON as text, integers of a fixed width, impossible dates) goes through `_c`.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import os
import struct
import time
import warnings
from pathlib import Path
from typing import Any

import kept
import scenario_steps
import scenario_values
from kept._c.status import kept_status_text
from scenario_received import LIMITS, Listener, Reports, expected_notices, is_part, reported
from scenario_text import Step, text, word
from scenario_values import Function


def members_of(report: kept.ImportReport) -> Step:
    """The members of a report; of omitted settings, only the key or the place."""
    changed = [
        {
            "key": change.key,
            **({} if change.old is None else {"old": change.old}),
            **({} if change.new is None else {"new": change.new}),
            **({"secret": True} if change.secret else {}),
        }
        for change in report.changed
    ]
    return {
        "revision": report.revision,
        "changed": changed,
        "removed": list(report.removed),
        "declared": list(report.declared),
        "unchanged": report.unchanged,
        "refused": [refusal.key for refusal in report.refused],
        "notCarried": [lost.place for lost in report.not_carried],
    }


class ScenarioRunner:
    """One scenario in one store: what has which name."""

    def __init__(self, location: str, folder: Path) -> None:
        self.location = location
        self.folder = folder
        self.things: dict[str, Any] = {}
        self.reported = Reports()

    def run(self, step: Step) -> None:
        step = dict(step)
        step.pop("note", None)
        name, status, offset = step.pop("do"), step.pop("status", "ok"), step.pop("offset", None)
        expected = step.pop("gives", None)
        on = self.things.get(step.pop("on", SUBJECTS.get(name, "store")))
        if isinstance(on, kept.Snapshot) and not (name in SNAPSHOT_STEPS or name.startswith("get_")):
            # mypy refuses it, and there is no such method; C says why.
            assert status in ("unsupported", "closed")
            return
        try:
            with warnings.catch_warnings(record=True) as shown:
                warnings.simplefilter("always")
                given = STEPS[name](self, on, step, expected)
        except kept.KeptError as error:
            assert kept_status_text(error.status).decode() == status, str(error)
            assert len(str(error)) >= 10, "an error is a sentence"
            assert offset is None or error.offset == offset, (error.offset, str(error))
        else:
            assert [WARNINGS[warning.category] for warning in shown] == ([] if status == "ok" else [status])
            assert all(len(str(warning.message)) >= 10 for warning in shown), "a warning is a sentence"
            assert expected is None or same(name, expected, given), f"expected {expected!r:.900}, found {given!r:.900}"
        assert not step, f"the runner does not know {', '.join(step)} of {name}"

    def end(self) -> None:
        listeners = [thing for thing in self.things.values() if isinstance(thing, Listener)]
        for listener in listeners:
            listener.end()
        for thing in self.things.values():
            if isinstance(thing, kept.Transaction):
                thing.rollback()
        for thing in self.things.values():
            if isinstance(thing, kept.Store):
                thing.close()
        for listener in listeners:
            assert len(listener.received) == listener.expected_count, "an observer received more notices than expected"
        logging.getLogger("kept").removeHandler(self.reported)

    # Each takes its fields out of the step before anything can fail.

    def open(self, _: Any, step: Step, __: Any) -> None:
        name, durability = step.pop("as", "store"), step.pop("durability", "shared")
        location = word(step.pop("location")) if "location" in step else self.location
        location = str(self.folder / step.pop("at")) if "at" in step else location
        files = {layer: self.folder / step.pop(layer) for layer in ("managed", "system") if layer in step}
        arguments = ["program", *map(word, step.pop("arguments"))] if "arguments" in step else None
        self.things[name] = kept.open(
            location,
            durability=durability,
            read_only=step.pop("read_only", False),
            tag=step.pop("tag", None),
            arguments=arguments,
            environment=step.pop("environment", None),
            **files,
        )

    def begin(self, store: kept.Store, step: Step, _: Any) -> None:
        name, durability = step.pop("as", "transaction"), step.pop("durability", "shared")
        self.things[name] = store.transaction(durable=durability == "durable", tag=step.pop("tag", None))

    def observe(self, store: kept.Store, step: Step, _: Any) -> None:
        listener = Listener(step.pop("once", False))
        name, initial = step.pop("as", "observer"), step.pop("initial", False)
        if "prefix" in step:
            prefix = word(step.pop("prefix"))
            subscription = store.observe(prefix=prefix, callback=listener.receive, initial=initial)
        else:
            subscription = store.observe(word(step.pop("key")), listener.receive, initial=initial)
        with listener.news:
            listener.subscription = subscription
            listener.news.notify_all()
        self.things[name] = listener

    def notices(self, listener: Listener, _: Step, expected: list[Step]) -> list[Step]:
        received = listener.next(len(expected))
        for notice, wanted in zip(received, expected, strict=True):
            first, last = (self.things[wanted[name]] if name in wanted else notice["time"] for name in LIMITS)
            assert first <= notice["time"] <= last, "a notice has another time"
        return received

    def clock(self, _: Any, step: Step, __: Any) -> None:
        self.things[step.pop("as", "clock")] = time.time_ns()

    def reports(self, store: kept.Store, _: Step, expected: list[Step]) -> list[kept.KeptError]:
        return self.reported.next(store, len(expected))

    def declare_file(self, settings: kept.Settings, step: Step, _: Any) -> None:
        settings.declare_file(self.folder / step.pop("file"))

    # A transaction has no such methods; the tests of C check what C returns.

    def export(self, store: kept.Store, step: Step, _: Any) -> bytes | None:
        asked: Step = {word: True for word in step.pop("with", [])}
        asked["plain"] = "secrets" in asked
        asked["prefix"] = step.pop("prefix", "")
        if "file" not in step:
            return store.export(**asked).encode()
        store.export_file(self.folder / step.pop("file"), **asked)
        return None

    def verify(self, store: kept.Store, _: Step, __: Any) -> bytes:
        return json.dumps(dataclasses.asdict(store.verify()), sort_keys=True, separators=(",", ":")).encode()

    def import_(self, store: kept.Store, step: Step, _: Any) -> Step:
        asked: Step = {word.replace(" ", "_"): True for word in step.pop("with", [])}
        asked |= {name: step.pop(name) for name in ("prefix", "separator") if name in step}
        asked["format"] = step.pop("format", "kept").replace(" ", "_")
        if "file" in step:
            return members_of(store.import_file(self.folder / step.pop("file"), **asked))
        return members_of(store.import_text(text(step.pop("text")), **asked))

    def differences(self, _: Any, step: Step, __: Any) -> bytes:
        sides = [
            self.things[step.pop(name)] if name in step else self.folder / step.pop(f"{name}_file")
            for name in ("old", "new")
        ]
        secrets = step.pop("secrets", False)
        if any(isinstance(side, kept.Transaction) for side in sides):
            raise kept.UnsupportedError("mypy refuses a transaction")
        found = kept.differences(*sides, secrets=secrets)
        members = {
            "comparesDeclarations": found.compares_declarations,
            "declarations": [present(dataclasses.asdict(difference)) for difference in found.declarations],
            "unknown": [present(dataclasses.asdict(unknown)) for unknown in found.unknown],
            "values": [present(dataclasses.asdict(difference), not_kept="notKept") for difference in found.values],
        }
        return json.dumps(members, sort_keys=True, separators=(",", ":")).encode()

    # Everything takes its place at once: a layer's file is never half there.

    def write_file(self, _: Any, step: Step, __: Any) -> None:
        file, draft = self.folder / step.pop("file"), self.folder / "draft"
        draft.write_bytes(text(step.pop("text")))
        draft.chmod(int(step.pop("mode", "644"), 8))
        draft.rename(file)

    def remove_file(self, _: Any, step: Step, __: Any) -> None:
        file = self.folder / step.pop("file")
        file.rmdir() if file.is_dir() else file.unlink()

    def damage(self, _: Any, step: Step, __: Any) -> None:
        """Replaces the contents of a closed store's checkpoint."""
        (self.folder / step.pop("file") / "values").write_bytes(b"damaged")

    def make(self, _: Any, step: Step, __: Any) -> None:
        file, draft = self.folder / step.pop("file"), self.folder / "draft"
        match step.pop("as"):
            case "folder":
                draft.mkdir()
            case "fifo":
                os.mkfifo(draft)
            case "link":
                draft.symlink_to(self.folder / step.pop("to"))
        draft.rename(file)


def present(members: Step, **names: str) -> Step:
    """The members that are there, as C names them."""
    return {names.get(name, name): value for name, value in members.items() if value not in (None, False, ())}


def same(name: str, expected: Any, given: Any) -> bool:
    if name == "notices":
        return is_part(expected_notices(expected), given)
    if name == "reports":
        return reported(expected, given)
    if name in (
        "explain_json",
        "history_json",
        "layer_files_json",
        "import",
        "import_file",
        "place_json",
        "places_json",
        "findings_json",
    ):
        return is_part(expected, given)
    if name in ("list", "undo"):
        return bool([word(key) for key in expected] == given)
    if name == "get_double":
        expected, nan = float(expected), math.isnan(given)
        return math.isnan(expected) if nan else struct.pack("d", expected) == struct.pack("d", given)
    if name in (
        "get_json",
        "get_string",
        "get_bytes",
        "declaration_json",
        "declarations_json",
        "export_json",
        "verify_json",
        "text_to_json",
        "json_to_text",
        "differences_json",
    ):
        expected = text(expected)
    return type(expected) is type(given) and bool(expected == given)


STEPS: dict[str, Function] = {
    "open": ScenarioRunner.open,
    "close": lambda _, store, __, ___: store.close(),
    "flush": lambda _, store, __, ___: store.flush(),
    **scenario_values.STEPS,
    **scenario_steps.STEPS,
    "begin": ScenarioRunner.begin,
    "commit": lambda _, transaction, __, ___: transaction.commit(),
    "rollback": lambda _, transaction, __, ___: transaction.rollback(),
    "snapshot_end": lambda _, snapshot, __, ___: snapshot.close(),
    "store_revision": lambda _, settings, __, ___: settings.revision(),
    "observe": ScenarioRunner.observe,
    "notices": ScenarioRunner.notices,
    "clock": ScenarioRunner.clock,
    "unobserve": lambda _, listener, __, ___: listener.end(),
    "declare_file": ScenarioRunner.declare_file,
    "reports": ScenarioRunner.reports,
    "export_json": ScenarioRunner.export,
    "export_file": ScenarioRunner.export,
    "verify_json": ScenarioRunner.verify,
    "import": ScenarioRunner.import_,
    "import_file": ScenarioRunner.import_,
    "differences_json": ScenarioRunner.differences,
    "write_file": ScenarioRunner.write_file,
    "remove_file": ScenarioRunner.remove_file,
    "make": ScenarioRunner.make,
    "damage": ScenarioRunner.damage,
}

WARNINGS: dict[type[Warning], str] = {
    kept.ShadowedWarning: "shadowed",
    kept.MisfitWarning: "misfit",
    kept.SalvagedWarning: "salvaged",
}

# What a step is about where it does not say.
SUBJECTS = {
    "commit": "transaction",
    "rollback": "transaction",
    "snapshot_end": "snapshot",
    "notices": "observer",
    "unobserve": "observer",
}

# What a snapshot can do, in addition to reading values.
SNAPSHOT_STEPS = {
    "contains",
    "revision_of",
    "list",
    "declaration_json",
    "declarations_json",
    "explain_json",
    "layer_of",
    "store_revision",
    "snapshot_end",
}
