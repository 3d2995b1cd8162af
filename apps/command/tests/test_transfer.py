"""Exports and imports."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conftest import Kept


def test_an_export_moves_a_store(declared: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "audio.volume=7", "title=a\nb").status == 0
    exported = declared("export", "player", "--declarations")
    assert declared("import", "other", "-", "--declarations", input=exported.out).status == 0
    assert declared("diff", "player", "other").status == 0
    again = declared("import", "other", "-", "--declarations", input=exported.out)
    assert "0 changed" in again.out
    assert declared("export", "player", "--output", str(tmp_path / "e.json")).status == 0
    assert (tmp_path / "e.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "format", "text", "key", "value"),
    [
        ("JSON", "json", '{"a.b": 1}', "a.b", "1"),
        ("nested JSON", "nested-json", '{"a": {"b": 1}}', "a.b", "1"),
        ("an .env file", "env", "# comment\nA=1\n", "A", None),
        ("an .ini file", "ini", "[a]\nb = 1\n", "a.b", None),
        ("the output of dconf dump", "dconf", "[org/example]\nb=1\n", "org.example.b", None),
        (
            "a property list",
            "plist",
            '<?xml version="1.0"?><plist><dict><key>a</key><integer>1</integer></dict></plist>',
            "a",
            "1",
        ),
    ],
)
def test_the_format_is_found_and_said(
    kept: Kept, words: str, format: str, text: str, key: str, value: str | None
) -> None:
    done = kept("import", "player", "-", input=text)
    assert f"reading - as {words}; --format" in done.err
    assert "reading" not in kept("import", "player", "-", "--format", format, "--dry-run", input=text).err
    assert done.status == 0, done.err
    listed = json.loads(kept("list", "player", "--json").out)
    assert list(listed) == [key] or format == "dconf"
    if value is not None:
        assert kept("get", "player", key).out == value + "\n"


def test_a_dry_run_reports_what_would_be_refused(declared: Kept) -> None:
    text = '{"audio.volume": 700, "title": "x"}'
    done = declared("import", "player", "-", "--dry-run", input=text)
    assert (done.status, '+ title: "x"' in done.out, "audio.volume" in done.err) == (3, True, True)
    assert declared("import", "player", "-", input=text).status == 3
    assert declared("get", "player", "title").status == 1


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_secret_is_not_imported_into_a_store_that_would_show_it(dry: list[str], declared: Kept) -> None:
    assert declared("set", "player", "token=hunter2", "title=x").status == 0
    exported = declared("export", "player", "--declarations", "--secrets", "--plain").out
    refused = declared("import", "other", "-", *dry, input=exported)
    assert (refused.status, refused.out) == (3, "")
    assert '"token": is a secret in the file' in refused.err and "--declarations imports" in refused.err
    assert "hunter2" not in refused.err
    assert declared("get", "other", "title").status != 0
    assert declared("secrets", "other", "init", "--plain").status == 0
    done = declared("import", "other", "-", "--declarations", *dry, input=exported)
    assert done.status == 0 and "+ token: (secret)\n" in done.out and "hunter2" not in done.out
    # The store itself knows the secret keys.
    assert declared("import", "player", "-", *dry, input=exported).status == 0


def test_an_export_says_what_it_leaves_out(declared: Kept) -> None:
    assert declared("export", "player").err == ""
    assert declared("set", "player", "token", "hunter2").status == 0
    assert declared("export", "player").err == "kept: left out 1 secret (token); --secrets includes it\n"
    assert declared("export", "player", "--prefix", "audio.").err == ""
    assert "but does not mark it as secret" in declared("export", "player", "--secrets", "--plain").err
    assert declared("export", "player", "--secrets", "--plain", "--declarations").err == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be led by another user")
def test_root_follows_no_link_of_another_user(kept: Kept, tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret.json", tmp_path / "other"
    secret.write_text('{"a": 1}')
    folder.mkdir()
    link, to_folder = folder / "link.json", folder / "folder"
    link.symlink_to(secret)
    to_folder.symlink_to(tmp_path)
    for path in (folder, link, to_folder):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    assert kept("set", "player", "b", "1").status == 0
    for words in (
        ["import", "player", str(link)],
        ["import", "player", str(to_folder / "secret.json")],
        ["declare", "player", str(link)],
        ["export", "player", "--output", str(to_folder / "export")],
        ["backup", "player", str(to_folder / "backup")],
        ["restore", "player", str(to_folder / "backup")],
        ["set", str(to_folder / "store"), "a", "1"],
        ["list", str(to_folder / "config/kept/player.kept")],
    ):
        done = kept(*words)
        assert done.status != 0 and "root does not follow it" in done.err, (words, done)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config", "other", "secret.json"]
    assert kept("list", "player").out == "b=1\n"


LOST = '{"kept":1,"declarations":{"a":{"lost":true},"b":{"lost":true}},"values":{"a":"hunter2","b":7}}'


@pytest.mark.parametrize("more", [[], ["--replace"]])
def test_a_lost_declaration_is_imported_and_keeps_the_value_hidden(more: list[str], kept: Kept) -> None:
    for round in range(2):
        done = kept("import", "player", "-", "--declarations", *more, input=LOST)
        assert (done.status, "hunter2" in done.out + done.err) == (0, False), (round, done)
    assert "hunter2" not in kept("list", "player").out + kept("export", "player").out
    assert '"a" may have lost its declaration' in kept("doctor", "player").out
    exported = kept("export", "player", "--declarations", "--secrets", "--plain").out
    assert kept("import", "other", "-", "--declarations", input=exported).status == 0
    assert kept("diff", "player", "other").status == 0
    assert kept("undeclare", "player", "a").status == 0
    assert kept("get", "player", "a").out == '"hunter2"\n'


def test_a_lost_declaration_replaces_no_other_unless_all_are_replaced(kept: Kept) -> None:
    schema = '{"properties":{"a":{"type":"string"}}}'
    assert kept("declare", "player", "-", input=schema).status == 0
    assert kept("import", "player", "-", "--declarations", input=LOST).status == 0
    assert kept("get", "player", "a").out == "hunter2\n"
    assert '"lost"' not in kept("describe", "player", "a", "--json").out
    assert kept("import", "player", "-", "--declarations", "--replace", input=LOST).status == 0
    assert json.loads(kept("describe", "player", "a", "--json").out) == {"lost": True}


def test_a_lost_declaration_cannot_be_declared(kept: Kept) -> None:
    assert kept("import", "player", "-", "--declarations", input=LOST).status == 0
    assert kept("describe", "player").out.split()[5:7] == ["a", "lost"]
    described = kept("describe", "player", "--json")
    assert json.loads(described.out)["properties"] == {"a": {"lost": True}, "b": {"lost": True}}
    done = kept("declare", "player", "-", input=described.out)
    assert done.status == 3
    assert "was lost when a store was salvaged; declare the key as before, or undeclare it" in done.err


def test_a_declaration_that_is_not_known_is_refused_with_one_status(kept: Kept) -> None:
    text = '{"kept":1,"declarations":{"a":{"type":"string","newWord":1}},"values":{"a":"x"}}'
    for dry in ([], ["--dry-run"]):
        done = kept("import", "player", "-", "--declarations", *dry, input=text)
        assert done.status == 3 and '"a": ' in done.err and "newWord" in done.err


def test_secrets_of_an_export_are_encrypted_with_a_passphrase(declared: Kept, kept: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "token", "-", input="hunter-token").status == 0
    file, words = tmp_path / "export.json", tmp_path / "words"
    words.write_text("words\n")
    words.chmod(0o600)
    refused = declared("export", "player", "--secrets", "--output", str(file))
    assert (refused.status, file.exists()) == (3, False)
    exporting = ["export", "player", "--secrets", "--declarations", "--output", str(file)]
    assert declared(*exporting, input="words\n").status == 0
    assert "hunter-token" not in file.read_text()
    importing = ["import", "other", str(file), "--declarations"]
    new = kept(*importing, "--dry-run", input="words\n")
    assert (new.status, kept(*importing, input="words\n").status) == (4, 4)
    assert '"token": it is a secret, which cannot be stored: no one has decided' in new.err
    assert kept("stores").out == declared("stores").out, "no store was created"
    for store in ("other", "third"):
        assert kept("secrets", store, "init", "--plain").status == 0
    wrong = kept(*importing, input="wrong\n")
    assert wrong.status == 4
    assert "the passphrase is not the one of the export" in wrong.err
    assert kept("get", "other", "token").status == 1
    assert "not declared secret here" in kept("import", "other", str(file), input="words\n").err
    plain = kept(*importing, input="words\n")
    assert plain.status == 3
    assert "this store would have it plain" in plain.err
    assert "this store would have it plain" in kept(*importing, "--dry-run", input="words\n").err
    assert kept("get", "other", "token").status == 1
    importing.append("--plain")
    assert kept(*importing, input="words\n").status == 0
    assert kept("get", "other", "token", "--reveal").out == "hunter-token\n"
    piped = ["import", "third", "-", "--declarations", "--plain"]
    assert kept(*piped, input=file.read_text()).status == 4
    done = kept(*piped, "--export-passphrase-file", str(words), input=file.read_text())
    assert done.status == 0
    assert kept("get", "third", "token", "--reveal").out == "hunter-token\n"
    shown = declared("diff", str(file), "player")
    assert '"token": is left out, because the export has it encrypted' in shown.err
    assert declared("export", "player", "--plain").status == 2
    assert declared("export", "player", "--secrets", "--plain", "--export-passphrase-file", str(words)).status == 2
