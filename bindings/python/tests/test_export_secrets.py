"""Secrets in an export: encrypted with a passphrase, each for its key, and never plain by mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kept

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "Tests/vectors/secrets.json").read_text(encoding="utf-8")
)


@pytest.fixture
def store(settings: kept.Store) -> kept.Store:
    settings.declare({key: {"type": "string", "secret": True} for key in ("token", "code")})
    settings.update({"token": "SECRET1", "code": "SECRET2", "open": 1})
    return settings


def test_secrets_are_encrypted_with_the_passphrase(store: kept.Store, tmp_path: Path) -> None:
    store.export_file(tmp_path / "export", secrets=True, passphrase="hunter words", declarations=True)
    text = (tmp_path / "export").read_text()
    export = json.loads(text)
    assert "SECRET" not in text
    assert (export["values"], list(export["secrets"]), "omitted" in export) == ({"open": 1}, ["code", "token"], False)
    with kept.open("memory:") as other:
        report = other.import_file(tmp_path / "export", passphrase="hunter words", declarations=True)
        assert {change.key: change.secret for change in report.changed} == {"code": True, "open": False, "token": True}
        assert (other["token"], other["code"], other["open"]) == ("SECRET1", "SECRET2", 1)


def test_a_wrong_passphrase_imports_nothing(store: kept.Store) -> None:
    text = store.export(secrets=True, passphrase="hunter words", declarations=True)
    with kept.open("memory:") as other:
        with pytest.raises(kept.DeniedError, match="the passphrase is not the one of the export"):
            other.import_text(text, passphrase="hunter wrong", declarations=True)
        with pytest.raises(kept.UnavailableError, match="no passphrase was given"):
            other.import_text(text, declarations=True)
        with pytest.raises(kept.InvalidError, match="empty"):
            other.import_text(text, passphrase="", declarations=True)
        assert list(other) == []


def test_a_secret_of_another_key_imports_nothing(store: kept.Store) -> None:
    export = json.loads(store.export(secrets=True, passphrase="hunter words", declarations=True))
    export["secrets"] = {"code": export["secrets"]["code"], "token": export["secrets"]["code"]}
    with kept.open("memory:") as other:
        with pytest.raises(kept.CorruptError, match="token"):
            other.import_text(json.dumps(export), passphrase="hunter words", declarations=True)
        export["secrets"] = {"other": export["secrets"]["code"]}
        with pytest.raises(kept.DeniedError):
            other.import_text(json.dumps(export), passphrase="hunter words", declarations=True)
        assert list(other) == []


def test_an_encrypted_secret_is_stored_only_as_a_secret(store: kept.Store) -> None:
    text = store.export(secrets=True, passphrase="hunter words")
    with kept.open("memory:") as other:
        with pytest.raises(kept.InvalidError, match="not declared secret here"):
            other.import_text(text, passphrase="hunter words")
        assert list(other) == []
        other.declare({key: {"type": "string", "secret": True} for key in ("token", "code")})
        assert len(other.import_text(text, passphrase="hunter words").changed) == 3
        assert other["token"] == "SECRET1"


def test_an_encrypted_secret_becomes_plain_only_where_the_caller_says_so(store: kept.Store, tmp_path: Path) -> None:
    text = store.export(secrets=True, passphrase="hunter words", declarations=True)
    with kept.open(tmp_path / "other") as other:
        other.keep_secrets_plain()
        found = other.import_text(text, passphrase="hunter words", declarations=True, dry_run=True)
        assert [refusal.key for refusal in found.refused] == ["code", "token"]
        assert "this store would have it plain" in found.refused[0].reason
        with pytest.raises(kept.InvalidError, match=r'"code".*would have it plain.*2 keys are refused'):
            other.import_text(text, passphrase="hunter words", declarations=True)
        assert list(other) == []
        other.import_text(text, passphrase="hunter words", declarations=True, plain=True)
        assert other["token"] == "SECRET1"
        # It is stored already.
        assert other.import_text(text, passphrase="hunter words", declarations=True).changed == ()
    with kept.open(tmp_path / "encrypted") as other:
        other.encrypt_secrets(kept.SecretsProvider.key_file(tmp_path / "key"))
        assert len(other.import_text(text, passphrase="hunter words", declarations=True).changed) == 3


def test_a_dry_run_says_that_an_undecided_store_takes_no_secrets(store: kept.Store, tmp_path: Path) -> None:
    text = store.export(secrets=True, plain=True, declarations=True)
    with kept.open(tmp_path / "other") as other:
        found = other.import_text(text, declarations=True, dry_run=True)
        assert [refusal.key for refusal in found.refused] == ["code", "token"]
        assert "kept secrets STORE init" in found.refused[0].reason
        with pytest.raises(kept.UnavailableError, match=r'"code".*kept secrets STORE init.*2 keys are refused'):
            other.import_text(text, declarations=True)
        # A value from before stays as it is.
        other.update({"token": "SECRET1", "code": "SECRET2"})
        assert other.import_text(text, declarations=True, dry_run=True).refused == ()
        other.import_text(text, declarations=True)
        assert (other["token"], other["open"]) == ("SECRET1", 1)


def test_secrets_are_plain_only_where_the_caller_says_so(store: kept.Store) -> None:
    with pytest.raises(kept.InvalidError, match="no passphrase was given"):
        store.export(secrets=True)
    with pytest.raises(kept.InvalidError):
        store.export(secrets=True, passphrase="x", plain=True)
    with pytest.raises(kept.InvalidError):
        store.export(plain=True)
    with pytest.raises(kept.InvalidError):
        store.export(passphrase="x")
    assert json.loads(store.export(secrets=True, plain=True))["values"]["token"] == "SECRET1"


def test_encrypted_secrets_are_not_compared(store: kept.Store, tmp_path: Path) -> None:
    store.export_file(tmp_path / "export", secrets=True, passphrase="hunter words", declarations=True)
    found = kept.differences(tmp_path / "export", store)
    assert (found.values, [(unknown.key, unknown.reason) for unknown in found.unknown]) == (
        (),
        [("code", "the export has it encrypted"), ("token", "the export has it encrypted")],
    )


def test_the_example_of_the_format_is_read() -> None:
    with kept.open("memory:") as store:
        store.import_text(json.dumps(VECTORS["export"]), passphrase=VECTORS["passphrase"], declarations=True)
        assert (store["api.token"], store["pin"], store["open"]) == ("hunter2", 4711, 1)
        assert store["mail.Passwörter"] == VECTORS["exported"]["mail.Passwörter"]
