"""How a store keeps its secrets: what `Store.secrets` shows, and the calls that change it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import kept


@pytest.fixture
def store(tmp_path: Path) -> kept.Store:
    settings = kept.open(tmp_path / "store")
    settings.declare(kept.Key("token", str, secret=True))
    with pytest.raises(kept.UnavailableError, match='"token".*kept secrets STORE init'):
        settings["token"] = "SECRET1"
    assert settings.secrets().state == "undecided"
    settings.keep_secrets_plain()
    settings["token"] = "SECRET1"
    return settings


def plain(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and b"SECRET" in path.read_bytes()]


def test_secrets_are_encrypted_and_get_a_new_data_key(store: kept.Store, tmp_path: Path) -> None:
    assert store.secrets() == kept.SecretsStatus("plain", (), None, 1)
    key = kept.SecretsProvider.key_file(tmp_path / "key")
    status = store.encrypt_secrets(key)
    assert (status.state, status.providers, status.unsealed) == ("encrypted", (key,), 0)
    assert plain(tmp_path) == []
    assert store.rotate_secrets().unsealed == 0
    assert store.secrets(ask=True).providers[0].reason is None
    assert store["token"] == "SECRET1"
    with pytest.raises(kept.InvalidError):
        store.keep_secrets_plain()
    with pytest.raises(kept.InvalidError):
        store.remove_secrets_provider(key)
    store.close()


def test_a_passphrase_unlocks_secrets(store: kept.Store, tmp_path: Path) -> None:
    passphrase = kept.SecretsProvider("passphrase", passphrase="hunter words")
    assert "hunter" not in repr(passphrase)
    store.encrypt_secrets(passphrase)
    store.close()
    with kept.open(tmp_path / "store") as again:
        with pytest.raises(kept.UnavailableError, match="passphrase"):
            again["token"]
        assert "no passphrase" in (again.secrets(ask=True).providers[0].reason or "")
        with pytest.raises(kept.DeniedError):
            again.unlock_secrets("wrong")
        again.unlock_secrets("hunter words")
        assert again["token"] == "SECRET1"
        key = kept.SecretsProvider.key_file(tmp_path / "key")
        with pytest.raises(kept.DeniedError) as refused:
            again.add_secrets_provider(key, passphrase="hunter wrong")
        assert refused.value.key is None
        again.add_secrets_provider(key, passphrase="hunter words")
        # As it is listed, without the passphrase.
        [listed] = [provider for provider in again.secrets().providers if provider.kind == "passphrase"]
        assert again.remove_secrets_provider(listed).providers == (key,)


def test_a_wrong_passphrase_is_an_error_where_another_provider_gives_the_key(store: kept.Store, tmp_path: Path) -> None:
    key = kept.SecretsProvider.key_file(tmp_path / "key")
    store.encrypt_secrets(key)
    with pytest.raises(kept.UnavailableError, match="have none"):
        store.unlock_secrets("hunter words")
    passphrase = kept.SecretsProvider("passphrase", passphrase="hunter words")
    store.add_secrets_provider(passphrase)
    calls: list[Callable[[], object]] = [
        lambda: store.unlock_secrets("wrong"),
        lambda: store.add_secrets_provider(key, passphrase="wrong"),
        lambda: store.encrypt_secrets(kept.SecretsProvider("passphrase", passphrase="wrong")),
        lambda: store.rotate_secrets(passphrase="wrong"),
    ]
    for call in calls:
        with pytest.raises(kept.DeniedError, match="passphrase"):
            call()
    store.unlock_secrets("hunter words")
    assert store["token"] == "SECRET1"
    store.close()


def test_an_explanation_shows_why_a_secret_is_locked(store: kept.Store, tmp_path: Path) -> None:
    store.encrypt_secrets(kept.SecretsProvider.key_file(tmp_path / "key"))
    revision = store.revision("token")
    store.close()
    (tmp_path / "key").unlink()
    with kept.open(tmp_path / "store") as locked:
        for reading in (locked, locked.snapshot()):
            found = reading.explain("token")
            assert (found.value, found.layer, found.secret, found.revision) == (None, kept.Layer.USER, True, revision)
            assert found.reason == "the stored value applies, but it cannot be read"
            user = next(finding for finding in found.layers if finding.layer is kept.Layer.USER)
            assert user.outcome == "wins"
            assert "does not exist" in (user.problem or "")


def test_a_locked_secret_has_a_declaration_and_a_revision_and_is_replaced_at_that(
    store: kept.Store, tmp_path: Path
) -> None:
    store.encrypt_secrets(kept.SecretsProvider("passphrase", passphrase="hunter words"))
    revision, declaration = store.revision("token"), store.declaration("token")
    store.close()
    with kept.open(tmp_path / "store") as locked:
        transaction = locked.transaction()
        for reading in (locked, locked.snapshot(), transaction):
            assert reading.declaration("token") == declaration
            assert (reading.revision("token"), "token" in reading) == (revision, True)
        transaction.rollback()
        with pytest.raises(kept.ConflictError), locked.transaction() as transaction:
            transaction.set("token", "SECRET2", if_revision=revision - 1)
        with locked.transaction() as transaction:
            assert transaction.revision("token") == revision
            transaction["token"] = "SECRET2"
        now = locked.revision("token")
        assert now > revision
        with locked.transaction() as transaction:
            transaction.set("token", "SECRET3", if_revision=now)
        with pytest.raises(kept.ConflictError), locked.transaction() as transaction:
            assert transaction.revision("token")
            locked["token"] = "SECRET4"
            transaction["token"] = "SECRET5"
        locked.unlock_secrets("hunter words")
        assert locked["token"] == "SECRET4"


def test_items_leave_out_a_locked_secret_only_if_asked(store: kept.Store, tmp_path: Path) -> None:
    store["open"] = 1
    store.encrypt_secrets(kept.SecretsProvider.key_file(tmp_path / "key"))
    store.close()
    (tmp_path / "key").unlink()
    with kept.open(tmp_path / "store") as locked:
        for reading in (locked, locked.snapshot()):
            assert list(reading.keys()) == ["open", "token"]
            with pytest.raises(kept.UnavailableError, match="token"):
                dict(reading.items())
            readable = reading.items(skip_unreadable=True)
            assert (dict(readable), len(readable)) == ({"open": 1}, 1)


def test_a_backup_with_encrypted_secrets_is_not_restored_where_they_would_be_plain(
    store: kept.Store, tmp_path: Path
) -> None:
    store.encrypt_secrets(kept.SecretsProvider.key_file(tmp_path / "key"))
    store.backup(tmp_path / "backup")
    store.close()
    with kept.open(tmp_path / "other") as other:
        other.keep_secrets_plain()
        with pytest.raises(kept.InvalidError, match="would have them plain"):
            other.restore(tmp_path / "backup")
        assert list(other) == []
    assert plain(tmp_path) == []
    with kept.open(tmp_path / "third") as third:
        third.restore(tmp_path / "backup")
        assert (third["token"], third.secrets().state) == ("SECRET1", "encrypted")


def test_a_backup_is_restored_with_the_passphrase_of_its_store(store: kept.Store, tmp_path: Path) -> None:
    store.encrypt_secrets(kept.SecretsProvider("passphrase", passphrase="hunter words"))
    store.backup(tmp_path / "backup")
    store.close()
    with kept.open(tmp_path / "other") as other:
        with pytest.raises(kept.UnavailableError, match="passphrase"):
            other.restore(tmp_path / "backup")
        with pytest.raises(kept.DeniedError):
            other.restore(tmp_path / "backup", passphrase="hunter wrong")
        with pytest.raises(kept.InvalidError, match="NUL"):
            other.restore(tmp_path / "backup", passphrase="hunter\0words")
        assert list(other) == []
        assert other.restore(tmp_path / "backup", passphrase="hunter words") is None
        assert other["token"] == "SECRET1"
    assert plain(tmp_path) == []


def test_a_backup_whose_secrets_nothing_opens_is_compared_in_everything_else(store: kept.Store, tmp_path: Path) -> None:
    store["open"] = 1
    store.encrypt_secrets(kept.SecretsProvider.key_file(tmp_path / "key"))
    store.backup(tmp_path / "backup")
    store["open"] = 2
    store["token"] = "SECRET2"
    found = kept.differences(tmp_path / "backup", store)
    assert ([each.key for each in found.values], found.unknown) == (["open", "token"], ())
    with kept.open(tmp_path / "other") as other:
        (tmp_path / "key").unlink()
        other.update({"open": 1})
        found = kept.differences(tmp_path / "backup", other)
        assert [each.key for each in found.values] == ["token"]
        other.declare(kept.Key("token", str, secret=True))
        other.keep_secrets_plain()
        other["token"] = "x"
        found = kept.differences(tmp_path / "backup", other)
        assert ([each.key for each in found.values], [each.key for each in found.unknown]) == ([], ["token"])
        assert "does not exist" in found.unknown[0].reason
    store.close()


def test_an_error_of_a_provider_names_the_store(store: kept.Store, tmp_path: Path) -> None:
    with pytest.raises(kept.DeniedError, match=f"the secrets of {tmp_path}/store: .*chmod 600"):
        (tmp_path / "open").write_bytes(bytes(32))
        (tmp_path / "open").chmod(0o644)
        store.encrypt_secrets(kept.SecretsProvider.key_file(tmp_path / "open"))
    store.encrypt_secrets(kept.SecretsProvider("passphrase", passphrase="words"))
    calls: list[Callable[[], object]] = [
        lambda: store.unlock_secrets("wrong"),
        lambda: store.add_secrets_provider(kept.SecretsProvider.key_file(tmp_path / "key"), passphrase="wrong"),
        lambda: store.rotate_secrets(),
    ]
    for call in calls:
        with pytest.raises(kept.KeptError, match=f"the secrets of {tmp_path}/store: "):
            call()
    store.close()


def test_a_secret_is_replaced_without_its_key(store: kept.Store, tmp_path: Path) -> None:
    passphrase = kept.SecretsProvider("passphrase", passphrase="hunter words")
    store.encrypt_secrets(passphrase)
    store.close()
    with kept.open(tmp_path / "store") as locked:
        locked["token"] = "SECRET2"
        with pytest.raises(kept.UnavailableError):
            locked["token"]
        locked.unlock_secrets("hunter words")
        assert locked["token"] == "SECRET2"
    assert plain(tmp_path) == []


def test_plain_is_a_decision(store: kept.Store) -> None:
    assert store.keep_secrets_plain().state == "plain"
    with kept.open("memory:") as memory, pytest.raises(kept.UnsupportedError):
        memory.secrets()
    with pytest.raises(kept.InvalidError):
        store.encrypt_secrets(kept.SecretsProvider("other"))
    store.close()
