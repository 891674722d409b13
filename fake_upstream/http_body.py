"""An HTTP/1.1 request body, whole: by content-length or chunked, never more than a bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

MAX_LINE_BYTES = 8 * 1024
MAX_TRAILER_LINES = 64


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def readline(self, size: int, /) -> bytes: ...


class BadBody(Exception):
    """A body that is not HTTP."""


class BodyTooLarge(Exception):
    """A body beyond the bound; the rest of it is unread."""


def read_body(stream: Readable, headers: Mapping[str, str], limit: int) -> bytes:
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None:
        if length is not None:
            raise BadBody("both transfer-encoding and content-length")
        if coding.lower() != "chunked":
            raise BadBody(f"unknown transfer-encoding {coding!r}")
        return _read_chunked(stream, limit)
    if length is None:
        return b""
    if not (length.isascii() and length.isdigit()):
        raise BadBody(f"bad content-length {length!r}")
    if int(length) > limit:
        raise BodyTooLarge
    return _read_exactly(stream, int(length))


def _read_chunked(stream: Readable, limit: int) -> bytes:
    body = bytearray()
    while True:
        digits = _read_line(stream).partition(b";")[0].strip()
        try:
            size = int(digits, 16) if digits.isalnum() else -1
        except ValueError:
            size = -1
        if size < 0:
            raise BadBody(f"bad chunk size {digits!r}")
        if size == 0:
            break
        if len(body) + size > limit:
            raise BodyTooLarge
        body += _read_exactly(stream, size)
        if _read_exactly(stream, 2) != b"\r\n":
            raise BadBody("a chunk without its line end")
    for _ in range(MAX_TRAILER_LINES):
        if not _read_line(stream):
            return bytes(body)
    raise BadBody("too many trailers")


def _read_line(stream: Readable) -> bytes:
    line = stream.readline(MAX_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise BadBody("a line without its end")
    return line.rstrip(b"\r\n")


def _read_exactly(stream: Readable, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise BadBody("the body ends early")
    return data
