"""Where the instructions of one operation go: the functions that Kept runs for it, by inclusive and by own cost."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from instructions import OPERATIONS, Counter, callgrind
from rows import KEPT

COUNT = 4000
FUNCTIONS = 45
LINE = re.compile(r" *(?P<cost>[\d,]+) \( ?[\d.]+%\)  [^ ]*?:(?P<function>.+?)(?: \[[^\]]*\])?$")
ABOVE = re.compile(r"/operations\]|/ld-linux|libc_start|TOTALS")


def profile(counter: Counter) -> str:
    return "\n".join(_of(counter, name, loop) for name, loop in OPERATIONS.items())


def _of(counter: Counter, name: str, loop: str) -> str:
    out = counter.stores / f"{loop}.callgrind"
    command = [str(counter.operations), str(counter.stores), KEPT, loop, str(COUNT)]
    callgrind(*command, environment=counter.environment, out=out)
    parts = []
    for inclusive, title in [("yes", "with all that it calls"), ("no", "itself")]:
        costs = _costs(out, inclusive)
        lines = [f"{cost:>9,.0f}  {function}" for function, cost in costs[:FUNCTIONS]]
        parts.append(f"{name}: instructions of one, each function {title}\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _costs(out: Path, inclusive: str) -> list[tuple[str, float]]:
    """The functions by cost, from kept.h downwards; if inlined in several places, by the most expensive part."""
    annotate = ["callgrind_annotate", f"--inclusive={inclusive}", "--threshold=100", str(out)]
    annotated = subprocess.run(annotate, capture_output=True, text=True, check=True).stdout
    demangle = ["swift", "demangle", "--simplified"]
    readable = subprocess.run(demangle, input=annotated, capture_output=True, text=True, check=True).stdout
    costs: dict[str, float] = {}
    for line in readable.splitlines():
        if (found := LINE.match(line)) and not ABOVE.search(line):
            cost = int(found["cost"].replace(",", "")) / COUNT
            costs[found["function"]] = max(costs.get(found["function"], 0), cost)
    return sorted(costs.items(), key=lambda each: -each[1])
