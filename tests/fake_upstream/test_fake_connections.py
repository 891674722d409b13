"""Sockets: keep-alive, clients that leave, large and chunked bodies, stopping."""

import contextlib
import socket
import threading
import time

import pytest
import requests

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s

MIB = 1024 * 1024


def test_a_client_that_leaves_in_a_silent_gap_is_noticed_within_100_ms(fake, client):
    fake.queue([s.text("a"), s.sleep(30_000), s.text("b")])
    with client.raw() as sock:
        sock.recv(1)
        assert fake.captures()[0]["outcome"] == "running"
    left = time.monotonic()
    fake.wait_outcome("client_closed")
    assert time.monotonic() - left < 0.1


def test_a_client_that_leaves_before_the_headers_is_noticed(fake, client):
    fake.queue([s.sleep(30_000)])
    with client.raw():
        fake.wait_captures(1)
    left = time.monotonic()
    fake.wait_outcome("client_closed")
    assert time.monotonic() - left < 0.1


def test_a_client_that_leaves_while_frames_flow_is_noticed(fake, client):
    fake.queue([step for _ in range(2000) for step in (s.text("abc"), s.sleep(1))])
    with client.raw() as sock:
        sock.recv(1)
    fake.wait_outcome("client_closed", timeout=1)


def test_a_client_that_reads_nothing_and_leaves_is_noticed(fake, client):
    fake.queue([s.text("x" * MIB)] * 32)
    with client.raw() as sock:
        sock.recv(1)
        time.sleep(0.05)
        assert fake.captures()[0]["outcome"] == "running"
    fake.wait_outcome("client_closed", timeout=1)


def test_one_connection_serves_many_requests(fake, client):
    fake.queue([s.error("internal")])
    fake.queue([s.http_error(503, "unavailable")])
    fake.queue([s.cut_clean()])
    request = client.request_bytes()
    answers = b""
    with client.raw(request * 4) as sock:  # pipelined, too
        while b"hello" not in answers or not answers.endswith(b"0\r\n\r\n"):
            piece = sock.recv(65536)
            assert piece
            answers += piece
    assert answers.count(b"HTTP/1.1 200 OK") == 3
    assert answers.count(b"HTTP/1.1 503 Service Unavailable") == 1


def test_a_pooled_client_keeps_its_connection(fake, client):
    client.send()
    for _ in range(3):
        client.send()
    pools = client.session.get_adapter(fake.url).poolmanager.pools
    [pool] = [pools[key] for key in pools.keys()]  # noqa: SIM118
    assert (pool.num_connections, pool.num_requests) == (1, 4)


def test_a_chunked_request_body_is_accepted(fake, client):
    body = client.envelope(client.request().SerializeToString())
    response = client.post(iter([body[:1], body[1:7], body[7:]]))
    assert response.status_code == 200
    assert b"hello" in response.content
    assert fake.captures()[0]["headers"]["transfer-encoding"] == "chunked"


def test_expect_100_continue_is_answered(client):
    head, _, body = client.request_bytes().partition(b"\r\n\r\n")
    with client.raw(head + b"\r\nexpect: 100-continue\r\n\r\n") as sock:
        assert sock.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(body)
        assert sock.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_sixteen_mebibytes_come_and_go(fake, client):
    text = "x" * (16 * MIB)
    reply = client.send(client.request("fake-echo", text))
    assert reply.text == text
    assert max(len(data) for _, data in reply.frames) <= 8192 + 4
    assert fake.captures()[0]["envelope"]["length"] > 16 * MIB


def test_requests_run_side_by_side(fake, client):
    fake.queue([s.sleep(150), s.text("a")], times=8)
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(client.raw()) for _ in range(8)]
        assert [sock.recv(8) for sock in sockets] == [b"HTTP/1.1"] * 8
    assert 0.1 < time.monotonic() - started < 0.8
    assert len(fake.captures()) == 8


def test_stop_is_at_once_and_closes_everything(client_of):
    fake = FakeUpstream()
    client = client_of(fake)
    fake.queue([s.sleep(30_000)], times=2)
    threads_before = threading.active_count()
    health = b"GET /_fake/health HTTP/1.1\r\nhost: x\r\n\r\n"
    with client.raw() as busy, client.raw(health) as idle:
        fake.wait_captures(1)
        assert idle.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        started = time.monotonic()
        fake.stop()
        fake.stop()
        assert busy.recv(1) == b""
        assert idle.recv(1) == b""
        assert time.monotonic() - started < 0.5
    with pytest.raises(requests.ConnectionError):
        client.control("GET", "/_fake/health")
    deadline = time.monotonic() + 1
    while threading.active_count() >= threads_before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() < threads_before


def test_the_port_is_free_again_after_stop():
    with FakeUpstream() as first:
        port = first.port
    with FakeUpstream(port=port) as second:
        assert second.url == f"http://127.0.0.1:{port}"


def test_an_occupied_port_is_an_error():
    with FakeUpstream() as first, pytest.raises(OSError, match="in use"):
        FakeUpstream(port=first.port)


def test_a_port_scan_does_no_harm(fake, client):
    for data in (b"", b"\r\n", b"garbage\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01" + bytes(100)):
        with client.raw(data) as sock:
            sock.shutdown(socket.SHUT_WR)
            sock.makefile("rb").read()
    assert client.send().text == "hello"


def test_waiting_for_what_does_not_come_is_a_timeout(fake):
    with pytest.raises(TimeoutError, match="0 captures after"):
        fake.wait_captures(1, timeout=0.01)
    with pytest.raises(TimeoutError, match="not completed"):
        fake.wait_outcome("completed", timeout=0.01)
