"""Connections of a requests adapter that send a request and read nothing: reading is left to the exchange.

urllib3 asks a connection for its response as soon as the request is sent, which blocks until the head of the
response is there. These connections hand back their socket instead. Everything else, from the pool and the
check for dropped connections to TLS and errors of connecting, is requests' and urllib3's own.
"""

from __future__ import annotations

import http.client
import socket
from typing import Any, cast

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import ConnectionPool, HTTPConnectionPool, HTTPSConnectionPool
from urllib3.response import HTTPResponse

SMALL_BODY_BYTES = 64 * 1024
"""A body up to here is sent in one piece with the head of its request."""
SEND_TIMEOUT_S = 60.0
"""Seconds that the upstream may take to accept the whole of a request."""


class _Unread(http.client.HTTPResponse):
    """Keeps http.client's account of a connection while nothing of the response is read through it."""

    def __init__(self, sock: socket.socket, debuglevel: int = 0, method: str | None = None) -> None:
        self.will_close = False

    def begin(self) -> None:
        """Nothing to read: the exchange does that."""

    def isclosed(self) -> bool:
        """Always, as far as http.client is concerned: only exchanges that are over give back connections."""
        return True

    def close(self) -> None:
        """Nothing to close."""


class DeferredResponse(HTTPResponse):
    """What urllib3 hands on in place of a response: the connection's socket, ready to be read."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(body=b"", preload_content=False, request_method="POST")
        self.sock = sock


class _Connection(HTTPConnection):
    """Defers reading, and sends the head of a request and a small body in one packet rather than in two."""

    response_class = _Unread
    _holding = False
    _held = b""

    # As urllib3 does in this place: its own response takes the place of http.client's, whose reading it is.
    def getresponse(self) -> DeferredResponse:  # type: ignore[override]
        sock = cast(socket.socket, self.sock)
        http.client.HTTPConnection.getresponse(self)
        sock.setblocking(False)
        return DeferredResponse(sock)

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(SEND_TIMEOUT_S)

    def request(self, *args: Any, **kwargs: Any) -> None:
        if self.sock is not None:
            self.timeout = SEND_TIMEOUT_S
        self._held = b""
        super().request(*args, **kwargs)

    def endheaders(self, *args: Any, **kwargs: Any) -> None:
        self._holding = True
        try:
            super().endheaders(*args, **kwargs)
        finally:
            self._holding = False

    def send(self, data: Any) -> None:
        if self._holding:
            self._held += data
            return
        held, self._held = self._held, b""
        if held and len(data) <= SMALL_BODY_BYTES:
            super().send(held + data)
            return
        if held:
            super().send(held)
        super().send(data)


class _TLSConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


class DeferringAdapter(HTTPAdapter):
    """An HTTPAdapter for one address, whose connections defer reading. ``send`` is the base class's own."""

    _pool: ConnectionPool | None = None

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As the base class does, with our connections."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> ConnectionPool:
        """The pool of the one address, looked up once: a tenth of what a request costs."""
        if self._pool is None:
            self._pool = super().get_connection_with_tls_context(*args, **kwargs)
        return self._pool
