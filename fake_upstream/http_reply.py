"""HTTP/1.1 responses as bytes: whole ones, and the head and the chunks of a stream."""

from __future__ import annotations

import http
from collections.abc import Iterable

from fake_upstream.connect_wire import CONTENT_TYPE

LAST_CHUNK = b"0\r\n\r\n"


def chunks(data: bytes, size: int | None) -> bytes:
    """Chunked transfer encoding: one chunk, or chunks of ``size`` bytes."""
    size = size or max(1, len(data))
    pieces = (data[start : start + size] for start in range(0, len(data), size))
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


def stream_head(*, gzip: bool = False) -> bytes:
    headers = [("content-type", CONTENT_TYPE), ("transfer-encoding", "chunked")]
    if gzip:
        headers.append(("connect-content-encoding", "gzip"))
    return head(200, headers)


def whole(status: int, body: bytes, headers: Iterable[tuple[str, str]] = ()) -> bytes:
    """A whole HTTP response of known length."""
    given = list(headers)
    names = {name.lower() for name, _ in given}
    usual = [("content-type", "application/json"), ("content-length", str(len(body)))]
    if status == http.HTTPStatus.NO_CONTENT:
        usual = []
    return head(status, [pair for pair in usual if pair[0] not in names] + given) + body


def head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    try:
        phrase = http.HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
