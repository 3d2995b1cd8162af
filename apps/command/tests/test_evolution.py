"""What a newer file of declarations breaks: `kept lint --against`."""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

import kept as library
from conftest import Done, Kept


def compared(kept: Kept, folder: Path, old: dict[str, Any], new: dict[str, Any]) -> Done:
    for name, keys in (("old.json", old), ("new.json", new)):
        text = json.dumps({"properties": {key: {"summary": "s"} | schema for key, schema in keys.items()}})
        (folder / name).write_text(text, "utf-8")
    return kept("lint", "new.json", "--against", "old.json")


def findings(kept: Kept, folder: Path, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The findings of one key, which are breaks if the status says so."""
    done = compared(kept, folder, {"k": old}, {"k": new})
    lines = [line.removeprefix('kept: "k": ') for line in done.err.splitlines() if line.startswith("kept: ")]
    assert done.status == (3 if any(not line.startswith("note: ") for line in lines) else 0), done
    return lines


def array(items: dict[str, Any], **words: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **words}


def record(**words: Any) -> dict[str, Any]:
    return {"type": "object", **words}


INTEGER: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
STRING: dict[str, Any] = {"type": "string"}

BREAKS = [
    (INTEGER, NUMBER, "breaks: type is number instead of integer, and the store refuses the declaration"),
    (INTEGER | {"maximum": 9}, INTEGER | {"maximum": 7}, "breaks: maximum is 7 instead of 9"),
    (INTEGER, INTEGER | {"minimum": 0}, "breaks: minimum is 0 instead of none"),
    (NUMBER | {"minimum": 0}, NUMBER | {"exclusiveMinimum": 0}, "breaks: exclusiveMinimum is 0.0 instead of none"),
    (INTEGER | {"multipleOf": 2}, INTEGER | {"multipleOf": 4}, "breaks: multipleOf is 4 instead of 2"),
    (STRING | {"enum": ["a", "b"]}, STRING | {"enum": ["b", "c"]}, 'breaks: "a" is no longer allowed'),
    (STRING, STRING | {"const": "a"}, 'breaks: only "a" is allowed'),
    ({"type": "boolean"}, {"type": "boolean", "enum": [True]}, "breaks: false is no longer allowed"),
    (STRING | {"maxLength": 9}, STRING | {"maxLength": 8}, "breaks: maxLength is 8 instead of 9"),
    (STRING, STRING | {"pattern": "^b"}, 'breaks: pattern is "^b" instead of none'),
    (STRING | {"pattern": "^b"}, STRING | {"pattern": "^b+$"}, 'may break: pattern is "^b+$" instead of "^b"'),
    (array(STRING), array(INTEGER), "breaks: each element: type string is no longer allowed"),
    (array(STRING), array(STRING, uniqueItems=True), "breaks: equal elements are no longer allowed"),
    (array(STRING), array(STRING, minItems=1), "breaks: minItems is 1 instead of none"),
    (
        array(STRING, prefixItems=[INTEGER]),
        array(STRING, prefixItems=[NUMBER]),
        "breaks: element 1: type integer is no longer allowed",
    ),
    (record(), record(required=["x"]), 'breaks: the member "x" is required'),
    (record(properties={"x": STRING}), record(properties={"x": False}), 'breaks: the member "x": no value is allowed'),
    (
        record(properties={"x": STRING}),
        record(properties={"x": STRING}, additionalProperties=STRING),
        "breaks: each other member: only type string is allowed",
    ),
    (
        array({"type": ["string", "integer", "null"]}),
        array({"type": ["string", "boolean"]}),
        "breaks: each element: types integer and null are no longer allowed",
    ),
    (record(), record(additionalProperties=False), "breaks: each member: no value is allowed"),
    (
        record(),
        record(patternProperties={"^x": STRING}),
        'may break: each member whose name matches "^x": the schemas cannot be compared',
    ),
    (
        record(),
        record(propertyNames={"maxLength": 3}),
        "breaks: the name of each member: maxLength is 3 instead of none",
    ),
    (record(), record(maxProperties=3), "breaks: maxProperties is 3 instead of none"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), BREAKS, ids=lambda value: value if isinstance(value, str) else "")
def test_each_rule_that_becomes_narrower_is_a_break(
    kept: Kept, tmp_path: Path, old: dict[str, Any], new: dict[str, Any], sentence: str
) -> None:
    assert [line for line in findings(kept, tmp_path, old, new) if not line.startswith("note")] == [sentence]


FINE = [
    (INTEGER | {"minimum": 1, "maximum": 3}, INTEGER | {"enum": [1, 2, 3, 4]}),
    (INTEGER | {"exclusiveMinimum": 0}, INTEGER | {"minimum": 1}),
    (INTEGER, INTEGER | {"multipleOf": 0.5}),
    (array(INTEGER | {"minimum": 0, "maximum": 9}), array(NUMBER)),
    (NUMBER | {"multipleOf": 0.5, "maximum": 5}, NUMBER | {"multipleOf": 0.25, "exclusiveMaximum": 6}),
    (STRING | {"maxLength": 8, "pattern": "^b"}, STRING | {"maxLength": 9, "pattern": "^b"}),
    (record(required=["x"]), record(minProperties=1)),
    (
        record(properties={"x": STRING}, additionalProperties=False),
        record(properties={"x": STRING}, patternProperties={"^y": INTEGER}, propertyNames={"maxLength": 1}),
    ),
]


@pytest.mark.parametrize(("old", "new"), FINE)
def test_a_rule_that_allows_all_earlier_values_is_none(
    kept: Kept, tmp_path: Path, old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert [line for line in findings(kept, tmp_path, old, new) if not line.startswith("note")] == []
    assert findings(kept, tmp_path, old, old) == []


def test_defaults_secrecy_and_wider_rules_are_notes(kept: Kept, tmp_path: Path) -> None:
    old = INTEGER | {"maximum": 9, "default": 1}
    assert findings(kept, tmp_path, old, INTEGER | {"default": 2}) == [
        "note: new values are allowed, which programs with the older declaration refuse",
        "note: default is 2 instead of 1",
    ]
    assert findings(kept, tmp_path, old, old | {"secret": True}) == ["note: it is secret now"]
    done = compared(kept, tmp_path, {}, {"added": INTEGER})
    assert (done.status, done.err) == (0, "")


def test_a_renamed_key_is_compared_with_the_one_that_it_was(kept: Kept, tmp_path: Path) -> None:
    old = {"volume": INTEGER | {"maximum": 100}, "ratio": INTEGER, "gone": STRING}
    new = {
        "audio.volume": INTEGER | {"maximum": 70, "renamedFrom": "volume"},
        "audio.ratio": NUMBER | {"renamedFrom": "ratio"},
        "new": STRING | {"renamedFrom": "unknown"},
    }
    done = compared(kept, tmp_path, old, new)
    assert [line for line in done.err.splitlines() if line.startswith("kept: ")] == [
        'kept: "audio.ratio": note: it takes over the value of "ratio"',
        'kept: "audio.volume": breaks: maximum is 70 instead of 100',
        'kept: "audio.volume": note: it takes over the value of "volume"',
        'kept: "gone": breaks: it is no longer declared, and its value stays in the store, unused',
    ]
    with library.open("memory:") as settings:
        settings.declare(old)
        settings.update({"volume": 90, "ratio": 3})
        settings.migrate([library.Migration(1, "step", lambda t: exec(steps(done.err), {"t": t}))])
        settings.declare(new)
        assert dict(settings) == {"audio.volume": 70, "audio.ratio": 3.0}
    done = compared(kept, tmp_path, {"volume": INTEGER}, {"level": INTEGER | {"renamedFrom": "volume"}})
    assert (done.status, done.err) == (0, 'kept: "level": note: it takes over the value of "volume"\n')


def test_the_step_of_a_renamed_secret_keeps_its_declaration(kept: Kept, tmp_path: Path) -> None:
    old = {
        "token": STRING | {"secret": True},
        "pin": INTEGER | {"secret": True},
        "code": INTEGER | {"secret": True, "maximum": 9},
    }
    new = {
        "auth.token": STRING | {"secret": True, "maxLength": 3, "renamedFrom": "token"},
        "pin": STRING | {"secret": True},
        "auth.code": INTEGER | {"secret": True, "minimum": 5, "renamedFrom": "code"},
    }
    done = compared(kept, tmp_path, old, new)
    assert steps(done.err).splitlines() == [
        't.rename("code", "auth.code")',
        'old = t.pop("auth.code", None)',
        'if t.declaration("auth.code"): t.undeclare("auth.code")',
        't.declare({"auth.code": {"type": "integer", "secret": True, "renamedFrom": "code"}})',
        'if old is not None: t["auth.code"] = convert(old)',
        't.rename("token", "auth.token")',
        'old = t.pop("auth.token", None)',
        'if old is not None: t["auth.token"] = convert(old)',
        'old = t.pop("pin", None)',
        'if t.declaration("pin"): t.undeclare("pin")',
        't.declare({"pin": {"type": "string", "secret": True}})',
        'if old is not None: t["pin"] = convert(old)',
    ]
    with library.open("memory:") as settings:
        settings.declare(old)
        settings.update({"token": "abcd", "pin": 1234, "code": 4})
        names = {"convert": lambda old: old + 10 if old == 4 else str(old)[:3]}
        settings.migrate([library.Migration(1, "step", lambda t: exec(steps(done.err), {"t": t, **names}))])
        settings.declare(new)
        assert dict(settings) == {"auth.code": 14, "auth.token": "abc", "pin": "123"}
        assert all(settings.explain(name).secret for name in ["code", "token", *settings])


def test_a_step_with_two_values_for_one_key_is_left_to_a_person(kept: Kept, tmp_path: Path) -> None:
    old = {"volume": INTEGER, "level": INTEGER}
    done = compared(kept, tmp_path, old, {"level": INTEGER | {"maximum": 9, "renamedFrom": "volume"}})
    assert steps(done.err).splitlines() == [
        'old = t.pop("level", None)',
        'if old is not None: t["level"] = min(9, old)',
        '# "volume" and "level" may both have a value: choose one',
    ]
    new = {"volume": INTEGER, "level": INTEGER | {"maximum": 9, "renamedFrom": "volume"}}
    done = compared(kept, tmp_path, {"volume": INTEGER}, new)
    assert steps(done.err).splitlines() == ['# "volume" and "level" may both have a value: choose one']


def test_a_step_has_keys_in_the_letters_of_python(kept: Kept, tmp_path: Path) -> None:
    key = 'a"\\ \u200b\u202e\U000e0041\n\u0301\U0001f389'
    done = compared(kept, tmp_path, {key: INTEGER}, {key: INTEGER | {"maximum": 9}})
    assert done.err.isprintable() or all(each.isprintable() or each in "\n" for each in done.err)
    with stored({key: INTEGER}, {key: 10}) as settings:
        settings.migrate([library.Migration(1, "step", lambda t: exec(steps(done.err), {"t": t}))])
        assert settings[key] == 9


def test_what_a_renamed_key_does_not_take_over_breaks(kept: Kept, tmp_path: Path) -> None:
    new = {"level": INTEGER | {"renamedFrom": "volume"}}
    done = compared(kept, tmp_path, {"volume": STRING}, new)
    assert "breaks: type is integer instead of string, and values stay under the former name" in done.err
    assert "takes over" not in done.err
    # Both were declared.
    done = compared(kept, tmp_path, {"volume": STRING, "level": INTEGER}, new)
    assert done.status == 3 and '"level": breaks: type is integer instead of string' in done.err
    done = compared(kept, tmp_path, {"volume": INTEGER | {"secret": True}}, new)
    assert done.status == 3 and "is a secret and stays under that name; declare the new name secret too" in done.err


def test_a_secret_shows_neither_its_values_nor_its_rules(kept: Kept, tmp_path: Path) -> None:
    old = STRING | {"secret": True, "enum": ["hush", "sh"], "default": "hush"}
    assert findings(kept, tmp_path, old, old | {"enum": ["sh"], "default": "sh"}) == [
        "breaks: fewer values are allowed",
        "note: default has changed",
    ]


def steps(err: str) -> str:
    return "\n".join(line.strip() for line in err.splitlines() if not line.startswith("kept: "))


def test_the_steps_that_lint_prints_migrate_a_store(kept: Kept, tmp_path: Path) -> None:
    old: dict[str, Any] = {
        "volume": INTEGER | {"maximum": 100},
        "ratio": INTEGER,
        "title": STRING | {"maxLength": 9},
        "gone": STRING,
        "modes": array(STRING),
        "unset": INTEGER,
    }
    new: dict[str, Any] = {
        "volume": INTEGER | {"maximum": 70, "minimum": 5},
        "ratio": NUMBER,
        "title": STRING | {"maxLength": 3},
        "modes": array(STRING | {"maxLength": 1}),
        "unset": INTEGER | {"minimum": 0},
    }
    values: dict[str, Any] = {"volume": 90, "ratio": 3, "title": "abcdef", "gone": "x", "modes": ["ab", "c"]}
    done = compared(kept, tmp_path, old, new)
    with library.open("memory:") as settings:
        settings.declare(old)
        settings.update(values)

        def step(t: library.Transaction) -> None:
            exec(steps(done.err), {"t": t, "convert": lambda old: [each[:1] for each in old]})

        settings.migrate([library.Migration(1, "step", step)])
        settings.declare(new)
        assert dict(settings) == {"volume": 70, "ratio": 3.0, "title": "abc", "modes": ["a", "c"]}
        assert settings.declaration("gone") is None


# MARK: Random schemas

NAMES = ["", "a", "b", "ab", "abc", "x1"]
NUMBERS: list[Any] = [
    -(2**63),
    -(2**53) - 1,
    -3,
    -1,
    -0.5,
    0,
    0.5,
    1,
    2,
    2.5,
    3,
    4,
    6,
    2**53,
    2**53 + 1,
    2**63 - 1,
    1e300,
]
NUMBERS += [{"$numberDouble": name} for name in ("NaN", "Infinity")] + [{"$numberULong": str(2**64 - 1)}, -0.0, 1.0]
TEXTS = [*NAMES, " ", "é", "a\nb", "bbbbbb"]
TYPES = ["boolean", "integer", "number", "string", "bytes", "date", "array", "object"]


def some(random: Random, words: dict[str, Any]) -> dict[str, Any]:
    return {word: value for word, value in words.items() if random.random() < 0.3}


def random_schema(random: Random, depth: int = 0, kind: str | None = None) -> Any:
    if depth and random.random() < 0.15:
        return random.choice([True, True, False, {}])
    types = [kind] if kind else random.sample([*TYPES, "null"], random.choice([1, 1, 1, 2, 3]))
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    if {"integer", "number"} & set(types):
        low, high = sorted(random.choices([-(2**53), -3, -0.5, 0, 0.5, 1, 2, 3, 2**53], k=2))
        schema |= some(random, {"minimum": low, "exclusiveMinimum": low, "maximum": high, "exclusiveMaximum": high})
        schema |= some(random, {"multipleOf": random.choice([0.5, 1, 2, 4, 3])})
    if {"string", "bytes"} & set(types):
        schema |= some(random, {"minLength": random.randint(0, 2), "maxLength": random.randint(1, 4)})
    if "string" in types:
        schema |= some(random, {"pattern": random.choice(["^a", "b", ".*", "^[a-b]*$"])})
    if "array" in types and depth < 3:
        first = [random_schema(random, depth + 1) for _ in range(random.randint(1, 2))]
        schema |= some(random, {"items": random_schema(random, depth + 1), "prefixItems": first, "uniqueItems": True})
        schema |= some(random, {"minItems": random.randint(0, 1), "maxItems": random.randint(1, 3)})
    if "object" in types and depth < 3:
        named = {name: random_schema(random, depth + 1) for name in random.sample(NAMES, random.randint(0, 3))}
        patterns = {
            each: random_schema(random, depth + 1) for each in random.sample(["^a", "b", "1$"], random.randint(1, 2))
        }
        schema |= some(random, {"properties": named, "patternProperties": patterns})
        schema |= some(random, {"additionalProperties": random_schema(random, depth + 1)})
        schema |= some(random, {"required": random.sample(NAMES, random.randint(0, 2))})
        schema |= some(
            random, {"propertyNames": {"maxLength": random.randint(1, 3)}, "maxProperties": random.randint(1, 3)}
        )
    if random.random() < 0.2:
        choices = [random_value(random, schema, depth) for _ in range(random.randint(1, 3))]
        schema |= random.choice([{"enum": choices}, {"const": choices[0]}])
    return schema


def random_value(random: Random, schema: Any, depth: int = 0) -> Any:
    """A value that often fits a schema, or nearly."""
    if not isinstance(schema, dict) or not schema or random.random() < 0.03:
        return random_value(random, {"type": random.choice(TYPES)}, depth + 1) if depth < 4 else 1
    known = schema.get("enum", []) + [schema[word] for word in ("const", "minimum", "maximum") if word in schema]
    if known and random.random() < 0.6:
        return random.choice(known)
    types = schema.get("type", TYPES)
    match random.choice(types) if isinstance(types, list) else types:
        case "boolean":
            return random.random() < 0.5
        case "integer" | "number":
            return random.choice(NUMBERS)
        case "string":
            return random.choice(TEXTS)
        case "bytes":
            return {"$binary": {"base64": random.choice(["", "AA==", "AAAA", "AAAAAAAA"]), "subType": "00"}}
        case "date":
            return {"$date": "2026-01-02T03:04:05Z"}
        case "array":
            first, rest = schema.get("prefixItems", []), schema.get("items", True)
            kinds = [*first, rest, rest][: random.randint(0, 4)]
            return [random_value(random, kind, depth + 1) for kind in kinds]
        case "object":
            named = schema.get("properties", {})
            names = set(random.sample(NAMES, random.randint(0, 3))) | set(schema.get("required", []))
            rules = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties", True)]
            return {
                name: random_value(random, named.get(name, random.choice(rules)), depth + 1) for name in sorted(names)
            }
        case _:
            return None


def changed(random: Random, schema: Any, is_nested: bool = True) -> Any:
    """A schema with some of its words changed."""
    if not isinstance(schema, dict) or (is_nested and random.random() < 0.1):
        return random_schema(random, 2)
    result: dict[str, Any] = {}
    for word, value in schema.items():
        match value:
            case "integer" | "number" if is_nested and random.random() < 0.3:
                result[word] = random.choice(["integer", "number", ["integer", "number"]])
            case _ if word == "type" or random.random() < 0.4:
                result[word] = value
            case _ if random.random() < 0.3:
                continue
            case {} if word in ("properties", "patternProperties"):
                result[word] = {name: changed(random, inner) for name, inner in value.items()}
            case {} | bool() if word in ("items", "additionalProperties"):
                result[word] = changed(random, value)
            case [*_] if word == "prefixItems":
                result[word] = [changed(random, inner) for inner in value]
            case [*_]:
                result[word] = value[:-1] or value
            case int() | float() if not isinstance(value, bool):
                result[word] = random.choice([value, abs(value) + 1, value - 1 if "Length" not in word else value])
            case _:
                result[word] = value
    return result


def is_valid(schema: Any) -> bool:
    with library.open("memory:") as settings:
        try:
            settings.declare_json("k", json.dumps(schema))
        except library.KeptError:
            return False
    return True


def stored(schemas: dict[str, Any], values: dict[str, Any]) -> library.Store:
    settings = library.open("memory:")
    settings.declare_list(json.dumps({"properties": schemas}))
    settings.import_text(json.dumps({"kept": 1, "values": values}))
    return settings


def refused(schemas: dict[str, Any], values: dict[str, Any]) -> set[str]:
    """The keys whose value their declaration does not allow."""
    with library.open("memory:") as settings:
        settings.declare_list(json.dumps({"properties": schemas}))
        report = settings.import_text(json.dumps({"kept": 1, "values": values}), dry_run=True)
        return {each.key for each in report.refused}


def test_no_value_is_lost_that_lint_does_not_report(kept: Kept, tmp_path: Path) -> None:
    random = Random(int(os.environ.get("KEPT_RANDOM_SEED", "1")))
    old: dict[str, Any] = {}
    new: dict[str, Any] = {}
    for index in range(int(os.environ.get("KEPT_RANDOM_SCHEMAS", "600"))):
        schema = random_schema(random, kind=random.choice([*TYPES, "object", "array"]))
        another = random_schema(random, kind=schema["type"])
        other = random.choice([another, *(changed(random, schema, False) for _ in range(3))])
        if other != schema and isinstance(other, dict) and is_valid(schema) and is_valid(other):
            old[f"k{index}"], new[f"k{index}"] = random.choice([(schema, other), (other, schema)])
    done = compared(kept, tmp_path, old, new)
    reported = set(re.findall(r'^kept: "(k\d+)": (?:may break|breaks)', done.err, re.MULTILINE))
    lost: dict[str, Any] = {}
    for _ in range(30):
        values = {key: random_value(random, random.choice([old, new])[key]) for key in old}
        lost |= {key: values[key] for key in refused(new, values) - refused(old, values)}
    missed = [(old[key], new[key], lost[key]) for key in lost.keys() - reported]
    assert not missed, json.dumps(missed[:3])
    # The reports are mostly of values that were found, and there are pairs without one.
    assert len(lost) > len(reported) / 2 > 20 and len(reported) < 0.9 * len(old)


def problem(old: dict[str, Any], new: dict[str, Any], value: Any, step: str, converted: Any) -> str:
    """What is wrong with a step for one key; empty if nothing is."""
    ((key, older),), (name,) = old.items(), new
    with stored(old, {key: value}) as settings, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names = {"convert": lambda _: converted}
        try:
            settings.migrate([library.Migration(1, "step", lambda t: exec(step, {"t": t, **names}))])
        except library.KeptError as error:
            return f"{error} {error.__cause__}"
        if older.get("secret") and not all(settings.explain(each).secret for each in settings):
            return "the value is not secret"
        settings.declare_list(json.dumps({"properties": new}))
        misfits = [str(each.message) for each in caught]
        return "".join(misfits) or ("" if list(settings) == [name] else f"the keys are {list(settings)}")


def test_random_steps_lose_no_value(kept: Kept, tmp_path: Path) -> None:
    random = Random(int(os.environ.get("KEPT_RANDOM_SEED", "1")))
    old: dict[str, Any] = {}
    new: dict[str, Any] = {}
    former: dict[str, str] = {}
    for index in range(int(os.environ.get("KEPT_RANDOM_SCHEMAS", "300"))):
        kind = random.choice([*TYPES, "integer", "number", "number", "string", "string"])
        schema = random_schema(random, kind=kind)
        other = random_schema(random, kind=random.choice([*TYPES, "number"]))
        other = random.choice([other, random_schema(random, kind=kind), changed(random, schema, False)])
        older, newer = random.choice([(schema, other), (other, schema)])
        name = key = f"k{index}"
        if random.random() < 0.3:
            name, newer = f"n{index}", newer | {"renamedFrom": key}
        if random.random() < 0.2:
            newer = newer | {"secret": True}
            older = random.choice([older, older | {"secret": True}])
        if is_valid(older) and is_valid(newer):
            old[key], new[name], former[name] = older, newer, key
    done = compared(kept, tmp_path, old, new)
    found: dict[str, str] = {}
    for part in re.split("^kept: ", done.err, flags=re.MULTILINE):
        head, _, step = part.partition("\n")
        name = head.split('"')[1] if step else ""
        if step:
            assert name not in found
            found[name] = re.sub("^  ", "", step, flags=re.MULTILINE)
    wrong: dict[str, str] = {}
    tried = 0
    for _ in range(3):
        values, others = (
            {key: value for key, value in given.items() if key not in left}
            for schemas in (old, new)
            for given in [{key: random_value(random, schemas[key]) for key in schemas}]
            for left in [refused(schemas, given)]
        )
        with stored(new, others) as settings:
            fitting = dict(settings)
        for name, step in found.items():
            key = former[name]
            if key in values and ("convert(" not in step or name in fitting):
                tried += "convert(" not in step
                given = {key: old[key]}, {name: new[name]}, values[key], step
                if found_problem := problem(*given, fitting.get(name)):
                    wrong[name] = f"{given}: {found_problem}"
    assert not wrong, "\n\n".join([f"{len(wrong)} of {len(found)}", *list(wrong.values())[:5]])
    assert tried > 5 and len(found) > len(new) / 3
