"""Two processes and more on one store: what one writes the others read, and nothing is lost when one is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import kept

spawn = multiprocessing.get_context("spawn")
SECONDS = 60


def write_and_answer(location: Path, connection: Any) -> None:
    with kept.open(location) as settings:
        settings["child"] = {"read": settings["parent"], "pid": os.getpid()}
        connection.send("written")
        connection.recv()
        connection.send(settings["parent"])


def count(location: Path, times: int) -> None:
    with kept.open(location) as settings:
        for _ in range(times):
            settings.update_value("n", lambda value: value + 1, default=0)


def fill(location: Path, number: int) -> None:
    with kept.open(location) as settings:
        for index in range(25):
            settings[f"{number}.{index}"] = index


def write_until_killed(location: Path, connection: Any) -> None:
    settings = kept.open(location)
    number = 0
    while True:
        settings["n"] = number
        connection.send(number)
        number += 1


def fail(location: Path, connection: Any) -> None:
    with kept.open(location) as settings:
        try:
            settings["absent"]
        except kept.AbsentError as error:
            connection.send(error)


def test_each_reads_what_the_other_wrote(location: Path, settings: kept.Store) -> None:
    settings["parent"] = 1
    here, there = spawn.Pipe()
    child = spawn.Process(target=write_and_answer, args=(location, there))
    child.start()
    assert here.recv() == "written"
    assert settings["child"] == {"read": 1, "pid": child.pid}
    settings["parent"] = 2
    here.send("go on")
    assert here.recv() == 2
    child.join(SECONDS)
    assert child.exitcode == 0


@pytest.mark.parametrize(("work", "argument"), [(count, 25), (fill, None)])
def test_no_concurrent_write_of_processes_is_lost(location: Path, work: Any, argument: int | None) -> None:
    children = [spawn.Process(target=work, args=(location, argument or number)) for number in range(1, 4)]
    for child in children:
        child.start()
    for child in children:
        child.join(SECONDS)
        assert child.exitcode == 0
    with kept.open(location) as settings:
        if work is count:
            assert settings["n"] == 75
        else:
            assert len(settings) == 75


def test_a_write_that_returned_survives_kill_9(location: Path) -> None:
    here, there = spawn.Pipe()
    child = spawn.Process(target=write_until_killed, args=(location, there))
    child.start()
    written = [here.recv() for _ in range(50)][-1]
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join(SECONDS)
    while here.poll():
        written = here.recv()
    with kept.open(location) as settings:
        assert settings["n"] in (written, written + 1)


def test_an_error_can_be_sent_to_another_process(location: Path) -> None:
    here, there = spawn.Pipe()
    child = spawn.Process(target=fail, args=(location, there))
    child.start()
    error = here.recv()
    child.join(SECONDS)
    assert isinstance(error, kept.AbsentError) and error.key == "absent"
