"""Response heads and the framing of bodies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.upstreams.connect.http1 import MAX_HEAD_BYTES, ResponseReader
from tests.upstreams.test_envelope import split

OK = b"HTTP/1.1 200 OK\r\n"


def read(*pieces: bytes) -> tuple[ResponseReader, bytes]:
    reader = ResponseReader()
    return reader, b"".join([reader.feed(piece) for piece in pieces])


def test_head_and_chunked_body_in_one_read():
    reader, body = read(OK + b"X-A: 1\r\nx-a:  2 \r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
    assert (reader.status, body) == (200, b"ab")
    assert reader.headers == {"x-a": "1, 2", "transfer-encoding": "Chunked"}
    assert reader.complete
    assert reader.reusable


WHOLES = {
    "chunked": OK + b"transfer-encoding: chunked\r\n\r\n1;x\r\na\r\n2\r\nbc\r\n0\r\nt: 1\r\n\r\n",
    "content-length": OK + b"content-length: 3\r\n\r\nabc",
    "interim": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n"
    + OK
    + b"content-length: 3\r\n\r\nabc",
}


@given(st.sampled_from(sorted(WHOLES)), st.lists(st.integers(min_value=0), max_size=10))
def test_any_split_of_the_bytes_gives_the_same_response(name, cuts):
    data = WHOLES[name]
    for pieces in (split(data, cuts), [data[at : at + 1] for at in range(len(data))]):
        reader, body = read(*pieces)
        assert (reader.status, body, reader.complete, reader.reusable) == (200, b"abc", True, True)


def test_a_body_without_length_ends_with_the_connection_and_only_then():
    reader, body = read(OK + b"\r\nab", b"c")
    assert (body, reader.complete) == (b"abc", False)
    reader.end()
    assert reader.complete
    assert not reader.reusable


@pytest.mark.parametrize(
    "head", [b"transfer-encoding: chunked\r\n\r\n2\r\na", b"content-length: 2\r\n\r\na", b"x: y\r\n"]
)
def test_a_connection_that_closes_early_does_not_complete_the_body(head):
    reader, _ = read(OK + head)
    reader.end()
    assert not reader.complete


@pytest.mark.parametrize(
    "head",
    [
        OK + b"connection: close\r\ncontent-length: 1\r\n\r\na",
        b"HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na",
        OK + b"content-length: 1\r\n\r\nab",
        OK + b"content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nx",
    ],
)
def test_a_connection_that_is_not_clean_or_to_be_closed_is_not_reusable(head):
    reader, body = read(head)
    assert (body, reader.complete, reader.reusable) == (b"a", True, False)


@pytest.mark.parametrize("head", [b"HTTP/1.1 204 No\r\n\r\n", b"HTTP/1.1 304 \r\ncontent-length: 9\r\n\r\n"])
def test_statuses_without_a_body_are_complete_at_once(head):
    assert read(head)[0].reusable


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"SSH-2.0-x\r\n\r\n", "the upstream sent something that is not HTTP/1.1"),
        (b"HTTP/2 200\r\n\r\n", "the upstream sent something that is not HTTP/1.1"),
        (b"HTTP/1.1 101 Switch\r\n\r\n", "the upstream sent an upgrade that was not asked for"),
        (OK + b"no colon\r\n\r\n", "the upstream sent a malformed header line"),
        (OK + b"a: 1\r\n folded\r\n\r\n", "the upstream sent a malformed header line"),
        (OK + b"transfer-encoding: gzip, chunked\r\n\r\n", "the upstream sent an unknown transfer coding"),
        (OK + b"content-length: 3, 4\r\n\r\n", "the upstream sent a malformed content-length"),
        (OK + b"content-length: -1\r\n\r\n", "the upstream sent a malformed content-length"),
        (b"x" * (MAX_HEAD_BYTES + 1), "the upstream sent more header bytes than are taken"),
    ],
)
def test_what_is_not_a_sound_head_is_a_fault(data, problem):
    reader, body = read(data)
    assert body == b""
    assert reader.fault is not None
    assert reader.fault.problem == problem
    assert not reader.reusable
