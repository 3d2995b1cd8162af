"""rows.py FOLDER [--quick] [--only TEXT]: runs the rows of Python, all or those whose name contains TEXT, and prints a
line of JSON for each. Stores are created in FOLDER."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import starting
from comparisons import Comparison, open_and_read, read_again, read_first, write, write_hundred
from engines import KEPT_BY_KEY, KEPT_BY_NAME, RIVALS
from engines.engine import Engine
from engines.floors import BareCall, Dictionary
from names import Value
from rounds import FULL, QUICK, Candidate, Kind, line, measure, timed

NUMBER, TEXT, LONG_TEXT = 1, "twenty bytes of text", "x" * 1024
DICTIONARY = Candidate("dict", timed(Dictionary().get), role="floor")
BARE_CALL = Candidate("bare ctypes call", timed(BareCall().call), role="floor")


@dataclass(frozen=True)
class Row:
    """Kept and its rivals in one comparison."""

    name: str
    goals: list[str]
    kind: Kind
    comparison: Comparison
    engines: dict[str, type[Engine]]
    example: Value = NUMBER
    floors: tuple[Candidate, ...] = ()
    section = "Python"

    @contextmanager
    def candidates(self, folder: Path) -> Iterator[list[Candidate]]:
        with ExitStack() as stack:
            prepared = [
                Candidate(name, stack.enter_context(self.comparison(engine, folder / name, self.example)))
                for name, engine in self.engines.items()
            ]
            yield [*prepared, *self.floors]


BY_KEY, BY_NAME = KEPT_BY_KEY | RIVALS, KEPT_BY_NAME | RIVALS
WITH_TRANSACTIONS = {name: engine for name, engine in BY_KEY.items() if engine.together}
READING = (DICTIONARY, BARE_CALL)
ROWS: list[Row | starting.Row] = [
    Row("get by kept.Key, read before", ["<= 100 ns"], "reading", read_again, BY_KEY, NUMBER, READING),
    Row("get by name, read before", ["<= 100 ns"], "reading", read_again, BY_NAME, NUMBER, READING),
    Row("get 20-byte str by kept.Key, read before", [], "reading", read_again, BY_KEY, TEXT, READING),
    Row("get by kept.Key, never read before", [], "reading", read_first, BY_KEY, NUMBER, READING),
    Row("set by kept.Key", ["<= 1.5 x sqlite3"], "writing", write, BY_KEY, NUMBER, (BARE_CALL,)),
    Row("set of a 1 KB str by kept.Key", [], "writing", write, BY_KEY, LONG_TEXT),
    Row("100 sets in one transaction, each", [], "writing", write_hundred, WITH_TRANSACTIONS),
    Row("open to first value in Python", [], "opening", open_and_read, BY_KEY),
    starting.Row(),
]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    plans = QUICK if options.quick else FULL
    for row in ROWS:
        if options.only in row.name:
            print(f"bench: {row.name}", file=sys.stderr)
            with TemporaryDirectory(dir=options.folder) as folder, row.candidates(Path(folder)) as candidates:
                results = measure(candidates, plans[row.kind])
                print(line(row.section, row.name, row.goals, candidates, results), flush=True)


main()
