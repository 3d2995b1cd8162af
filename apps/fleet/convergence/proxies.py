"""Connections that can be cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Link:
    """The connections between two nodes. All methods run in the event loop of the proxies."""

    def __init__(self) -> None:
        self.how: str | None = None
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._writers: set[asyncio.StreamWriter] = set()

    def cut(self, how: str) -> None:
        self.how = how
        if how == "reset":
            self._abort()
        elif how != "lose answers":
            self._is_open.clear()

    def heal(self) -> None:
        if self.how in ("drop", "lose answers"):
            self._abort()
        self.how = None
        self._is_open.set()

    def _abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        """Carries one connection to a port, until an end closes it."""
        self._writers.add(writer)
        try:
            await self._is_open.wait()
            if self.how == "reset" or writer.transport.is_closing():
                return writer.transport.abort()
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            self._writers.add(far_writer)
            try:
                await asyncio.gather(self._copy(reader, far_writer), self._copy(far_reader, writer, are_answers=True))
            finally:
                self._writers.discard(far_writer)
                far_writer.transport.abort()
        except OSError:
            pass  # the member is away
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, are_answers: bool = False
    ) -> None:
        while data := await reader.read(65_536):
            await self._is_open.wait()
            if are_answers and self.how == "lose answers":
                continue
            writer.write(data)
            await writer.drain()
        await self._is_open.wait()
        writer.close()


async def serve(find: Callable[[int], Link], port: int) -> int:
    """Passes connections on to a port; `find` gives the link for the port that a connection comes from."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await find(writer.get_extra_info("peername")[1]).carry(reader, writer, port)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    return int(address[1])
