"""Measures how `kept browse` keeps up: soak.py [--keys 100000] [--changed 10000] [--rate 1000] [--seconds 60].

The browser shows a store with declared keys, summaries and values on a pseudo-terminal, while another process changes
the store. A table lists the time from a change to the screen, the time from a keystroke to its effect, and the memory
of the program. Run it with the Python of .venv, and with KEPT_LIBRARY and PYTHONPATH as for the browser's tests.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import kept
from terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROBE = "a.probe"
"""The first key, which the list has in view."""

WAIT = 10.0
"""The time limit for any event, in seconds."""


def name_of(number: int) -> str:
    return f"group{number // 100:04}.setting{number:06}"


def fill(location: str, keys: int) -> None:
    """Creates a store where every key has a declaration with a summary, and a value."""
    words = "colour volume speed of the first second window network printer used shown when".split()
    chosen = random.Random(1)
    with kept.open(location) as settings:
        settings.declare({PROBE: {"type": "string", "summary": "what is measured"}})
        settings[PROBE] = "begin"
        for start in range(0, keys, 10_000):
            numbers = range(start, min(start + 10_000, keys))
            settings.declare(
                {
                    name_of(number): {"type": "integer", "default": 0, "summary": " ".join(chosen.choices(words, k=6))}
                    for number in numbers
                }
            )
            with settings.transaction() as transaction:
                for number in numbers:
                    transaction[name_of(number)] = number


def write(location: str, changed: int, rate: int, keys: int) -> None:
    """Runs the process that changes `rate` keys a second, one commit each, until its input ends. A line of input is a
    value for the probe. The answer is the time before it was set."""
    import select

    chosen = random.Random(2)
    numbers = chosen.sample(range(keys), min(changed, keys))
    with kept.open(location, tag="soak") as settings:
        print("ready", flush=True)
        begun, done = time.monotonic(), 0
        while True:
            due = int((time.monotonic() - begun) * rate)
            for _ in range(min(due - done, 200)):
                settings[name_of(chosen.choice(numbers))] = chosen.randrange(1_000_000)
                done += 1
            if select.select([sys.stdin], [], [], 0.002 if rate else 1)[0]:
                line = sys.stdin.readline().strip()
                if not line:
                    break
                now = time.monotonic()
                settings[PROBE] = line
                print(now, flush=True)
        print(f"{done / (time.monotonic() - begun):.0f} changes a second", file=sys.stderr)


class Writer:
    """The handle of that process."""

    def __init__(self, location: str, changed: int, rate: int, keys: int) -> None:
        arguments = ["--write", location, "--changed", str(changed), "--rate", str(rate), "--keys", str(keys)]
        self._process = subprocess.Popen(
            [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdin and self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        assert self._output.readline() == "ready\n"

    def set(self, value: str) -> float:
        """Sets the probe. Returns the time before it was set."""
        self._input.write(f"{value}\n")
        self._input.flush()
        return float(self._output.readline())

    def end(self) -> None:
        self._input.close()
        self._process.wait()
        self._output.close()


def row(title: str, times: list[float]) -> str:
    """A line of the table, from times in seconds."""
    if not times:
        return f"| {title} | 0 | | | |"
    times = sorted(times)
    at = [times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.99)]
    return f"| {title} | {len(times)} | {' | '.join(f'{time * 1000:.0f} ms' for time in (*at, times[-1]))} |"


class Soak:
    """The browser on a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._number = 0

    def seen(self, text: str, begun: float) -> float:
        """The time until a text is on the terminal."""
        self.terminal.wait(text)
        return time.monotonic() - begun

    def probe(self, writer: Writer) -> float:
        """The time from setting a key in another process until the screen shows the value."""
        self._number += 1
        value = f"probe-{self._number:06}."
        self.terminal.type("")
        return self.seen(value, writer.set(value))

    def press(self, key: str, effect: str) -> float:
        """The time from a keystroke until a text appears."""
        begun = time.monotonic()
        self.terminal.type(key)
        return self.seen(effect, begun)

    @property
    def memory(self) -> float:
        """The resident memory, in MB."""
        pages = int(Path(f"/proc/{self.terminal.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6


def moved(soak: Soak) -> Iterator[float]:
    """Times of moving the cursor down and up. The effect is the key in the line of details."""
    place = 0
    while True:
        for step in (1,) * 9 + (-1,) * 9:
            place += step
            key = name_of(place - 1) if place else PROBE
            yield soak.press("j" if step > 0 else "k", key + " " * 30)


async def inside(location: str, keys: int) -> list[str]:
    """Measures without a terminal: the first rows, and keystrokes in the search box."""
    from kept_browse._app import Browser
    from kept_browse._keys import KeysScreen
    from kept_browse._search import Query

    lines = []
    for repeat in range(3):
        browser = Browser(location)
        begun = time.monotonic()
        async with browser.run_test(size=(100, 30)) as pilot:
            while not (isinstance(browser.screen, KeysScreen) and len(browser.screen.session.catalog.rows) > 20):
                await asyncio.sleep(0.001)
            first = time.monotonic() - begun
            catalog = browser.screen.session.catalog
            while not catalog.is_complete:
                await asyncio.sleep(0.01)
            whole = time.monotonic() - begun
            if repeat == 2:
                lines += [row("program begun to first rows, in the process", [first]), row("all rows read", [whole])]
                times = []
                for text in ("volume window", "setting099999", "@modified", "colour @recent"):
                    for end in range(1, len(text) + 1):
                        begun = time.perf_counter()
                        catalog.select(Query.of(text[:end]))
                        times.append(time.perf_counter() - begun)
                lines.append(row("a search, the selection alone", times))
            await pilot.pause()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--changed", type=int, default=10_000, help="how many keys are changed")
    parser.add_argument("--rate", type=int, default=1000, help="changes a second")
    parser.add_argument("--seconds", type=float, default=60, help="for each part under changes")
    parser.add_argument("--write", metavar="STORE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.write:
        write(asked.write, asked.changed, asked.rate, asked.keys)
        return
    with TemporaryDirectory() as folder:
        location = f"{folder}/soak.kept"
        fill(location, asked.keys)
        print(f"load {os.getloadavg()[0]:.2f}", file=sys.stderr)
        print("| | measured | p50 | p99 | max |\n|---|---|---|---|---|", flush=True)
        for line in asyncio.run(inside(location, asked.keys)):
            print(line, flush=True)
        soaked(location, asked)


def soaked(location: str, asked: argparse.Namespace) -> None:
    """Measures on a terminal."""
    starts = []
    for _ in range(3):
        begun = time.monotonic()
        with Terminal(location, "--no-layers") as terminal:
            starts.append(Soak(terminal).seen(name_of(5), begun))
    print(row("process started to first rows", starts), flush=True)
    with Terminal(location, "--no-layers") as terminal:
        soak = Soak(terminal)
        terminal.wait(name_of(5))
        moves = moved(soak)
        print(row("keystroke in the list, while rows are read", [next(moves) for _ in range(18)]), flush=True)
        settle(soak)
        quiet = Writer(location, asked.changed, 0, asked.keys)
        print(row("change to screen, nothing else changes", paced(lambda: soak.probe(quiet), 10)), flush=True)
        quiet.end()
        print(row("keystroke in the list", paced(lambda: next(moves), 5)), flush=True)
        print(row("keystroke in the search box", searched(soak, 5)), flush=True)
        moves = moved(soak)  # again from the first row
        busy = Writer(location, asked.changed, asked.rate, asked.keys)
        title = f"{asked.rate:,} changes a second"
        paced(lambda: soak.probe(busy), 15)  # a warm-up
        before = soak.memory
        changes: list[float] = []
        keys: list[float] = []
        begun = time.monotonic()
        while time.monotonic() - begun < asked.seconds:
            changes += paced(lambda: soak.probe(busy), 2)
            keys += paced(lambda: next(moves), 2)
        print(row(f"change to screen, {title}", changes))
        print(row(f"keystroke in the list, {title}", keys))
        print(row(f"keystroke in the search box, {title}", searched(soak, asked.seconds / 2)), flush=True)
        soak.press("/", "")
        soak.press(PROBE, "1 of ")
        found = paced(lambda: soak.probe(busy), asked.seconds / 2)
        print(row(f"change to screen during a search, {title}", found))
        print(f"| memory before and after | | {before:.0f} MB | {soak.memory:.0f} MB | |", flush=True)
        busy.end()
        terminal.type("\x11")
        terminal.end()


def settle(soak: Soak) -> None:
    """Waits until all rows are read, when the program no longer uses the processor."""
    stat = Path(f"/proc/{soak.terminal.process.pid}/stat")
    used, idle = -1, 0
    while idle < 4:
        time.sleep(0.5)
        now = sum(map(int, stat.read_text().split()[13:15]))
        idle = idle + 1 if now - used <= 3 else 0
        used = now


def paced(call: Callable[[], float], seconds: float) -> list[float]:
    """Times of a call, about four a second."""
    chosen = random.Random(3)
    until, times = time.monotonic() + seconds, []
    while time.monotonic() < until:
        times.append(call())
        time.sleep(chosen.uniform(0.1, 0.3))
    return times


def searched(soak: Soak, seconds: float) -> list[float]:
    """Types searches letter by letter. The effect is the letter in the search box."""
    times: list[float] = []
    until = time.monotonic() + seconds
    soak.press("/", "")
    while time.monotonic() < until:
        for text in ("volume window", "setting099", "group0"):
            for end in range(1, len(text) + 1):
                times.append(soak.press(text[end - 1], f" {text[:end]} "))
                time.sleep(0.1)
            soak.press("\x15", "Search keys")
    soak.press("\x1b[27u", "")
    soak.press("g", PROBE)
    return times


if __name__ == "__main__":
    main()
