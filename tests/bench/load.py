"""The load: callers on kept-alive connections, in a closed loop, at a rate, or all at once."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.bench.answers import STAMP_DIGITS

STAMP = re.compile(rb"~(\d{%d})" % STAMP_DIGITS)
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
LAST_CHUNK = b"\r\n0\r\n\r\n"


@dataclass
class Tally:
    """What a load saw. Times are seconds; ``failed`` counts answers that were not whole or not 200."""

    seconds: float = 0.0
    done: int = 0
    failed: int = 0
    events: int = 0
    latencies: list[float] = field(default_factory=list)
    firsts: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)
    complaint: bytes = b""


class Caller(asyncio.Protocol):
    """One connection. ``ask`` sends the request; the future it returns is done with the answer."""

    def __init__(self, request: bytes, expected: int, tally: Tally) -> None:
        self._request = request
        self._expected = expected
        self._tally = tally
        self._answer: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport
        self.open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.open = True

    def connection_lost(self, error: Exception | None) -> None:
        self.open = False
        if self._answer is not None:
            self._end(whole=False)

    def ask(self) -> asyncio.Future[None]:
        self._answer = asyncio.get_running_loop().create_future()
        self._head = b""
        self._left: int | None = None
        self._tail = b""
        self._events = 0
        self._asked = time.perf_counter()
        self._transport.write(self._request)
        return self._answer

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            return
        if not self._tail:
            head, blank, data = (self._head + data).partition(b"\r\n\r\n")
            if not blank:
                self._head = head
                return
            self._head = head
            length = LENGTH.search(head)
            self._left = int(length[1]) if length else None
            self._tail = b"\r\n"
        events = data.count(b"~")
        if events:
            if not self._events:
                self._tally.firsts.append(time.perf_counter() - self._asked)
            self._events += events
            if STAMP.search(data):
                now = time.monotonic_ns() // 1000
                self._tally.lags += [(now - int(stamp)) / 1e6 for stamp in STAMP.findall(data)]
        if self._left is not None:
            self._left -= len(data)
            if self._left <= 0:
                self._end(whole=True)
            return
        self._tail = (self._tail + data)[-len(LAST_CHUNK) :] if len(data) < 7 else data[-len(LAST_CHUNK) :]
        if self._tail == LAST_CHUNK:
            self._end(whole=True)

    def _end(self, *, whole: bool) -> None:
        tally, answer = self._tally, self._answer
        assert answer is not None
        self._answer = None
        if whole and self._events == self._expected and self._head.startswith(b"HTTP/1.1 200"):
            tally.done += 1
            tally.events += self._events
            tally.latencies.append(time.perf_counter() - self._asked)
        else:
            tally.failed += 1
            tally.complaint = self._head[:300]
        if not answer.done():
            answer.set_result(None)


@dataclass(frozen=True)
class Target:
    """Where requests go, and how many events a right answer has."""

    port: int
    body: bytes
    events: int
    headers: Iterable[tuple[str, str]] = ()
    path: str = "/v1/chat/completions"

    def request(self) -> bytes:
        """The whole request as bytes."""
        fields = [("host", "127.0.0.1"), ("content-type", "application/json"), *self.headers]
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
        return (
            f"POST {self.path} HTTP/1.1\r\n{lines}content-length: {len(self.body)}\r\n\r\n".encode()
            + self.body
        )

    async def caller(self, tally: Tally) -> Caller:
        """A connected caller."""
        caller = Caller(self.request(), self.events, tally)
        await asyncio.get_running_loop().create_connection(lambda: caller, "127.0.0.1", self.port)
        return caller


async def closed_loop(target: Target, connections: int, seconds: float) -> Tally:
    """Each connection asks again as soon as it is answered."""
    tally = Tally()
    started = time.perf_counter()

    async def one() -> None:
        caller = await target.caller(tally)
        while time.perf_counter() - started < seconds and tally.failed < 100:
            if not caller.open:
                caller = await target.caller(tally)
            await caller.ask()
        caller._transport.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    tally.seconds = time.perf_counter() - started
    return tally


async def at_rate(target: Target, rate: float, seconds: float) -> Tally:
    """``rate`` requests a second, whether or not earlier ones are answered."""
    tally = Tally()
    idle: list[Caller] = []
    running: list[asyncio.Task[None]] = []

    async def one() -> None:
        while idle and not idle[-1].open:
            idle.pop()
        caller = idle.pop() if idle else await target.caller(tally)
        await caller.ask()
        idle.append(caller)

    started = time.perf_counter()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
        running.append(asyncio.create_task(one()))
    await asyncio.gather(*running)
    tally.seconds = time.perf_counter() - started
    return tally


async def crowd(target: Target, size: int, halfway: asyncio.Event | None = None, after_s: float = 0) -> Tally:
    """``size`` requests in the same instant, each on its connection; ``halfway`` is set ``after_s`` later."""
    tally = Tally()
    callers = [await target.caller(tally) for _ in range(size)]
    started = time.perf_counter()
    answers = [caller.ask() for caller in callers]
    if halfway is not None:
        asyncio.get_running_loop().call_later(after_s, halfway.set)
    await asyncio.gather(*answers)
    tally.seconds = time.perf_counter() - started
    for caller in callers:
        caller._transport.close()
    return tally
