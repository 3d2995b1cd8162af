"""`kept secrets`: encryption, its keys, and a store with a token that moves to another machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Kept, environment_in, mounted, on_terminal, runner

TOKEN = "hunter-token"


@pytest.fixture
def stored(declared: Kept) -> Kept:
    assert declared("set", "player", "token", "-", input=TOKEN).status == 0
    return declared


def plain(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


def state(kept: Kept) -> dict[str, object]:
    shown: dict[str, object] = json.loads(kept("secrets", "player", "--json").out)
    return shown


def test_secrets_are_encrypted_rotated_and_recovered(stored: Kept, tmp_path: Path) -> None:
    assert plain(tmp_path) != []
    key = tmp_path / "key"
    done = stored("secrets", "player", "init", "--key-file", str(key))
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("secrets are encrypted, with a key of ")
    assert plain(tmp_path) == []
    assert "decided" not in stored("doctor", "player").out
    assert stored("secrets", "player").out.splitlines()[1] == f"  key file {key}"
    assert stored("secrets", "player", "add", "--passphrase", input="words\n").status == 0
    assert stored("secrets", "player", "rotate", input="words\n").status == 0
    key.unlink()
    locked = stored("get", "player", "token", "--reveal")
    assert (locked.status, locked.out) == (4, "")
    assert "key file" in locked.err
    assert TOKEN not in locked.err
    shown = stored("secrets", "player")
    assert shown.status == 1
    assert "does not exist" in shown.out
    other = tmp_path / "other"
    assert stored("secrets", "player", "recover", "--key-file", str(other), input="wrong\n").status == 4
    assert stored("secrets", "player", "recover", "--key-file", str(other), input="words\n").status == 0
    assert stored("secrets", "player", "remove", "--key-file", str(key)).status == 0
    assert stored("get", "player", "token", "--reveal").out == f"{TOKEN}\n"
    assert state(stored)["unsealed"] == 0


def test_a_store_with_a_token_moves_to_another_machine(stored: Kept, tmp_path: Path) -> None:
    assert stored("secrets", "player", "init", "--key-file", str(tmp_path / "key")).status == 0
    assert stored("secrets", "player", "add", "--passphrase", input="words\n").status == 0
    backup = tmp_path / "player.backup"
    assert stored("backup", "player", str(backup)).status == 0
    assert stored("restore", "player", str(backup), "--passphrase", input="wrong\n").status == 4
    (tmp_path / "key").unlink()
    machine = tmp_path / "machine"
    machine.mkdir()
    kept = runner(environment_in(machine))
    refused = kept("restore", "player", str(backup))
    assert refused.status == 4
    assert "no passphrase was given" in refused.err
    assert kept("restore", "player", str(backup), "--passphrase", input="words\n").status == 0
    key = machine / "key"
    assert kept("secrets", "player", "recover", "--key-file", str(key), input="words\n").status == 0
    assert kept("get", "player", "token", "--reveal").out == f"{TOKEN}\n"
    assert plain(tmp_path) == []


def test_lines_of_standard_input_have_the_same_order_whichever_provider_works(stored: Kept, tmp_path: Path) -> None:
    key = tmp_path / "key"
    assert stored("secrets", "player", "init", "--key-file", str(key)).status == 0
    assert stored("secrets", "player", "add", "--passphrase", input="first\n").status == 0
    assert stored("secrets", "player", "add", "--passphrase", input="first\nsecond\n").status == 0
    wrong = stored("secrets", "player", "add", "--passphrase", input="third\nfourth\n")
    assert wrong.status == 4
    assert "the passphrase is not the one" in wrong.err
    assert stored("secrets", "player", "add", "--passphrase", input="third\n").status != 0
    # An empty line gives none, so that a forgotten one can be replaced.
    assert stored("secrets", "player", "add", "--passphrase", input="\nthird\n").status == 0
    key.unlink()
    assert stored("secrets", "player", "add", "--passphrase", input="second\nfourth\n").status == 4
    assert stored("secrets", "player", "add", "--passphrase", input="third\nfourth\n").status == 0
    other = tmp_path / "other"
    assert stored("secrets", "player", "add", "--key-file", str(other), input="fourth\n").status == 0
    assert stored("get", "player", "token", "--reveal").out == f"{TOKEN}\n"


def test_a_locked_secret_is_explained(stored: Kept, tmp_path: Path) -> None:
    key = tmp_path / "key"
    assert stored("secrets", "player", "init", "--key-file", str(key)).status == 0
    key.unlink()
    done = stored("explain", "player", "token")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0] == "the stored value applies, but it cannot be read"
    assert "does not exist" in done.out
    shown = json.loads(stored("explain", "player", "token", "--json", "--reveal").out)
    assert (shown["layer"], shown["secret"], "value" in shown) == ("user", True, False)


def test_a_secret_is_replaced_without_its_key(stored: Kept, tmp_path: Path) -> None:
    key = tmp_path / "key"
    assert stored("secrets", "player", "init", "--key-file", str(key)).status == 0
    away = key.rename(tmp_path / "away")
    done = stored("set", "player", "token", "-", input=f"{TOKEN}-2")
    assert done.status == 0
    assert '"token": had a value that cannot be read' in done.err
    assert stored("get", "player", "token", "--reveal").status == 4
    away.rename(key)
    assert stored("get", "player", "token", "--reveal").out == f"{TOKEN}-2\n"
    assert plain(tmp_path) == []


def test_a_lost_file_of_keys_is_replaced_once_the_lost_secrets_are_reset(stored: Kept, tmp_path: Path) -> None:
    assert stored("secrets", "player", "init", "--key-file", str(tmp_path / "key")).status == 0
    for path in tmp_path.rglob("secrets"):
        path.unlink()
    for words in (["--plain"], ["--key-file", str(tmp_path / "key")]):
        refused = stored("secrets", "player", "init", *words)
        assert refused.status == 4
        assert 'encrypted secrets ("token")' in refused.err
        assert "bring it back from a backup" in refused.err
    assert stored("reset", "player", "token").status == 0
    assert stored("secrets", "player", "init", "--key-file", str(tmp_path / "key")).status == 0
    assert stored("set", "player", "token", "-", input=TOKEN).status == 0
    assert stored("get", "player", "token", "--reveal").out == f"{TOKEN}\n"
    assert plain(tmp_path) == []


def test_a_secret_is_refused_until_someone_decides_how_it_is_stored(kept: Kept, tmp_path: Path) -> None:
    schema = '{"properties": {"token": {"type": "string", "secret": true}}}'
    assert kept("declare", "player", "-", input=schema).status == 0
    assert kept("secrets", "player").status == 1
    assert state(kept)["state"] == "undecided"
    assert "no one has decided" in kept("doctor", "player").out
    exported = json.dumps({"kept": 1, "values": {"token": TOKEN}})
    for words, text in ((["set", "player", "token", "-"], TOKEN), (["import", "player", "-"], exported)):
        refused = kept(*words, input=text)
        assert (refused.status, refused.out) == (4, "")
        assert '"token"' in refused.err and "kept secrets STORE init" in refused.err
        assert TOKEN not in refused.err
    assert plain(tmp_path) == []
    assert kept("secrets", "player", "init", "--key-file", str(tmp_path / "key")).status == 0
    assert kept("set", "player", "token", "-", input=TOKEN).status == 0
    assert plain(tmp_path) == []


def test_a_file_has_the_passphrase_of_a_store_without_another_provider(
    stored: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    assert stored("secrets", "player", "init", "--passphrase", input="words\n").status == 0
    file = tmp_path / "words"
    file.write_text("words\nmore\n")
    file.chmod(0o600)
    option = ["--passphrase-file", str(file)]
    assert stored("get", "player", "token", "--reveal").status == 4
    assert stored("get", "player", "token", "--reveal", *option).out == f"{TOKEN}\n"
    assert stored("set", "player", "token", "-", *option, input="hunter-2").status == 0
    with_file = runner(environment | {"KEPT_PASSPHRASE_FILE": str(file)})
    assert with_file("get", "player", "token", "--reveal").out == "hunter-2\n"
    assert with_file("secrets", "player", "rotate").status == 0
    assert with_file("secrets", "player", "add", "--key-file", str(tmp_path / "key")).status == 0
    (tmp_path / "key").unlink()
    file.write_text("wrong\n")
    wrong = with_file("get", "player", "token", "--reveal")
    assert (wrong.status, wrong.out) == (4, "")
    assert "the passphrase is not the one" in wrong.err
    file.chmod(0o640)
    open_to_others = with_file("get", "player", "token", "--reveal")
    assert open_to_others.status == 4
    assert "other users can read or write" in open_to_others.err
    assert "wrong" not in open_to_others.err


def test_a_terminal_is_asked_for_the_passphrase_where_a_secret_is_needed(
    stored: Kept, environment: dict[str, str]
) -> None:
    assert stored("secrets", "player", "init", "--passphrase", input="words\n").status == 0
    asked = "passphrase of the store, which is not shown: "
    status, shown = on_terminal(environment, ["get", "player", "token", "--reveal"], [(asked, "words\n")])
    assert (status, shown.replace("\r", "")) == (0, f"{asked}\n{TOKEN}\n")
    status, shown = on_terminal(environment, ["get", "player", "token", "--reveal"], [(asked, "wrong\n")])
    assert status == 4
    assert "the passphrase is not the one" in shown
    assert "wrong" not in shown
    status, shown = on_terminal(environment, ["list", "player"], [])
    assert (status, asked in shown) == (0, False)


def test_a_backup_whose_key_only_a_program_has_is_compared_before_it_is_restored(stored: Kept, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n")
    program.chmod(0o700)
    assert stored("set", "player", "audio.volume=7").status == 0
    assert stored("secrets", "player", "init", "--program", str(program)).status == 0
    backup = tmp_path / "player.backup"
    assert stored("backup", "player", str(backup)).status == 0
    # The store itself has named the program.
    assert stored("diff", "player", str(backup)).status == 0
    assert stored("set", "player", "audio.volume=8").status == 0
    assert stored("restore", "player", str(backup), "--dry-run").out == "~ audio.volume: 8 → 7\n"
    machine = tmp_path / "machine"
    machine.mkdir()
    kept = runner(environment_in(machine))
    rehearsed = kept("restore", "player", str(backup), "--dry-run")
    assert rehearsed.status == 0
    assert "+ audio.volume: 7" in rehearsed.out.splitlines()
    assert "+ token: (secret)" in rehearsed.out.splitlines()
    exported = stored("export", "player", "--declarations").out
    assert kept("import", "player", "-", "--declarations", input=exported).status == 0
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("set", "player", "token", "-", input="other").status == 0
    compared = kept("diff", "player", str(backup))
    assert (compared.status, compared.out) == (1, "~ audio.volume: 8 → 7\n")
    assert '"token": is left out, because its value cannot be read' in compared.err
    assert "it is not run" in compared.err
    rehearsed = kept("restore", "player", str(backup), "--dry-run")
    assert rehearsed.out == "~ audio.volume: 8 → 7\n"
    assert '"token": is left out' in rehearsed.err


def test_an_undo_and_a_restore_of_the_past_have_encrypted_secrets(stored: Kept, tmp_path: Path) -> None:
    assert stored("secrets", "player", "init", "--key-file", str(tmp_path / "key")).status == 0
    assert stored("set", "player", "token", "-", input="hunter-2").status == 0
    undone = stored("undo", "player")
    assert (undone.status, undone.err) == (0, "")
    assert stored("get", "player", "token", "--reveal").out == f"{TOKEN}\n"
    redone = stored("redo", "player")
    assert (redone.status, redone.err) == (0, "")
    assert stored("get", "player", "token", "--reveal").out == "hunter-2\n"
    last = int(stored("log", "player").out.split()[0])
    restored = stored("restore", "player", f"@{last - 1}")
    assert (restored.status, restored.err) == (0, "")
    assert stored("get", "player", "token", "--reveal").out == f"{TOKEN}\n"


def test_a_dry_run_says_that_a_store_without_a_decision_takes_no_secrets(kept: Kept, tmp_path: Path) -> None:
    declarations = '{"properties": {"token": {"type": "string", "secret": true}}}'
    assert kept("declare", "player", "-", input=declarations).status == 0
    export = tmp_path / "export"
    export.write_text('{"kept": 1, "values": {"token": "hunter-token"}}')
    commands: list[tuple[list[str], str | None]] = [
        (["set", "player", "token", "-"], TOKEN),
        (["transaction", "player"], '{"set": "token", "value": "hunter-token"}'),
        (["import", "player", str(export)], None),
    ]
    for words, typed in commands:
        for dry in ([], ["--dry-run"]):
            done = kept(*words, *dry, input=typed)
            assert done.status != 0, (words, dry)
            assert "it is a secret, which cannot be stored: no one has decided" in done.err, (words, dry)
    assert kept("secrets", "player", "init", "--plain").status == 0
    for words, typed in commands:
        assert kept(*words, "--dry-run", input=typed).status == 0, words


def test_a_rotation_on_a_full_disk_says_what_was_changed(environment: dict[str, str]) -> None:
    script = """
    kept declare ./store - -q <<<'{"properties": {"token": {"type": "string", "secret": true}}}'
    kept secrets ./store init --key-file "$HOME/key" -q
    kept set ./store token - -q <<<"hunter-token"
    long() { head -c 50000 /dev/urandom | base64 -w0; }
    for i in {1..30}; do long | kept set ./store --undeclared --type string "filler.$i" - -q; done
    head -c 100m /dev/zero >filler 2>&-; truncate -s -100k filler
    kept secrets ./store rotate
    kept secrets ./store
    kept get ./store token --reveal
    rm filler
    kept secrets ./store rotate -q && kept secrets ./store
    """
    done = mounted(environment, "size=16m", script)
    assert "the store has a new data key, but older secrets are not encrypted with it yet" in done.stderr, done
    assert "then call again" in done.stderr
    lines = done.stdout.splitlines()
    assert "to be encrypted with the present key" in lines[0]
    assert "hunter-token" in lines
    assert "to be encrypted" not in lines[-2]


def test_plain_is_a_decision_that_doctor_notes(stored: Kept) -> None:
    assert stored("secrets", "player", "init", "--plain").out == (
        "secrets are plain, readable for anyone who can read the files\n"
    )
    assert stored("secrets", "player").status == 0
    doctor = stored("doctor", "player")
    assert doctor.status == 0
    assert "anyone who can read the files can read them" in doctor.out
    assert stored("get", "player", "token", "--reveal").out == f"{TOKEN}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["frob"],
        ["init"],
        ["init", "--plain", "--keyring"],
        ["add", "--plain"],
        ["rotate", "--keyring"],
        ["remove"],
        ["init", "--plain", "--dry-run"],
    ],
)
def test_wrong_words_change_nothing(stored: Kept, words: list[str]) -> None:
    done = stored("secrets", "player", *words)
    assert (done.status, done.out) == (2, "")
    assert state(stored)["state"] == "plain"


def test_a_program_gives_the_key(stored: Kept, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\n[ "$1" = --show ] && echo MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n')
    program.chmod(0o700)
    assert stored("secrets", "player", "init", "--program", str(program), "--show").status == 0
    assert stored("secrets", "player").out.splitlines()[1] == f"  program {program} --show"
    assert stored("get", "player", "token", "--reveal").out == f"{TOKEN}\n"


def test_init_names_the_older_copies_that_have_secrets_in_plain(stored: Kept, tmp_path: Path) -> None:
    assert stored("mark", "good", "player").status == 0
    done = stored("secrets", "player", "init", "--key-file", str(tmp_path / "key"))
    copy = next(path for path in tmp_path.rglob("*.good"))
    assert done.out.splitlines()[1] == f"{copy} is older, and may have them in plain; remove it, or replace the secrets"
    assert str(copy) in stored("doctor", "player").out
    copy.unlink()
    assert str(copy) not in stored("doctor", "player").out


def test_a_backup_whose_key_only_a_program_has_is_restored_once_the_program_is_named(
    stored: Kept, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\n[ "$*" = "read -n x" ] && echo MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n')
    program.chmod(0o700)
    words = ["--program", str(program), "read", "-n", "x"]
    done = stored("secrets", "player", "init", *words)
    assert (done.status, done.err) == (0, "")
    backup = tmp_path / "player.backup"
    assert stored("backup", "player", str(backup)).status == 0
    machine = tmp_path / "machine"
    machine.mkdir()
    kept = runner(environment_in(machine))
    assert "it is not run" in kept("restore", "player", str(backup)).err
    assert kept("secrets", "player", "init", *words).status == 0
    assert kept("restore", "player", str(backup)).status == 0
    assert kept("get", "player", "token", "--reveal").out == f"{TOKEN}\n"
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o700)
    (folder / "values").write_bytes(backup.read_bytes())
    (folder / "values").chmod(0o600)
    assert kept("get", str(folder), "token", "--reveal").status == 4
    assert kept("secrets", str(folder), "recover", *words).status == 0
    assert kept("get", str(folder), "token", "--reveal").out == f"{TOKEN}\n"
