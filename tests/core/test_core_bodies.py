from __future__ import annotations

import gzip
import io
import resource
import tracemalloc
import zlib

import pytest
import zstandard
from gunicorn.http.errors import InvalidChunkSize, NoMoreData
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.exceptions import ClientDisconnected

from app.bodies import parse_object, read_body
from app.turn.faults import FaultKind, TurnFault

LIMIT = 1000
TEXT = b'{"model":"fake-echo","text":"' + b"abc" * 100 + b'"}'


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def zstd_streamed(data: bytes) -> bytes:
    """As a client writes it that does not know the length beforehand."""
    compressor = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return compressor.compress(data) + compressor.flush()


def read(body: bytes, encoding: str = "", limit: int = LIMIT, length: int | None = -1) -> bytes:
    """``length`` -1 announces the true one."""
    return read_body(io.BytesIO(body), len(body) if length == -1 else length, encoding, limit)


def fault_of(body: bytes, encoding: str = "", limit: int = LIMIT, length: int | None = -1) -> TurnFault:
    with pytest.raises(TurnFault) as caught:
        read(body, encoding, limit, length)
    return caught.value


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZip": gzip.compress,
    " gzip ": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "zstd": zstd,
    "ZSTD": zstd_streamed,
}


@pytest.mark.parametrize("encoding", ["", "identity", "Identity"])
def test_a_body_without_a_coding_is_taken_as_it_is(encoding: str) -> None:
    assert read(TEXT, encoding) == TEXT


@pytest.mark.parametrize("encoding", ENCODERS)
def test_a_compressed_body_is_inflated(encoding: str) -> None:
    assert read(ENCODERS[encoding](TEXT), encoding) == TEXT


@pytest.mark.parametrize("encoding", ENCODERS)
def test_a_compressed_body_without_an_announced_length_is_inflated(encoding: str) -> None:
    assert read(ENCODERS[encoding](TEXT), encoding, length=None) == TEXT


@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_zlib_of_every_level_is_told_from_raw_deflate(level: int) -> None:
    assert read(zlib.compress(TEXT, level), "deflate") == TEXT


@pytest.mark.parametrize("level", [1, 3, 19, 22])
def test_zstd_of_every_level_is_read(level: int) -> None:
    assert read(zstandard.ZstdCompressor(level=level).compress(TEXT), "zstd") == TEXT


@pytest.mark.parametrize(("encoding", "encode"), [("gzip", gzip.compress), ("zstd", zstd)])
def test_several_members_are_one_body(encoding: str, encode) -> None:
    assert read(encode(TEXT[:5]) + encode(b"") + encode(TEXT[5:]), encoding) == TEXT


@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize("garbage", [b"\0", b"garbage after the end"])
def test_bytes_behind_the_compressed_body_are_refused(encoding: str, garbage: bytes) -> None:
    fault = fault_of(ENCODERS[encoding](TEXT) + garbage, encoding)
    assert fault.kind is FaultKind.INVALID_REQUEST


@pytest.mark.parametrize("encoding", ENCODERS)
def test_a_compressed_body_that_is_cut_short_is_refused(encoding: str) -> None:
    whole = ENCODERS[encoding](TEXT)
    for end in (1, len(whole) // 2, len(whole) - 1):
        assert fault_of(whole[:end], encoding).kind is FaultKind.INVALID_REQUEST


@pytest.mark.parametrize("encoding", ENCODERS)
def test_an_empty_body_is_not_compressed_data(encoding: str) -> None:
    assert fault_of(b"", encoding).kind is FaultKind.INVALID_REQUEST


@pytest.mark.parametrize(
    ("encoding", "problem"),
    [
        ("gzip", "the request body is not valid gzip data"),
        ("deflate", "the request body is not valid deflate data"),
        ("zstd", "the request body is not valid zstd data"),
    ],
)
def test_plain_bytes_under_a_coding_are_refused_and_the_coding_named(encoding: str, problem: str) -> None:
    fault = fault_of(TEXT, encoding)
    assert (fault.kind, fault.problem) == (FaultKind.INVALID_REQUEST, problem)


def test_a_damaged_checksum_is_noticed() -> None:
    whole = bytearray(gzip.compress(TEXT))
    whole[-5] ^= 1
    assert fault_of(bytes(whole), "gzip").problem == "the request body is not valid gzip data"


@pytest.mark.parametrize(
    "encoding", ["br", "compress", "gzip, gzip", "gzip, identity", "zstd,gzip", "*", "gzip;q=1"]
)
def test_other_codings_and_lists_of_them_are_unsupported(encoding: str) -> None:
    fault = fault_of(TEXT, encoding)
    assert fault.kind is FaultKind.WRONG_ENCODING
    assert dict(fault.headers) == {"Accept-Encoding": "gzip, deflate, zstd"}


def test_an_unsupported_coding_is_told_by_name_and_only_so_much_of_it() -> None:
    assert fault_of(b"", "br").problem == (
        "the content encoding 'br' is not supported; supported are gzip, deflate and zstd"
    )
    assert "x" * 41 not in fault_of(b"", "x" * 5000).problem


@pytest.mark.parametrize("encoding", ["", *ENCODERS])
def test_a_body_of_exactly_the_limit_is_taken(encoding: str) -> None:
    body = b"a" * LIMIT
    assert read(ENCODERS[encoding](body) if encoding else body, encoding) == body


@pytest.mark.parametrize("encoding", ["", *ENCODERS])
@pytest.mark.parametrize("announced", [True, False])
def test_a_body_of_one_byte_more_is_too_large(encoding: str, announced: bool) -> None:
    body = b"a" * (LIMIT + 1)
    encoded = ENCODERS[encoding](body) if encoding else body
    fault = fault_of(encoded, encoding, length=-1 if announced else None)
    assert (fault.kind, fault.code) == (FaultKind.TOO_LARGE, "request_too_large")


def test_an_announced_length_beyond_the_limit_is_refused_before_a_byte_is_read() -> None:
    stream = io.BytesIO(b"a" * 10)
    with pytest.raises(TurnFault) as caught:
        read_body(stream, LIMIT + 1, "", LIMIT)
    assert caught.value.kind is FaultKind.TOO_LARGE
    assert stream.tell() == 0


def test_too_large_tells_the_limit_in_mib() -> None:
    assert (
        fault_of(b"", length=(32 << 20) + 1, limit=32 << 20).problem
        == "the request body is larger than 32 MiB"
    )


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_body_shorter_than_announced_is_refused(encoding: str) -> None:
    body = gzip.compress(TEXT) if encoding else TEXT
    fault = fault_of(body, encoding, length=len(body) + 1)
    assert (fault.kind, fault.problem) == (
        FaultKind.INVALID_REQUEST,
        "the request body ended before its announced length",
    )


@pytest.mark.parametrize(
    "error", [OSError("connection reset"), ClientDisconnected(), InvalidChunkSize(b"zz"), NoMoreData()]
)
def test_a_stream_that_cannot_be_read_is_a_bad_request_not_a_defect(error: Exception) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise error

    with pytest.raises(TurnFault) as caught:
        read_body(Broken(), None, "", LIMIT)
    assert caught.value.problem == "the request body could not be read to its end"


BOMB_BYTES = 100 << 20
BOMBS = {
    "gzip": lambda zeros: gzip.compress(zeros, 1),
    "deflate": lambda zeros: zlib.compress(zeros, 1),
    "zstd": lambda zeros: zstandard.ZstdCompressor(level=3).compress(zeros),
}


@pytest.mark.parametrize("encoding", BOMBS)
def test_a_bomb_is_refused_without_being_inflated(encoding: str) -> None:
    bomb = BOMBS[encoding](bytes(BOMB_BYTES))
    assert len(bomb) < 500_000
    resident_before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    try:
        fault = fault_of(bomb, encoding, limit=1 << 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert fault.kind is FaultKind.TOO_LARGE
    assert peak < 24 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident_before_kb < 48 << 10


def test_a_bomb_of_members_that_hold_nothing_is_refused_soon() -> None:
    body = gzip.compress(b"") * 200_000
    assert fault_of(body, "gzip", limit=32 << 20).problem == "the request body is not valid gzip data"


def test_a_large_body_that_hardly_compresses_is_read_in_time_in_proportion() -> None:
    body = bytes(range(256)) * 100
    noise = zlib.compress(body)  # entropy
    large = b"".join(bytes((byte + step) % 256 for byte in noise) for step in range(256)) * 20
    for encoding, encode in (("zstd", zstd), ("gzip", gzip.compress)):
        assert read(encode(large), encoding, limit=32 << 20) == large


@given(st.binary(max_size=3000), st.sampled_from(sorted(ENCODERS)), st.integers(0, 3000))
def test_whatever_is_sent_gives_the_bytes_or_a_fault(data: bytes, encoding: str, limit: int) -> None:
    encoded = ENCODERS[encoding](data)
    if max(len(data), len(encoded)) <= limit:
        assert read(encoded, encoding, limit) == data
    else:
        assert fault_of(encoded, encoding, limit).kind is FaultKind.TOO_LARGE


@given(st.binary(max_size=300), st.sampled_from(sorted(ENCODERS)))
def test_random_bytes_under_a_coding_never_cause_a_defect(data: bytes, encoding: str) -> None:
    kinds: list[FaultKind] = []
    try:
        read(data, encoding)
    except TurnFault as fault:
        kinds.append(fault.kind)
    assert kinds in ([], [FaultKind.INVALID_REQUEST], [FaultKind.TOO_LARGE])


def test_an_object_is_parsed() -> None:
    assert parse_object(b' {"a": [1, 2.5, null, true, "\xc3\xa9"]} ') == {"a": [1, 2.5, None, True, "é"]}


@pytest.mark.parametrize(
    "body", [b"", b" ", b"{", b'{"a":1}x', b'{"a":NaN}', b"{'a':1}", b'{"a":"\xff"}', b"\xef\xbb\xbf{}"]
)
def test_what_is_no_json_is_refused_with_the_place(body: bytes) -> None:
    with pytest.raises(TurnFault) as caught:
        parse_object(body)
    assert caught.value.kind is FaultKind.INVALID_REQUEST
    assert caught.value.problem.startswith("the request body is not valid JSON: ")


@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"1", b"true"])
def test_json_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(TurnFault) as caught:
        parse_object(body)
    assert caught.value.problem == "the request body must be a JSON object"


@pytest.mark.parametrize("opening", [b'{"a":', b"["])
def test_nesting_without_end_is_refused_not_a_defect(opening: bytes) -> None:
    with pytest.raises(TurnFault) as caught:
        parse_object(opening * 100_000)
    assert caught.value.kind is FaultKind.INVALID_REQUEST
