"""One HTTP/1.1 response (RFC 9112), read from whatever bytes arrive: head first, then the body.

The head is parsed here rather than by ``http.client`` because that blocks until the head is whole: a stream
must be able to look after its caller and its deadlines at any byte.
"""

from __future__ import annotations

import re

from app.turn.faults import FaultKind, TurnFault
from app.upstreams.connect.chunked import ChunkedReader

MAX_HEAD_BYTES = 64 * 1024

_HEAD_END = b"\r\n\r\n"
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTH = re.compile(r"[0-9]{1,18}")
_BODILESS = (204, 304)


class ResponseReader:
    """Bytes of a connection in, body bytes out.

    ``status`` is 0 until the head is whole (interim 1xx heads are skipped); ``headers`` has lower-case names,
    repeated ones joined by ``", "``. ``keep_alive``: the connection is meant to outlive the body.
    ``complete`` once the body ended as its framing says. ``fault`` is set once the bytes broke the protocol.
    """

    __slots__ = (
        "_chunks",
        "_excess",
        "_head",
        "_left",
        "complete",
        "fault",
        "headers",
        "keep_alive",
        "status",
    )

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.complete = False
        self.fault: TurnFault | None = None
        self._head = bytearray()
        self._chunks: ChunkedReader | None = None
        self._left: int | None = None
        self.keep_alive = False
        self._excess = False

    @property
    def reusable(self) -> bool:
        """Whether the connection is clean and may carry another request."""
        return self.complete and self.fault is None and self.keep_alive and not self._excess

    def feed(self, data: bytes) -> bytes:
        """Take in ``data``; the body bytes in it."""
        if self.fault is not None:
            return b""
        if not self.status:
            try:
                data = self._take_head(data)
            except TurnFault as fault:
                self.fault = fault
                return b""
            if not data:
                return b""
        if self._chunks is not None:
            body = self._chunks.feed(data)
            self.complete = self._chunks.complete
            self.fault = self._chunks.fault
            self._excess = self._chunks.excess
            return body
        if self._left is None:
            return data
        body, excess = data[: self._left], data[self._left :]
        self._left -= len(body)
        self._excess = self._excess or bool(excess)
        self.complete = not self._left
        return body

    def end(self) -> None:
        """The peer closed the connection: the proper end of a body that is delimited by that."""
        self.keep_alive = False
        if self.status and self._chunks is None and self._left is None:
            self.complete = True

    def _take_head(self, data: bytes) -> bytes:
        """Collect and parse the head; the bytes that follow it. Raises TurnFault."""
        head = self._head
        while True:
            searched = max(0, len(head) - len(_HEAD_END) + 1)
            head += data
            stop = head.find(_HEAD_END, searched)
            if stop < 0:
                if len(head) > MAX_HEAD_BYTES:
                    raise _broken("more header bytes than are taken")
                return b""
            text = head[:stop].decode("latin-1")
            data = bytes(head[stop + len(_HEAD_END) :])
            head.clear()
            if self._parse(text):
                return data

    def _parse(self, text: str) -> bool:
        """Parse one head; whether it is the final one rather than interim."""
        first, *lines = text.split("\r\n")
        status_line = _STATUS_LINE.fullmatch(first)
        if not status_line:
            raise _broken("something that is not HTTP/1.1")
        status = int(status_line[2])
        if status < 200:
            if status == 101:
                raise _broken("an upgrade that was not asked for")
            return False
        headers = self.headers
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or not _NAME.fullmatch(name):
                raise _broken("a malformed header line")
            name, value = name.lower(), value.strip(" \t")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        self.status = status
        self._frame(status_line[1] == "1")
        return True

    def _frame(self, http_1_1: bool) -> None:
        """How the body is delimited and whether the connection outlives it (RFC 9112 sections 6.3, 9.3)."""
        headers = self.headers
        options = headers.get("connection", "").lower()
        self.keep_alive = "close" not in options if http_1_1 else "keep-alive" in options
        coding = headers.get("transfer-encoding")
        length = headers.get("content-length")
        if self.status in _BODILESS:
            self._left, self.complete = 0, True
        elif coding is not None:
            if coding.lower() != "chunked":
                raise _broken("an unknown transfer coding")
            self._chunks = ChunkedReader()
            if length is not None:
                self.keep_alive = False
        elif length is not None:
            if not _LENGTH.fullmatch(length):
                raise _broken("a malformed content-length")
            self._left = int(length)
            self.complete = not self._left
        else:
            self.keep_alive = False


def _broken(what: str) -> TurnFault:
    return TurnFault(FaultKind.UPSTREAM_FAILED, f"the upstream sent {what}")
