"""The command line of `kept browse`."""

from __future__ import annotations

import importlib.metadata
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import kept
from kept_browse.__main__ import main
from stores import SECRET_TEXT, Writer

ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def picture_of(filled: Path, tmp_path: Path, *arguments: str) -> str:
    """The text of the picture for the given arguments."""
    picture = tmp_path / "picture.svg"
    assert main([str(filled), "--no-layers", "--screenshot", str(picture), *arguments]) == 0
    return picture.read_text().replace("&#160;", " ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "big"], "--size must be columns and lines"),
        (["--size", "5x5"], "--size must be columns and lines"),
        (["--size", "100x30x2"], "--size must be columns and lines"),
        (["--no-layers", "--managed", "x"], "--no-layers cannot be combined with"),
        (["--no-layers", "--env-prefix", "X_"], "--no-layers cannot be combined with"),
        (["a", "-s", "b"], "give the store once"),
        (["a", "b"], "unrecognized arguments"),
        (["--readonly"], "unrecognized arguments"),
        (["--read"], "unrecognized arguments"),
    ],
)
def test_wrong_usage_is_refused(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2 and words in capsys.readouterr().err


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for argument in ("--help", "--version"):
        with pytest.raises(SystemExit) as raised:
            main([argument])
        assert raised.value.code == 0
    output = capsys.readouterr().out
    assert "--read-only" in output and "Exit status" in output and f"kept {kept.__version__}" in output


def test_without_a_terminal_it_names_the_command_for_programs(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(filled)]) == 4
    assert "it needs a terminal; kept list prints" in capsys.readouterr().err


@pytest.mark.parametrize(("found", "words"), [(None, "is not installed"), ("7.5.0", "version 7.5.0 is installed")])
def test_without_the_right_textual_it_says_what_to_install(
    filled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], found: str | None, words: str
) -> None:
    def version(name: str) -> str:
        if found is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert main([str(filled)]) == 4
    error = capsys.readouterr().err
    assert words in error and "pip install" in error and error.count("\n") == 1


def test_importing_the_package_needs_no_textual() -> None:
    code = "import sys; sys.modules['textual'] = None; import kept, kept_browse, kept_browse.__main__"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_store_that_cannot_be_opened_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "picture.svg"
    for location in (str(tmp_path / "absent"), "no.such.store", "nonsense:x", ""):
        if location:
            assert main([location, "--screenshot", str(picture)]) == 4, location
            assert capsys.readouterr().err.startswith("kept browse: ")
    assert not picture.exists() and not (tmp_path / "absent").exists()


def test_a_picture_shows_the_first_screen(filled: Path, tmp_path: Path) -> None:
    text = picture_of(filled, tmp_path, "--size", "90x40")
    assert text.startswith("<svg") and "audio.volume" in text and "READ-ONLY" in text and "[red]odd[/red]" in text
    assert SECRET_TEXT not in text and "@font-face" not in text and "\x1b" not in text
    assert "url(http" not in text and "href" not in text, "it fetches nothing"


def test_writing_and_light_colours_are_settings_of_the_browser(filled: Path, tmp_path: Path) -> None:
    dark = picture_of(filled, tmp_path)
    assert not (tmp_path / "configuration").exists(), "the browser makes no store of its own"
    with kept.open("kept-browse") as settings:
        settings.update({"writing": True, "light": True})
    text = picture_of(filled, tmp_path)
    assert "WRITING" in text and "#121212" in dark and "#121212" not in text
    assert "READ-ONLY" in picture_of(filled, tmp_path, "--read-only")


def test_the_settings_of_the_browser_are_read_at_once_without_a_change(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own := tmp_path / "configuration/kept/kept-browse.kept").mkdir(parents=True)
    (own / "values").write_bytes(b"x" * 5000)
    opened: list[str] = []
    open_ = kept.open

    def counted(location: str, **options: Any) -> kept.Store:
        opened.append(location)
        return open_(location, **options)

    monkeypatch.setattr(kept, "open", counted)
    assert "READ-ONLY" in picture_of(filled, tmp_path)
    assert opened == ["kept-browse", str(filled)] and [path.name for path in own.iterdir()] == ["values"]


def test_a_picture_of_a_search_and_of_a_key(filled: Path, tmp_path: Path) -> None:
    text = picture_of(filled, tmp_path, "--search", "@secret")
    assert "net.token" in text and "ui.font" not in text
    text = picture_of(filled, tmp_path, "--key", "audio.volume", "--light", "--read-only")
    assert "Layers" in text and "wins" in text


def test_a_picture_in_ascii(filled: Path, tmp_path: Path) -> None:
    text = picture_of(filled, tmp_path, "--ascii")
    drawn = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    assert drawn.isascii() and "audio.volume" in drawn


def test_a_picture_that_cannot_be_written_is_reported(
    filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path / "no" / "picture.svg", tmp_path):
        assert main([str(filled), "--no-layers", "--screenshot", str(path)]) == 4
        assert "the picture cannot be written" in capsys.readouterr().err


def test_a_picture_of_all_stores(filled: Path, tmp_path: Path) -> None:
    folder = tmp_path / "configuration/kept"
    folder.mkdir(parents=True)
    filled.rename(folder / "org.app.kept")
    picture = tmp_path / "picture.svg"
    assert main(["--screenshot", str(picture)]) == 0
    assert "org.app" in picture.read_text()


def test_the_store_may_come_from_the_environment(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT_STORE", str(filled))
    picture = tmp_path / "picture.svg"
    assert main(["--no-layers", "--screenshot", str(picture)]) == 0
    assert "audio.volume" in picture.read_text()


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}, {"TERM": "vt100", "LC_ALL": "C"}])
def test_it_runs_in_a_terminal_and_leaves_it_as_it_was(
    filled: Path, writer: Writer, environment: dict[str, str]
) -> None:
    """Runs the real program on a pseudo-terminal while another process writes."""
    main_end, other_end = pty.openpty()
    os.set_blocking(main_end, False)
    program = subprocess.Popen(
        [sys.executable, "-m", "kept_browse", str(filled), "--no-layers"],
        stdin=other_end, stdout=other_end, stderr=other_end, start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30", **environment},
    )  # fmt: skip
    os.close(other_end)
    received = b""

    def read_until(text: str) -> None:
        nonlocal received
        until = time.monotonic() + 60
        while text not in ANSI.sub("", received.decode("utf-8", "replace")):
            assert time.monotonic() < until, received[-2000:]
            if select.select([main_end], [], [], 1)[0]:
                try:
                    received += os.read(main_end, 65536)
                except OSError:
                    break  # the program has ended

    try:
        read_until("audio.volume")
        writer.set("audio.volume", 97)
        read_until("97")
        assert SECRET_TEXT.encode() not in received and b"\x1b[31mred" not in received
        if "LC_ALL" in environment:
            assert received.isascii()
        os.write(main_end, b"q")
        read_until("\x1b[?1049l never shown")
        assert program.wait(30) == 0
        assert b"\x1b[?1049l" in received, "the screen of before is shown again"
    finally:
        program.kill()
        program.wait(30)
        os.close(main_end)
