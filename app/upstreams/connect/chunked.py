"""HTTP/1.1's chunked transfer coding (RFC 9112 section 7.1), decoded from whatever bytes arrive."""

from __future__ import annotations

import re
from enum import Enum, auto

from app.turn.faults import FaultKind, TurnFault

MAX_LINE_BYTES = 8 * 1024
"""Longest chunk-size line (with its extensions) or trailer line."""
MAX_TRAILER_BYTES = 64 * 1024

_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
_PLAIN_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})\r\n")


class _Expect(Enum):
    SIZE = auto()
    DATA = auto()
    DATA_END = auto()
    TRAILER = auto()
    NOTHING = auto()


class ChunkedReader:
    """Bytes in, body bytes out, however the bytes are split; extensions and trailers are skipped.

    After ``feed``: ``complete`` once the last chunk and the trailers came, ``excess`` when bytes followed
    them, ``fault`` when a chunk was malformed (what was returned is sound, nothing more is looked at).
    """

    __slots__ = ("_expect", "_left", "_line", "_trailer_bytes", "excess", "fault")

    def __init__(self) -> None:
        self._expect = _Expect.SIZE
        self._left = 0
        self._line = bytearray()
        self._trailer_bytes = 0
        self.excess = False
        self.fault: TurnFault | None = None

    @property
    def complete(self) -> bool:
        """Whether the body ended as it should."""
        return self._expect is _Expect.NOTHING

    def feed(self, data: bytes) -> bytes:
        """Take in ``data``; the body bytes in it."""
        pieces: list[bytes] = []
        at, size = 0, len(data)
        while at < size and self.fault is None:
            if self._expect is _Expect.DATA:
                stop = min(size, at + self._left)
                pieces.append(data[at:stop])
                self._left -= stop - at
                at = stop
                if not self._left:
                    self._expect = _Expect.DATA_END
            elif self._expect is _Expect.NOTHING:
                self.excess = True
                break
            elif self._expect is _Expect.SIZE and not self._line:
                at = _whole_chunks(data, at, pieces)
                if at < size:
                    at = self._take_line(data, at)
            else:
                at = self._take_line(data, at)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _take_line(self, data: bytes, at: int) -> int:
        """Read one line, or what there is of it, from ``at``; where the next byte is."""
        newline = data.find(b"\n", at)
        stop = len(data) if newline < 0 else newline + 1
        line = data[at:stop]
        if self._line or newline < 0:
            self._line += line
            line = bytes(self._line) if newline >= 0 else b""
        if max(len(line), len(self._line)) > MAX_LINE_BYTES:
            self._fail()
        elif newline >= 0:
            self._line.clear()
            if line.endswith(b"\r\n"):
                self._end_of_line(line[:-2])
            else:
                self._fail()
        elif self._expect is _Expect.DATA_END and self._line != b"\r":
            self._fail()
        return stop

    def _end_of_line(self, line: bytes) -> None:
        if self._expect is _Expect.SIZE:
            size = line.partition(b";")[0].strip(b" \t")
            if not _SIZE.fullmatch(size):
                self._fail()
                return
            self._left = int(size, 16)
            self._expect = _Expect.DATA if self._left else _Expect.TRAILER
        elif self._expect is _Expect.DATA_END:
            if line:
                self._fail()
                return
            self._expect = _Expect.SIZE
        elif not line:
            self._expect = _Expect.NOTHING
        else:
            self._trailer_bytes += len(line)
            if self._trailer_bytes > MAX_TRAILER_BYTES:
                self._fail()

    def _fail(self) -> None:
        self.fault = TurnFault(FaultKind.UPSTREAM_FAILED, "the upstream sent a malformed chunk")


def _whole_chunks(data: bytes, at: int, pieces: list[bytes]) -> int:
    """Append the chunks that lie whole in ``data`` from ``at`` on; where the first other thing is.

    A short cut for the common case. What it does not know, from extensions to faults, is left to the lines.
    """
    while line := _PLAIN_SIZE_LINE.match(data, at):
        start = line.end()
        stop = start + int(line[1], 16)
        if stop == start or data[stop : stop + 2] != b"\r\n":
            break
        pieces.append(data[start:stop])
        at = stop + 2
    return at
