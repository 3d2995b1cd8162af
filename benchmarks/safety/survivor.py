"""survivor.py NAME FOLDER: opens a store and obeys its standard input, line by line; at its end, closes the store.

It first says `opened`, or `failed REASON` and ends. Then, for each line that it reads:

    set FIRST COUNT WIDTH PAUSE   sets so many numbers, each under its name, as a text of so many characters, with a
                                  pause of so many microseconds after each; says each as soon as its set has returned,
                                  and `failed REASON` at the first that has not
    get COUNT                     reads so many names, and says a line for each: `= TEXT`, `absent` or `failed REASON`

and at the end of a line's work, `done`. `warned REASON` may stand anywhere: the store told of damage, and went on.
The survivor of Foundation's UserDefaults (swift/Sources/survivor) does the same.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from stores import STORES, Store

RING = 1000
"""So many names there are, then a number has the first one again. GSettings wants to know them all beforehand."""
WIDTH = 20
"""Characters of a text, where its length does not matter."""


def name(number: int) -> str:
    return f"setting-{number % RING:04}"


def text(number: int, width: int) -> str:
    return f"{number:0{width}}"


def say(line: str) -> None:
    # One call of the system a line, so that a kill cuts none in two.
    sys.stdout.write(" ".join(line.split("\n")) + "\n")
    sys.stdout.flush()


def reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def set_numbers(store: Store, first: int, count: int, width: int, pause: int) -> None:
    for number in range(first, first + count):
        try:
            store.set(name(number), text(number, width))
        except Exception as error:
            return say(f"failed {reason(error)}")
        say(str(number))
        if pause:
            time.sleep(pause / 1e6)


def get_names(store: Store, count: int) -> None:
    for index in range(count):
        try:
            found = store.get(name(index))
        except Exception as error:
            say(f"failed {reason(error)}")
        else:
            say("absent" if found is None else f"= {found}")


COMMANDS: dict[str, Callable[..., None]] = {"set": set_numbers, "get": get_names}


def main() -> None:
    warnings.showwarning = lambda message, *_, **__: say(f"warned {message}")
    warnings.simplefilter("always")
    # What damage has made of a text need not be text.
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    try:
        store = STORES[sys.argv[1]](Path(sys.argv[2]))
        say("opened")
        for line in sys.stdin:
            command, *numbers = line.split()
            COMMANDS[command](store, *map(int, numbers))
            say("done")
        store.close()
    except Exception as error:
        say(f"failed {reason(error)}")


if __name__ == "__main__":
    main()
