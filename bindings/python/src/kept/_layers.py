"""The layers that values come from."""

from __future__ import annotations

from enum import Enum

from ._c import layers


class Layer(Enum):
    """A source of values. The highest layer with a value decides. In C: `KEPT_LAYER_…`. In Swift: `Layer`."""

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
    """The values that the administrator enforces."""


def layer_of_number(number: int) -> Layer | None:
    """The layer; None if no layer has a value, or for a layer of a later version."""
    return _LAYERS.get(number)


_LAYERS = {layer.value: layer for layer in Layer}

TEXT_LAYERS = frozenset({Layer.ARGUMENTS, Layer.ENVIRONMENT})
"""The layers that hide written values."""
