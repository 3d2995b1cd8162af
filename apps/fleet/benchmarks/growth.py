"""How etcd's database grows by the reports of machines, and what compaction does: growth.py PROGRAM [--machines 1000]
[--every 10] [--seconds 120]. PROGRAM is `fleet-simulation`. The machines report far more often than those of a fleet.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from capacity import Simulation
from etcds import Etcd

STEP = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--machines", type=int, default=1000)
    parser.add_argument("--every", type=float, default=10, help="seconds between two reports of a machine")
    parser.add_argument("--seconds", type=int, default=120, help="for each half: without compaction, and with it")
    asked = parser.parse_args()
    with TemporaryDirectory() as folder:
        etcd = Etcd(Path(folder))
        options = ["--machines", str(asked.machines), "--report-every", str(asked.every)]
        simulation = Simulation(asked.program, etcd, *options)
        try:
            simulation.do("start 1")
            print("| | reports | file | in use |\n|---|---|---|---|")
            for compacts in (False, True):
                for _ in range(asked.seconds // STEP):
                    counts = simulation.do(f"wait {STEP}")
                    if compacts:
                        etcd.compact()
                    file, used = etcd.sizes()
                    title = f"compacted every {STEP} s" if compacts else "not compacted"
                    print(f"| {title} | {counts['reports']:,.0f} | {file:.1f} MB | {used:.1f} MB |", flush=True)
            etcd.ctl("defrag", at=etcd.members[0].url)
            file, used = etcd.sizes()
            print(f"| defragmented | | {file:.1f} MB | {used:.1f} MB |")
        finally:
            simulation.end()
            etcd.kill()


if __name__ == "__main__":
    main()
