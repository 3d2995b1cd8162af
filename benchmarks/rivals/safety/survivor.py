"""survivor.py NAME FOLDER: opens a store and executes the commands on its standard input; at its end, closes the store.

It first prints `opened`, or `failed REASON` and exits. Then, for each line that it reads:

    set FIRST COUNT WIDTH PAUSE   sets COUNT numbers, each under its name, as a text of WIDTH characters, with a pause
                                  of PAUSE microseconds after each; prints each as soon as its set has returned, and
                                  `failed REASON` at the first failure
    get COUNT                     reads COUNT names, and prints a line for each: `= TEXT`, `absent` or `failed REASON`

and at the end of a command, `done`. `warned REASON` may appear anywhere: the store reported damage, and continued.
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
"""The number of names; number N has name N modulo this. GSettings must know all names in advance."""
WIDTH = 20
"""Characters of a text, if its length does not matter."""


def name(number: int) -> str:
    return f"setting-{number % RING:04}"


def text(number: int, width: int) -> str:
    return f"{number:0{width}}"


def say(line: str) -> None:
    # One system call for each line, so that a kill does not split one.
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
    # Damage may have put invalid UTF-8 into a text.
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
