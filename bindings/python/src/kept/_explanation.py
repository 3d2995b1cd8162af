"""Why a key reads as it does: what each layer holds for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ._display import display_text
from ._key import Key, decoded_value
from ._layers import Layer
from ._refusal import NOT_SHOWN, Known
from ._types import JSON

Outcome = Literal["wins", "hidden", "skipped", "ignored", "locks", "silent"]
"""The outcome of a layer's value: it is read; a higher layer hides it; it does not fit the declaration; the key is
locked, so the layer is not read; the layer locks the key and has no value; the layer has nothing for the key."""


@dataclass(frozen=True)
class LayerFinding:
    """The value that one layer holds for a key. In Swift: `Explanation.LayerFinding`."""

    layer: Layer
    outcome: Outcome
    value: JSON
    """Its value; None if it has none that can be read, and for a secret."""
    source: str | None
    """The file, the argument or the variable that holds it."""
    problem: str | None
    """Why its value does not count, or its file cannot be read."""
    former_name: str | None = None
    """The former name of the key, if the layer has it, or locks it, under that."""


@dataclass(frozen=True)
class Explanation:
    """The value of a key, and the reason; made by `Settings.explain`. `str()` gives a small table.

    In C: `kept_explain_json`. In Swift: `Explanation`."""

    key: str
    value: JSON
    """The value; None if it is absent, and for a secret."""
    layer: Layer | None
    """The layer that the value comes from; None if the key is absent."""
    locked: bool
    """Whether an administrator has locked the key."""
    secret: bool
    """Whether values must not be written to a log or a screen; then they are left out here."""
    revision: int
    """The revision that last changed the stored value; 0 if there is none."""
    reason: str
    """What decides, and what becomes of the other values, in one sentence for people."""
    layers: tuple[LayerFinding, ...]
    """The findings of the layers that the store has, the highest first."""

    def __str__(self) -> str:
        value = "absent" if self.layer is None else "secret" if self.secret else repr(self.value)
        rows = [(finding.layer.name.lower(), finding.outcome, self._shown(finding)) for finding in self.layers]
        width = max((len(name) for name, _, _ in rows), default=0)
        table = [f"  {name:{width}}  {outcome:7}  {shown}".rstrip() for name, outcome, shown in rows]
        return "\n".join([f"{display_text(self.key)} = {value}: {display_text(self.reason)}", *table])

    def _shown(self, finding: LayerFinding) -> str:
        if finding.outcome in ("silent", "locks"):
            value = None
        else:
            value = "(secret)" if self.secret else repr(finding.value)
        source = f"({display_text(finding.source)})" if finding.source else None
        former = f"formerly {display_text(finding.former_name)}" if finding.former_name else None
        problem = display_text(finding.problem) if finding.problem else None
        return "  ".join(part for part in (value, source, former, problem) if part)


def explanation(text: bytes, key: str | Key[Any]) -> Explanation:
    """The explanation that `kept_explain_json` returns."""
    members: Any = decoded_value(text, key, Known(True))
    if isinstance(key, Key) and key._is_secret(key) and not members["secret"]:
        _hide(members)
    return Explanation(
        key=members["key"],
        value=members.get("value"),
        layer=_named(members.get("layer")),
        locked=members["locked"],
        secret=members["secret"],
        revision=members.get("revision", 0),
        reason=members["reason"],
        layers=tuple(
            LayerFinding(
                Layer[finding["layer"].upper()],
                finding["outcome"],
                finding.get("value"),
                finding.get("source"),
                finding.get("problem"),
                finding.get("formerName"),
            )
            for finding in members["layers"]
        ),
    )


def _hide(members: dict[str, Any]) -> None:
    """Leaves out what the library would leave out if it knew that the key is secret."""
    members["secret"] = True
    for part in (members, *members["layers"]):
        part.pop("value", None)
        if "problem" in part and part["outcome"] in ("skipped", "ignored"):
            part["problem"] = f"its value is not used; {NOT_SHOWN}"


def _named(name: str | None) -> Layer | None:
    return None if name is None else Layer[name.upper()]
