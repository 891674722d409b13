"""Connect's streaming envelopes: 1 flag byte, 4 bytes of big-endian length, payload.

Protocol: https://connectrpc.com/docs/protocol/#streaming-response. Flag 0x01 marks a payload that is gzip as
a whole, 0x02 the end of the stream (whose payload is JSON); other flags mean nothing that we know.
"""

from __future__ import annotations

import gzip
import zlib
from struct import Struct

from app.turn.faults import FaultKind, TurnFault

COMPRESSED = 0x01
END_OF_STREAM = 0x02
MAX_PAYLOAD_BYTES = 16 * 1024 * 1024
"""Longest payload that is taken, both on the wire and inflated."""

_PREFIX = Struct(">BI")
_GZIP_WINDOW = 31  # zlib's name for "a gzip header and the largest window"


def encode_envelope(payload: bytes, *, compress: bool) -> bytes:
    """One envelope around ``payload``, compressed or not. Raises ValueError over 4 GiB."""
    if len(payload) > 0xFFFF_FFFF:
        raise ValueError("a payload of 4 GiB or more has no envelope")
    if compress:
        squeezed = gzip.compress(payload, compresslevel=6, mtime=0)
        return _PREFIX.pack(COMPRESSED, len(squeezed)) + squeezed
    return _PREFIX.pack(0, len(payload)) + payload


class EnvelopeReader:
    """Bytes in, payloads out, however the bytes are split.

    ``feed`` returns the messages that became complete. After it, ``end`` is the payload of the end-of-stream
    envelope once that came, and ``fault`` is set once the bytes broke the protocol: what was returned before
    is sound, what comes after is not looked at. Cost is linear in the bytes fed, also one byte at a time.
    """

    __slots__ = ("_buffer", "_needed", "end", "fault")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._needed = _PREFIX.size
        self.end: bytes | None = None
        self.fault: TurnFault | None = None

    @property
    def clean(self) -> bool:
        """Whether the stream ended as it should: with its end-of-stream envelope and nothing wrong."""
        return self.end is not None and self.fault is None

    def feed(self, data: bytes) -> list[bytes]:
        """Take in ``data``; the messages it completed, in order."""
        messages: list[bytes] = []
        if self.fault is not None or not data:
            return messages
        buffer = self._buffer
        if buffer:
            buffer += data
            if len(buffer) < self._needed:
                return messages
            data = bytes(buffer)
            buffer.clear()
        try:
            used = self._split(data, messages)
        except TurnFault as fault:
            self.fault = fault
            return messages
        if used < len(data):
            buffer += data[used:] if used else data
        return messages

    def _split(self, data: bytes, messages: list[bytes]) -> int:
        """Append the whole messages in ``data`` and return how many bytes they and the end took."""
        at, size = 0, len(data)
        while at < size:
            if self.end is not None:
                raise _broken("sent data after the end of its stream")
            start = at + _PREFIX.size
            if start > size:
                self._needed = _PREFIX.size
                break
            flags, length = _PREFIX.unpack_from(data, at)
            if flags > (COMPRESSED | END_OF_STREAM):
                raise _broken(f"sent an envelope with unknown flags 0x{flags:02x}")
            if length > MAX_PAYLOAD_BYTES:
                raise _broken(f"sent an envelope of {length} bytes; at most {MAX_PAYLOAD_BYTES} are taken")
            stop = start + length
            if stop > size:
                self._needed = _PREFIX.size + length
                break
            at = stop
            payload = data[start:stop]
            if flags & COMPRESSED and length:
                payload = _inflate(payload)
            if flags & END_OF_STREAM:
                self.end = payload
            else:
                messages.append(payload)
        return at


def _inflate(payload: bytes) -> bytes:
    """The bytes of one whole gzip member of bounded size; raises TurnFault for anything else."""
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    try:
        plain = inflater.decompress(payload, MAX_PAYLOAD_BYTES + 1)
    except zlib.error:
        raise _broken("sent a compressed envelope that is not gzip") from None
    if len(plain) > MAX_PAYLOAD_BYTES:
        raise _broken(f"sent an envelope that inflates to more than {MAX_PAYLOAD_BYTES} bytes")
    if not inflater.eof or inflater.unused_data:
        raise _broken("sent a compressed envelope that is not one whole gzip member")
    return plain


def _broken(what: str) -> TurnFault:
    return TurnFault(FaultKind.UPSTREAM_FAILED, f"the upstream {what}")
