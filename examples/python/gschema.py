"""Reads GSettings schemas: the typed keys of a folder of *.gschema.xml files, with their defaults."""

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


@dataclass(frozen=True)
class Schemas:
    """What a folder holds."""

    files: int
    schemas: int
    settings: list[Setting]
    unread: dict[str, str]
    """Keys that could not be read, each with the reason."""


def read_folder(folder: Path) -> Schemas:
    """Reads every schema of a folder. An enum may stand in another file than the key that uses it."""
    files = sorted(folder.glob("*.xml"))
    roots = [ElementTree.parse(file).getroot() for file in files]
    nicks = {
        element.get("id", ""): {value.get("nick", "") for value in element.iter("value")}
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


def _setting(key: str, element: ElementTree.Element, nicks: dict[str, set[str]]) -> Setting:
    text = element.findtext("default") or ""
    kind = element.get("type")
    if kind is not None:
        default = gvariant.parse(kind, text)
        _check_range(element, kind, default)
        _check_nicks([default], {choice.get("value", "") for choice in element.iter("choice")})
        return Setting(key, kind, default)
    if (enum := element.get("enum")) is not None:
        default = gvariant.parse("s", text)
        _check_nicks([default], nicks[enum])
        return Setting(key, "enum", default)
    default = gvariant.parse("as", text)
    _check_nicks(default, nicks[element.get("flags", "")])
    return Setting(key, "flags", default)


def _check_range(element: ElementTree.Element, kind: str, default: Any) -> None:
    span = element.find("range")
    if span is None:
        return
    least, greatest = (span.get(end) for end in ("min", "max"))
    if least is not None and default < gvariant.parse(kind, least):
        raise ValueError(f"the default {default} is below {least}")
    if greatest is not None and default > gvariant.parse(kind, greatest):
        raise ValueError(f"the default {default} is above {greatest}")


def _check_nicks(values: list[Any], allowed: set[str]) -> None:
    if allowed and (unknown := set(values) - allowed):
        raise ValueError(f"the default {sorted(unknown)} is none of {sorted(allowed)}")
