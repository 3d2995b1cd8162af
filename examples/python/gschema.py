"""Reads GSettings schemas: the typed keys of a folder of *.gschema.xml files.

A key has a type, a default and a summary; an enum, flags or choices; a range.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gvariant


@dataclass(frozen=True)
class Setting:
    """A key of a schema."""

    key: str
    """The schema's id and the key's name: "org.gnome.desktop.sound.event-sounds"."""
    kind: str
    """A GVariant type, or "enum" or "flags"."""
    default: Any
    summary: str | None = None
    choices: tuple[str, ...] = ()
    """The permitted strings: of an enum, of flags, or of a string with choices."""
    least: Any = None
    """The smallest number of a range."""
    greatest: Any = None


@dataclass(frozen=True)
class Schemas:
    """The contents of a folder."""

    files: int
    schemas: int
    settings: list[Setting]
    unread: dict[str, str]
    """Keys that could not be read, each with the reason."""


def read_folder(folder: Path) -> Schemas:
    """Reads every schema of a folder. An enum may be in another file than the key that uses it."""
    files = sorted(folder.glob("*.xml"))
    roots = [ElementTree.parse(file).getroot() for file in files]
    nicks = {
        element.get("id", ""): tuple(value.get("nick", "") for value in element.iter("value"))
        for root in roots
        for element in root
        if element.tag in ("enum", "flags")
    }
    settings: list[Setting] = []
    unread: dict[str, str] = {}
    schemas = [schema for root in roots for schema in root.iter("schema")]
    for key, element in _keys(schemas):
        try:
            settings.append(_setting(key, element, nicks))
        except ValueError as error:
            unread[key] = str(error)
    return Schemas(len(files), len(schemas), settings, unread)


def _keys(schemas: list[ElementTree.Element]) -> Iterator[tuple[str, ElementTree.Element]]:
    for schema in schemas:
        for element in schema.iter("key"):
            yield f"{schema.get('id')}.{element.get('name')}", element


def _setting(key: str, element: ElementTree.Element, nicks: dict[str, tuple[str, ...]]) -> Setting:
    text, summary = element.findtext("default") or "", " ".join(element.findtext("summary", "").split()) or None
    kind = element.get("type")
    if kind is not None:
        default = gvariant.parse(kind, text)
        choices = tuple(choice.get("value", "") for choice in element.iter("choice"))
        _check_nicks([default], choices)
        return Setting(key, kind, default, summary, choices, *_range(element, kind, default))
    if (enum := element.get("enum")) is not None:
        default = gvariant.parse("s", text)
        _check_nicks([default], nicks[enum])
        return Setting(key, "enum", default, summary, nicks[enum])
    flags = nicks[element.get("flags", "")]
    default = gvariant.parse("as", text)
    _check_nicks(default, flags)
    return Setting(key, "flags", default, summary, flags)


def _range(element: ElementTree.Element, kind: str, default: Any) -> tuple[Any, Any]:
    """The least and the greatest value, if there is a range."""
    span = element.find("range")
    ends = (None, None) if span is None else (span.get("min"), span.get("max"))
    least, greatest = (None if end is None else gvariant.parse(kind, end) for end in ends)
    if least is not None and default < least:
        raise ValueError(f"the default {default} is below {least}")
    if greatest is not None and default > greatest:
        raise ValueError(f"the default {default} is above {greatest}")
    return least, greatest


def _check_nicks(values: list[Any], allowed: tuple[str, ...]) -> None:
    if allowed and (unknown := set(values) - set(allowed)):
        raise ValueError(f"the default {sorted(unknown)} is none of {sorted(allowed)}")
