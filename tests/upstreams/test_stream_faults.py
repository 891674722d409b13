"""A turn on a real socket: how it fails."""

from __future__ import annotations

import socket
import time

import pytest

from app.turn.events import TextDelta, Usage
from app.turn.faults import FaultKind, TurnFault
from app.turn.tool_choice import NONE
from app.turn.turn import Tool
from app.upstreams.connect import ConnectUpstream
from fake_upstream import FakeUpstream
from tests.upstreams.kit import (
    END,
    HEAD,
    LEASE,
    TAIL,
    NoSocket,
    RawServer,
    chunk,
    frame,
    settings,
    start,
    turn,
    until_fault,
    upstream,
)

F = Tool("f", "", '{"type":"object","properties":{}}')


def test_an_error_after_text_comes_after_the_text_also_in_one_packet(fake):
    for first in ({"one_packet": True}, {"dribble_bytes": 1}):
        fake.queue(
            [first, {"text": "a"}, {"error": {"code": "unavailable", "message": "busy", "retry_after_s": 30}}]
        )
        events, fault = until_fault(start(fake))
        assert events == [TextDelta("a")]
        assert (fault.kind, fault.retry_after_s) == (FaultKind.CAPACITY, 30.0)
        assert fault.problem == "the upstream answered with an error: busy"


def test_an_http_error_is_a_fault_with_its_wait(fake):
    fake.queue(
        [
            {
                "http_error": {
                    "status": 429,
                    "code": "resource_exhausted",
                    "message": "slow down dev-token",
                    "headers": {"retry-after": "30"},
                }
            }
        ]
    )
    events, fault = until_fault(start(fake))
    assert (events, fault.kind, fault.retry_after_s) == ([], FaultKind.RATE_LIMITED, 30.0)
    assert fault.problem == "the upstream answered with an error: slow down ***"


def test_an_unknown_token_is_an_authentication_fault_of_the_upstream():
    with FakeUpstream(tokens=["other"]) as fake:
        _, fault = until_fault(start(fake))
    assert fault.kind is FaultKind.UPSTREAM_AUTHENTICATION


@pytest.mark.parametrize("cut", [True, "clean"])
def test_a_body_without_the_end_of_its_stream_is_truncated(fake, cut):
    fake.queue([{"text": "a"}, {"cut": cut}])
    events, fault = until_fault(start(fake))
    assert (events, fault.kind) == ([TextDelta("a")], FaultKind.UPSTREAM_TRUNCATED)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"", FaultKind.UPSTREAM_FAILED),
        (b"HTTP/1.1 200", FaultKind.UPSTREAM_FAILED),
        (HEAD, FaultKind.UPSTREAM_TRUNCATED),
        (HEAD + chunk(frame(text="a"))[:-3], FaultKind.UPSTREAM_TRUNCATED),
        (HEAD + chunk(frame(text="a") + frame(text="b")[:-1]) + TAIL, FaultKind.UPSTREAM_TRUNCATED),
        (HEAD + b"zz\r\n", FaultKind.UPSTREAM_FAILED),
        (HEAD + chunk(b"\x04\0\0\0\0"), FaultKind.UPSTREAM_FAILED),
        (HEAD + chunk(b"\0\xff\xff\xff\xff"), FaultKind.UPSTREAM_FAILED),
        (HEAD + chunk(b"\0\0\0\0\x02\xff\xff"), FaultKind.UPSTREAM_FAILED),
        (HEAD + chunk(END + END), FaultKind.UPSTREAM_FAILED),
        (HEAD.replace(b"connect+proto", b"json") + chunk(END), FaultKind.UPSTREAM_FAILED),
        (
            HEAD.replace(b"chunked\r\n", b"chunked\r\nconnect-content-encoding: br\r\n") + chunk(END),
            FaultKind.UPSTREAM_FAILED,
        ),
        (b"HTTP/1.1 503 No\r\ncontent-length: 99\r\n\r\n{", FaultKind.CAPACITY),
        (b"HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n", FaultKind.UPSTREAM_FAILED),
    ],
)
def test_an_answer_that_breaks_is_an_honest_fault(answer, kind):
    def send_and_close(connection: socket.socket) -> None:
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_RDWR)

    with RawServer(send_and_close) as server:
        _, fault = until_fault(start(server))
    assert fault.kind is kind


def test_a_reset_in_the_middle_is_truncated_and_before_any_answer_a_failure():
    def reset(connection: socket.socket, data: bytes) -> None:
        if data:
            connection.sendall(data)
            time.sleep(0.05)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()

    for data, kind in ((b"", FaultKind.UPSTREAM_FAILED), (HEAD, FaultKind.UPSTREAM_TRUNCATED)):
        with RawServer(lambda connection, data=data: reset(connection, data)) as server:
            assert until_fault(start(server))[1].kind is kind


def test_a_call_where_none_was_allowed_fails_the_turn(fake):
    fake.queue(
        [
            {"tool_call": {"index": 0, "id": "a", "name": "f"}},
            {"tool_args": {"index": 0, "fragment": "{}"}},
            {"finish": 2},
        ]
    )
    stream = upstream(fake).open(turn(tools=[F], tool_choice=NONE), "m", LEASE, NoSocket())
    events, fault = until_fault(stream)
    assert (events, fault.kind) == ([], FaultKind.UPSTREAM_FAILED)
    assert "tools" not in fake.captures()[0]["message"]


def test_an_upstream_that_is_down_is_a_fault_at_once():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(TurnFault) as caught:
        ConnectUpstream(settings(url)).open(turn(), "m", LEASE, NoSocket())
    assert caught.value.kind is FaultKind.UPSTREAM_FAILED
    assert caught.value.problem == "the upstream could not be reached"


def test_an_upstream_that_does_not_accept_is_a_timeout():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        waiting = [socket.socket() for _ in range(4)]  # fill the queue of connections that nobody accepts
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        try:
            up = ConnectUpstream(settings(f"http://127.0.0.1:{address[1]}", connect_timeout_s=0.1))
            with pytest.raises(TurnFault) as caught:
                up.open(turn(), "m", LEASE, NoSocket())
        finally:
            for each in waiting:
                each.close()
    assert caught.value.kind is FaultKind.UPSTREAM_TIMEOUT
    assert caught.value.problem == "the upstream did not accept a connection within 0.1 s"


def test_silence_before_the_first_event_ends_at_its_deadline_also_after_the_head():
    for answer in (lambda connection: None, HEAD + chunk(frame(finish=0)) + chunk(frame(usage={"fresh": 1}))):
        with RawServer(answer) as server:
            events, fault = until_fault(start(server, first_event_timeout_s=0.1))
        assert all(isinstance(event, Usage) for event in events)
        assert (fault.kind, fault.problem) == (
            FaultKind.UPSTREAM_TIMEOUT,
            "the upstream said nothing within 0.1 s",
        )


def test_silence_after_an_event_ends_at_the_idle_deadline():
    with RawServer(HEAD + chunk(frame(text="a"))) as server:
        events, fault = until_fault(start(server, idle_timeout_s=0.1))
    assert events == [TextDelta("a")]
    assert (fault.kind, fault.problem) == (FaultKind.UPSTREAM_TIMEOUT, "the upstream sent nothing for 0.1 s")


def test_a_byte_now_and_then_puts_off_the_idle_deadline_but_not_the_total_one():
    def drip(connection: socket.socket) -> None:
        connection.sendall(HEAD + chunk(frame(text="a")))
        while True:
            time.sleep(0.02)
            connection.sendall(chunk(b"\0\0\0\0\0"))

    with RawServer(drip) as server:
        events, fault = until_fault(start(server, idle_timeout_s=0.1, total_timeout_s=0.4))
    assert events == [TextDelta("a")]
    assert (fault.kind, fault.problem) == (
        FaultKind.UPSTREAM_TIMEOUT,
        "the upstream did not finish within 0.4 s",
    )


def test_deadlines_go_by_the_clock_that_was_given():
    now = [1000.0]
    with RawServer(lambda connection: None) as server:
        up = ConnectUpstream(settings(server.url, first_event_timeout_s=120), clock=lambda: now[0])
        stream = up.open(turn(), "m", LEASE, NoSocket())
        now[0] += 119
        assert stream.read(0) == []
        now[0] += 1
        with pytest.raises(TurnFault, match="said nothing within 120 s"):
            stream.read(0)
        stream.close()


def test_an_http_error_whose_body_never_ends_is_told_by_its_status():
    now = [0.0]
    with RawServer(b"HTTP/1.1 503 No\r\ncontent-length: 99\r\n\r\n{") as server:
        up = ConnectUpstream(settings(server.url), clock=lambda: now[0])
        stream = up.open(turn(), "m", LEASE, NoSocket())
        assert stream.read(0.2) == []
        now[0] = 1.9
        assert stream.read(0) == []
        now[0] = 2.1
        with pytest.raises(TurnFault) as caught:
            stream.read(0)
        stream.close()
    assert caught.value.kind is FaultKind.CAPACITY
