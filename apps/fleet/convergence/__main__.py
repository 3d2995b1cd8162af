"""Runs a fleet against its nemeses: python apps/fleet/convergence --rounds 200 --seed 1 --machines 5."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# For this process, and for those that it starts.
BINDING = str(ROOT / "bindings/python/src")
os.environ.setdefault("KEPT_LIBRARY", str(ROOT / "build/lib/libkept.so.0"))
os.environ["PYTHONPATH"] = BINDING
sys.path.insert(0, BINDING)

from checker import check  # noqa: E402 (it finds kept by the path above)
from nemeses import NEMESES  # noqa: E402
from records import load  # noqa: E402

from rounds import Options, Runner  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="convergence", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--first", type=int, default=1, help="the number of the first round")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--machines", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long programs write in a round, at most")
    parser.add_argument("--network", choices=["proxies", "namespaces"], default="proxies")
    parser.add_argument("--only", nargs="+", choices=NEMESES, default=list(NEMESES), metavar="NEMESIS")
    parser.add_argument("--program", default=os.environ.get("KEPT_FLEET"), help="kept-fleet, or KEPT_FLEET names it")
    parser.add_argument("--folder", type=Path, help="where logs are kept; it must not exist")
    parser.add_argument("--keep-going", action="store_true", help="go on after a round with faults")
    parser.add_argument("--check", type=Path, metavar="FILE", help="check a round that was saved, and run nothing")
    return parser.parse_args()


def new_folder() -> Path:
    memory = "/dev/shm"
    is_chosen = "TMPDIR" in os.environ or not os.access(memory, os.W_OK)
    return Path(tempfile.mkdtemp(prefix="convergence-", dir=None if is_chosen else memory))


def enter_namespaces() -> None:
    """Starts this program again where it may make networks that vanish with it."""
    if os.environ.get("FLEET_UNSHARED") is None:
        os.environ["FLEET_UNSHARED"] = "yes"
        command = [sys.executable, *sys.orig_argv[1:]]
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        mount = ["sh", "-c", 'mount -t tmpfs tmpfs /run && exec "$@"', "sh"]
        os.execvp("unshare", ["unshare", *user, "--net", "--mount", *mount, *command])


def main() -> int:
    chosen = arguments()
    if chosen.check:
        faults = check(load(chosen.check))
        print(*faults, sep="\n")
        return 1 if faults else 0
    if not chosen.program:
        sys.exit("convergence: --program or KEPT_FLEET must name kept-fleet, such as build/bin/kept-fleet")
    if chosen.network == "namespaces":
        enter_namespaces()
    folder = chosen.folder or new_folder()
    folder.mkdir(exist_ok=True)
    options = Options(
        *(folder, chosen.program, chosen.seed, chosen.machines, chosen.network, tuple(chosen.only), chosen.seconds)
    )
    return run(options, range(chosen.first, chosen.first + chosen.rounds), chosen.keep_going)


def run(options: Options, numbers: range, keeps_going: bool) -> int:
    print(f"seed {options.seed}, {options.machines} machines, {options.network}, logs in {options.folder}", flush=True)
    # Also then it ends what it has started.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    begin = time.monotonic()
    done, failed = 0, []
    rules: Counter[str] = Counter()
    runner = Runner(options)
    try:
        runner.start()
        for number in numbers:
            outcome = runner.run(number)
            done += 1
            result = "ok" if not outcome.faults else f"{len(outcome.faults)} FAULTS"
            print(f"round {number}: {outcome.nemesis}: {outcome.counts}; {outcome.seconds:.1f} s: {result}", flush=True)
            if outcome.faults:
                failed.append(number)
                rules.update(fault.rule for fault in outcome.faults)
                print(*(f"  {fault}" for fault in outcome.faults[:10]), sep="\n", flush=True)
                if not keeps_going:
                    break
    finally:
        runner.close()
    print(f"{done} rounds in {time.monotonic() - begin:.0f} s, seed {options.seed}: {len(failed)} with faults")
    if failed:
        print(f"rounds {failed}, rules {dict(rules)}; each is in {options.folder}/round-NUMBER.json")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
