"""A store whose secrets a real keyring unlocks: gnome-keyring, on a bus of its own, without a display."""

from __future__ import annotations

import queue
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import kept

# Without folders of services: the bus starts neither another keyring nor a program that asks for the password.
BUS = """<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""


class Keyring:
    """The keyring of a session, which is locked and unlocked by starting it again, as no user answers its question."""

    def __init__(self) -> None:
        self.daemon: subprocess.Popen[bytes] | None = None

    def start(self, password: str | None = None) -> None:
        self.end()
        command = ["gnome-keyring-daemon", "--foreground", "--components=secrets"]
        self.daemon = subprocess.Popen(
            command + ([] if password is None else ["--unlock"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert self.daemon.stdin
        self.daemon.stdin.write((password or "").encode())
        self.daemon.stdin.close()
        wait = ["gdbus", "wait", "--session", "--timeout", "60", "org.freedesktop.secrets"]
        subprocess.run(wait, check=True, timeout=90)

    def end(self) -> None:
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(60)
        self.daemon = None


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Keyring]:
    for program in ["gnome-keyring-daemon", "secret-tool", "dbus-daemon", "gdbus"]:
        if not shutil.which(program):
            pytest.skip(f"needs {program}")
    (tmp_path / "bus.conf").write_text(BUS)
    for name in ["HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"]:
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("DISPLAY", raising=False)
    arguments = ["dbus-daemon", f"--config-file={tmp_path}/bus.conf", "--nofork", "--print-address=1"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as bus:
        assert bus.stdout
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus.stdout.readline().strip())
        keyring = Keyring()
        try:
            yield keyring
        finally:
            keyring.end()
            bus.terminate()


def test_a_keyring_that_is_unlocked_while_the_store_is_open_gives_reads_and_observers_the_secret(
    keyring: Keyring, tmp_path: Path
) -> None:
    keyring.start("pw")
    with kept.open(tmp_path / "store") as first:
        first.declare(kept.Key("token", str, secret=True))
        first.encrypt_secrets(kept.SecretsProvider("secret-service"))
        first["token"] = "SECRET1"
        first["volume"] = 1
    keyring.start()
    received: queue.Queue[kept.Notice] = queue.Queue()
    with kept.open(tmp_path / "store") as store, store.observe(prefix="", callback=received.put):
        with pytest.raises(kept.UnavailableError, match="the Secret Service: .*the keyring is locked, or"):
            store["token"]
        store["volume"] = 2
        assert store["volume"] == 2
        assert [change.key for change in received.get(timeout=60).changes] == ["volume"]
        store["token"] = "SECRET2"
        with pytest.raises(kept.UnavailableError, match="the keyring is locked"):
            store["token"]
        keyring.start("pw")
        assert token(store) == "SECRET2"
        assert [change.new for change in received.get(timeout=60).changes] == ["SECRET2"]
        store["token"] = "SECRET3"
        assert [change.new for change in received.get(timeout=60).changes] == ["SECRET3"]


def test_a_store_that_comes_from_another_keyring_gets_a_key_in_this_one(keyring: Keyring, tmp_path: Path) -> None:
    keyring.start("pw")
    provider = kept.SecretsProvider("secret-service")
    with kept.open(tmp_path / "store") as store:
        store.declare(kept.Key("token", str, secret=True))
        store.encrypt_secrets(provider)
        store.add_secrets_provider(kept.SecretsProvider("passphrase", passphrase="words"))
        store["token"] = "SECRET1"
    keyring.end()
    shutil.rmtree(tmp_path / "keyrings")
    keyring.start("pw")
    with kept.open(tmp_path / "store") as store:
        with pytest.raises(kept.UnavailableError, match="has no key"):
            store["token"]
        store.add_secrets_provider(provider, passphrase="words")
        assert store["token"] == "SECRET1"
        # A key that the keyring has is not replaced.
        store.add_secrets_provider(provider)
    with kept.open(tmp_path / "store") as store:
        assert store["token"] == "SECRET1"


def token(store: kept.Store) -> object:
    """Reads it until it can be read: providers are asked again after some seconds."""
    end = time.monotonic() + 300
    while True:
        try:
            return store["token"]
        except kept.UnavailableError:
            assert time.monotonic() < end
