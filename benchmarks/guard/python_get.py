"""python_get.py FOLDER LIBRARY COUNT: gets a key COUNT times inside the function `profiled` of LIBRARY, so that
callgrind can count its instructions (runner/instructions.py)."""

from __future__ import annotations

import ctypes
import sys
from itertools import repeat

import kept


def main() -> None:
    folder, library, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    volume = kept.Key("audio.volume", int)
    with kept.open(f"{folder}/python.kept") as store:
        store[volume] = 60

        def loop() -> None:
            for _ in repeat(None, count):
                store[volume]

        loop()
        ctypes.CDLL(library).profiled(ctypes.CFUNCTYPE(None)(loop))


main()
