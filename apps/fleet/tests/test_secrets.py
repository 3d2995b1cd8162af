"""Secrets: etcd has them sealed, and only machines with the key and the declaration read or replace them."""

from __future__ import annotations

import base64
import json
import os
import re
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from conftest import IDENTIFIER, Etcd, StartSync, SyncMachine, kept, lose_declarations, program, report, run, wait_for

PREFIX = "/kept-users/anna"
PAGE = Path(__file__).parents[3] / "docs/internals/fleet-secrets.md"
SCHEMA = """{"properties": {
  "token": {"type": "string", "secret": true}, "pin": {"type": "string", "secret": true}, "a": {"type": "integer"}
}}"""


def name(key: str) -> str:
    return f"{PREFIX}/{IDENTIFIER}/user/{key}"


def derive(secret: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, None, info).derive(secret)


class Key:
    """A key file, and what the documentation says about it."""

    def __init__(self, path: Path, secret: bytes | None = None) -> None:
        self.path, self.secret = path, secret or os.urandom(32)
        path.touch(0o600)
        path.write_text(base64.b64encode(self.secret).decode() + "\n")

    @property
    def id(self) -> str:
        return derive(self.secret, b"kept-fleet 1 id", 8).hex()

    def seal(self, key: str, value: str) -> str:
        nonce = os.urandom(12)
        cipher = ChaCha20Poly1305(derive(self.secret, b"kept-fleet 1 seal", 32))
        sealed = base64.b64encode(nonce + cipher.encrypt(nonce, value.encode(), name(key).encode())).decode()
        return f"kept-sealed:1:{self.id}:{sealed}"

    def has_sealed(self, text: str) -> bool:
        return text.startswith(f"kept-sealed:1:{self.id}:")


def options(*keys: Key) -> list[str]:
    return [word for key in keys for word in ("--secrets-key", str(key.path))]


def begin(
    start_sync: StartSync, etcd: Etcd, host: str, *keys: Key, schema: str = SCHEMA, store_key: Path | None = None
) -> SyncMachine:
    """Starts a machine whose store has secrets."""
    machine = start_sync(etcd, *options(*keys), host=host, start=False)
    machine.declare(schema)
    if store_key:
        assert kept("secrets", str(machine.store), "init", "--key-file", str(store_key)).status == 0
    machine.start()
    wait_for(lambda: bool(machine.status()["connected"]), f"{host} is connected: {machine.log}")
    return machine


def restart(machine: SyncMachine, *keys: Key) -> None:
    machine.kill()
    machine.more = options(*keys)
    machine.start()
    wait_for(lambda: bool(machine.status()["connected"]), f"{machine.host} is connected: {machine.log}")


def wait_for_value(machine: SyncMachine, key: str, value: str) -> None:
    wait_for(lambda: machine.get(key) == value, f"{machine.host} has {value} for {key}: {machine.log}")


def reasons(machine: SyncMachine) -> dict[str, str]:
    return {one["key"]: one["reason"] for one in machine.status().get("refused", [])}


def wait_for_reason(machine: SyncMachine, key: str, words: str) -> None:
    wait_for(lambda: words in reasons(machine).get(key, ""), f"{key} is refused: {words}: {machine.log}")


def has_text(text: str, *folders: Path) -> bool:
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert files
    return any(text.encode() in file.read_bytes() for file in files)


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return Key(tmp_path / "key")


@pytest.fixture
def other_key(tmp_path: Path) -> Key:
    return Key(tmp_path / "other-key")


def test_machines_exchange_secrets_that_etcd_never_sees(
    etcd: Etcd, start_sync: StartSync, key: Key, tmp_path: Path
) -> None:
    # One of them has its secrets encrypted, so that its folder does not have them in plain either.
    one = begin(start_sync, etcd, "one", key, store_key=tmp_path / "store-key")
    other = begin(start_sync, etcd, "other", key)
    one.set("token", "hunter2-one")
    wait_for_value(other, "token", '"hunter2-one"')
    other.transaction({"token": '"hunter2-other"', "a": "1"})
    wait_for_value(one, "token", '"hunter2-other"')
    assert one.get("a") == "1" and key.has_sealed(etcd.get(name("token")))
    assert one.history("token")[0]["tag"] == "fleet:other"
    # What another program has sealed is taken, as is a removal.
    etcd.put(name("pin"), key.seal("pin", '"hunter2-pin"'))
    wait_for_value(other, "pin", '"hunter2-pin"')
    wait_for_value(one, "pin", '"hunter2-pin"')
    one.reset("pin")
    wait_for_value(other, "pin", "")
    wait_for(lambda: report(etcd, "one", PREFIX).get("sync", {}).get("pending") == 0, "it is reported")
    assert one.status()["secretsKeys"] == [key.id] and one.status()["withheld"] == 0
    for machine in (one, other):
        machine.kill()
        agreed = kept("get", "--json", str(machine.folder / "state" / "agreed.kept"), "token").out
        assert "etcd" in agreed and "digest" not in agreed, "a short secret could be guessed from it"
    for encoding in ("hunter2", base64.b64encode(b'"hunter2-other"').decode()):
        assert encoding not in etcd.ctl("get", "--prefix", "/").out + one.log + other.log
        assert not has_text(encoding, *(member.folder for member in etcd.members), one.folder, other.folder / "state")


def test_the_documented_program_opens_a_value(etcd: Etcd, start_sync: StartSync, tmp_path: Path) -> None:
    page = PAGE.read_text("utf-8")
    _, file, text = re.findall(r"^    (\S{20,})$", page, re.M)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    script = tmp_path / "unseal.py"
    script.write_text(code)
    key = Key(tmp_path / "key", base64.b64decode(file))
    one = begin(start_sync, etcd, "one", key)
    etcd.put(name("token"), text)
    wait_for_value(one, "token", '"hunter2"')
    one.set("token", "hunter3")
    wait_for(lambda: etcd.get(name("token")) != text, f"it is sent: {one.log}")
    for sealed, value in ((text, '"hunter2"'), (etcd.get(name("token")), '"hunter3"')):
        done = run([sys.executable, str(script), str(key.path), name("token"), sealed])
        assert (done.out, done.err) == (value + "\n", "")


@pytest.mark.parametrize("has_other", [False, True], ids=["none", "another"])
def test_without_the_key_a_secret_stays_in_etcd_and_on_the_machine(
    etcd: Etcd, start_sync: StartSync, key: Key, other_key: Key, has_other: bool
) -> None:
    one = begin(start_sync, etcd, "one", key)
    one.set("token", "hunter2")
    wait_for(lambda: key.has_sealed(etcd.get(name("token"))), f"it is sent: {one.log}")
    sealed = etcd.get(name("token"))
    other = begin(start_sync, etcd, "other", *[other_key][: int(has_other)])
    wait_for_reason(other, "token", f"sealed with the key {key.id}; give the file of that key with --secrets-key")
    wait_for(lambda: len(report(etcd, "other", PREFIX)["sync"].get("refused", [])) == 1, "it is reported")
    done = run([program(), "status", "--status-file", str(other.status_file)])
    assert (done.status, key.id in done.out) == (1, True)
    # Whatever happens here is not sent.
    for number in range(2):
        other.reset("token") if number else other.set("token", "mine")
        other.set("a", str(number))
        wait_for(lambda: etcd.get(name("a")) == other.get("a"), f"the change after it is sent: {other.log}")
        assert etcd.get(name("token")) == sealed
    restart(other, key)
    wait_for_value(other, "token", '"hunter2"')
    wait_for(lambda: not reasons(other), "nothing is refused any more")
    # What was agreed holds while the key is missing: a removal is not undone when it is back.
    restart(other, *[other_key][: int(has_other)])
    one.set("token", "hunter3")
    wait_for_reason(other, "token", key.id)
    one.reset("token")
    wait_for(lambda: not reasons(other), f"it is removed in etcd: {other.log}")
    restart(other, key)
    wait_for_value(other, "token", "")
    assert etcd.get(name("token")) == "" and other.status()["conflicts"] == 0


def test_a_key_is_exchanged_machine_by_machine(etcd: Etcd, start_sync: StartSync, key: Key, other_key: Key) -> None:
    old, new = key, other_key
    one, other = begin(start_sync, etcd, "one", old), begin(start_sync, etcd, "other", old)
    one.set("token", "hunter2")
    wait_for_value(other, "token", '"hunter2"')
    restart(one, old, new)
    restart(other, new, old)
    wait_for(lambda: new.has_sealed(etcd.get(name("token"))), f"it is sealed with the new key: {other.log}")
    one.set("pin", "1")
    wait_for_value(other, "pin", '"1"')
    assert old.has_sealed(etcd.get(name("pin"))) and new.has_sealed(etcd.get(name("token")))
    restart(one, new, old)
    wait_for(lambda: new.has_sealed(etcd.get(name("pin"))), f"all are sealed with the new key: {one.log}")
    restart(one, new)
    restart(other, new)
    one.set("token", "hunter3")
    wait_for_value(other, "token", '"hunter3"')
    assert other.get("pin") == '"1"'
    for machine in (one, other):
        assert not reasons(machine) and machine.status()["conflicts"] == 0
    # While they disagreed about the first key, they did not seal in turns.
    versions = [
        json.loads(etcd.ctl("get", name(secret), "-w", "json").out)["kvs"][0]["version"] for secret in ("token", "pin")
    ]
    assert versions == [3, 2]
    assert [one["tag"] for one in other.history("pin")] == ["fleet:one"], "sealing it again is not a change of it"


def test_a_sealed_value_of_another_key_is_refused(etcd: Etcd, start_sync: StartSync, key: Key) -> None:
    one = begin(start_sync, etcd, "one", key)
    one.transaction({"token": '"hunter2"', "pin": '"1234"'})
    wait_for(lambda: key.has_sealed(etcd.get(name("pin"))), f"it is sent: {one.log}")
    token, pin = etcd.get(name("token")), etcd.get(name("pin"))
    etcd.put(name("token"), pin)
    etcd.put(name("pin"), token[:-8] + "AAAAAAA=")
    for secret in ("token", "pin"):
        wait_for_reason(one, secret, "sealed for another key or prefix, or is damaged")
    assert (one.get("token"), one.get("pin")) == ('"hunter2"', '"1234"')
    one.set("token", "hunter3")
    wait_for(lambda: etcd.get(name("token")) not in (token, pin), f"it is set again: {one.log}")
    etcd.put(name("pin"), pin)
    wait_for(lambda: not reasons(one), "nothing is refused any more")


@pytest.mark.parametrize("text", ["kept-sealed:2:x", "kept-sealed:", "kept-sealed:1:0123:AAAA"])
def test_a_form_of_a_later_version_is_not_replaced(etcd: Etcd, start_sync: StartSync, key: Key, text: str) -> None:
    one = begin(start_sync, etcd, "one", key)
    one.set("token", "hunter2")
    wait_for(lambda: key.has_sealed(etcd.get(name("token"))), f"it is sent: {one.log}")
    etcd.put(name("token"), text)
    wait_for_reason(one, "token", "update kept-fleet")
    one.transaction({"token": '"hunter3"', "a": "1"})
    wait_for(lambda: etcd.get(name("a")) == "1", f"the other is sent: {one.log}")
    assert etcd.get(name("token")) == text


def test_a_sealed_value_of_a_key_that_is_not_secret_here_is_refused(
    etcd: Etcd, start_sync: StartSync, key: Key
) -> None:
    one = begin(start_sync, etcd, "one", key)
    other = begin(start_sync, etcd, "other", key, schema=SCHEMA.replace(', "secret": true', ""))
    other.set("pin", "0000")
    wait_for(lambda: etcd.get(name("pin")) == '"0000"', f"it is sent: {other.log}")
    one.set("token", "hunter2")
    wait_for_reason(other, "token", "not declared secret here")
    # Nor is the value in etcd replaced with a plain one.
    sealed = key.seal("pin", '"1234"')
    etcd.put(name("pin"), sealed)
    wait_for_reason(other, "pin", "not declared secret here")
    other.transaction({"pin": '"1111"', "token": '"plain"', "a": "1"})
    wait_for(lambda: etcd.get(name("a")) == "1", f"the other is sent: {other.log}")
    assert etcd.get(name("pin")) == sealed and key.has_sealed(etcd.get(name("token")))
    other.reset("token")
    other.declare(SCHEMA)
    wait_for_value(other, "token", '"hunter2"')


def test_a_plain_value_of_a_secret_key_is_neither_taken_nor_replaced(
    etcd: Etcd, start_sync: StartSync, key: Key
) -> None:
    one = begin(start_sync, etcd, "one", key)
    one.set("token", "hunter2")
    wait_for(lambda: key.has_sealed(etcd.get(name("token"))), f"it is sent: {one.log}")
    etcd.put(name("token"), '"hunter0"')
    wait_for_reason(one, "token", "etcd has its plain value")
    assert "hunter0" not in one.log + one.status_file.read_text()
    one.transaction({"token": '"hunter3"', "a": "1"})
    wait_for(lambda: etcd.get(name("a")) == "1", f"the other is sent: {one.log}")
    assert (etcd.get(name("token")), one.get("token")) == ('"hunter0"', '"hunter3"')


def test_a_value_that_was_plain_is_sent_again_after_its_deletion(etcd: Etcd, start_sync: StartSync, key: Key) -> None:
    one = begin(start_sync, etcd, "one", key, schema='{"properties": {"token": {"type": "string"}}}')
    one.set("token", "hunter2")
    wait_for(lambda: etcd.get(name("token")) == '"hunter2"', f"it is sent: {one.log}")
    one.declare(SCHEMA)
    wait_for_reason(one, "token", "etcd has its plain value")
    etcd.delete(name("token"))
    wait_for(lambda: key.has_sealed(etcd.get(name("token"))), f"it is sent: {one.log}")
    assert one.get("token") == '"hunter2"'


def test_a_secret_whose_declaration_is_lost_is_not_sent_to_an_emptied_etcd(
    etcd: Etcd, start_sync: StartSync, key: Key
) -> None:
    one = begin(start_sync, etcd, "one", key)
    one.set("token", "hunter2")
    wait_for(lambda: key.has_sealed(etcd.get(name("token"))), f"it is sent: {one.log}")
    one.kill()
    lose_declarations(one.store, "token")
    one.set("a", "1")
    etcd.wipe()
    etcd.start()
    etcd.wait_until_ready()
    restart(one, key)
    wait_for(lambda: etcd.get(name("a")) == "1", f"the other is sent: {one.log}")
    wait_for_reason(one, "token", "declaration")
    assert etcd.get(name("token")) == ""
    one.declare(SCHEMA)
    wait_for(lambda: key.has_sealed(etcd.get(name("token"))), f"it is sent: {one.log}")


def test_the_reason_of_a_refusal_does_not_have_the_secret(etcd: Etcd, start_sync: StartSync, key: Key) -> None:
    one = begin(start_sync, etcd, "one", key)
    other = begin(start_sync, etcd, "other", key, schema=SCHEMA.replace("string", "integer"))
    one.set("token", "hunter2")
    wait_for_reason(other, "token", "integer")
    assert "hunter2" not in other.log + other.status_file.read_text()
    assert other.get("token") == ""


def test_a_large_secret_is_sent_if_it_fits(etcd: Etcd, start_sync: StartSync, key: Key) -> None:
    one = begin(start_sync, etcd, "one", key)
    other = begin(start_sync, etcd, "other", key)
    one.transaction({"token": json.dumps("x" * 1_000_000), "pin": json.dumps("x" * 1_100_000)})
    wait_for_value(other, "token", json.dumps("x" * 1_000_000))
    wait_for_reason(one, "pin", "too many for etcd")


def test_a_store_that_cannot_read_its_secrets_exchanges_the_rest(
    etcd: Etcd, start_sync: StartSync, key: Key, tmp_path: Path
) -> None:
    store_key = tmp_path / "store-key"
    one = begin(start_sync, etcd, "one", key, store_key=store_key)
    other = begin(start_sync, etcd, "other", key)
    one.set("token", "hunter2")
    wait_for_value(other, "token", '"hunter2"')
    one.kill()
    away = store_key.rename(tmp_path / "away")
    other.transaction({"token": '"hunter3"', "pin": '"1234"', "a": "1"})
    one.start()
    wait_for_value(one, "a", "1")
    for secret in ("token", "pin"):
        wait_for_reason(one, secret, "encrypted secret")
    assert key.has_sealed(etcd.get(name("token"))) and other.get("token") == '"hunter3"'
    away.rename(store_key)
    wait_for_value(one, "token", '"hunter3"')
    wait_for_value(one, "pin", '"1234"')


def use(path: Path) -> str:
    done = run([program(), "sync", IDENTIFIER, "--etcd", "http://127.0.0.1:1", "--secrets-key", str(path)])
    assert (done.status, done.out) in ((3, ""), (4, ""))
    return done.err


def test_a_key_file_of_others_is_refused(tmp_path: Path, key: Key) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(key.path)
    os.mkfifo(pipe)
    assert "not a regular file; use the path of the key file itself" in use(link)
    assert "not a regular file" in use(pipe) and "not a regular file" in use(tmp_path)
    assert "does not exist" in use(tmp_path / "missing")
    for mode in (0o644, 0o660, 0o604):
        key.path.chmod(mode)
        assert "other users can read or write" in use(key.path)
    key.path.chmod(0o600)
    for text in ("", "hunter2", base64.b64encode(bytes(31)).decode(), base64.b64encode(bytes(33)).decode(), "x" * 65):
        key.path.write_text(text)
        error = use(key.path)
        assert "has no key: a key is 32 bytes" in error and "hunter2" not in error
    if os.geteuid() == 0:
        key.path.write_text(base64.b64encode(bytes(32)).decode())
        os.chown(key.path, 4711, 0)
        assert "belongs to user 4711" in use(key.path)
