"""The keys of a store as the list has them, without the list."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kept
from browse.stores import SECRET_TEXT, VALUES, Writer, write_file
from kept.browse import _catalog
from kept.browse._catalog import Catalog
from kept.browse._rows import read_row
from kept.browse._search import Query

SECONDS = 20


@pytest.fixture
def store(filled: Path) -> Iterator[kept.Store]:
    with kept.open(filled) as opened:
        yield opened


async def load(catalog: Catalog) -> None:
    async for _ in catalog.load():
        pass


@asynccontextmanager
async def followed(catalog: Catalog) -> AsyncIterator[Callable[[Callable[[], Any]], Awaitable[None]]]:
    """Applies the notices of the store. Gives a function that waits for what they lead to."""
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
    """Whether the catalog is what reading the store now gives."""
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


def test_a_store_in_memory_has_no_past() -> None:
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
        # A line that is drawn is read for it, and the rest later.
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


def test_what_another_process_writes_is_read_again(store: kept.Store, writer: Writer) -> None:
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


def test_a_key_that_comes_or_goes_while_the_keys_are_read_is_not_missed(
    store: kept.Store, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read, may_end = threading.Event(), threading.Event()
    read_outline = Catalog._read_outline

    def slow(catalog: Catalog) -> Any:
        outline = read_outline(catalog)
        is_read.set()
        assert may_end.wait(SECONDS)
        return outline

    monkeypatch.setattr(Catalog, "_read_outline", slow)

    async def body() -> None:
        catalog = Catalog(store)
        async with followed(catalog) as wait_for:
            loading = asyncio.create_task(load(catalog))
            assert await asyncio.to_thread(is_read.wait, SECONDS)
            writer.run("""
with settings.transaction() as transaction:
    transaction["zz.new"] = 1
    transaction["audio.volume"] = 99
    transaction.reset("misc.note")
""")
            await wait_for(lambda: "zz.new" in catalog.keys)
            may_end.set()
            await loading
        assert "zz.new" in catalog.keys and "misc.note" not in catalog.keys
        row = catalog.row("audio.volume")
        assert row and row.value == "99" and row.past and row.past.tag == "the writer"

    asyncio.run(body())


def test_what_changes_between_reading_and_passing_on_is_not_overwritten(
    store: kept.Store, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read, may_end = threading.Event(), threading.Event()
    read_rows = Catalog._read_rows

    def slow(catalog: Catalog, keys: list[str]) -> Any:
        rows = read_rows(catalog, keys)
        is_read.set()
        assert may_end.wait(SECONDS)
        return rows

    monkeypatch.setattr(Catalog, "_read_rows", slow)

    async def body() -> None:
        catalog = Catalog(store)
        async with followed(catalog) as wait_for:
            loading = asyncio.create_task(load(catalog))
            assert await asyncio.to_thread(is_read.wait, SECONDS)
            writer.set("audio.volume", 99)
            writer.reset("misc.note")
            await wait_for(lambda: "misc.note" not in catalog.keys)
            may_end.set()
            await loading
        assert catalog.rows["audio.volume"].value == "99" and "misc.note" not in catalog.keys

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


def test_a_secret_is_in_no_searched_text(store: kept.Store) -> None:
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


@pytest.mark.parametrize(("stored", "is_modified"), [(None, False), (50, False), (51, True), (50.0, True)])
def test_modified_is_what_differs_from_the_default(stored: Any, is_modified: bool) -> None:
    with kept.open("memory:") as store:
        if stored is not None:
            store["k"] = stored
        store.declare({"k": {"type": "number", "default": 50}})
        row = read_row(store, "k", store.declaration("k"), None)
        assert row and row.is_modified is is_modified


STEPS = st.lists(st.tuples(st.sampled_from(["a", "a.b", "a.c", "b", "é", "設"]), st.none() | st.integers(0, 9)))


@settings(deadline=None, max_examples=25)
@given(STEPS, st.integers(0, 10))
def test_notices_lead_to_what_reading_gives(steps: list[tuple[str, int | None]], loaded_after: int) -> None:
    """Changes before, while and after the store is read."""
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
