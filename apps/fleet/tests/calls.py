"""A proxy before etcd that counts calls, and loses one of them: before etcd has it, or when etcd has answered."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

PREFACE = 24
HEADER = 9
DATA, HEADERS = 0, 1


@dataclass
class Frame:
    """A frame of HTTP/2, with its header."""

    kind: int
    stream: int
    bytes: bytes


def frames(connection: socket.socket, begun: bytes = b"") -> Iterator[Frame]:
    """The frames that come in, until the connection ends."""
    text = begun
    while True:
        while len(text) >= HEADER and len(text) >= (size := HEADER + int.from_bytes(text[:3], "big")):
            yield Frame(text[3], int.from_bytes(text[5:9], "big") & 0x7FFFFFFF, text[:size])
            text = text[size:]
        data = connection.recv(65_536)
        if not data:
            return
        text += data


class CallProxy:
    """Carries connections to a port. Each stream of HTTP/2 is a call of gRPC."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._to_lose: int | None = None
        self._when = "before"
        self.calls = 0
        #: Set when a call was lost; nothing is carried any more, until `mend`.
        self.lost = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def lose(self, number: int, when: str) -> None:
        """Loses a call, 1 for the next, `before` etcd has it or `after` etcd has answered."""
        with self._lock:
            self.calls, self._to_lose, self._when = 0, number, when

    def mend(self) -> None:
        with self._lock:
            self._to_lose = None
        self.lost.clear()

    def close(self) -> None:
        self._listener.close()
        self._end()

    def _end(self) -> None:
        with self._lock:
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=[near], daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        with near:
            if self.lost.is_set():
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._port))
            except OSError:
                return
            with far:
                with self._lock:
                    self._open |= {near, far}
                try:
                    self._copy(near, far)
                finally:
                    with self._lock:
                        self._open -= {near, far}

    def _copy(self, near: socket.socket, far: socket.socket) -> None:
        streams: dict[int, bool] = {}
        """Whether the answer of each call is to be lost."""

        def answers() -> None:
            with contextlib.suppress(OSError):
                for frame in frames(far):
                    if streams.get(frame.stream) and frame.kind in (DATA, HEADERS):
                        self._lose()
                        return
                    near.sendall(frame.bytes)
            for one in (near, far):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

        thread = threading.Thread(target=answers, daemon=True)
        thread.start()
        with contextlib.suppress(OSError):
            preface = b""
            while len(preface) < PREFACE and (data := near.recv(65_536)):
                preface += data
            far.sendall(preface[:PREFACE])
            for frame in frames(near, preface[PREFACE:]):
                if frame.kind == HEADERS and frame.stream not in streams:
                    is_lost = self._count()
                    if is_lost and self._when == "before":
                        self._lose()
                        break
                    streams[frame.stream] = is_lost
                far.sendall(frame.bytes)
        for one in (near, far):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        thread.join()

    def _count(self) -> bool:
        with self._lock:
            self.calls += 1
            return self.calls == self._to_lose

    def _lose(self) -> None:
        self.lost.set()
        self._end()
