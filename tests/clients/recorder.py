"""A reverse proxy on loopback that keeps every exchange: what a client sent, and what Candor answered."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "te", "trailer", "upgrade"}
_CHUNK = 65536
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_BEFORE_A_RESET_S = 0.3


@dataclass(slots=True)
class Recorded:
    """One exchange. Header names are lower case; ``status`` is 0 until the reply has begun."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)
    status: int = 0
    reply_headers: dict[str, str] = field(default_factory=dict)
    reply: bytes = b""

    @property
    def json(self) -> Any:
        """The request's body as JSON."""
        return json.loads(self.body)

    def paths(self, header: str) -> list[str]:
        """The paths in ``x-candor-ignored`` or ``x-candor-emulated``."""
        return [path for path in self.reply_headers.get(header, "").split(", ") if path]

    @property
    def ignored(self) -> list[str]:
        """What Candor said it ignored."""
        return self.paths("x-candor-ignored")

    @property
    def emulated(self) -> list[str]:
        """What Candor said it emulated."""
        return self.paths("x-candor-emulated")

    def dump(self) -> str:
        """All of it as JSON text."""
        body = json.loads(self.body) if self.body else None
        reply = {
            "status": self.status,
            "headers": self.reply_headers,
            "body": self.reply.decode(errors="replace"),
        }
        request = {"method": self.method, "path": self.path, "query": self.query, "headers": self.headers}
        return json.dumps({**request, "body": body, "reply": reply}, indent=1, ensure_ascii=False)

    def __str__(self) -> str:
        return (
            f"{self.method} {self.path}{'?' + self.query if self.query else ''} -> {self.status} "
            f"ignored={self.ignored} emulated={self.emulated}"
        )


class Recorder:
    """Listens on ``url`` and passes everything on to ``target``. ``exchanges`` are in the order they came.

    ``reset_after``: the first answer that contains these bytes ends after them, by a reset of the client's
    connection; the answers that follow are whole.
    """

    def __init__(self, target: str) -> None:
        self.target = urlsplit(target).netloc
        self.exchanges: list[Recorded] = []
        self.reset_after = b""
        self._server = _Server(self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def turns(self) -> list[Recorded]:
        """The exchanges that ask for a turn: everything but look-ups."""
        return [one for one in self.exchanges if one.method == "POST"]

    def __str__(self) -> str:
        return "\n".join(f"{one.at - self.exchanges[0].at:7.2f} {one}" for one in self.exchanges)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client or Candor went away in mid-exchange: part of many scenarios."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _serve(self) -> None:
        target = urlsplit(self.path)
        exchange = Recorded(
            self.command,
            target.path,
            target.query,
            {name.lower(): value for name, value in self.headers.items()},
            b"".join(self._body()),
        )
        self.server.recorder.exchanges.append(exchange)
        upstream = http.client.HTTPConnection(self.server.recorder.target, timeout=600)
        with contextlib.closing(upstream):
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in _HOP_BY_HOP:
                    upstream.putheader(name, value)
            upstream.putheader("Content-Length", str(len(exchange.body)))
            upstream.endheaders(exchange.body)
            self._answer(exchange, upstream.getresponse())

    do_GET = do_POST = do_DELETE = do_HEAD = do_PUT = do_OPTIONS = do_PATCH = _serve

    def _body(self) -> Iterator[bytes]:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        elif length := int(self.headers.get("content-length") or 0):
            yield self.rfile.read(length)

    def _answer(self, exchange: Recorded, reply: http.client.HTTPResponse) -> None:
        exchange.reply_headers = {name.lower(): value for name, value in reply.getheaders()}
        exchange.status = reply.status
        self.send_response_only(reply.status, reply.reason)
        for name, value in reply.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        if self.command == "HEAD" or reply.status in (204, 304):
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while data := reply.read1(_CHUNK):
                exchange.reply += data
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                if (marker := self.server.recorder.reset_after) and marker in exchange.reply:
                    self.server.recorder.reset_after = b""
                    self._reset()
                    return
        except (http.client.HTTPException, OSError):
            self.close_connection = True  # a body that was cut is cut here too
            self.connection.close()
            return
        self.wfile.write(b"0\r\n\r\n")

    def _reset(self) -> None:
        time.sleep(_BEFORE_A_RESET_S)  # a reset discards what the client has not read by then
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.close_connection = True
        self.connection.close()
