"""Whether a machine without etcd reads and writes as fast as one without kept-fleet: disconnected.py KEPT_FLEET
[--guard build/guard]. Counts the instructions of a get and of a set with callgrind, in four situations, and prints a
table. `scripts/bench --check` builds the programs of --guard.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from etcds import Etcd, wait_for

HERE = Path(__file__).parent
IDENTIFIER = "com.example.player"
DOCUMENT = '{"values": {"audio.volume": 30}, "locked": ["audio.theme"]}'
OPERATIONS = {"get": 5000, "set": 1000}


def compile_program(guard: Path, folder: Path) -> Path:
    program, prefix = folder / "disconnected", guard / "prefix"
    sources = [str(HERE / "disconnected.c"), str(HERE.parents[2] / "benchmarks/rivals/c/fatal.c")]
    flags = ["-O2", "-D_GNU_SOURCE", f"-I{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lkept"]
    subprocess.run(["cc", "-o", str(program), *sources, *flags], check=True)
    return program


def count(program: Path, guard: Path, folder: Path, operation: str) -> float:
    for path in folder.glob("store*"):
        subprocess.run(["rm", "-r", str(path)], check=True)
    # Random numbers are the same in all runs: they seed the hashes of Kept and Swift.
    seeds = {"LD_PRELOAD": str(guard / "programs/libcounting.so"), "SWIFT_DETERMINISTIC_HASHING": "1"}
    command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--callgrind-out-file=/dev/null"]
    command += [str(program), str(folder), operation, str(OPERATIONS[operation])]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | seeds)
    found = re.search(r"Collected : (\d+)", ran.stderr)
    if not found:
        raise RuntimeError(f"callgrind printed no number of instructions; it said:\n{ran.stderr}")
    return int(found[1]) / OPERATIONS[operation]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept_fleet")
    parser.add_argument("--guard", type=Path, default=Path("build/guard"))
    asked = parser.parse_args()
    guard = asked.guard.resolve()
    counts: dict[str, list[float]] = {}
    with TemporaryDirectory() as name:
        folder, machine, status = Path(name), Path(name) / "machine", Path(name) / "status.json"
        machine.mkdir()
        program = compile_program(guard, folder)

        def add(situation: str) -> None:
            counts[situation] = [count(program, guard, machine, operation) for operation in OPERATIONS]

        (machine / "managed.json").write_text(DOCUMENT)
        add("no kept-fleet, no etcd")
        (machine / "managed.json").unlink()
        etcd = Etcd(folder)
        follower = None
        try:
            etcd.ctl("put", f"/kept/{IDENTIFIER}/managed", DOCUMENT)
            follow = [asked.kept_fleet, "follow", IDENTIFIER, "--etcd", etcd.urls[0], "--folder", str(machine)]
            with (folder / "log").open("wb") as log:
                follower = subprocess.Popen([*follow, "--host", "web1", "--status-file", str(status)], stderr=log)
            wait_for(lambda: (machine / "managed.json").exists(), "the document is on the machine")
            add("kept-fleet follows")
            etcd.kill()
            wait_for(lambda: '"connected":false' in status.read_text(), "kept-fleet notices that etcd is away")
            add("kept-fleet without etcd")
            time.sleep(60)
            add("kept-fleet, a minute later")
            assert follower.poll() is None
        finally:
            if follower:
                follower.kill()
                follower.wait()
            etcd.kill()
    print("| | " + " | ".join(f"a {operation}" for operation in OPERATIONS) + " |\n|---|---|---|")
    for situation, figures in counts.items():
        print(f"| {situation} | " + " | ".join(f"{figure:,.1f}" for figure in figures) + " |")


if __name__ == "__main__":
    main()
