"""A store for each test, and one process that changes the stores of all tests."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from textual._context import message_hook
from textual.pilot import Pilot

# No test fails because the machine is busy.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")

if "KEPT_LIBRARY" not in os.environ:
    raise pytest.UsageError("KEPT_LIBRARY must name the library to test with, such as build/lib/libkept.so.0")
# Child processes inherit this.
APP = Path(__file__).parents[1]
os.environ["PYTHONPATH"] = f"{APP / 'src'}:{APP.parents[1] / 'bindings/python/src'}"

import delays  # noqa: E402
from screens import count, settle  # noqa: E402
from stores import Writer, fill  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--delays", metavar="SEED", help="delay messages, timers and threads at random, by a seed")


def pytest_configure(config: pytest.Config) -> None:
    if (seed := config.getoption("--delays")) is not None:
        delays.begin(seed)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the stores of the user and of the system into folders of the test, and shields the test from the terminal's
    settings."""
    # A shell starts background jobs with SIGINT ignored, and nohup ignores SIGHUP. Programs inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    for name in ("KEPT_STORE", "NO_COLOR", "LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    # Textual's pilot waits after each key until the process is almost idle, which it never is on a busy machine. The
    # tests wait for states instead.
    monkeypatch.setattr("textual.app.wait_for_idle", go_on)
    monkeypatch.setattr("textual.pilot.wait_for_idle", go_on)
    monkeypatch.setattr(Pilot, "press", press)
    monkeypatch.setattr(Pilot, "pause", pause)
    message_hook.set(count)


async def go_on(min_sleep: float = 0, max_sleep: float = 0) -> None:
    """Lets other tasks run."""
    await asyncio.sleep(0)


async def press(pilot: Pilot[int], *keys: str) -> None:
    """Presses keys, each one after the previous key has had its effect, unless that waits for another thread."""
    for key in keys:
        await pilot.app._press_keys([key])
        await settle(pilot)


async def pause(pilot: Pilot[int], delay: float = 0) -> None:
    """Waits for a number of seconds, and for the effects of what has been done."""
    await asyncio.sleep(delay)
    await settle(pilot)


@pytest.fixture
def lasting_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the signs of changes stay until the test ends, however busy the machine is."""
    monkeypatch.setattr("kept_browse._catalog.FLASH", 3600.0)


@pytest.fixture
def location(tmp_path: Path) -> Path:
    """A path for a store."""
    return tmp_path / "test.kept"


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
    """The same process with the filled store open."""
    process.open(filled)
    yield process
    process.open(None)
