"""Connections of a requests adapter that send a request and read nothing: reading is left to the exchange.

urllib3 asks a connection for its response as soon as the request is sent, which blocks until the head of the
response is there. These connections hand back their socket instead. Everything else, from the pool and the
check for dropped connections to TLS and errors of connecting, is requests' and urllib3's own.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from typing import Any, cast

from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import ConnectionPool, HTTPConnectionPool, HTTPSConnectionPool
from urllib3.response import HTTPResponse

SMALL_BODY_BYTES = 64 * 1024
"""A body up to here is sent in one piece with the head of its request."""
SEND_TIMEOUT_S = 60.0
"""Seconds that the upstream may take to accept the whole of a request."""

_LINE_ENDS = re.compile(rb"[\r\n\0]")


class DeferredResponse(HTTPResponse):
    """What urllib3 hands on in place of a response: the connection's socket, ready to be read."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(body=b"", preload_content=False, request_method="POST")
        self.sock = sock


class _Connection(HTTPConnection):
    """Writes a request with as few steps as it has parts, and leaves the response on the socket.

    What http.client does between the two, header by header, costs more than all else that sending a turn takes.
    """

    def getresponse(self) -> DeferredResponse:  # type: ignore[override]
        sock = cast(socket.socket, self.sock)
        sock.setblocking(False)
        return DeferredResponse(sock)

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(SEND_TIMEOUT_S)

    def request(
        self,
        method: str,
        url: str,
        body: Any = b"",
        headers: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Send the request; ``options`` are about responses. ValueError for what cannot stand in a header."""
        if self.sock is not None:
            self.sock.settimeout(SEND_TIMEOUT_S)
        lines = [f"{method} {url} HTTP/1.1", f"Host: {self._authority}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        head = "\r\n".join(lines).encode("latin-1")
        if _LINE_ENDS.search(head.replace(b"\r\n", b"", len(lines) - 1)):
            raise ValueError("a line end inside a header")
        head += b"\r\n\r\n"
        if len(body) <= SMALL_BODY_BYTES:
            self.send(head + body)
        else:
            self.send(head)
            self.send(body)

    @property
    def _authority(self) -> str:
        """The Host header (RFC 9112 section 3.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == self.default_port else f"{host}:{self.port}"


class _TLSConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


class DeferringAdapter(HTTPAdapter):
    """An HTTPAdapter for one address, whose connections defer reading. ``send`` is the base class's own."""

    _pool: ConnectionPool | None = None
    _target: str | None = None

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As the base class does, with our connections."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> ConnectionPool:
        """The pool of the one address, looked up once: a tenth of what a request costs."""
        if self._pool is None:
            self._pool = super().get_connection_with_tls_context(*args, **kwargs)
        return self._pool

    def request_url(self, request: PreparedRequest, proxies: Mapping[str, str] | None) -> str:
        """The request target; one address has one, worked out once."""
        if self._target is None:
            self._target = super().request_url(request, proxies)
        return self._target
