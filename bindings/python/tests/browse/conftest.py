"""A store for each test, and one process for all of them that changes it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from browse.stores import Writer, fill
from kept.browse import _places

# A shell starts what runs in the background with SIGINT ignored, and nohup with SIGHUP; every program inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stores of the user and of the system are in folders of the test. Nothing of the person's terminal decides how
    things look."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    for name in ("KEPT_STORE", "NO_COLOR", "LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setattr(_places.all_stores, "__defaults__", (tmp_path / "etc",))
    # Textual's pilot waits after each key until the process needs little of the processor, which is never so beside
    # other programs. Tests wait for states.
    monkeypatch.setattr("textual.app.wait_for_idle", go_on)
    monkeypatch.setattr("textual.pilot.wait_for_idle", go_on)
    monkeypatch.setattr(Pilot, "press", press)


async def go_on(min_sleep: float = 0, max_sleep: float = 0) -> None:
    """Lets other tasks run."""
    await asyncio.sleep(0)


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Presses keys, each when the one before has been received."""
    for key in keys:
        await pilot.app._press_keys([key])
        # From the program to the widget, from there to the screen, and what that leads to.
        for _ in range(3):
            await pilot._wait_for_screen()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """The path of a store with declared keys of every type."""
    location = tmp_path / "filled.kept"
    fill(location)
    return location


@pytest.fixture(scope="session")
def process() -> Iterator[Writer]:
    """The process that changes stores."""
    writer = Writer()
    yield writer
    writer.close()


@pytest.fixture
def writer(process: Writer, filled: Path) -> Iterator[Writer]:
    """The same with the filled store open."""
    process.open(filled)
    yield process
    process.open(None)
