"""`kept secrets` with the real systemd-creds: two machines, with keys of the host or TPMs of their own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Kept, runner

TOKEN = "hunter-token"
MACHINES = ["first", "second"]


@pytest.fixture(params=["host", "host+tpm2"])
def machines(request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path) -> Iterator[list[Kept]]:
    """The command on two machines that have the same files."""
    if os.geteuid() != 0 or not Path("/etc/machine-id").read_text().strip():
        pytest.skip("only root can use the key of a machine, and the machine needs an identity")
    for program in ["systemd-creds", "swtpm"]:
        if not shutil.which(program):
            pytest.skip(f"needs {program}")
    programs: list[int] = []
    try:
        yield [on(tmp_path / name, request.param, environment, programs) for name in MACHINES]
    finally:
        for pid in programs:
            os.kill(pid, signal.SIGTERM)


# No resource manager frees the sessions of the emulated TPM, so it is shut down and reset before each use. In a
# container, systemd-creds uses a TPM only if it is told to.
WRAPPER = """#!{python}
import os, socket, sys
if "tpm2" in "{key}":
    for path, command in [("tpm", "80010000000c000001450000"), ("tpm.ctrl", "0000000200000000")]:
        with socket.socket(socket.AF_UNIX) as tpm:
            tpm.connect("{machine}/" + path)
            tpm.sendall(bytes.fromhex(command))
            tpm.recv(10)
os.execv("{program}", ["systemd-creds", "--with-key={key}"] + sys.argv[1:])
"""


def on(machine: Path, key: str, environment: dict[str, str], programs: list[int]) -> Kept:
    machine.mkdir()
    wrapper = machine / "systemd-creds"
    program = shutil.which("systemd-creds")
    wrapper.write_text(WRAPPER.format(python=sys.executable, key=key, machine=machine, program=program))
    wrapper.chmod(0o700)
    more = {"PATH": f"{machine}:{environment['PATH']}", "SYSTEMD_CREDENTIAL_SECRET": str(machine / "key")}
    if "tpm2" in key:
        socket = f"type=unixio,path={machine}/tpm"
        subprocess.run(
            ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={machine}", "--flags", "not-need-init,startup-clear"]
            + ["--server", socket, "--ctrl", f"{socket}.ctrl", "--daemon", "--pid", f"file={machine}/pid"],
            check=True,
            timeout=60,
        )
        programs.append(int((machine / "pid").read_text()))
        more["SYSTEMD_TPM2_DEVICE"] = f"swtpm:path={machine}/tpm"
    return runner(environment | more)


@pytest.mark.usefixtures("declared")
def test_secrets_are_read_on_the_machine_that_encrypted_them_and_recovered_on_another_one(machines: list[Kept]) -> None:
    first, second = machines
    for words in ["init", "add"]:  # An `add` renews it.
        done = first("secrets", "player", words, "--systemd-creds")
        assert (done.status, done.err) == (0, "")
    assert first("set", "player", "token", "-", input=TOKEN).status == 0
    assert first("get", "player", "token", "--reveal").out == f"{TOKEN}\n"
    expect_refusal(second)
    assert first("secrets", "player", "add", "--passphrase", input="words\n").status == 0
    assert first("secrets", "player", "rotate", input="words\n").status == 0
    assert first("get", "player", "token", "--reveal").out == f"{TOKEN}\n"
    done = second("secrets", "player", "rotate", input="words\n")
    assert done.status == 4
    assert "systemd-creds" in done.err
    assert second("secrets", "player", "recover", "--systemd-creds", input="words\n").status == 0
    assert second("get", "player", "token", "--reveal").out == f"{TOKEN}\n"
    expect_refusal(first)


def expect_refusal(machine: Kept) -> None:
    """The reason of systemd-creds, in one line, without the warnings of libraries."""
    done = machine("get", "player", "token", "--reveal")
    assert (done.status, done.out) == (4, "")
    assert "systemd-creds: it says: " in done.err
    assert "decrypt it; use another provider, and add this one again" in done.err
    assert "WARNING" not in done.err
    assert "PCR" not in done.err
    assert done.err.count("\n") == 1
