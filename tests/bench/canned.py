"""The canned upstream, a process of its own: finds the case in a request and writes bytes made beforehand.

``python -m tests.bench.canned PORT`` speaks the connect protocol and OpenAI's on one port.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time

from tests.bench.answers import CASES, MODEL_PREFIX, STAMP_DIGITS, Answer, connect_answer, openai_answer

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
MODEL = re.compile(MODEL_PREFIX.encode() + rb"([a-z]+)")

CONNECT = {name.encode(): connect_answer(case) for name, case in CASES.items()}
OPENAI = {name.encode(): openai_answer(case) for name, case in CASES.items()}


class Canned(asyncio.Protocol):
    """One connection, request after request."""

    def __init__(self) -> None:
        self._received = b""
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        received = self._received = self._received + data
        head_end = received.find(b"\r\n\r\n")
        if head_end < 0:
            return
        length = LENGTH.search(received, 0, head_end)
        size = head_end + 4 + (int(length[1]) if length else 0)
        if len(received) < size:
            return
        model = MODEL.search(received, head_end, size)
        answers = OPENAI if received.startswith(b"POST /v1/") else CONNECT
        self._received = b""
        self._play(answers[model[1] if model else b"whole"])

    def _play(self, answer: Answer) -> None:
        self._transport.write(answer.start)
        if answer.events:
            self._tick(answer, answer.events, self._loop.time())

    def _tick(self, answer: Answer, left: int, due: float) -> None:
        stamp = b"%0*d" % (STAMP_DIGITS, time.monotonic_ns() // 1000)
        if left == 1:
            self._timer = None
            self._transport.write(answer.event(stamp) + answer.end)
            return
        self._transport.write(answer.event(stamp))
        due += answer.gap_s
        self._timer = self._loop.call_at(due, self._tick, answer, left - 1, due)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Canned, "127.0.0.1", port, backlog=4096)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
