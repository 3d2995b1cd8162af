"""Any thread may call everything, at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable

import kept

SECONDS = 60


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Runs `work` in so many threads at once; what one of them raises is raised here."""
    barrier, failures = threading.Barrier(count), []

    def run(number: int) -> None:
        try:
            barrier.wait(SECONDS)
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def test_no_write_is_lost(settings: kept.Store) -> None:
    def write(number: int) -> None:
        for index in range(25):
            settings[f"{number}.{index}"] = index

    in_threads(4, write)
    assert len(settings) == 100
    assert all(settings[f"{number}.{index}"] == index for number in range(4) for index in range(25))


def test_no_update_is_lost(settings: kept.Store) -> None:
    def count(number: int) -> None:
        for _ in range(25):
            settings.update_value("n", lambda value: value + 1, default=0)

    in_threads(4, count)
    assert settings["n"] == 100


def test_transactions_are_never_seen_in_part(settings: kept.Store) -> None:
    settings.update(a=0, b=0)
    ended = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for value in range(100):
                settings.update(a=value, b=value)
            ended.set()
            return
        while not ended.is_set():
            a, b = settings.run_transaction(lambda transaction: (transaction["a"], transaction["b"]))
            assert a == b

    in_threads(3, work)


def test_closing_during_use_raises_only_closed_errors(settings: kept.Store) -> None:
    begun = threading.Barrier(4)

    def work(number: int) -> None:
        begun.wait(SECONDS)
        if number == 0:
            settings.close()
            return
        try:
            while True:
                settings["a"] = number
                list(settings)
                settings.observe("a", lambda change: None).cancel()
        except kept.ClosedError:
            pass

    in_threads(4, work)
