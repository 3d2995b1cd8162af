"""Encrypted secrets: without their key, with the passphrase of the store, and in exports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

import kept
from kept_browse._ask import AskText
from kept_browse._check import Check
from kept_browse._export_screen import ExportScreen
from kept_browse._import_screen import ImportScreen
from kept_browse._key_page import KeyPage
from kept_browse._session import Layers
from screens import (
    allow_writing,
    browse,
    go_to,
    keys_screen,
    line_with,
    open_editor,
    screen_text,
    session_of,
    text_of,
    type_value,
    wait_for,
    wait_for_message,
    wait_for_screen,
    wait_for_text,
    wait_until_gone,
)

WORDS = "correct horse"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The path of a store with a secret that a passphrase alone opens."""
    location = tmp_path / "locked.kept"
    with kept.open(location, tag="filled") as settings:
        settings.declare({"token": {"type": "string", "secret": True, "summary": "The key to the account"}})
        settings.encrypt_secrets(kept.SecretsProvider("passphrase", passphrase=WORDS))
        settings.update({"token": "hunter-first", "open": 1})
    return location


@pytest.fixture
def without_key(tmp_path: Path) -> Path:
    """The path of a store whose key file is gone."""
    location = tmp_path / "gone.kept"
    with kept.open(location) as settings:
        settings.declare({"token": {"type": "string", "secret": True, "default": "none"}})
        settings.encrypt_secrets(kept.SecretsProvider.key_file(tmp_path / "key"))
        settings["token"] = "hunter-first"
    (tmp_path / "key").unlink()
    return location


async def open_page(pilot: Pilot[int]) -> None:
    await go_to(pilot, "token")
    await pilot.press("enter")
    await wait_for_screen(pilot, KeyPage)


async def enter(pilot: Pilot[int], words: str) -> None:
    """Types a passphrase into a dialog, which must not show it."""
    dialog = await wait_for_screen(pilot, AskText)
    dialog.query_one(Input).value = words
    await pilot.pause()
    assert words not in screen_text(pilot)
    await pilot.press("enter")


def test_a_secret_without_its_key_is_shown_as_locked_with_the_reason(without_key: Path, tmp_path: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        assert "(locked secret)" in line_with(pilot, "token")
        await open_page(pilot)
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "(locked secret)", "that it is locked")
        reason = f"the key file {tmp_path}/key: {tmp_path}/key does not exist"
        assert reason in text_of(pilot, "#reason") and reason in text_of(pilot, "#ladder")
        await pilot.press("r")
        await wait_for_message(pilot, reason)
        assert isinstance(pilot.app.screen, KeyPage)
        await pilot.press("2")
        await wait_for(pilot, lambda: "string" in text_of(pilot, "#declared"), "the declaration")
        await pilot.press("y")
        await wait_for_message(pilot, "to copy a secret")

    browse(without_key, body)


def test_a_secret_is_replaced_and_removed_without_its_key(store: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        await open_editor(pilot, "token")
        await type_value(pilot, "hunter-second")
        await pilot.press("ctrl+s")
        await wait_for_message(pilot, "committed as revision")
        with kept.open(store) as other:
            other.unlock_secrets(WORDS)
            assert other["token"] == "hunter-second"
            # One that another program has replaced since is not overwritten.
            await open_editor(pilot, "token")
            await type_value(pilot, "hunter-third")
            other["token"] = "hunter-other"
            await pilot.press("ctrl+s")
            await wait_for_text(pilot, "changed since you edited it")
            assert "hunter" not in screen_text(pilot)
            await pilot.press("ctrl+s")
            await wait_for(pilot, lambda: other["token"] == "hunter-third", "the value")
        await wait_for(pilot, lambda: keys_screen(pilot).is_current, "the list")
        await pilot.press("d", "y")
        await wait_for(pilot, lambda: session_of(pilot).settings.revision("token") == 0, "the removal")

    browse(store, body)


def test_the_passphrase_of_a_store_is_asked_for_and_covered(store: Path) -> None:
    async def body(pilot: Pilot[int]) -> None:
        assert "(locked secret)" in line_with(pilot, "token")
        await open_page(pilot)
        await wait_for_text(pilot, "(locked secret)  r asks for the passphrase")
        await pilot.press("r")
        await enter(pilot, "wrong words")
        await wait_for_text(pilot, "the passphrase is not")
        await enter(pilot, WORDS)
        await wait_for(pilot, lambda: text_of(pilot, "#value") == "hunter-first", "the value")
        await pilot.press("r")
        await wait_until_gone(pilot, "hunter")
        await pilot.press("q")
        await wait_for(pilot, lambda: "(secret)" in line_with(pilot, "token"), "that it is not locked")

    browse(store, body)


def test_a_file_has_the_passphrase_of_a_store(store: Path, tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.write_text(f"{WORDS}\n")
    words.chmod(0o600)

    async def unlocked(pilot: Pilot[int]) -> None:
        assert "(secret)" in line_with(pilot, "token")
        await open_page(pilot)
        await pilot.press("r")
        await wait_for_text(pilot, "hunter-first")

    layers = Layers(has_standard=False, passphrase_file=str(words))

    def check_locked(reason: str) -> None:
        async def locked(pilot: Pilot[int]) -> None:
            await wait_for_message(pilot, reason)
            assert "(locked secret)" in line_with(pilot, "token")

        browse(store, locked, layers=layers)

    browse(store, unlocked, layers=layers)
    words.chmod(0o644)
    check_locked("other users can read")
    words.chmod(0o600)
    for text, reason in ((b"wrong\n", "the passphrase is not"), (b"\nx", "is not a passphrase"), (b"\xff", "UTF-8")):
        words.write_bytes(text)
        check_locked(reason)
    words.unlink()
    check_locked("cannot be read")


def test_secrets_of_an_export_are_encrypted_and_imported_again(store: Path, tmp_path: Path) -> None:
    file, words = tmp_path / "export.json", tmp_path / "words"
    words.write_text(WORDS)
    words.chmod(0o600)

    async def exporting(pilot: Pilot[int]) -> None:
        await pilot.press("x")
        screen = await wait_for_screen(pilot, ExportScreen)
        screen.query_one("#path", Input).value = str(file)
        screen.query_one("#secrets", Check).value = True
        await pilot.press("ctrl+s")
        await enter(pilot, "export words")
        await enter(pilot, "other words")
        await wait_for_text(pilot, "differs from the first one")
        assert not file.exists()
        await enter(pilot, "export words")
        await wait_for_screen(pilot, ExportScreen)
        await wait_for(pilot, lambda: f"wrote {file}" in text_of(pilot, "#report"), "the file")

    browse(store, exporting, layers=Layers(has_standard=False, passphrase_file=str(words)))
    assert "hunter" not in file.read_text() and list(json.loads(file.read_text())["secrets"]) == ["token"]
    other = tmp_path / "other.kept"
    with kept.open(other) as settings:
        settings.encrypt_secrets(kept.SecretsProvider.key_file(tmp_path / "key"))

    def report(pilot: Pilot[int]) -> list[str]:
        return text_of(pilot, "#report").split("\n")

    async def importing(pilot: Pilot[int]) -> None:
        await allow_writing(pilot)
        await pilot.press("i")
        screen = await wait_for_screen(pilot, ImportScreen)
        screen.query_one("#path", Input).value = str(file)
        screen.query_one("#declarations", Check).value = True
        await pilot.press("ctrl+r")
        await enter(pilot, "wrong words")
        await wait_for(pilot, lambda: "is not the one of the export" in report(pilot)[0], "the refusal")
        await pilot.press("ctrl+r")
        await enter(pilot, "export words")
        await wait_for(
            pilot, lambda: "+ token  (secret)" in report(pilot) or "~ token  (secret)" in report(pilot), "it"
        )
        assert "hunter" not in screen_text(pilot)
        await pilot.press("ctrl+s")
        await wait_for(pilot, lambda: "Imported as revision" in report(pilot)[0], "the import")
        assert session_of(pilot).settings["token"] == "hunter-first"

    browse(other, importing)
