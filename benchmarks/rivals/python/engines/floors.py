"""Lower bounds for the rows."""

from __future__ import annotations

import ctypes
from itertools import cycle, islice, repeat

from kept._c.library import library
from names import SHUFFLED


class Dictionary:
    """The floor of reading: a plain dict."""

    def __init__(self) -> None:
        self.plain = dict.fromkeys(SHUFFLED, 1)
        self.ring = cycle(SHUFFLED)

    def get(self, operations: int) -> None:
        plain = self.plain
        for name in islice(self.ring, operations):
            plain[name]


class BareCall:
    """The cheapest call into libkept.so with ctypes: no arguments, an integer result."""

    def __init__(self) -> None:
        self.function = ctypes.CDLL(library._name).kept_version
        self.function.restype = ctypes.c_size_t

    def call(self, operations: int) -> None:
        function = self.function
        for _ in repeat(None, operations):
            function()
