"""A fake, and a client that shows the wire: envelopes as they came, or the raw socket."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from app.upstreams.connect import wire_pb2
from fake_upstream import FakeUpstream

RPC = "/exa.api_server_pb.ApiServerService/GetChatMessage"
HEADERS = {
    "content-type": "application/connect+proto",
    "connect-protocol-version": "1",
    "authorization": "Bearer t",
}


def envelope(payload: bytes, flags: int = 0) -> bytes:
    return bytes([flags]) + len(payload).to_bytes(4, "big") + payload


def split(body: bytes) -> list[tuple[int, bytes]]:
    frames = []
    at = 0
    while at < len(body):
        end = at + 5 + int.from_bytes(body[at + 1 : at + 5], "big")
        assert end <= len(body)
        frames.append((body[at], body[at + 5 : end]))
        at = end
    return frames


@dataclass
class Reply:
    """A streamed reply, whole: messages, and the JSON of the end-of-stream envelope (None without one)."""

    response: requests.Response

    @property
    def frames(self) -> list[tuple[int, bytes]]:
        assert self.response.status_code == 200
        assert self.response.headers["content-type"] == "application/connect+proto"
        return split(self.response.content)

    @property
    def messages(self) -> list[wire_pb2.GetChatMessageResponse]:
        return [
            wire_pb2.GetChatMessageResponse.FromString(gzip.decompress(data) if flags & 1 else data)
            for flags, data in self.frames
            if not flags & 2
        ]

    @property
    def end(self) -> Any:
        ends = [gzip.decompress(data) if flags & 1 else data for flags, data in self.frames if flags & 2]
        assert len(ends) <= 1
        return json.loads(ends[0]) if ends else None

    @property
    def text(self) -> str:
        return "".join(message.text for message in self.messages)


class Client:
    """One keep-alive session to the fake."""

    RPC = RPC
    envelope = staticmethod(envelope)

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()

    def request(
        self, model: str = "m", user: str = "hello", token: str = "t"
    ) -> wire_pb2.GetChatMessageRequest:
        message = wire_pb2.GetChatMessageRequest(model=model)
        message.metadata.session_token = token
        if user:
            message.messages.add(source=1, text=user)
        return message

    def post(self, body: Any, headers: Mapping[str, str | None] | None = None) -> requests.Response:
        merged = {name: value for name, value in {**HEADERS, **(headers or {})}.items() if value is not None}
        return self.session.post(self.url + RPC, data=body, headers=merged, timeout=10)

    def send(self, message: wire_pb2.GetChatMessageRequest | None = None) -> Reply:
        message = message or self.request()
        token = message.metadata.session_token
        data = envelope(message.SerializeToString())
        return Reply(self.post(data, {"authorization": f"Bearer {token}"}))

    def control(self, method: str, path: str, **arguments: Any) -> requests.Response:
        return self.session.request(method, self.url + path, timeout=10, **arguments)

    def raw(self, data: bytes | None = None) -> socket.socket:
        """A socket of its own with a request already sent: for what happens on the wire, byte by byte."""
        host, port = self.url.removeprefix("http://").split(":")
        sock = socket.create_connection((host, int(port)), timeout=5)
        sock.sendall(self.request_bytes() if data is None else data)
        return sock

    def request_bytes(self) -> bytes:
        body = envelope(self.request().SerializeToString())
        lines = [f"POST {RPC} HTTP/1.1", "host: x", *(f"{k}: {v}" for k, v in HEADERS.items())]
        return "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body


@pytest.fixture
def fake() -> Iterator[FakeUpstream]:
    with FakeUpstream() as running:
        yield running


@pytest.fixture
def client(fake: FakeUpstream) -> Iterator[Client]:
    one = Client(fake.url)
    yield one
    one.session.close()


@pytest.fixture
def client_of() -> Iterator[Callable[[FakeUpstream], Client]]:
    clients: list[Client] = []

    def make(fake: FakeUpstream) -> Client:
        clients.append(Client(fake.url))
        return clients[-1]

    yield make
    for one in clients:
        one.session.close()
