"""A caller on a bare socket: sees what arrives when, and can hang up, pipeline and stop reading."""

from __future__ import annotations

import json
import re
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit

HI: list[dict[str, str]] = [{"role": "user", "content": "hi"}]

ASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat_completions": ("/v1/chat/completions", {"model": "fake-echo", "messages": HI}),
    "responses": ("/v1/responses", {"model": "fake-echo", "input": "hi", "store": False}),
    "messages": ("/v1/messages", {"model": "fake-echo", "max_tokens": 100, "messages": HI}),
    "generate_content": (
        "/v1beta/models/fake-echo:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    ),
}
"""Path and body of a small non-stream request, by surface."""

SURFACES = tuple(ASKS)

_CHUNK = re.compile(rb"([0-9A-Fa-f]+)\r\n")


def ask(surface: str, *, stream: bool) -> tuple[str, dict[str, Any]]:
    """(path, body) of a small request."""
    path, body = ASKS[surface]
    if not stream:
        return path, body
    if surface == "generate_content":
        return path.replace(":generateContent", ":streamGenerateContent") + "?alt=sse", body
    return path, {**body, "stream": True}


class Caller:
    """One connection to a server. Waiting is bounded everywhere; a bound that passes is a ``TimeoutError``."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.sock = socket.create_connection((parts.hostname, parts.port), 10)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self._head: bytes | None = None
        self._body = b""
        self._whole = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def next(self) -> None:
        """Turn to the answer after the one that was read."""
        self._head, self._body, self._whole = None, b"", False

    def get(self, path: str) -> Self:
        """Send a GET."""
        self.next()
        self.sock.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
        return self

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | bytes,
        headers: Mapping[str, str] | None = None,
        *,
        then: bytes = b"",
    ) -> Self:
        """Send a request, and the bytes ``then`` in the same packet."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {"host": "127.0.0.1", "content-type": "application/json", "content-length": str(len(data))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in (fields | dict(headers or {})).items())
        self.next()
        self.sock.sendall(f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + data + then)
        return self

    def ask(self, surface: str, *, stream: bool = True) -> Self:
        """Send a small request of ``surface``."""
        return self.post(*ask(surface, stream=stream))

    def status(self, within: float = 10) -> int:
        """The status, once the head is there."""
        self._await(lambda: self._head is not None, within)
        assert self._head is not None
        return int(self._head.split(None, 2)[1])

    def header(self, name: str) -> str | None:
        """A header of the answer whose status has been read."""
        assert self._head is not None
        for line in self._head.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None

    def until(self, text: bytes, within: float = 10) -> bytes:
        """The body so far, once ``text`` is in it."""
        self._await(lambda: text in self._body, within)
        return self._body

    def rest(self, within: float = 10) -> bytes:
        """The whole body, once it has ended as its framing says."""
        self._await(lambda: self._whole, within)
        return self._body

    def json(self, within: float = 10) -> Any:
        """The whole body, parsed."""
        return json.loads(self.rest(within))

    def close(self) -> None:
        """Hang up in good order."""
        self.sock.close()

    def reset(self) -> None:
        """Hang up as a crashed program does."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def _await(self, ready: Any, within: float) -> None:
        deadline = time.monotonic() + within
        self._parse()
        while not ready():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"after {within} s there is {self._head!r} {self._body[-2000:]!r}")
            self.sock.settimeout(left)
            try:
                data = self.sock.recv(1 << 16)
            except TimeoutError:
                continue
            if not data:
                raise EOFError(f"the server hung up after {self._head!r} {self._body[-2000:]!r}")
            self._received += data
            self._parse()

    def _parse(self) -> None:
        if self._head is None:
            head, blank, rest = self._received.partition(b"\r\n\r\n")
            if not blank:
                return
            self._head, self._received = head, rest
        length = self.header("content-length")
        if length is not None:
            missing = int(length) - len(self._body)
            self._body += self._received[:missing]
            self._received = self._received[missing:]
            self._whole = len(self._body) == int(length)
        while length is None and not self._whole and (line := _CHUNK.match(self._received)):
            size = int(line[1], 16)
            if len(self._received) < line.end() + size + 2:
                return
            self._body += self._received[line.end() : line.end() + size]
            self._received = self._received[line.end() + size + 2 :]
            self._whole = size == 0
