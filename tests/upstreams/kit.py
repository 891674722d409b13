"""What tests of upstreams share: turns, watches, and a server whose every byte the test decides."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

from app.settings import Settings
from app.turn.events import Event, Finished, TextDelta
from app.turn.faults import TurnFault
from app.turn.turn import Message, Part, TextPart, Turn
from app.upstreams import EventStream, Lease
from app.upstreams.connect import ConnectUpstream
from app.upstreams.connect.envelope import encode_envelope
from app.upstreams.connect.stream import ConnectStream
from app.upstreams.connect.wire_pb2 import GetChatMessageResponse
from fake_upstream import FakeUpstream

LEASE = Lease("first", "dev-token")
END = b"\x02\x00\x00\x00\x02{}"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ntransfer-encoding: chunked\r\n\r\n"


class NoSocket:
    """A caller without a socket, who stays."""

    fd: int | None = None

    def gone(self) -> bool:
        return False


class Caller:
    """A caller at the other end of a socket pair; ``theirs`` is the caller's end."""

    def __init__(self) -> None:
        self.theirs, self._ours = socket.socketpair()

    @property
    def fd(self) -> int | None:
        return self._ours.fileno()

    def gone(self) -> bool:
        return bool(select.select([self._ours], [], [], 0)[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.theirs.close()
        self._ours.close()


def settings(url: str = "http://127.0.0.1:1", **values: Any) -> Settings:
    return replace(Settings(), connect_base_url=url, **values)


def turn(*parts: Part, **values: Any) -> Turn:
    """One user message with these parts, ``hi`` without any."""
    message = Message("user", list(parts) or [TextPart("hi")], "messages[0]")
    return Turn(**{"model": "fake-echo", "messages": [message], "session_id": "session-1", **values})


def read_all(stream: EventStream) -> list[Event]:
    """Every event of a turn that ends well; the stream is closed."""
    events: list[Event] = []
    try:
        while not (events and isinstance(events[-1], Finished)):
            events += stream.read(None)
    finally:
        stream.close()
    return events


def run(upstream: ConnectUpstream, asked: Turn | None = None) -> list[Event]:
    asked = asked or turn()
    return read_all(upstream.open(asked, asked.model, LEASE, NoSocket()))


def frame(**fields: Any) -> bytes:
    """One response envelope."""
    return encode_envelope(GetChatMessageResponse(**fields).SerializeToString(), compress=False)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


Answer = Callable[[socket.socket], None]


class RawServer:
    """Answers each request with the bytes, or by the function, that the test gives.

    ``connections`` counts those accepted; ``closed`` is set when a caller's end of one was seen to close.
    """

    def __init__(self, *answers: bytes | Answer) -> None:
        self._answers: Sequence[bytes | Answer] = answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        self.requests: list[bytes] = []
        self.closed = threading.Event()
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(timeout=5)
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while self._take_request(connection):
                answer = self._answers[min(len(self.requests), len(self._answers)) - 1]
                if isinstance(answer, bytes):
                    connection.sendall(answer)
                else:
                    answer(connection)
            self.closed.set()
        except OSError:
            self.closed.set()

    def _take_request(self, connection: socket.socket) -> bool:
        """Read one request; false at the end of the connection."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return False
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(65536)
        self.requests.append(head + b"\r\n\r\n" + body)
        return True


TAIL = b"0\r\n\r\n"
WHOLE = HEAD + chunk(frame(text="a")) + chunk(frame(text="b", finish=2)) + chunk(END) + TAIL
SAID = [TextDelta("a"), TextDelta("b"), Finished("stop")]


def upstream(server: RawServer | FakeUpstream, **values: object) -> ConnectUpstream:
    return ConnectUpstream(settings(server.url, **values))


def start(server: RawServer | FakeUpstream, **values: object) -> ConnectStream:
    return upstream(server, **values).open(turn(), "fake-echo", LEASE, NoSocket())


def until_fault(stream: ConnectStream) -> tuple[list[Event], TurnFault]:
    """The events of a turn that fails, and its fault; the stream is closed."""
    events: list[Event] = []
    try:
        while True:
            events += stream.read(5)
            assert not any(isinstance(event, Finished) for event in events)
    except TurnFault as fault:
        return events, fault
    finally:
        stream.close()
