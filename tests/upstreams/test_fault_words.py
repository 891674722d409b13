"""What a broken answer of the upstream is called: kind and words, which the log and the caller get."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Callable

import pytest

from app.turn.faults import FaultKind, TurnFault
from app.upstreams.connect import ConnectUpstream
from app.upstreams.connect.envelope import MAX_PAYLOAD_BYTES, EnvelopeReader
from tests.upstreams.kit import HEAD, RawServer, chunk, frame, run, settings

TEXT = frame(text="a")


def compressed(payload: bytes) -> bytes:
    return b"\x01" + len(payload).to_bytes(4, "big") + payload


def half(connection: socket.socket) -> None:
    connection.sendall(HEAD + chunk(TEXT))
    connection.close()


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (
            HEAD + chunk(TEXT) + b"0\r\n\r\n",
            FaultKind.UPSTREAM_TRUNCATED,
            "the upstream's answer stopped before the end of its stream",
        ),
        (
            half,
            FaultKind.UPSTREAM_TRUNCATED,
            "the upstream closed the connection in the middle of its answer",
        ),
        (b"nonsense\r\n\r\n", FaultKind.UPSTREAM_FAILED, "the upstream sent something that is not HTTP/1.1"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n",
            FaultKind.UPSTREAM_FAILED,
            "the upstream answered with another content type",
        ),
        (
            HEAD.replace(b"\r\n\r\n", b"\r\nconnect-content-encoding: br\r\n\r\n"),
            FaultKind.UPSTREAM_FAILED,
            "the upstream answered in an unknown compression",
        ),
        (
            HEAD + chunk(compressed(b"not gzip")),
            FaultKind.UPSTREAM_FAILED,
            "the upstream sent a compressed envelope that is not gzip",
        ),
        (
            HEAD + chunk(compressed(gzip.compress(b"x")[:-1])),
            FaultKind.UPSTREAM_FAILED,
            "the upstream sent a compressed envelope that is not one whole gzip member",
        ),
    ],
    ids=["no end", "closed", "no HTTP", "HTML", "br", "no gzip", "half a member"],
)
def test_a_broken_answer_has_its_kind_and_words(
    answer: bytes | Callable[[socket.socket], None], kind: FaultKind, words: str
) -> None:
    with RawServer(answer) as server, pytest.raises(TurnFault) as caught:
        run(ConnectUpstream(settings(server.url)))
    assert (caught.value.kind, caught.value.problem) == (kind, words)


def test_what_inflates_to_the_longest_payload_is_taken_and_one_byte_more_is_not() -> None:
    taken, refused = EnvelopeReader(), EnvelopeReader()
    assert taken.feed(compressed(gzip.compress(b"\0" * MAX_PAYLOAD_BYTES))) == [b"\0" * MAX_PAYLOAD_BYTES]
    assert taken.fault is None
    assert refused.feed(compressed(gzip.compress(b"\0" * (MAX_PAYLOAD_BYTES + 1)))) == []
    assert refused.fault is not None
    assert refused.fault.problem == "the upstream sent an envelope that inflates to more than 16777216 bytes"
