"""Schemas to generate code from: one with every word, and random ones."""

from __future__ import annotations

from random import Random
from typing import Any

EVERY_WORD: dict[str, Any] = {
    "audio.volume": {"type": "integer", "minimum": 0, "maximum": 100, "default": 50, "summary": "How loud, in percent"},
    "audio.theme": {
        "type": "string",
        "enum": ["dark", "light", "high-contrast", "A", "a", "?+", "", "3d", "class", "self", "none"],
        "default": "dark",
    },
    "audio.muted": {"type": "boolean", "default": False},
    "audio.balance": {
        "type": "number",
        "exclusiveMinimum": -1,
        "exclusiveMaximum": 1.5,
        "multipleOf": 0.25,
        "default": 0,
    },
    "title": {
        "type": "string",
        "minLength": 1,
        "maxLength": 40,
        "pattern": "[a\"'\\\\]",
        "default": "a \"b\" 'c' \u0007 ??/ \\ é \U0001f389",
        "format": "x",
    },
    "plain": {"type": "string"},
    "token": {"type": "string", "secret": True, "default": "hush", "enum": ["hush", "sh"]},
    "started": {"type": "date", "default": {"$date": "2026-01-02T03:04:05.000000006Z"}},
    "ended": {"type": "date"},
    "icon": {"type": "bytes", "maxLength": 9, "default": {"$binary": {"base64": "AAH/Ij8/", "subType": "00"}}},
    "tags": {
        "type": "array",
        "items": {"type": "string", "maxLength": 5},
        "minItems": 0,
        "maxItems": 4,
        "uniqueItems": True,
        "default": ["a", "b"],
    },
    "modes": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "default": []},
    "levels": {
        "type": "object",
        "additionalProperties": {"type": "integer", "minimum": 0},
        "maxProperties": 3,
        "minProperties": 0,
        "default": {},
    },
    "window": {
        "type": "object",
        "properties": {
            "width": {"type": "integer"},
            "class": {"type": "string"},
            "shown at": {"type": "date"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "inner": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
        },
        "required": ["width"],
        "additionalProperties": False,
    },
    "frame": {
        "type": "object",
        "properties": {"width": {"type": "integer"}, "height": {"type": "number"}},
        "required": ["width", "height"],
        "default": {"width": 800, "height": 600},
    },
    "anything": {"type": "object"},
    "set": {
        "type": "string",
        "enum": ["x", "text"],
        "deprecated": True,
        "replacedBy": "title",
        "renamedFrom": 'the "old" ??/ \\ one*/',
        "since": "1.2",
        "summary": 'Set "x" ??/ \\ or é',
    },
    "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
    "patterned": {"type": "object", "patternProperties": {"^a": {"type": "string"}}, "propertyNames": {"maxLength": 3}},
    "port": {"type": "integer", "enum": [80, 443, -1], "default": 443},
    "ratio": {"type": "number", "enum": [0.5, 1, 2], "default": 1},
    "on": {"type": "boolean", "const": True},
    "big": {
        "type": "integer",
        "minimum": 0,
        "maximum": {"$numberULong": "18446744073709551615"},
        "default": {"$numberULong": "18446744073709551615"},
    },
    "low": {"type": "integer", "minimum": -(2**63), "default": -(2**63)},
    "depth": {"type": "integer", "minimum": -9, "maximum": -3},
    "cold": {"type": "number", "minimum": -273.15, "maximum": -0.5, "default": -1},
    "fraction": {"type": "integer", "minimum": 0.5, "multipleOf": 2},
    "nan": {"type": "number", "default": {"$numberDouble": "NaN"}},
    "minus": {"type": "number", "default": -0.0, "title": "t", "description": "d */ /* \\ x", "$comment": "c"},
    "class": {"type": "boolean"},
    "a": {"type": "string", "enum": ["x"]},
    "self": {"type": "integer"},
    "init": {"type": "integer"},
    "type": {"type": "integer"},
    "3d.mode": {"type": "string", "enum": ["on", "off"], "summary": 'With "quotes"'},
    "string": {"type": "string", "enum": ["on", "off"]},
    "größe": {"type": "integer", "summary": "Größe */ in \u202e px"},
    "HTTPPort-now": {"type": "integer", "default": 1.0},
}

_HOSTILE = [
    *("*/", "/*", "//", "\\", '"', "'", '"""', "'''", "\n", "\r", "\t", "\0", "\x1b[31m", "\u202e", "\u2028", "\ufeff"),
    *(
        "??/",
        "??=",
        "\\u{41}",
        "\\(x)",
        "#if",
        "%s",
        "$",
        "`",
        "{",
        "}",
        "é",
        "e\u0301",
        "日本",
        "\U0001f389",
        " ",
        "  ",
    ),
    *("default", "class", "None", "self", "True", "import", "static", "int", "a", "B", "9", "x" * 90),
]


def hostile(random: Random, most: int = 4) -> str:
    return "".join(random.choice(_HOSTILE) for _ in range(random.randint(0, most)))


def schema_of(random: Random, depth: int = 0) -> dict[str, Any]:
    """A random schema, without a default."""
    kinds = ["boolean", "integer", "number", "string", "bytes", "date"] + ["array", "object", "object"] * (depth < 3)
    schema: dict[str, Any] = {"type": random.choice(kinds)}
    chance = random.random
    match schema["type"]:
        case "integer" if chance() < 0.3:
            schema["enum"] = random.sample([-5, 0, 7, 2**62, -(2**63), 1.0], 3)
        case "integer" | "number":
            low, high = sorted(random.sample([-(2**53), -3, 0, 2, 10, 2**40], 2))
            for word, bound in (("minimum", low), ("maximum", high), ("exclusiveMinimum", low - 1)):
                if chance() < 0.4:
                    schema[word] = bound
            if chance() < 0.2:
                schema["multipleOf"] = random.choice([1, 2, 5])
        case "string" if chance() < 0.5:
            texts = [hostile(random) for _ in range(random.randint(1, 6))]
            schema["enum"] = list(dict.fromkeys(texts))
        case "string" | "bytes":
            if chance() < 0.5:
                schema |= {"minLength": random.randint(0, 2), "maxLength": random.randint(2, 500)}
            if schema["type"] == "string" and chance() < 0.3:
                schema["pattern"] = random.choice(["^", 'a|"|', "[\\\\'\"]?", ".*é?"])
        case "array":
            if chance() < 0.9:
                schema["items"] = schema_of(random, depth + 1)
            if chance() < 0.3:
                schema |= {"minItems": 0, "maxItems": random.randint(1, 9), "uniqueItems": chance() < 0.5}
        case "object" if chance() < 0.6:
            names = {f"{hostile(random, 2)}{index}".replace("\0", ""): index for index in range(random.randint(1, 4))}
            schema["properties"] = {name: schema_of(random, depth + 1) for name in names}
            schema["required"] = [name for name in names if chance() < 0.5]
        case "object" if chance() < 0.8:
            schema["additionalProperties"] = schema_of(random, depth + 1)
    if chance() < 0.2:
        schema |= {"title": hostile(random), "description": hostile(random), "format": hostile(random)}
    if chance() < 0.1:
        schema["deprecated"] = True
    return schema


def value_of(random: Random, schema: dict[str, Any]) -> Any:
    """A value that often fits a schema."""
    if "enum" in schema:
        return random.choice(schema["enum"])
    match schema["type"]:
        case "boolean":
            return random.random() < 0.5
        case "integer":
            return schema.get("minimum", schema.get("maximum", random.randint(-(2**63), 2**63 - 1)))
        case "number":
            special = [{"$numberDouble": each} for each in ("NaN", "Infinity", "-Infinity")]
            bound = schema.get("maximum", schema.get("minimum"))
            return random.choice([0.1, -0.0, 1e300, 5e-324, *special]) if bound is None else bound
        case "string":
            return hostile(random)
        case "bytes":
            return {"$binary": {"base64": random.choice(["", "AAH/Ij8/"]), "subType": "00"}}
        case "date":
            return {"$date": "0001-02-03T04:05:06.000000007Z"}
        case "array":
            items = schema.get("items")
            return [value_of(random, items) for _ in range(random.randint(0, 2))] if items else [None, 1, "x"]
        case _:
            members = schema.get("properties", {})
            return {name: value_of(random, members[name]) for name in members if name in schema.get("required", [])}


def random_keys(random: Random) -> dict[str, Any]:
    """Declarations of some keys; a few may be wrong."""
    keys: dict[str, Any] = {}
    for index in range(random.randint(1, 8)):
        schema = schema_of(random)
        if random.random() < 0.5:
            schema["default"] = value_of(random, schema)
        if random.random() < 0.5:
            schema["summary"] = hostile(random)
        if random.random() < 0.1:
            schema["secret"] = True
        # A number, so that no two names are equal.
        keys[f"{hostile(random, 2)}.{index}".replace("\0", "")] = schema
    return keys
