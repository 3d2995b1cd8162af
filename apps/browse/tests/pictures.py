"""The pictures in the guide. `python apps/browse/tests/pictures.py` generates them."""

from __future__ import annotations

import asyncio
import html
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

import kept
from kept_browse._app import Browser
from kept_browse._row_list import RowList
from kept_browse._screenshot import without_fonts
from kept_browse._session import Layers

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
STORE = "com.example.player"

PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...], str]] = {
    "keys": ((100, 24), ("down",) * 3, "How loud music is"),
    "key": ((100, 20), ("down",) * 3 + ("enter",), "PLAYER_AUDIO_VOLUME"),
    "editor": ((100, 24), ("w", "down", "down", "down", "e", *"300"), "is above the maximum"),
}
"""The size of each picture, the keys to press, and a text that the screen then shows."""

DECLARATIONS: dict[str, dict[str, object]] = {
    "audio.device": {"type": "string", "default": "default", "summary": "The device that plays"},
    "audio.gain": {"type": "number", "default": 1.0, "minimum": 0, "maximum": 4, "summary": "Amplification"},
    "audio.muted": {"type": "boolean", "default": False, "summary": "Whether nothing is heard"},
    "audio.volume": {
        "type": "integer", "default": 50, "minimum": 0, "maximum": 100, "summary": "How loud music is",
    },
    "equalizer.bands": {"type": "object", "default": {}, "summary": "The strength of each band"},
    "library.folders": {"type": "array", "default": ["~/Music"], "summary": "Where music is looked for"},
    "library.scanned": {"type": "date", "summary": "When the folders were read last"},
    "sync.token": {"type": "string", "secret": True, "summary": "The key to the account"},
    "update.interval": {"type": "integer", "default": 60, "summary": "Minutes between two looks for updates"},
    "window.size": {"type": "array", "default": [800, 600], "summary": "Width and height"},
    "window.theme": {"enum": ["light", "dark", "system"], "type": "string", "default": "system", "summary": "Colours"},
}  # fmt: skip


def fill() -> None:
    """Creates the store for the pictures in the user's folder."""
    with kept.open(STORE, tag="player") as settings:
        settings.keep_secrets_plain()
        settings.declare(DECLARATIONS)
        settings["audio.volume"] = 55
        settings["audio.volume"] = 70
        settings["window.size"] = [1280, 800]
        settings["sync.token"] = "a secret"
        settings["library.scanned"] = kept.Timestamp(1_795_000_000)
    with kept.open(STORE, tag="settings window") as settings:
        settings["window.theme"] = "dark"
        settings["library.folders"] = ["~/Music", "/media/disc"]


async def picture(name: str) -> str:
    """A picture of the store as SVG."""
    size, keys, wanted = PICTURES[name]
    browser = Browser(STORE, layers=Layers(env_prefix="PLAYER_"))
    async with browser.run_test(size=size) as pilot:
        while not browser.screen.query(RowList) or len(browser.screen.query_one(RowList).items) < len(DECLARATIONS):
            await pilot.pause(0.01)
        await pilot.press(*keys)
        while True:
            text = without_fonts(browser.export_screenshot(title="kept browse"))
            if any(wanted in line for line in words(text)):
                break
            await pilot.pause(0.01)
    return text


def pictures() -> dict[str, str]:
    """All pictures, by name."""
    with tempfile.TemporaryDirectory() as folder:
        before = dict(os.environ)
        os.environ |= {"XDG_CONFIG_HOME": folder, "PLAYER_AUDIO_VOLUME": "30", "TZ": "UTC"}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fill()
                return {name: asyncio.run(asyncio.wait_for(picture(name), 60)) for name in PICTURES}
        finally:
            os.environ.clear()
            os.environ |= before


def words(svg: str) -> list[str]:
    """The texts in a picture, without the times."""
    texts = [html.unescape(text).replace("\xa0", " ").strip() for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    return [re.sub(r"\bnow\b|\b\d+ s\b|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text) for text in texts if text]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, svg in pictures().items():
        (FOLDER / f"{name}.svg").write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", "utf-8")
        print(FOLDER / f"{name}.svg", file=sys.stderr)
