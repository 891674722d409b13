"""An exchange over an ordinary response: whatever stands in for the transport hands one over."""

from __future__ import annotations

import io
from typing import Any

import pytest
import requests
from urllib3 import HTTPResponse
from urllib3.exceptions import ProtocolError

from app.turn.faults import ClientGone, FaultKind
from app.upstreams.connect.client import RawExchange
from tests.upstreams.kit import NoSocket


class Left(NoSocket):
    def gone(self) -> bool:
        return True


class Broken(io.BytesIO):
    def read1(self, *arguments: Any, **named: Any) -> bytes:
        raise ProtocolError("it broke")


def exchange(data: bytes, client: NoSocket | None = None, **headers: str) -> RawExchange:
    answer = requests.Response()
    answer.status_code = 207
    answer.headers.update(headers)
    answer.raw = HTTPResponse(io.BytesIO(data), headers=headers, preload_content=False)
    return RawExchange(answer, client or NoSocket())


def test_it_reads_to_the_end_and_is_complete_only_then() -> None:
    reading = exchange(b"ab" * 40_000, **{"Retry-After": "7"})
    assert (reading.status, reading.headers, reading.complete, reading.fault) == (
        207,
        {"retry-after": "7"},
        False,
        None,
    )
    first = reading.receive(1)
    assert first is not None
    assert len(first) == 65_536
    assert reading.complete is False
    assert reading.receive(1) == (b"ab" * 40_000)[65_536:]
    assert reading.complete is False
    assert reading.receive(1) == b""
    assert reading.complete is True
    assert reading.fault is None


def test_it_leaves_the_bytes_as_they_came() -> None:
    packed = b"\x1f\x8b not really gzip"
    assert exchange(packed, **{"Content-Encoding": "gzip"}).receive(1) == packed


def test_a_break_is_a_fault_in_our_words() -> None:
    reading = exchange(b"")
    reading._response.raw = Broken()
    assert reading.receive(1) == b""
    assert reading.fault is not None
    assert (reading.fault.kind, reading.fault.problem) == (
        FaultKind.UPSTREAM_TRUNCATED,
        "the upstream broke the connection in the middle of its answer",
    )
    assert reading.complete is False


def test_a_caller_who_left_ends_it() -> None:
    with pytest.raises(ClientGone):
        exchange(b"data", Left()).receive(1)
