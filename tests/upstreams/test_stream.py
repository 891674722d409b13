"""A turn on a real socket: what arrives, and when."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from app.turn.events import Finished, TextDelta, ToolCallArguments, ToolCallStarted, Usage
from app.turn.tool_choice import REQUIRED
from app.turn.turn import TextPart, Tool
from tests.upstreams.kit import (
    END,
    HEAD,
    LEASE,
    SAID,
    WHOLE,
    NoSocket,
    RawServer,
    chunk,
    frame,
    read_all,
    run,
    start,
    turn,
    until_fault,
    upstream,
)

F = Tool("f", "", '{"type":"object","properties":{}}')


def pieces_of(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_head_frames_and_end_come_out_the_same_however_they_are_split(size):
    def dribble(connection: socket.socket) -> None:
        for piece in pieces_of(WHOLE, size):
            connection.sendall(piece)

    with RawServer(dribble) as server:
        assert run(upstream(server)) == SAID


def test_head_and_three_frames_in_one_packet_are_out_at_once_though_silence_follows():
    with RawServer(HEAD + chunk(frame(text="a")) + chunk(frame(text="b") + frame(text="c"))) as server:
        stream = start(server)
        began = time.monotonic()
        assert stream.read(2) == [TextDelta("a"), TextDelta("b"), TextDelta("c")]
        assert time.monotonic() - began < 1
        stream.close()


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ncontent-length: 25\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\nconnection: close\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ],
    ids=["content-length", "close", "HTTP/1.0", "interim"],
)
def test_bodies_that_are_not_chunked_are_read_as_they_arrive(head):
    body = frame(text="a") + frame(text="b", finish=2) + END
    with RawServer(lambda connection: (connection.sendall(head + body), connection.close())[0]) as server:
        assert run(upstream(server)) == SAID


def test_a_wait_that_passes_in_silence_is_an_empty_batch_also_before_the_head():
    with RawServer(lambda connection: None) as server:
        stream = start(server)
        began = time.monotonic()
        assert stream.read(0.05) == []
        assert 0.04 < time.monotonic() - began < 1
        assert stream.read(0) == []
        stream.close()


def test_frames_that_say_nothing_do_not_end_the_wait():
    silent = HEAD + chunk(frame(finish=0)) + chunk(b"\0\0\0\0\0")

    def answer(connection: socket.socket) -> None:
        connection.sendall(silent)
        time.sleep(0.1)
        connection.sendall(chunk(frame(text="a")))

    with RawServer(answer) as server:
        stream = start(server)
        assert stream.read(5) == [TextDelta("a")]
        stream.close()


def test_interleaved_calls_over_the_wire(fake):
    fake.queue(
        [
            {"tool_call": {"index": 0, "id": "a", "name": "f"}},
            {"tool_call": {"index": 1, "id": "b", "name": "g"}},
            {"tool_args": {"index": 0, "fragment": '{"x":'}},
            {"tool_args": {"index": 1, "fragment": '{"y":'}},
            {"tool_args": {"index": 0, "fragment": '"1"}'}},
            {"tool_args": {"index": 1, "fragment": '"2"}'}},
            {"usage": {"fresh": 20, "completion": 7, "cache_read": 80}},
            {"finish": 2},
        ]
    )
    assert run(upstream(fake)) == [
        ToolCallStarted(0, "a", "f"),
        ToolCallStarted(1, "b", "g"),
        ToolCallArguments(0, '{"x":'),
        ToolCallArguments(1, '{"y":'),
        ToolCallArguments(0, '"1"}'),
        ToolCallArguments(1, '"2"}'),
        Usage(20, 7, 80),
        Finished("tool_calls"),
    ]


@pytest.mark.parametrize("manner", [{"dribble_bytes": 1}, {"one_packet": True}, {"frame": {"gzip": True}}])
def test_every_manner_of_sending_gives_the_same_events(fake, manner):
    fake.queue(
        [manner, {"text": "one "}, {"text": "two"}, {"usage": {"fresh": 1, "completion": 2}}, {"finish": 2}]
    )
    assert run(upstream(fake)) == [TextDelta("one "), TextDelta("two"), Usage(1, 2), Finished("stop")]


def test_the_request_is_what_a_server_of_the_protocol_accepts(fake):
    for gzip in (False, True):
        up = upstream(fake, connect_gzip=gzip)
        assert run(up, turn(TextPart("hello"), tools=[]))[0] == TextDelta("hello")
        capture = fake.captures()[-1]
        assert capture["outcome"] == "completed"
        assert capture["envelope"]["flags"] == int(gzip)
        assert capture["token"] == "dev-token"
        assert capture["unknown_fields"] == []
        assert capture["headers"]["authorization"] == "Bearer dev-token"
        assert capture["headers"]["user-agent"] == "candor/1.0.0"


def test_a_second_turn_carries_the_same_choice_after_the_first_failed(fake):
    fake.queue([{"error": {"code": "unavailable", "message": "busy"}}])
    up = upstream(fake, connect_tool_choice=True)
    asked = turn(model="fake-tools", tools=[F], tool_choice=REQUIRED, parallel_tool_calls=False, system="S")
    until_fault(up.open(asked, "fake-tools", LEASE, NoSocket()))
    run(up, asked)
    first, second = fake.captures()
    assert first["message"]["tool_choice"] == {"option_name": "required"}
    assert first["message"]["disable_parallel_tool_calls"] is True
    assert first["raw_hex"] == second["raw_hex"]


def test_quota_and_cost_stay_on_the_stream(fake):
    steps = [{"text": "a"}, {"quota_basis_points": 250}, {"credit_cost": 0.5}, {"finish": 2}]
    for on, quota, cost in ((True, 250, 0.5), (False, None, None)):
        fake.queue(steps)
        stream = start(fake, connect_quota=on, connect_credit_cost=on)
        read_all(stream)
        assert (stream.quota_basis_points, stream.credit_cost) == (quota, cost)
