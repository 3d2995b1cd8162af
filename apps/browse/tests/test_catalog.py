"""The keys of a store as the list shows them, without the list."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kept
from kept_browse import _catalog
from kept_browse._catalog import Catalog
from kept_browse._rows import read_row
from kept_browse._search import Query
from stores import SECRET_TEXT, VALUES, Writer, write_file

SECONDS = 60


@pytest.fixture
def store(filled: Path) -> Iterator[kept.Store]:
    with kept.open(filled) as opened:
        yield opened


async def load(catalog: Catalog) -> None:
    async for _ in catalog.load():
        pass


@asynccontextmanager
async def followed(catalog: Catalog) -> AsyncIterator[Callable[[Callable[[], Any]], Awaitable[None]]]:
    """Applies the notices of the store. Yields a function that waits for their effect."""
    applied = asyncio.Event()

    async def follow() -> None:
        async with catalog.settings.changes(prefix="") as changes:
            started.set()
            async for notice in changes:
                await catalog.apply(notice)
                applied.set()

    async def wait_for(condition: Callable[[], Any]) -> None:
        while not condition():
            applied.clear()
            await asyncio.wait_for(applied.wait(), SECONDS)

    started = asyncio.Event()
    task = asyncio.create_task(follow())
    await started.wait()
    try:
        yield wait_for
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def agrees(catalog: Catalog) -> bool:
    """Whether the catalog matches a new reading of the store."""
    fresh = Catalog(catalog.settings)
    asyncio.run(load(fresh))
    texts = dict(zip(catalog.keys, catalog._texts, strict=True))
    return catalog.keys == fresh.keys and texts == dict(zip(fresh.keys, fresh._texts, strict=True))


def test_it_has_stored_and_declared_keys_in_order(store: kept.Store) -> None:
    catalog = Catalog(store)
    asyncio.run(load(catalog))
    assert catalog.keys == sorted({*VALUES, *store.declarations()})
    assert catalog.is_complete and catalog.rows.keys() == set(catalog.keys)


def test_an_empty_store_has_no_keys(tmp_path: Path) -> None:
    with kept.open(tmp_path / "empty.kept") as store:
        catalog = Catalog(store)
        asyncio.run(load(catalog))
        assert catalog.keys == [] and catalog.is_complete and catalog.select(Query.of("x @modified")) == []


def test_a_store_in_memory_has_no_history() -> None:
    with kept.open("memory:") as store:
        store["a"] = 1
        catalog = Catalog(store)
        asyncio.run(load(catalog))
        assert catalog.rows["a"].past is None


def test_keys_are_known_before_their_values_are_read(store: kept.Store) -> None:
    async def body() -> None:
        catalog = Catalog(store)
        loading = catalog.load()
        assert await anext(loading) == 0
        assert len(catalog.keys) > 10 and not catalog.is_complete and catalog.rows == {}
        # Drawn lines are read at once, the others later.
        row = catalog.row("audio.volume")
        assert row and row.value == "30"
        async for _ in loading:
            pass
        assert catalog.is_complete

    asyncio.run(body())


def test_a_second_reading_ends_the_first(store: kept.Store) -> None:
    async def body() -> None:
        catalog = Catalog(store)
        first = catalog.load()
        await anext(first)
        await load(catalog)
        assert [read async for read in first] == [] and catalog.is_complete

    asyncio.run(body())


@pytest.mark.usefixtures("lasting_marks")
def test_writes_of_another_process_are_read(store: kept.Store, writer: Writer) -> None:
    async def body() -> None:
        catalog = Catalog(store)
        await load(catalog)
        async with followed(catalog) as wait_for:
            writer.set("audio.volume", 70)
            await wait_for(lambda: catalog.rows["audio.volume"].value == "70")
            past = catalog.rows["audio.volume"].past
            assert past and past.tag == "the writer" and catalog.is_flashing("audio.volume")
            writer.set("a.first", 1)
            await wait_for(lambda: "a.first" in catalog.keys)
            writer.reset("a.first")
            await wait_for(lambda: "a.first" not in catalog.keys)
            assert "a.first" not in catalog.rows and catalog.keys == sorted(catalog.keys)
            writer.reset("audio.volume")
            await wait_for(lambda: catalog.rows["audio.volume"].layer == "declared")
            assert catalog.rows["audio.volume"].value == "50", "a declared key stays"

    asyncio.run(body())
    catalog = Catalog(store)
    asyncio.run(load(catalog))
    assert agrees(catalog)


class Slow:
    """A store whose reads on other threads stop at a point until they may continue."""

    def __init__(self, store: kept.Store, after: str) -> None:
        self._store, self._after = store, after
        self._main = threading.get_ident()
        self.is_read, self.may_go_on = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return (lambda *arguments: self._pass_on(found(*arguments))) if name == self._after else found

    def __iter__(self) -> Iterator[str]:
        keys = list(self._store)
        return iter(self._pass_on(keys) if self._after == "keys" else keys)

    def __len__(self) -> int:
        return len(self._store)

    def _pass_on(self, result: Any) -> Any:
        if threading.get_ident() != self._main:
            self.is_read.set()
            assert self.may_go_on.wait(SECONDS)
        return result


@pytest.mark.parametrize("after", ["declarations", "keys", "history", "explain"])
def test_changes_during_the_reading_are_neither_missed_nor_overwritten(
    store: kept.Store, writer: Writer, after: str
) -> None:
    async def body() -> None:
        slow = Slow(store, after)
        catalog = Catalog(cast("kept.Store", slow))
        async with followed(catalog) as wait_for:
            loading = asyncio.create_task(load(catalog))
            assert await asyncio.to_thread(slow.is_read.wait, SECONDS)
            writer.run("""
with settings.transaction() as transaction:
    transaction["[a new key"] = 1
    transaction["audio.volume"] = 99
    transaction.reset("misc.note")
""")
            await wait_for(lambda: "[a new key" in catalog.keys)
            slow.may_go_on.set()
            await loading
        assert "[a new key" in catalog.keys and "misc.note" not in catalog.keys
        row = catalog.row("audio.volume")
        assert row and row.value == "99" and row.past and row.past.tag == "the writer"
        assert catalog.keys == sorted(catalog.keys) and catalog.rows.keys() == set(catalog.keys)

    asyncio.run(body())


def test_it_reads_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_catalog, "BATCH", 7)
    with kept.open(tmp_path / "many.kept") as store:
        with store.transaction() as transaction:
            for number in range(30):
                transaction[f"k{number:02}"] = number

        async def body() -> list[int]:
            return [read async for read in Catalog(store).load()]

        assert asyncio.run(body()) == [0, 7, 14, 21, 28, 30, 30]


def test_a_declaration_of_another_process_is_found(store: kept.Store, writer: Writer) -> None:
    async def body() -> None:
        catalog = Catalog(store)
        await load(catalog)
        assert not await catalog.reload_declarations()
        writer.declare({"later.key": {"type": "string", "summary": "Declared later"}, "misc.note": {"type": "integer"}})
        assert await catalog.reload_declarations()
        assert catalog.rows["later.key"].summary == "Declared later" and "later.key" in catalog.keys
        assert catalog.rows["misc.note"].is_invalid, "its text fits no integer"

    asyncio.run(body())


def test_a_key_that_becomes_secret_is_covered_and_not_searched(store: kept.Store, writer: Writer) -> None:
    async def body() -> None:
        catalog = Catalog(store)
        await load(catalog)
        assert catalog.select(Query.of("not declared")) == ["misc.note"]
        writer.declare({"misc.note": {"type": "string", "secret": True}})
        assert await catalog.reload_declarations()
        assert catalog.rows["misc.note"].value == "(secret)" and catalog.select(Query.of("not declared")) == []

    asyncio.run(body())


def test_the_searched_text_contains_no_secret(store: kept.Store) -> None:
    catalog = Catalog(store)
    asyncio.run(load(catalog))
    assert "net.token" in catalog.keys and not [text for text in catalog._texts if "hunter" in text]
    assert SECRET_TEXT not in repr(catalog.rows)


def test_a_lock_marks_a_row(filled: Path, tmp_path: Path) -> None:
    managed = write_file(tmp_path / "managed.json", {"audio.volume": 10}, ["audio.volume", "audio.muted"])
    with kept.open(filled, managed=managed) as store:
        catalog = Catalog(store)
        asyncio.run(load(catalog))
        volume, muted = catalog.rows["audio.volume"], catalog.rows["audio.muted"]
        assert volume.is_locked and volume.is_shadowed and volume.value == "10" and volume.mark == "="
        assert muted.is_locked and not muted.is_shadowed and muted.value == "false"
        assert catalog.select(Query.of("@locked")) == ["audio.muted", "audio.volume"]
        assert catalog.select(Query.of("@shadowed")) == ["audio.volume"]


@pytest.mark.parametrize(("stored", "is_modified"), [(None, False), (50, False), (51, True), (50.0, False)])
def test_a_modified_key_differs_from_its_default(stored: Any, is_modified: bool) -> None:
    with kept.open("memory:") as store:
        if stored is not None:
            store["k"] = stored
        store.declare({"k": {"type": "number", "default": 50}})
        row = read_row(store, "k", store.declaration("k"), None)
        assert row and row.is_modified is is_modified


STEPS = st.lists(st.tuples(st.sampled_from(["a", "a.b", "a.c", "b", "é", "設"]), st.none() | st.integers(0, 9)))


@settings(max_examples=25)
@given(STEPS, st.integers(0, 10))
def test_following_notices_gives_the_same_result_as_reading(
    steps: list[tuple[str, int | None]], loaded_after: int
) -> None:
    """Makes changes before, during and after the reading of the store."""
    with kept.open("memory:") as store:
        store.declare({"a.b": {"type": "integer", "default": 5}})
        catalog = Catalog(store)

        async def body() -> None:
            async with followed(catalog) as wait_for:
                loading = None
                for number, (key, value) in enumerate(steps):
                    if number == loaded_after:
                        loading = asyncio.create_task(load(catalog))
                    if value is None:
                        store.reset(key)
                    else:
                        store[key] = value
                    await asyncio.sleep(0)
                await (loading or load(catalog))
                store["end"] = len(steps)
                await wait_for(lambda: "end" in catalog.keys)

        asyncio.run(body())
        assert agrees(catalog)
