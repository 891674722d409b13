"""The chunked transfer coding: sizes, extensions, trailers, and what is malformed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.turn.faults import FaultKind
from app.upstreams.connect.chunked import MAX_LINE_BYTES, ChunkedReader
from tests.upstreams.test_envelope import split


def read(*pieces: bytes) -> tuple[bytes, bool, bool, bool]:
    """Body, complete, excess, and whether there is a fault."""
    reader = ChunkedReader()
    body = b"".join(reader.feed(piece) for piece in pieces)
    return body, reader.complete, reader.excess, reader.fault is not None


def test_chunks_in_one_read_come_out_joined():
    assert read(b"3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n") == (b"abc0123456789", True, False, False)


def test_extensions_and_trailers_are_skipped():
    data = b'3;a=1;b="x"\r\nabc\r\n2 \r\nde\r\n000;z\r\nx-a: 1\r\nx-b: 2\r\n\r\n'
    assert read(data) == (b"abcde", True, False, False)


def test_a_body_is_not_complete_before_the_blank_line_after_the_trailers():
    for data in (b"", b"3\r\nab", b"3\r\nabc\r\n", b"3\r\nabc\r\n0\r\n", b"3\r\nabc\r\n0\r\nx: y\r\n"):
        assert not read(data)[1]


def test_bytes_after_the_body_are_told():
    assert read(b"1\r\na\r\n0\r\n\r\nHTTP") == (b"a", True, True, False)


pieces_strategy = st.lists(
    st.tuples(st.binary(min_size=1, max_size=20), st.sampled_from([b"", b";x", b' ; y="1"'])), max_size=6
)
endings = st.sampled_from(
    [
        b"",
        b"0\r\n\r\n",
        b"0\r\nt: 1\r\n\r\n",
        b"0\r\n\r\nmore",
        b"g\r\n",
        b"1\r\nab\r\n",
        b"1\r\nabc\r\n",
        b"5\n",
    ]
)


@given(pieces_strategy, endings, st.lists(st.integers(min_value=0), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_body(chunks, ending, cuts):
    data = b"".join(b"%x%s\r\n%s\r\n" % (len(body), more, body) for body, more in chunks) + ending
    whole = read(data)
    assert read(*split(data, cuts)) == whole
    assert read(*(data[at : at + 1] for at in range(len(data)))) == whole
    assert whole[0].startswith(b"".join(body for body, _ in chunks))


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n",
        b"x\r\n",
        b"-1\r\n",
        b"+1\r\n",
        b"0x1\r\n",
        b"1_0\r\n",
        b"1 1\r\n",
        b"1\na\r\n",
        b"1000000000000000\r\n",
        b"1\r\nab\r\n",
        b"1\r\na\n",
        b"1" * (MAX_LINE_BYTES + 1),
        b"0\r\n" + b"x: " + b"y" * MAX_LINE_BYTES,
        b"0\r\n" + b"x: y\r\n" * 20_000,
    ],
    ids=lambda data: repr(data[:24]),
)
def test_a_malformed_chunk_is_a_fault(data):
    reader = ChunkedReader()
    reader.feed(b"3\r\nabc\r\n")
    reader.feed(data)
    assert reader.fault is not None
    assert reader.fault.kind is FaultKind.UPSTREAM_FAILED
    assert reader.fault.problem == "the upstream sent a malformed chunk"


def test_the_body_before_a_malformed_chunk_is_kept():
    assert read(b"3\r\nabc\r\nzzz\r\n") == (b"abc", False, False, True)
