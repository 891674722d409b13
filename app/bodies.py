"""Request bodies: bounded while they are read and while they are inflated, then parsed as JSON."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, Protocol

import orjson
import zstandard

from app.turn.faults import FaultKind, TurnFault, invalid

_ZSTD_WINDOW = 1 << 27
"""The largest window that zstd's own levels use."""

_MOST_MEMBERS = 10_000
"""A body of tiny members costs far more to inflate than it holds; real ones have at most a few hundred."""


def read_body(stream: IO[bytes], content_length: int | None, encoding: str, limit: int) -> bytes:
    """The whole body, inflated; at most ``limit`` bytes both on the wire and inflated.

    ``encoding`` is the Content-Encoding header. Raises TOO_LARGE, WRONG_ENCODING or INVALID_REQUEST faults.
    """
    if content_length is not None and content_length > limit:
        raise _too_large(limit)
    inflate = _inflater(encoding.strip().lower())
    try:
        body = stream.read(limit + 1 if content_length is None else content_length)
    except Exception as error:  # servers have exceptions of their own for broken framing and lost callers
        raise invalid("the request body could not be read to its end") from error
    if len(body) > limit:
        raise _too_large(limit)
    if content_length is not None and len(body) < content_length:
        raise invalid("the request body ended before its announced length")
    return body if inflate is None else inflate(body, limit)


def parse_object(body: bytes) -> dict[str, Any]:
    """``body`` as a JSON object. Raises an INVALID_REQUEST fault that says where parsing stopped."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise invalid(f"the request body is not valid JSON: {error}") from None
    if type(value) is not dict:
        raise invalid("the request body must be a JSON object")
    return value


def _inflater(encoding: str) -> Callable[[bytes, int], bytes] | None:
    match encoding:
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return lambda body, limit: _inflate(body, limit, _GZIP)
        case "deflate":
            return _deflate
        case "zstd":
            return lambda body, limit: _inflate(body, limit, _ZSTD)
    raise TurnFault(
        FaultKind.WRONG_ENCODING,
        f"the content encoding '{encoding[:40]}' is not supported; supported are gzip, deflate and zstd",
        headers={"Accept-Encoding": "gzip, deflate, zstd"},
    )


class _Decoder(Protocol):
    """What zlib and zstandard have in common: one compressed member or frame."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def unused_data(self) -> bytes:
        """What was fed beyond its end."""

    def decompress(self, data: bytes, /) -> bytes:
        """What ``data`` inflates to."""


@dataclass(frozen=True, slots=True)
class _Coding:
    """A content coding. ``piece`` is how much is fed at once, which bounds what one step can inflate to.

    One byte of deflate makes at most 1032, four of zstd 128 KiB: a step makes at most 4 or 8 MiB.
    """

    name: str
    new_decoder: Callable[[], _Decoder]
    piece: int
    error: type[Exception]
    several: bool


_GZIP = _Coding("gzip", lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), 4096, zlib.error, several=True)
_DEFLATE = _Coding("deflate", lambda: zlib.decompressobj(zlib.MAX_WBITS), 4096, zlib.error, several=False)
_RAW_DEFLATE = _Coding(
    "deflate", lambda: zlib.decompressobj(-zlib.MAX_WBITS), 4096, zlib.error, several=False
)
_ZSTD = _Coding(
    "zstd",
    lambda: zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj(),
    256,
    zstandard.ZstdError,
    several=True,
)


def _deflate(body: bytes, limit: int) -> bytes:
    """RFC 9110 means zlib by "deflate"; some clients send it raw."""
    raw = len(body) < 2 or body[0] & 0x0F != 8 or int.from_bytes(body[:2], "big") % 31
    return _inflate(body, limit, _RAW_DEFLATE if raw else _DEFLATE)


def _inflate(body: bytes, limit: int, coding: _Coding) -> bytes:
    """All members of ``body``, which must end where the last one does."""
    inflated = bytearray()
    at = members = 0
    while at < len(body) or not members:
        members += 1
        if members > (_MOST_MEMBERS if coding.several else 1):
            raise _damaged(coding)
        decoder = coding.new_decoder()
        while not decoder.eof:
            piece = body[at : at + coding.piece]
            if not piece:
                raise _damaged(coding)
            try:
                inflated += decoder.decompress(piece)
            except coding.error:
                raise _damaged(coding) from None
            if len(inflated) > limit:
                raise _too_large(limit)
            at += len(piece) - len(decoder.unused_data)
    return bytes(inflated)


def _too_large(limit: int) -> TurnFault:
    return TurnFault(
        FaultKind.TOO_LARGE, f"the request body is larger than {limit >> 20} MiB", code="request_too_large"
    )


def _damaged(coding: _Coding) -> TurnFault:
    return invalid(f"the request body is not valid {coding.name} data")
