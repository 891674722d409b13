"""A turn on a real socket: the caller who hangs up, and what becomes of the connection."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from app.turn.events import Event, TextDelta
from app.turn.faults import ClientGone, FaultKind
from app.turn.turn import TextPart
from tests.upstreams.kit import (
    HEAD,
    LEASE,
    SAID,
    TAIL,
    WHOLE,
    Caller,
    NoSocket,
    RawServer,
    chunk,
    frame,
    run,
    start,
    turn,
    until_fault,
    upstream,
)


@pytest.mark.parametrize("answer", [b"", HEAD, HEAD + chunk(frame(text="a"))], ids=["silent", "head", "text"])
def test_a_caller_who_hangs_up_ends_the_wait_and_the_upstream_sees_it(answer):
    with RawServer(lambda connection: connection.sendall(answer)) as server, Caller() as caller:
        stream = upstream(server).open(turn(), "m", LEASE, caller)
        if b"\x1a\x01a" in answer:
            assert stream.read(5) == [TextDelta("a")]
        threading.Timer(0.1, caller.theirs.close).start()
        began = time.monotonic()
        with pytest.raises(ClientGone):
            stream.read(5)
        assert 0.05 < time.monotonic() - began < 0.5
        stream.close()
        assert server.closed.wait(1)


def test_a_byte_that_the_caller_sends_is_no_hang_up():
    with RawServer(HEAD) as server, Caller() as caller:
        stream = upstream(server).open(turn(), "m", LEASE, caller)
        caller.theirs.sendall(b"GET /next")
        assert stream.read(0.1) == []
        caller.theirs.close()
        with pytest.raises(ClientGone):
            stream.read(5)
        stream.close()


def test_closing_a_running_turn_closes_its_connection_at_once(fake):
    fake.queue([{"text": "a"}, {"sleep_ms": 30_000}])
    stream = start(fake)
    assert stream.read(5) == [TextDelta("a")]
    began = time.monotonic()
    stream.close()
    stream.close()
    assert fake.wait_outcome("client_closed")["outcome"] == "client_closed"
    assert time.monotonic() - began < 1


def test_fifty_turns_in_a_row_use_one_connection():
    with RawServer(WHOLE) as server:
        up = upstream(server)
        for _ in range(50):
            assert run(up) == SAID
        assert (server.connections, len(server.requests)) == (1, 50)


def test_the_connection_is_kept_though_the_last_chunk_comes_a_little_later():
    def late(connection: socket.socket) -> None:
        connection.sendall(WHOLE[: -len(TAIL)])
        time.sleep(0.05)
        connection.sendall(TAIL)

    with RawServer(late) as server:
        up = upstream(server)
        assert [run(up) for _ in range(3)] == [SAID] * 3
        assert server.connections == 1


def test_a_last_chunk_that_never_comes_costs_the_connection_and_little_time():
    with RawServer(WHOLE[: -len(TAIL)]) as server:
        up = upstream(server)
        began = time.monotonic()
        assert [run(up) for _ in range(2)] == [SAID] * 2
        assert time.monotonic() - began < 1
        assert server.connections == 2


def test_the_finish_does_not_wait_for_the_last_chunk():
    with RawServer(WHOLE[: -len(TAIL)]) as server:
        stream = start(server)
        began = time.monotonic()
        assert stream.read(5) == SAID
        assert time.monotonic() - began < 0.15
        stream.close()


def test_a_turn_that_failed_cleanly_gives_its_connection_back(fake):
    with RawServer(
        HEAD + chunk(b'\x02\0\0\0\x20{"error":{"code":"unavailable"}} ') + TAIL,
        b"HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\n{}",
        WHOLE,
    ) as server:
        up = upstream(server)
        for _ in range(2):
            assert until_fault(up.open(turn(), "m", LEASE, NoSocket()))[1].kind is FaultKind.CAPACITY
        assert run(up) == SAID
        assert server.connections == 1


def test_a_pooled_connection_that_was_dropped_is_replaced():
    def answer_and_close(connection: socket.socket) -> None:
        connection.sendall(WHOLE)
        connection.shutdown(socket.SHUT_RDWR)

    with RawServer(answer_and_close) as server:
        up = upstream(server)
        for _ in range(3):
            assert run(up) == SAID
            time.sleep(0.02)
        assert server.connections == 3


def test_a_request_is_sent_once_though_its_connection_dies_unanswered():
    with RawServer(WHOLE, lambda connection: connection.shutdown(socket.SHUT_RDWR)) as server:
        up = upstream(server)
        assert run(up) == SAID
        _, fault = until_fault(up.open(turn(), "m", LEASE, NoSocket()))
        assert fault.kind is FaultKind.UPSTREAM_FAILED
        assert fault.problem == "the upstream closed the connection before it answered"
        assert len(server.requests) == 2


def test_turns_at_the_same_time_have_a_connection_each():
    both = threading.Barrier(8, timeout=5)

    def answer(connection: socket.socket) -> None:
        both.wait()
        connection.sendall(WHOLE)

    with RawServer(answer) as server:
        up = upstream(server)
        results: list[list[Event]] = []
        threads = [threading.Thread(target=lambda: results.append(run(up))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=5)
        assert results == [SAID] * 8
        assert server.connections == 8


def test_a_body_of_many_megabytes_goes_out_whole(fake):
    text = "x" * (5 * 1024 * 1024)
    events = run(upstream(fake), turn(TextPart(text)))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text
