"""Where a value comes from: the layers, and why it is this value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from ._c import layers
from ._json import JSON, decode


class Layer(Enum):
    """A source of values; the higher one decides. In C: `KEPT_LAYER_…`. In Swift: `Layer`."""

    DECLARED = layers.KEPT_LAYER_DECLARED
    """The defaults that keys are declared with."""
    REGISTERED = layers.KEPT_LAYER_REGISTERED
    """The defaults that this program has registered."""
    SYSTEM = layers.KEPT_LAYER_SYSTEM
    """The administrator's defaults."""
    USER = layers.KEPT_LAYER_USER
    """The store."""
    ENVIRONMENT = layers.KEPT_LAYER_ENVIRONMENT
    """Variables of the environment."""
    ARGUMENTS = layers.KEPT_LAYER_ARGUMENTS
    """The command line."""
    MANAGED = layers.KEPT_LAYER_MANAGED
    """What the administrator prescribes."""


def layer_of_number(number: int) -> Layer | None:
    """None: no layer has a value, or it is one of a later version."""
    return _LAYERS.get(number)


_LAYERS = {layer.value: layer for layer in Layer}

TEXT_LAYERS = frozenset({Layer.ARGUMENTS, Layer.ENVIRONMENT})
"""The layers that hide what is written."""

Verdict = Literal["wins", "hidden", "skipped", "ignored", "locks", "silent"]
"""What becomes of what a layer says: it decides; a higher one does; it does not fit the declaration; the key is locked
and the layer is not asked; it locks the key and has no value; it says nothing."""


@dataclass(frozen=True)
class Opinion:
    """What one layer has to say of a key. In Swift: `Explanation.Opinion`."""

    layer: Layer
    verdict: Verdict
    value: JSON
    """What it has, as far as it can be read; None where it has nothing, and for a secret."""
    source: str | None
    """The file, the argument or the variable that it stands in."""
    problem: str | None
    """Why its value does not count, or its file cannot be read."""


@dataclass(frozen=True)
class Explanation:
    """What a key reads as, and why; made by `Settings.explain`. As text it is a small table.

    In C: `kept_explain_json`. In Swift: `Explanation`."""

    key: str
    value: JSON
    """What it reads as; None where it is absent, and for a secret."""
    layer: Layer | None
    """Where that comes from; None: it is absent."""
    locked: bool
    """Whether an administrator has locked the key."""
    secret: bool
    """Whether values must not be written to a log or a screen; then they are left out here."""
    revision: int
    """The revision that last changed what is stored; 0: nothing is."""
    reason: str
    """The whole of it in one sentence."""
    layers: tuple[Opinion, ...]
    """What each layer that was given has to say, the highest first."""

    def __str__(self) -> str:
        value = "absent" if self.layer is None else "secret" if self.secret else repr(self.value)
        rows = [(opinion.layer.name.lower(), opinion.verdict, self._shown(opinion)) for opinion in self.layers]
        width = max((len(name) for name, _, _ in rows), default=0)
        table = [f"  {name:{width}}  {verdict:7}  {shown}".rstrip() for name, verdict, shown in rows]
        return "\n".join([f"{self.key} = {value}: {self.reason}", *table])

    def _shown(self, opinion: Opinion) -> str:
        if opinion.verdict in ("silent", "locks"):
            value = None
        else:
            value = "(secret)" if self.secret else repr(opinion.value)
        source = f"({opinion.source})" if opinion.source else None
        return "  ".join(part for part in (value, source, opinion.problem) if part)


def explanation(text: bytes, key: str) -> Explanation:
    """What `kept_explain_json` says."""
    told: Any = decode(text, key)
    return Explanation(
        key=told["key"],
        value=told.get("value"),
        layer=_named(told.get("layer")),
        locked=told["locked"],
        secret=told["secret"],
        revision=told.get("revision", 0),
        reason=told["reason"],
        layers=tuple(
            Opinion(
                Layer[opinion["layer"].upper()],
                opinion["verdict"],
                opinion.get("value"),
                opinion.get("source"),
                opinion.get("problem"),
            )
            for opinion in told["layers"]
        ),
    )


def _named(name: str | None) -> Layer | None:
    return None if name is None else Layer[name.upper()]
