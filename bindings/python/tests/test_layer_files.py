"""Layers that change while programs run: files, registered defaults, and the cache."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

import kept
from kept._memory import numbers_in, numbers_of
from test_layers import VOLUME, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def test_a_changed_file_is_delivered(folder: Path) -> None:
    system = write(folder / "system.json", '{"values": {"volume": 30}}')
    received: list[kept.Change[int]] = []
    news = threading.Event()

    def receive(change: kept.Change[int]) -> None:
        received.append(change)
        news.set()

    with kept.open("memory:", system=system) as settings, settings.observe(VOLUME, receive):
        write(system, '{"values": {"volume": 40}}')
        assert news.wait(60)
        change = received[0]
        assert (change.old, change.new, change.layer, change.secret) == (30, 40, kept.Layer.SYSTEM, False)
        assert change.origin is kept.Origin.LAYER
        news.clear()
        system.unlink()
        assert news.wait(60)
        assert (received[1].new, received[1].layer) == (50, None), "the key's own default"


def test_the_state_of_each_file_is_known(folder: Path) -> None:
    system = write(folder / "system.json", '{"values": {}}')
    managed = folder / "managed.json"
    with kept.open("memory:", managed=managed, system=system) as settings:
        absent, read = settings.layer_files()
        assert absent == kept.LayerFile(kept.Layer.MANAGED, str(managed), "absent", None)
        assert read == kept.LayerFile(kept.Layer.SYSTEM, str(system), "read", None)
    write(system, '{"values": {"a": 1}')
    with kept.open("memory:", system=system) as settings:
        (broken,) = settings.layer_files()
        assert broken.state == "broken" and broken.problem is not None
        assert str(system) in broken.problem and "(at byte 19)" in broken.problem
        (problem,) = (each.problem for each in settings.explain("b").layers if each.problem)
        assert problem == broken.problem


def test_a_document_is_checked_as_its_file_would_be(folder: Path) -> None:
    kept.check_layer('{"values": {"a": 1}, "locked": ["b"]}', kept.Layer.MANAGED)
    for text in ('{"values": {"a": 1}', '{"locked": ["b"]}', '{"values": {"a": null}}', b"\xff", "[]"):
        document = text if isinstance(text, bytes) else text.encode()
        file = folder / "system.json"
        file.write_bytes(document)
        with pytest.raises(kept.InvalidError) as refused:
            kept.check_layer(text, kept.Layer.SYSTEM)
        with kept.open("memory:", system=file) as settings:
            subject = f"{file}, the file of the system layer"
            assert [each.problem for each in settings.layer_files()] == [
                str(refused.value).replace("the document", subject)
            ]
    with pytest.raises(kept.TooLargeError):
        kept.check_layer(" " * ((16 << 20) + 1), kept.Layer.SYSTEM)


def test_a_file_that_is_rewritten_in_place_is_never_read_in_part(folder: Path) -> None:
    system = write(folder / "system.json", '{"values": {"a": 0, "b": 0}}')
    received: list[kept.Notice] = []
    last = threading.Event()

    def receive(notice: kept.Notice) -> None:
        received.append(notice)
        if any(change.new == 100 for change in notice.changes):
            last.set()

    with kept.open("memory:", system=system) as settings, settings.observe(prefix="", callback=receive):
        for number in range(1, 101):
            # Empty, then half of it, then all.
            with open(system, "w") as file:
                file.write(f'{{"values": {{"a": {number}, ')
                file.flush()
                file.write(f'"b": {number}}}}}')
        assert last.wait(60)
        assert settings["a"] == settings["b"] == 100
    assert all(len({change.new for change in notice.changes}) == 1 for notice in received)
    assert all([change.key for change in notice.changes] == ["a", "b"] for notice in received)


# --- the memory


def test_a_changed_file_is_read_as_soon_as_it_is_delivered(folder: Path) -> None:
    system = write(folder / "system.json", '{"values": {"volume": 0}}')
    news = threading.Event()
    with kept.open(folder / "store", system=system) as settings:
        settings.observe(VOLUME, lambda _: news.set())
        for number in range(1, 20):
            write(system, f'{{"values": {{"volume": {number}}}}}')
            assert news.wait(60)
            news.clear()
            assert settings[VOLUME] == settings[VOLUME] == settings.get(VOLUME) == settings["volume"] == number
            assert numbers_in(settings._memory) == numbers_of(settings._generation)


def test_registered_defaults_are_read_at_once_and_cached(folder: Path) -> None:
    with kept.open(folder / "store") as settings:
        settings.declare(VOLUME)
        assert settings[VOLUME] == settings[VOLUME] == 50
        for number in range(20):
            settings.register({"volume": number})
            assert settings[VOLUME] == settings[VOLUME] == settings.get(VOLUME) == number
            assert numbers_in(settings._memory) == numbers_of(settings._generation)
        settings.register({"volume": None})
        assert settings[VOLUME] == 50
        settings[VOLUME] = 70
        assert settings[VOLUME] == settings[VOLUME] == 70
        assert isinstance(settings, kept.Store) and repr(settings).startswith("<kept.Store")
    with pytest.raises(kept.ClosedError):
        settings[VOLUME]


def test_registered_defaults_may_be_anything_that_can_be_stored(settings: kept.Store) -> None:
    settings.register({"a": [1, {"b": b"\0"}], "$id": 0.5, "c": None})
    assert settings["a"] == [1, {"b": b"\0"}] and settings["$id"] == 0.5 and len(settings) == 0
    for wrong in ({"": 1}, {"a": object()}, {"a\0": 1}, [1]):
        with pytest.raises(kept.InvalidError):
            settings.register(wrong)  # type: ignore[arg-type]


def test_no_reader_sees_an_older_layer_after_a_newer_one(folder: Path) -> None:
    """Readers on several threads, while a file counts up: the numbers of each never decrease."""
    system = write(folder / "system.json", '{"values": {"n": 0}}')
    with kept.open(folder / "store", system=system) as settings:
        ended, backwards = threading.Event(), list[tuple[Any, Any]]()

        def read() -> None:
            last = 0
            while not ended.is_set():
                now: Any = settings["n"]
                if now < last:
                    backwards.append((last, now))
                last = now

        news = threading.Event()
        readers = [threading.Thread(target=read) for _ in range(2)]
        with settings.observe("n", lambda _: news.set()):
            for reader in readers:
                reader.start()
            for number in range(1, 25):
                write(system, f'{{"values": {{"n": {number}}}}}')
                assert news.wait(60)
                news.clear()
            ended.set()
        for reader in readers:
            reader.join()
        assert backwards == [] and settings["n"] == 24


def test_a_child_of_a_fork_watches_its_files(folder: Path) -> None:
    program = textwrap.dedent(
        """
        import os, sys, threading, kept
        system = sys.argv[1]
        def write(n):
            with open(system + ".draft", "w") as file:
                file.write('{"values": {"n": %d}}' % n)
            os.chmod(system + ".draft", 0o644)
            os.rename(system + ".draft", system)
        write(1)
        settings = kept.open(sys.argv[2], system=system)
        assert settings["n"] == 1
        child = os.fork()
        if child == 0:
            assert settings["n"] == 1
            news = threading.Event()
            with settings.observe("n", lambda _: news.set()):
                write(2)
                assert news.wait(60)
                assert settings["n"] == 2
            settings.close()
            os._exit(0)
        sys.exit(os.waitpid(child, 0)[1])
        """
    )
    subprocess.run([sys.executable, "-c", program, folder / "system.json", folder / "store"], check=True, timeout=60)
