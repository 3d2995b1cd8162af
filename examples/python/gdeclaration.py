"""The declaration in Kept of a key of a GSettings schema: its type, its constraints, its default and its summary."""

from __future__ import annotations

from typing import Any

import gvariant
from gschema import Setting

Schema = dict[str, Any]
"""A JSON Schema, with the keywords that Kept supports."""

TYPES = {"b": "boolean", "d": "number", "s": "string", "o": "string", "g": "string"}


def declaration(setting: Setting) -> Schema:
    """The JSON Schema that is equivalent to a key's GSettings schema."""
    rules = {"enum": list(setting.choices)} if setting.choices else {}
    if setting.kind == "flags":
        schema = {"type": "array", "items": {"type": "string"} | rules}
    else:
        schema = of_type("s" if setting.kind == "enum" else setting.kind) | rules
    if setting.least is not None:
        schema["minimum"] = setting.least
    if setting.greatest is not None:
        schema["maximum"] = setting.greatest
    if setting.summary:
        schema["summary"] = setting.summary
    return schema | {"default": setting.default}


def of_type(kind: str) -> Schema:
    """The schema of a GVariant type. An integer has the bounds of its width, a tuple is an array."""
    if kind in TYPES:
        return {"type": TYPES[kind]}
    if kind in gvariant.INTEGERS:
        least, greatest = gvariant.INTEGERS[kind]
        return {"type": "integer", "minimum": least, "maximum": greatest}
    if kind.startswith("("):
        members = [of_type(member) for member in gvariant.members(kind)]
        alike = members and all(member == members[0] for member in members)
        return {"type": "array"} | ({"items": members[0]} if alike else {})
    return {"type": "array", "items": of_type(kind[1:])}


def constraints(setting: Setting, schema: Schema) -> dict[str, bool]:
    """Each constraint of a GSettings key, and whether the JSON Schema has the same."""
    found = {}
    within = schema
    while "items" in within:
        within = within["items"]
    if setting.choices:
        found["choices"] = within.get("enum") == list(setting.choices)
    element = setting.kind.lstrip("a")
    least, greatest = gvariant.INTEGERS.get(element, (None, None))
    has_range = (setting.least, setting.greatest) != (None, None)
    if has_range or element in gvariant.INTEGERS:
        least = least if setting.least is None else setting.least
        greatest = greatest if setting.greatest is None else setting.greatest
        bounds = (within.get("minimum"), within.get("maximum"))
        found["ranges" if has_range else "widths of integers"] = bounds == (least, greatest)
    if "(" in setting.kind:
        found["lengths of tuples"] = False  # Kept has no keyword for it
    if setting.kind == "flags":
        found["flags that stand there at most once"] = False  # nor for this
    return found
