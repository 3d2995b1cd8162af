"""The forms of text in a scenario."""

from __future__ import annotations

from typing import Any

import kept

Step = dict[str, Any]


def text(form: Any) -> bytes:
    """The bytes that a form of a text means."""
    match form:
        case str():
            return form.encode()
        case {"hex": str(digits)}:
            return bytes.fromhex(digits)
        case {"repeat": part, "times": int(times)}:
            return text(part) * times
        case {"join": parts}:
            return b"".join(map(text, parts))
    raise AssertionError(f"{form} is not text")


def word(form: Any) -> str:
    """A text as the package takes it. A byte that is not UTF-8 becomes a lone surrogate, as ill-formed as the byte."""
    return text(form).decode("utf-8", "surrogateescape")


def name_of_layer(layer: kept.Layer | None) -> str:
    return "none" if layer is None else layer.name.lower()
