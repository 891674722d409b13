"""The transport: one pooled requests adapter, and one HTTP exchange at a time on each of its connections.

``HTTPAdapter.send`` takes a connection from the pool and sends the request. From there the exchange reads the
socket itself, so that one thread can wait for the upstream, the caller's hang-up and a deadline at once, also
before the response head. Whatever stands in for ``HTTPAdapter.send`` and returns an ordinary response is read
through its ``raw``.
"""

from __future__ import annotations

import select
import ssl
import time
from collections.abc import Mapping
from math import ceil
from typing import Protocol, cast

from requests import PreparedRequest, Response
from requests.exceptions import ConnectTimeout, RequestException
from requests.structures import CaseInsensitiveDict
from urllib3.exceptions import HTTPError

from app.settings import Settings
from app.turn.faults import ClientGone, FaultKind, TurnFault
from app.upstreams import ClientWatch
from app.upstreams.connect.connections import SEND_TIMEOUT_S, DeferredResponse, DeferringAdapter
from app.upstreams.connect.http1 import ResponseReader

RPC_PATH = "/exa.api_server_pb.ApiServerService/GetChatMessage"
CONTENT_TYPE = "application/connect+proto"
READ_BYTES = 64 * 1024

_HANG_UP = select.POLLRDHUP | select.POLLHUP | select.POLLERR


class Exchange(Protocol):
    """One HTTP response on its way in."""

    @property
    def status(self) -> int:
        """The HTTP status; 0 until the head has come."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Lower-case names."""

    @property
    def complete(self) -> bool:
        """Whether the body has ended as its framing says."""

    @property
    def fault(self) -> TurnFault | None:
        """Set once the bytes broke HTTP, or the connection broke; what came before is sound."""

    def receive(self, timeout_s: float) -> bytes | None:
        """Body bytes that arrived (``b""``: only others); None when ``timeout_s`` pass first.

        Raises ClientGone when the caller hangs up meanwhile.
        """

    def drain(self, bound_s: float) -> None:
        """Wait at most ``bound_s`` for the rest of a body that has nothing left to say."""

    def close(self) -> None:
        """Give the connection back if it is clean, else close it at once. May be called twice."""


class SocketExchange:
    """An exchange that reads its own socket. See Exchange."""

    def __init__(self, deferred: DeferredResponse, client: ClientWatch) -> None:
        self._deferred: DeferredResponse | None = deferred
        self._sock = deferred.sock
        self._tls = isinstance(deferred.sock, ssl.SSLSocket)
        self._reader = ResponseReader()
        self._broken: TurnFault | None = None
        self._client = client
        self._client_fd = client.fd
        self._poll = select.poll()
        self._poll.register(self._sock, select.POLLIN)
        if self._client_fd is not None:
            self._poll.register(self._client_fd, _HANG_UP)

    @property
    def status(self) -> int:
        return self._reader.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._reader.headers

    @property
    def complete(self) -> bool:
        return self._reader.complete

    @property
    def fault(self) -> TurnFault | None:
        return self._broken or self._reader.fault

    def receive(self, timeout_s: float) -> bytes | None:
        if not self._readable(timeout_s):
            return None
        try:
            data = self._sock.recv(READ_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return b""  # a part of a TLS record, which is a sign of life all the same
        except OSError:
            self._broken = self._cut("broke the connection")
            return b""
        if not data:
            self._reader.end()
            if not self._reader.complete:
                self._broken = self._cut("closed the connection")
            return b""
        return self._reader.feed(data)

    def _readable(self, timeout_s: float) -> bool:
        """Whether the upstream has something; TLS may hold some of it where poll does not look."""
        if self._tls and cast(ssl.SSLSocket, self._sock).pending():
            timeout_s = 0.0
            ready = True
        else:
            ready = False
        for fd, _ in self._poll.poll(ceil(max(0.0, timeout_s) * 1000)):
            if fd == self._client_fd:
                raise ClientGone
            ready = True
        return ready

    def _cut(self, how: str) -> TurnFault:
        if self._reader.status:
            return TurnFault(FaultKind.UPSTREAM_TRUNCATED, f"the upstream {how} in the middle of its answer")
        return TurnFault(FaultKind.UPSTREAM_FAILED, f"the upstream {how} before it answered")

    def drain(self, bound_s: float) -> None:
        if self._client_fd is not None:
            self._poll.unregister(self._client_fd)
            self._client_fd = None
        until = time.monotonic() + bound_s
        while self._reader.keep_alive and not self._reader.complete and self.fault is None:
            left = until - time.monotonic()
            if left <= 0 or self.receive(left):
                return

    def close(self) -> None:
        deferred, self._deferred = self._deferred, None
        if deferred is None:
            return
        if not self._reader.reusable or self._broken is not None:
            deferred.close()
        deferred.release_conn()


class RawExchange:
    """An exchange over an ordinary response, whose ``raw`` is read without polling. See Exchange."""

    def __init__(self, response: Response, client: ClientWatch) -> None:
        self._response = response
        self._client = client
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self.complete = False
        self.fault: TurnFault | None = None

    def receive(self, timeout_s: float) -> bytes | None:
        if self._client.gone():
            raise ClientGone
        try:
            data = self._response.raw.read1(READ_BYTES, decode_content=False)
        except (OSError, HTTPError):
            self.fault = TurnFault(
                FaultKind.UPSTREAM_TRUNCATED, "the upstream broke the connection in the middle of its answer"
            )
            return b""
        self.complete = not data
        return cast(bytes, data)

    def drain(self, bound_s: float) -> None:
        """Nothing to gain: no connection of ours is behind it."""

    def close(self) -> None:
        self._response.close()


class Transport:
    """Sends requests to one upstream address; shared by all threads. ``close`` drops idle connections."""

    def __init__(self, settings: Settings) -> None:
        self._url = settings.connect_base_url + RPC_PATH
        self._authorization = settings.connect_authorization
        self._connect_timeout_s = settings.connect_timeout_s
        self._adapter = DeferringAdapter(pool_maxsize=settings.threads, pool_block=False)
        self._headers = {
            "Content-Type": CONTENT_TYPE,
            "Connect-Protocol-Version": "1",
            "Connect-Accept-Encoding": "gzip",
            "Accept-Encoding": "identity",
            "User-Agent": f"{settings.connect_client_name}/{settings.connect_client_version}",
        }
        if settings.connect_gzip:
            self._headers["Connect-Content-Encoding"] = "gzip"

    def send(self, body: bytes, token: str, client: ClientWatch) -> Exchange:
        """Send ``body`` on a pooled or new connection. Raises TurnFault when it cannot be sent."""
        try:
            response = self._adapter.send(
                self._request(body, token), stream=True, timeout=(self._connect_timeout_s, SEND_TIMEOUT_S)
            )
        except ConnectTimeout:
            raise TurnFault(
                FaultKind.UPSTREAM_TIMEOUT,
                f"the upstream did not accept a connection within {self._connect_timeout_s:g} s",
            ) from None
        except (RequestException, HTTPError, OSError) as error:
            if _timed_out(error):
                raise TurnFault(
                    FaultKind.UPSTREAM_TIMEOUT, "the upstream did not take the request in time"
                ) from None
            raise TurnFault(FaultKind.UPSTREAM_FAILED, "the upstream could not be reached") from None
        except ValueError:
            # The error's own text would quote the header, and with it the token.
            raise TurnFault(FaultKind.INTERNAL, "the upstream token cannot stand in an HTTP header") from None
        if isinstance(response.raw, DeferredResponse):
            return SocketExchange(response.raw, client)
        return RawExchange(response, client)

    def _request(self, body: bytes, token: str) -> PreparedRequest:
        """A prepared request, put together by hand: nothing but three values differs from turn to turn."""
        request = PreparedRequest()
        request.method = "POST"
        request.url = self._url
        headers = {
            **self._headers,
            "Authorization": self._authorization.replace("{token}", token),
            "Content-Length": str(len(body)),
        }
        # Plain: the adapter asks for names as they are spelled here, and nobody else asks.
        request.headers = cast(CaseInsensitiveDict[str], headers)
        request.body = body
        return request

    def close(self) -> None:
        """Close the pooled connections; running turns keep theirs."""
        self._adapter.close()


def _timed_out(error: BaseException) -> bool:
    """Whether a timeout of the socket is at the bottom of ``error``."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, TimeoutError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
