"""Each step, as its client sees it."""

import gzip
import time

import pytest
import requests

from app.upstreams.connect import wire_pb2
from fake_upstream import scenarios as s

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ntransfer-encoding: chunked\r\n\r\n"
END_CHUNK = b"7\r\n\x02\x00\x00\x00\x02{}\r\n"
LAST_CHUNK = b"0\r\n\r\n"
ABC_CHUNK = b"a\r\n\x00\x00\x00\x00\x05\x1a\x03abc\r\n"


def read_until(sock, ending, seconds=5.0):
    data = b""
    deadline = time.monotonic() + seconds
    while not data.endswith(ending) and time.monotonic() < deadline:
        piece = sock.recv(65536)
        if not piece:
            break
        data += piece
    return data


def test_text_is_one_frame_in_one_chunk_and_the_end_is_appended(fake, client):
    fake.queue([s.text("abc")])
    with client.raw() as sock:
        assert read_until(sock, LAST_CHUNK) == HEAD + ABC_CHUNK + END_CHUNK + LAST_CHUNK


def test_reasoning_usage_quota_credit_and_finish(fake, client):
    fake.queue([
        s.reasoning("hm"),
        s.usage(fresh=10, completion=3, cache_read=2, cache_write=1),
        s.quota(250),
        s.credit_cost(0.5),
        s.finish(2),
    ])  # fmt: skip
    reply = client.send()
    assert [str(message).split() for message in reply.messages] == [
        ["reasoning:", '"hm"'],
        ["usage", "{", "fresh:", "10", "completion:", "3", "cache_write:", "1", "cache_read:", "2", "}"],
        ["quota_basis_points:", "250"],
        ["credit_cost:", "0.5"],
        ["finish:", "2"],
    ]
    assert reply.end == {}


def test_zeros_of_explicit_presence_are_on_the_wire(fake, client):
    fake.queue([s.quota(0), s.credit_cost(0), s.finish(0), s.usage()])
    quota, cost, finish, usage = client.send().messages
    assert quota.HasField("quota_basis_points")
    assert cost.HasField("credit_cost")
    assert finish.HasField("finish")
    assert usage.HasField("usage")


def test_an_empty_text_is_an_empty_frame(fake, client):
    fake.queue([s.text("")])
    assert client.send().frames == [(0, b""), (2, b"{}")]


def calls(reply):
    return [
        (call.id, call.name, call.arguments_json) for message in reply.messages for call in message.tool_calls
    ]


def test_a_fragment_carries_the_id_only_when_the_call_changes(fake, client):
    fake.queue([
        s.tool_call(0, "call_a", "f"),
        s.tool_args(0, '{"x":'),
        s.tool_args(0, "1}"),
        s.tool_call(1, "call_b", "g"),
        s.tool_args(1, "{"),
        s.tool_args(0, " "),
        s.tool_args(1, "}"),
    ])  # fmt: skip
    assert calls(client.send()) == [
        ("call_a", "f", ""),
        ("", "", '{"x":'),
        ("", "", "1}"),
        ("call_b", "g", ""),
        ("", "", "{"),
        ("call_a", "", " "),
        ("call_b", "", "}"),
    ]


def test_odd_fragments_can_be_had(fake, client):
    fake.queue([
        s.tool_args(5, "{}"),
        s.tool_call(0, name="f"),
        s.tool_call(1, id="call_b"),
        s.tool_args(1, "{", id="call_c", name="h"),
        s.tool_args(1, invalid_json="{x"),
    ])  # fmt: skip
    reply = client.send()
    assert calls(reply) == [
        ("", "", "{}"),
        ("", "f", ""),
        ("call_b", "", ""),
        ("call_c", "h", "{"),
        ("", "", ""),
    ]
    assert reply.messages[-1].tool_calls[0].invalid_json == "{x"


def test_a_raw_frame_holds_several_fragments(fake, client):
    message = wire_pb2.GetChatMessageResponse(text="t", tool_calls=[{"id": "a", "name": "f"}, {"id": "b"}])
    fake.queue([s.raw_frame(message)])
    reply = client.send()
    assert reply.messages == [message]
    assert reply.end == {}
    assert fake.captures()[0]["outcome"] == "completed"


def test_sleep_delays_what_follows(fake, client):
    fake.queue([s.text("abc"), s.sleep(80), s.text("abc")])
    with client.raw() as sock:
        assert read_until(sock, ABC_CHUNK) == HEAD + ABC_CHUNK
        started = time.monotonic()
        assert read_until(sock, LAST_CHUNK) == ABC_CHUNK + END_CHUNK + LAST_CHUNK
        assert 0.05 < time.monotonic() - started < 1


def test_a_leading_sleep_holds_the_headers_back(fake, client):
    fake.queue([s.sleep(100), s.text("abc")])
    with client.raw() as sock:
        sock.settimeout(0.03)
        with pytest.raises(TimeoutError):
            sock.recv(1)
        sock.settimeout(5)
        assert read_until(sock, LAST_CHUNK).startswith(HEAD + ABC_CHUNK)


def test_an_empty_scenario_is_just_the_end(fake, client):
    fake.queue([])
    with client.raw() as sock:
        assert read_until(sock, LAST_CHUNK) == HEAD + END_CHUNK + LAST_CHUNK


def test_the_body_can_stay_open_after_the_end(fake, client):
    fake.queue([s.end(), s.sleep(60)])
    with client.raw() as sock:
        assert read_until(sock, END_CHUNK) == HEAD + END_CHUNK
        started = time.monotonic()
        assert read_until(sock, LAST_CHUNK) == LAST_CHUNK
        assert time.monotonic() - started > 0.03
    assert fake.captures()[0]["outcome"] == "completed"


def test_error_ends_the_stream_with_retry_info_and_metadata(fake, client):
    fake.queue([s.text("a"), s.error("unavailable", "busy", retry_after_s=30)])
    reply = client.send()
    assert reply.text == "a"
    assert reply.end == {
        "error": {
            "code": "unavailable",
            "message": "busy",
            "details": [
                {"type": "google.rpc.RetryInfo", "value": "CgIIHg", "debug": {"retryDelay": "30s"}},
            ],
        },
        "metadata": {"retry-after": ["30"]},
    }
    assert fake.captures()[0]["outcome"] == "failed"


def test_error_without_more_and_with_details(fake, client):
    fake.queue([s.error("internal")])
    fake.queue([s.error("resource_exhausted", "m", 0.5, details=[{"type": "x.Quota"}])])
    assert client.send().end == {"error": {"code": "internal"}}
    end = client.send().end
    assert end["error"]["details"][0] == {"type": "x.Quota"}
    assert end["error"]["details"][1]["debug"] == {"retryDelay": "0.5s"}
    assert end["metadata"] == {"retry-after": ["0.5"]}


def test_http_error_is_a_whole_response(fake, client):
    fake.queue([s.http_error(429, "resource_exhausted", "slow down", {"Retry-After": "30"})])
    response = client.post(client.envelope(client.request().SerializeToString()))
    assert response.status_code == 429
    assert response.json() == {"code": "resource_exhausted", "message": "slow down"}
    assert response.headers["retry-after"] == "30"
    assert response.headers["content-type"] == "application/json"
    assert fake.captures()[0]["outcome"] == "failed"
    assert client.send().text == "hello"  # the connection still serves


def test_http_error_headers_win_over_the_usual_ones(fake, client):
    fake.queue([s.http_error(502, "unavailable", headers={"Content-Type": "text/html"})])
    response = client.post(client.envelope(client.request().SerializeToString()))
    assert response.headers["content-type"] == "text/html"
    assert response.json() == {"code": "unavailable"}


def test_cut_closes_in_the_middle_of_the_body(fake, client):
    fake.queue([s.text("abc"), s.cut()])
    with client.raw() as sock:
        assert read_until(sock, b"never") == HEAD + ABC_CHUNK
    assert fake.captures()[0]["outcome"] == "failed"


def test_cut_breaks_a_real_client(fake, client):
    fake.queue([s.text("abc"), s.cut()])
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        client.send()


def test_a_clean_cut_ends_the_http_body_without_the_end_of_the_stream(fake, client):
    fake.queue([s.text("abc"), s.cut_clean()])
    reply = client.send()
    assert reply.text == "abc"
    assert reply.end is None
    assert fake.captures()[0]["outcome"] == "failed"
    assert client.send().end == {}


def test_raw_bytes_pass_as_they_are_and_garbage_is_a_failure(fake, client):
    fake.queue([{"raw_hex": "00ffffffff 01"}])
    assert client.send().response.content == b"\x00\xff\xff\xff\xff\x01\x02\x00\x00\x00\x02{}"
    assert fake.captures()[0]["outcome"] == "failed"


def test_a_raw_end_of_stream_is_not_followed_by_another(fake, client):
    fake.queue([s.text("a"), s.raw(b"\x02\x00\x00\x00\x03{ }")])
    reply = client.send()
    assert reply.frames == [(0, b"\x1a\x01a"), (2, b"{ }")]
    assert fake.captures()[0]["outcome"] == "completed"


def test_a_gzip_bomb_is_easily_said(fake, client):
    bomb = gzip.compress(bytes(32 * 1024 * 1024))
    fake.queue([s.gzip_frames(), s.raw(client.envelope(bomb, 1))])
    (flags, data), end = client.send().frames
    assert (flags, data) == (1, bomb)
    assert len(data) < 64 * 1024
    assert end[0] == 3


def test_dribble_cuts_the_body_into_chunks_of_n_bytes(fake, client):
    fake.queue([s.text("abc"), s.dribble(3), s.text("abc"), s.cut_clean()])
    with client.raw() as sock:
        chunks = b"3\r\n\x00\x00\x00\r\n3\r\n\x00\x05\x1a\r\n3\r\n\x03ab\r\n1\r\nc\r\n"
        assert read_until(sock, LAST_CHUNK) == HEAD + ABC_CHUNK + chunks + LAST_CHUNK


def test_one_byte_at_a_time_arrives_whole(fake, client):
    fake.queue([s.dribble(1), s.text("abc"), s.finish(2)])
    reply = client.send()
    assert reply.text == "abc"
    assert reply.messages[-1].finish == 2
    assert reply.end == {}


def test_one_packet_holds_everything_for_one_write_headers_included(fake, client):
    fake.queue([s.one_packet(), s.text("abc"), s.sleep(60), s.text("abc")])
    with client.raw() as sock:
        started = time.monotonic()
        assert sock.recv(65536) == HEAD + ABC_CHUNK + ABC_CHUNK + END_CHUNK + LAST_CHUNK
        assert time.monotonic() - started > 0.04


def test_one_packet_in_the_middle_leaves_what_was_before(fake, client):
    fake.queue([s.text("abc"), s.one_packet(), s.sleep(40), s.text("abc"), s.sleep(40), s.cut()])
    with client.raw() as sock:
        assert sock.recv(65536) == HEAD + ABC_CHUNK
        assert sock.recv(65536) == ABC_CHUNK
        assert sock.recv(65536) == b""


def test_gzip_frames_from_here_on_and_the_header_that_says_so(fake, client):
    fake.queue(
        [s.text("a"), s.gzip_frames(), s.text("b"), s.gzip_frames(False), s.text("c"), s.gzip_frames()]
    )
    reply = client.send()
    assert [flags for flags, _ in reply.frames] == [0, 1, 0, 3]
    assert reply.text == "abc"
    assert reply.end == {}
    assert reply.response.headers["connect-content-encoding"] == "gzip"


def test_without_gzip_there_is_no_such_header(fake, client):
    fake.queue([s.text("a")])
    assert "connect-content-encoding" not in client.send().response.headers


def test_a_long_text_step_stays_one_frame(fake, client):
    fake.queue([s.text("x" * 100_000)])
    assert len(client.send().frames[0][1]) == 100_004
