"""TLS, users, and what etcd refuses: each a clear sentence, and it goes on when it is mended."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import (
    IDENTIFIER,
    VOLUME_30,
    VOLUME_40,
    Etcd,
    StartMachine,
    StartSync,
    key,
    program,
    report,
    run,
    wait_for,
    wait_until_same,
)


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=authority -days 30",
            "-keyout", "ca.key", "-out", "ca.pem",
        )  # fmt: skip

    def openssl(self, words: str, *more: str) -> None:
        subprocess.run(["openssl", *words.split(), *more], cwd=self.folder, check=True, capture_output=True)

    def issue(self, name: str, days: int = 30, names: str = "IP:127.0.0.1") -> tuple[str, str]:
        """The files of a certificate and its key; with negative days it has expired."""
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={names}\n" if names else "")
        self.openssl(
            f"req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr",
        )  # fmt: skip
        self.openssl(
            f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days {days} -extfile {name}.ext",
            "-out", f"{name}.pem",
        )  # fmt: skip
        return str(self.folder / f"{name}.pem"), str(self.folder / f"{name}.key")

    @property
    def ca(self) -> str:
        return str(self.folder / "ca.pem")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


def secure_etcd(start_etcd: Callable[..., Etcd], authority: Authority, server: tuple[str, str]) -> Etcd:
    return start_etcd(
        1, "--cert-file", server[0], "--key-file", server[1], "--trusted-ca-file", authority.ca,
        "--client-cert-auth", secure=True,
    )  # fmt: skip


def status(etcd: Etcd, *more: str) -> tuple[int, str]:
    done = run([program(), "status", IDENTIFIER, "--etcd", etcd.urls[0], "--timeout", "5", *more])
    return done.status, done.err


def test_certificates_on_both_sides(
    start_etcd: Callable[..., Etcd], start_machine: StartMachine, authority: Authority
) -> None:
    etcd = secure_etcd(start_etcd, authority, authority.issue("server"))
    cert, own = authority.issue("client")
    etcd.credentials = ["--cacert", authority.ca, "--cert", cert, "--key", own]
    etcd.wait_until_ready()
    etcd.put(key("managed"), VOLUME_30)
    machine = start_machine(etcd, "--ca", authority.ca, "--cert", cert, "--key", own)
    assert machine.managed.read_text() == VOLUME_30
    code, said = status(etcd, "--ca", authority.ca)
    assert (code, "certificate" in said) == (4, True), said
    code, said = status(etcd, "--cert", cert, "--key", own)
    assert (code, "untrusted issuer" in said) == (4, True), said


def test_an_expired_certificate_is_said_and_a_renewed_one_is_used(
    start_etcd: Callable[..., Etcd], start_machine: StartMachine, authority: Authority
) -> None:
    etcd = secure_etcd(start_etcd, authority, authority.issue("server"))
    cert, own = authority.issue("client", days=-1)
    good = authority.issue("good")
    etcd.credentials = ["--cacert", authority.ca, "--cert", good[0], "--key", good[1]]
    etcd.wait_until_ready()
    etcd.put(key("managed"), VOLUME_30)
    machine = start_machine(etcd, "--ca", authority.ca, "--cert", cert, "--key", own, wait=False)
    wait_for(lambda: "expired at" in str(machine.status().get("lastError")), "the certificate has expired")
    authority.issue("client")
    machine.wait_until(machine.managed, VOLUME_30)


def test_a_certificate_of_etcd_that_has_expired_or_is_for_another_host_is_not_trusted(
    start_etcd: Callable[..., Etcd], authority: Authority
) -> None:
    cert, own = authority.issue("client")
    for name, days, names in [("old", -1, "IP:127.0.0.1"), ("other", 30, "IP:192.0.2.1")]:
        etcd = secure_etcd(start_etcd, authority, authority.issue(name, days, names))

        def listens(etcd: Etcd = etcd) -> bool:
            return "is unavailable" not in status(etcd)[1]

        wait_for(listens, "etcd listens")
        code, said = status(etcd, "--ca", authority.ca, "--cert", cert, "--key", own)
        assert (code, "etcd's certificate" in said) == (4, True), said


@pytest.mark.parametrize(
    ("names", "is_right"),
    [
        ("DNS:localhost", True),
        ("DNS:LOCALHOST.,IP:192.0.2.1", True),
        # Any server that answers for the name could have this one.
        ("IP:127.0.0.1", False),
        ("IP:127.0.0.1,IP:::1,DNS:other.example.com", False),
        ("DNS:*", False),
        ("DNS:*.localhost", False),
        ("email:localhost,URI:https://localhost", False),
    ],
)
def test_a_certificate_has_to_have_the_name_that_was_asked_for(
    start_etcd: Callable[..., Etcd], authority: Authority, names: str, is_right: bool
) -> None:
    cert, own = authority.issue("client")
    etcd = secure_etcd(start_etcd, authority, authority.issue("server", names=names))
    etcd.credentials = ["--cacert", authority.ca, "--cert", cert, "--key", own, "--insecure-skip-tls-verify"]
    etcd.wait_until_ready()
    url = etcd.urls[0].replace("127.0.0.1", "localhost")
    files = ["--ca", authority.ca, "--cert", cert, "--key", own]
    done = run([program(), "status", IDENTIFIER, "--etcd", url, "--timeout", "5", *files])
    assert (done.status, "etcd's certificate" in done.err) == ((0, False) if is_right else (4, True)), done.err
    # By the address, the address counts.
    code, said = status(etcd, *files)
    assert (code == 0) == ("IP:127.0.0.1" in names), said


def test_a_password_does_not_go_over_the_network_in_plain_text_unless_that_is_wanted(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    file = password_file(tmp_path, "right")
    log_in = ["--user", "machine", "--password-file", file]
    for url in ("http://etcd.example.com:2379", "http://192.0.2.1:2379", "http://[2001:db8::1]:2379"):
        for command in ("status", "sync", "follow"):
            more = ["--etcd", "https://127.0.0.1:1", url, "--timeout", "1"]
            done = run([program(), command, IDENTIFIER, *more, *log_in])
            assert (done.status, f"would send the password to {url}" in done.err) == (2, True), done.err
    done = run([program(), "status", IDENTIFIER, "--etcd", "http://192.0.2.1:1", "--timeout", "0.1", *log_in]
               + ["--plaintext-password"])  # fmt: skip
    assert done.status == 4, done.err
    done = run([program(), "status", IDENTIFIER, "--etcd", etcd.urls[0], "--plaintext-password"])
    assert done.status == 2
    # Not over the network.
    port = etcd.members[0].client
    for host in ("127.0.0.1", "localhost"):
        done = run([program(), "status", IDENTIFIER, "--etcd", f"http://{host}:{port}", *log_in])
        assert done.status == 0, done.err


def protect(etcd: Etcd) -> None:
    """Makes a user `machine` with the password `right`, which may read everything of the fleet and report."""
    for words in [
        "user add root:root", "user grant-role root root", "role add machine",
        "role grant-permission machine read --prefix=true /kept/", "user add machine:right",
        f"role grant-permission machine readwrite --prefix=true /kept/{IDENTIFIER}/status/",
        "user grant-role machine machine", "user add stranger:right", "auth enable",
    ]:  # fmt: skip
        done = etcd.ctl(*words.split())
        assert done.status == 0, done.err
    etcd.credentials = ["--user", "root:root"]


def password_file(folder: Path, password: str) -> str:
    path = folder / "etcd-password"
    path.write_text(password + "\n")
    path.chmod(0o600)
    return str(path)


def test_a_user_logs_in_again_when_etcd_has_forgotten_the_token(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    protect(etcd)
    machine = start_machine(etcd, "--user", "machine", "--password-file", password_file(tmp_path, "right"))
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    # A change of the users makes all tokens of the past invalid.
    assert etcd.ctl("user", "add", "another:one").status == 0
    wait_for(lambda: machine.status()["connected"], "connected")
    etcd.put(key("managed"), VOLUME_40)
    machine.wait_until(machine.managed, VOLUME_40)
    etcd.kill()
    etcd.start()
    etcd.wait_until_ready()
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)


def test_a_token_that_expires_is_renewed(
    start_etcd: Callable[..., Etcd], start_machine: StartMachine, tmp_path: Path
) -> None:
    etcd = start_etcd(1, "--auth-token-ttl", "1")
    etcd.wait_until_ready()
    protect(etcd)
    machine = start_machine(
        etcd, "--user", "machine", "--password-file", password_file(tmp_path, "right"), "--check-every", "4"
    )
    checked = int(machine.status()["revision"])
    # By the time that a check sees this, the token is older than a second.
    etcd.put("x", "1")
    wait_for(lambda: int(machine.status()["revision"]) > checked, "a check has succeeded")
    assert machine.status()["connections"] == 1
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)


def test_a_wrong_password_is_not_an_expired_token(etcd: Etcd, start_machine: StartMachine, tmp_path: Path) -> None:
    protect(etcd)
    etcd.put(key("managed"), VOLUME_30)
    file = password_file(tmp_path, "wrong")
    machine = start_machine(etcd, "--user", "machine", "--password-file", file, wait=False)
    wait_for(lambda: "the password of" in str(machine.status().get("lastError")), "the password is wrong")
    assert "wrong" not in machine.log
    password_file(tmp_path, "right")
    machine.wait_until(machine.managed, VOLUME_30)


def test_a_password_comes_from_a_credential_of_systemd_and_never_from_an_open_file(etcd: Etcd, tmp_path: Path) -> None:
    protect(etcd)
    password_file(tmp_path, "right")
    command = [program(), "status", IDENTIFIER, "--etcd", etcd.urls[0], "--user", "machine"]
    assert run(command, environment={"CREDENTIALS_DIRECTORY": str(tmp_path)}).status == 0
    (tmp_path / "etcd-password").chmod(0o644)
    done = run(command, environment={"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert (done.status, "accessible to all users" in done.err) == (4, True)
    assert run(command).status == 2


def test_the_line_of_a_password_file_may_end_in_any_way(etcd: Etcd, tmp_path: Path) -> None:
    protect(etcd)
    file = tmp_path / "password"
    command = [program(), "status", IDENTIFIER, "--etcd", etcd.urls[0], "--user", "machine"]
    for text, status in [("right", 0), ("right\n", 0), ("right\r\n", 0), ("right\n\n", 4), ("right\r", 4)]:
        file.write_bytes(text.encode())
        file.chmod(0o600)
        assert run([*command, "--password-file", str(file)]).status == status, repr(text)


def test_a_user_without_permission_is_said_and_goes_on_when_it_is_granted(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    protect(etcd)
    etcd.put(key("managed"), VOLUME_30)
    file = password_file(tmp_path, "right")
    machine = start_machine(etcd, "--user", "stranger", "--password-file", file, wait=False)
    wait_for(lambda: "does not permit" in str(machine.status().get("lastError")), "permission is denied")
    assert etcd.ctl("user", "grant-role", "stranger", "machine").status == 0
    machine.wait_until(machine.managed, VOLUME_30)


def test_changes_of_a_user_who_may_only_read_wait_until_writing_is_granted(
    etcd: Etcd, start_sync: StartSync, tmp_path: Path
) -> None:
    protect(etcd)
    prefix = "/kept-users/anna"
    etcd.put(f"{prefix}/{IDENTIFIER}/user/", "{}")
    etcd.put(f"{prefix}/{IDENTIFIER}/user/a", "1")
    assert etcd.ctl("role", "grant-permission", "machine", "read", "--prefix=true", prefix).status == 0
    one = start_sync(etcd, "--user", "machine", "--password-file", password_file(tmp_path, "right"))
    wait_for(lambda: one.get("a") == "1", "it reads")
    one.set("b", "2")
    wait_for(lambda: "does not permit" in str(one.status().get("problems")), f"it is a problem: {one.log}")
    # The problem may be older: the machine may not write its own record either.
    wait_for(lambda: one.status()["pending"] == 1, f"it waits: {one.log}")
    assert etcd.ctl("role", "grant-permission", "machine", "readwrite", "--prefix=true", prefix).status == 0
    wait_until_same(etcd, prefix, one)
    wait_for(lambda: "problems" not in one.status(), "the problem is gone")


def test_a_prefix_that_may_not_be_read_holds_up_no_other(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    protect(etcd)
    etcd.put(key("managed"), '{"values": {"a": 1}}')
    etcd.put(key("managed", "/kiosk"), '{"values": {"b": 1}, "locked": ["b"]}')
    file = password_file(tmp_path, "right")
    prefixes = ["--prefix", "/kiosk", "--prefix", "/kept"]
    machine = start_machine(etcd, "--user", "machine", "--password-file", file, *prefixes, wait=False)
    machine.wait_until(machine.managed, '{"values": {"a": 1}}')
    said = "the documents under /kiosk cannot be read"
    assert said in machine.log
    wait_for(lambda: said in str(machine.status().get("problems")), "it is a problem")
    wait_for(lambda: said in str(report(etcd).get("problems")), "it is reported")
    assert etcd.ctl("role", "grant-permission", "machine", "readwrite", "--prefix=true", "/kiosk/").status == 0
    both = {"values": {"a": 1, "b": 1}, "locked": ["b"]}
    wait_for(lambda: json.loads(machine.managed.read_text()) == both, "both documents are in the file")
    wait_for(lambda: "problems" not in machine.status(), "it is not a problem any more")
    # What it has locked stays.
    assert etcd.ctl("role", "revoke-permission", "machine", "--prefix=true", "/kiosk/").status == 0
    wait_for(lambda: said in str(machine.status().get("problems")), "it is a problem")
    etcd.put(key("managed"), '{"values": {"a": 2}}')
    both["values"] = {"a": 2, "b": 1}
    wait_for(lambda: json.loads(machine.managed.read_text()) == both, "the other document is in the file")


def test_a_machine_that_may_not_report_follows_all_the_same(
    etcd: Etcd, start_machine: StartMachine, tmp_path: Path
) -> None:
    protect(etcd)
    prefix = f"/kept/{IDENTIFIER}/status/"
    assert etcd.ctl("role", "revoke-permission", "machine", "--prefix=true", prefix).status == 0
    machine = start_machine(etcd, "--user", "machine", "--password-file", password_file(tmp_path, "right"))
    etcd.put(key("managed"), VOLUME_30)
    machine.wait_until(machine.managed, VOLUME_30)
    wait_for(lambda: "the report could not be sent" in str(machine.status().get("problems")), "it is a problem")


def test_an_etcd_without_space_is_said_and_is_followed(
    start_etcd: Callable[..., Etcd], start_machine: StartMachine
) -> None:
    etcd = start_etcd(1, "--quota-backend-bytes", "300000")
    etcd.wait_until_ready()
    etcd.put(key("managed"), VOLUME_30)
    number = 0
    while etcd.ctl("put", f"filler{number}", "x" * 50_000).status == 0:
        number += 1
    machine = start_machine(etcd)
    assert machine.managed.read_text() == VOLUME_30
    wait_for(lambda: "no space left" in str(machine.status().get("problems")), "the report has no space")
    done = run([program(), "publish", IDENTIFIER, "--etcd", etcd.urls[0], "--managed", "-"], VOLUME_40)
    assert (done.status, "no space left" in done.err) == (4, True)
