"""The command as a user runs it: the program named by KEPT_COMMAND, with folders of its own."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# A shell starts what runs in the background with SIGINT ignored, and nohup with SIGHUP; every program inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Fails a test that waits for too long, wherever it waits, and kills the processes that it has started."""

    def end(*_: object) -> None:
        for children in Path("/proc/self/task").glob("*/children"):
            for pid in children.read_text().split():
                os.kill(int(pid), signal.SIGKILL)
        raise TimeoutError("the test waited for something that did not happen")

    signal.signal(signal.SIGALRM, end)
    # Again and again: what cleans up may wait, too. Builds wait for other builds, and take minutes on a busy machine.
    signal.setitimer(signal.ITIMER_REAL, 1200, 10)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


Kept = Callable[..., Done]


def environment_in(folder: Path) -> dict[str, str]:
    """What the command has around it, with its home in a folder."""
    program = os.environ.get("KEPT_COMMAND")
    if not program:
        pytest.fail("KEPT_COMMAND must name the program, such as build/bin/kept")
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "TMPDIR": str(folder), "TZ": "UTC"}
    return {"PATH": os.environ["PATH"], "KEPT_COMMAND": str(Path(program).absolute())} | home


def runner(environment: dict[str, str]) -> Kept:
    """Runs the command with arguments; `input` goes to standard input, `more` are further variables."""

    def run(*arguments: str, input: str | bytes = "", more: dict[str, str] | None = None) -> Done:
        given = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            [environment["KEPT_COMMAND"], *arguments],
            input=given,
            capture_output=True,
            cwd=environment["HOME"],
            env=environment | (more or {}),
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(errors="surrogateescape"), done.stderr.decode())

    return run


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return environment_in(tmp_path)


@pytest.fixture
def kept(environment: dict[str, str]) -> Kept:
    return runner(environment)


def status_of(process: subprocess.Popen[Any]) -> int:
    """The exit status of a process that ends; its pipes are closed."""
    with process:
        return process.wait(60)


@pytest.fixture
def declared(kept: Kept, tmp_path: Path) -> Kept:
    """The command, and a store `player` that declares keys of every type, and keeps its secrets as they are."""
    schema = tmp_path / "settings.schema.json"
    schema.write_text(SCHEMA)
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("declare", "player", str(schema)).status == 0
    return kept


SCHEMA = """{"type": "object", "properties": {
  "audio.volume": {"type": "integer", "minimum": 0, "maximum": 100, "default": 50, "summary": "How loud, in percent"},
  "audio.theme": {"type": "string", "enum": ["dark", "light"], "default": "dark"},
  "audio.muted": {"type": "boolean"},
  "audio.balance": {"type": "number"},
  "title": {"type": "string"},
  "token": {"type": "string", "secret": true},
  "started": {"type": "date"},
  "icon": {"type": "bytes"},
  "tags": {"type": "array", "items": {"type": "string"}},
  "window": {"type": "object"}
}}"""


def on_terminal(
    environment: dict[str, str], words: list[str], dialogue: Sequence[tuple[str, str | None]]
) -> tuple[int, str]:
    """Runs the command on a terminal of its own: waits for each text, then types an answer, or closes the terminal.

    Returns its exit status, or the negative signal, and what the terminal showed.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        program = environment["KEPT_COMMAND"]
        os.chdir(environment["HOME"])
        os.execve(program, [program, *words], {"TERM": "xterm"} | environment)
    output, seen, rest, is_open, end = b"", 0, list(dialogue), True, time.monotonic() + 60
    while is_open:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            output += os.read(terminal, 4096)
        except OSError:  # The command has ended.
            break
        while rest and (at := output.find(rest[0][0].encode(), seen)) >= 0:
            text, answer = rest.pop(0)
            seen = at + len(text.encode())
            if answer is None:
                is_open = False
            else:
                os.write(terminal, answer.encode())
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output.decode()


def mounted(environment: dict[str, str], options: str, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a folder with a space, on a file system of its own."""
    begin = f'mkdir -p "a mount" && mount -t tmpfs -o {options} tmpfs "a mount" && cd "$PWD/a mount" || exit 77'
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", f'kept() {{ "$KEPT_COMMAND" "$@"; }}; {begin}\n{script}'],
        env=environment, capture_output=True, text=True, check=False, timeout=60, cwd=environment["HOME"],
    )  # fmt: skip
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this user may mount nothing")
    return done


def settle(folder: Path, kept: Kept) -> Path:
    """The checkpoint of a store that has all values in it: a backup is one, and is put in the place of the store."""
    assert kept("backup", str(folder), "settled").status == 0
    for file in folder.iterdir():
        file.unlink()
    return Path(shutil.move(folder.parent / "settled", folder / "values"))


def spoil(values: Path, key: str, old: bytes, new: bytes) -> None:
    """Replaces bytes in the record of a key in a checkpoint, with right checksums."""
    data = bytearray(values.read_bytes())
    pattern = b"(?s)" + struct.pack("<H", len(key)) + rb"[\0-\7][\0-\7].{24}" + key.encode()
    [start] = [match.start() - 4 for match in re.finditer(pattern, data) if match.start() % 8 == 4]
    at = data.index(old, start)
    data[at : at + len(old)] = new
    seal(values, data, start)


def seal(values: Path, data: bytearray, record: int | None = None) -> None:
    """Writes a checkpoint with right checksums; `record` is where a changed record begins."""

    def numbers(form: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from("<" + form, data, at)

    count = sum(numbers("2Q", 80))
    table = 4096 * (1 + count)
    if record is not None:
        [key], sizes = numbers("H", record + 4), numbers("2I", record + 24)
        end = record + 32 + key + sum(sizes) + 7 & ~7
        struct.pack_into("<I", data, record, crc32c(data[96:104] + data[record + 4 : end]))
        block = record // 4096
        struct.pack_into("<I", data, table + 8 * (block - 1), crc32c(data[4096 * block : 4096 * (block + 1)]))
    struct.pack_into("<I", data, 120, crc32c(data[table : table + 8 * count]))
    struct.pack_into("<I", data, 12, crc32c(data[:12] + data[16:4096]))
    data[-4096:] = data[:4096]
    values.write_bytes(data)


def crc32c(data: bytes | bytearray) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
