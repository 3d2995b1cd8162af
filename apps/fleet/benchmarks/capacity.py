"""What machines that follow ask of etcd: capacity.py PROGRAM --machines N... [--members 1] [--proxies 0] [--share 1]
[--jitter 1] [--idle 60] [--document 1000] [--restart]. Prints JSON, and a table.

PROGRAM is `fleet-simulation` of apps/fleet, a release build. Run as root: it needs a network of its own, and
counts its bytes. Nothing else should run: the processors that others use are in the JSON, as "cpu others".
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from etcds import TICKS, Etcd

Answer = dict[str, float]


def bytes_so_far() -> int:
    """All bytes of the loopback interface, with the headers of TCP and IP."""
    line = next(each for each in Path("/proc/net/dev").read_text().splitlines() if each.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[0])


def busy_seconds() -> float:
    """Seconds that all processors of this machine have worked so far."""
    fields = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICKS


class Simulation:
    """The process of the machines."""

    def __init__(self, program: str, etcd: Etcd, *options: str) -> None:
        self.etcd = etcd
        self.process = subprocess.Popen(
            [program, "--etcd", *etcd.urls, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def do(self, command: str) -> Answer:
        """Runs a command; adds what it cost."""
        assert self.process.stdin and self.process.stdout
        etcd, proxies, own, all_busy, sent, start = *self._cpu(), busy_seconds(), bytes_so_far(), time.monotonic()
        print(command, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f'the simulation ended at "{command}"')
        answer: Answer = json.loads(line)
        after = self._cpu()
        answer["seconds"] = time.monotonic() - start
        answer["bytes"] = bytes_so_far() - sent
        answer["cpu etcd"], answer["cpu proxies"] = after[0] - etcd, after[1] - proxies
        answer["cpu machines"] = after[2] - own
        answer["cpu others"] = busy_seconds() - all_busy - sum(after) + etcd + proxies + own
        answer["memory etcd"] = sum(each.memory() for each in self.etcd.members)
        answer["memory proxies"] = sum(each.memory() for each in self.etcd.proxies)
        print(f"  {command}: {json.dumps({k: round(v, 3) for k, v in answer.items()})}", file=sys.stderr, flush=True)
        return answer

    def _cpu(self) -> tuple[float, float, float]:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        own = (int(fields[11]) + int(fields[12])) / TICKS
        return sum(each.cpu for each in self.etcd.members), sum(each.cpu for each in self.etcd.proxies), own

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def measure(count: int, asked: argparse.Namespace) -> dict[str, Answer]:
    with TemporaryDirectory(dir=asked.folder) as folder:
        etcd = Etcd(Path(folder), asked.members, asked.proxies)
        simulation = Simulation(
            asked.program, etcd, "--machines", str(count), "--share", str(asked.share), *asked.options
        )
        found: dict[str, Answer] = {}
        try:
            found["write before"] = simulation.do("write 100")
            found["start"] = simulation.do(f"start {asked.jitter}")
            simulation.do("wait 10")
            found["idle"] = simulation.do(f"wait {asked.idle}")
            found["write"] = simulation.do("write 100")
            for number in range(asked.publications):
                found[f"publish {number}"] = simulation.do(f"publish {asked.document}")
            if asked.restart:
                etcd.members[0].kill()
                if asked.members == 1:
                    simulation.do("away")
                    etcd.members[0].start()
                else:
                    time.sleep(1)
                found["back"] = simulation.do("back")
            found["peak"] = {"memory etcd": sum(each.memory("VmHWM") for each in etcd.members)}
        finally:
            simulation.end()
            etcd.kill()
    return found


def row(count: int, found: dict[str, Answer]) -> str:
    start, idle = found["start"], found["idle"]
    published = [answer for name, answer in found.items() if name.startswith("publish")]
    published.sort(key=lambda answer: answer["arrival last"])
    middle = published[len(published) // 2]
    cells = [
        f"{count:,}",
        f"{start.get('watching last', 0) / 1000:.1f} s",
        f"{start['cpu etcd'] + start['cpu proxies']:.1f} s",
        f"{idle['memory etcd']:,.0f} MB" + (f" + {idle['memory proxies']:,.0f}" if idle["memory proxies"] else ""),
        f"{100 * idle['cpu etcd'] / idle['seconds']:.1f} %"
        + (f" + {100 * idle['cpu proxies'] / idle['seconds']:.1f}" if idle["memory proxies"] else ""),
        f"{idle['bytes'] / idle['seconds'] / 1000:,.0f} kB/s",
        f"{found['write']['write p50']:.1f} / {found['write']['write p99']:.1f} ms",
        f"{middle['arrival p50']:,.0f} / {middle['arrival p99']:,.0f} / {middle['arrival last']:,.0f} ms",
        f"{middle['cpu etcd'] + middle['cpu proxies']:.2f} s",
        f"{middle['reported'] / 1000:.1f} s",
        f"{middle['cpu others'] / middle['seconds']:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


HEAD = """\
| machines | all watch after | etcd's CPU for it | memory | idle: CPU | idle: bytes | a put, p50 / p99 \
| published: p50 / p99 / last | etcd's CPU for it | all reported after \
| others' CPUs |
|---|---|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--machines", type=int, nargs="+", default=[100])
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--proxies", type=int, default=0)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--jitter", type=float, default=1)
    parser.add_argument("--idle", type=float, default=60)
    parser.add_argument("--document", type=int, default=1000, help="bytes")
    parser.add_argument("--publications", type=int, default=3)
    parser.add_argument("--restart", action="store_true", help="kill the first member, and wait until all are back")
    parser.add_argument("--folder", type=Path, help="for the data of etcd")
    parser.add_argument("--json", type=Path, help="where to add the figures")
    parser.add_argument("--option", dest="options", action="append", default=[], help="one of the program, NAME=VALUE")
    asked = parser.parse_args()
    if os.environ.get("FLEET_NETWORK") != "own":
        os.environ["FLEET_NETWORK"] = "own"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < max(asked.machines) + 1000:
        sys.exit(f"{most:,} open files are permitted, and the machines need a connection each; raise the limit")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asked.options = [f"--{option}" for option in asked.options]
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M}, load {os.getloadavg()[0]:.1f}: {' '.join(sys.argv[1:])}")
    print(HEAD)
    for count in asked.machines:
        found = measure(count, asked)
        print(row(count, found), flush=True)
        if asked.json:
            with asked.json.open("a") as file:
                print(json.dumps({"arguments": sys.argv[1:], "machines": count, **found}), file=file)


if __name__ == "__main__":
    main()
