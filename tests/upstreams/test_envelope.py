"""Envelopes: framing on the way out, reading on the way in, however the bytes are split."""

from __future__ import annotations

import gzip
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.turn.faults import FaultKind
from app.upstreams.connect.envelope import MAX_PAYLOAD_BYTES, EnvelopeReader, encode_envelope

END = b"\x02\x00\x00\x00\x02{}"


def prefix(flags: int, length: int) -> bytes:
    return bytes([flags]) + length.to_bytes(4, "big")


def read(*pieces: bytes) -> tuple[list[bytes], bytes | None, str | None]:
    """All messages, the end and the text of the fault that these pieces make."""
    reader = EnvelopeReader()
    messages = [message for piece in pieces for message in reader.feed(piece)]
    return messages, reader.end, reader.fault and reader.fault.problem


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:stop] for start, stop in pairwise(places)]


def test_a_request_envelope_has_flag_0_and_a_big_endian_length():
    assert encode_envelope(b"abc", compress=False) == b"\x00\x00\x00\x00\x03abc"


def test_a_compressed_request_envelope_has_flag_1_and_is_gzip_as_a_whole():
    envelope = encode_envelope(b"abc" * 100, compress=True)
    assert envelope[0] == 1
    assert int.from_bytes(envelope[1:5], "big") == len(envelope) - 5
    assert gzip.decompress(envelope[5:]) == b"abc" * 100


def test_several_frames_and_the_end_in_one_read_come_out_in_order():
    data = prefix(0, 1) + b"a" + prefix(0, 0) + prefix(0, 2) + b"bc" + END
    assert read(data) == ([b"a", b"", b"bc"], b"{}", None)


def test_gzip_frames_are_inflated_the_end_among_them():
    squeezed, end = gzip.compress(b"hello"), gzip.compress(b'{"x":1}')
    data = prefix(1, len(squeezed)) + squeezed + prefix(3, len(end)) + end
    assert read(data) == ([b"hello"], b'{"x":1}', None)


def test_an_empty_compressed_frame_is_an_empty_message():
    assert read(prefix(1, 0) + END) == ([b""], b"{}", None)


messages_strategy = st.lists(st.tuples(st.binary(max_size=40), st.booleans()), max_size=8)
tails = st.sampled_from(
    [b"", END, END + b"x", b"\x00\x00\x00\x00\x09ab", b"\x04\x00\x00\x00\x00zz", b"\x00\x00"]
)


@given(messages_strategy, tails, st.lists(st.integers(min_value=0), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_result(messages, tail, cuts):
    data = b"".join(encode_envelope(payload, compress=squeeze) for payload, squeeze in messages) + tail
    whole = read(data)
    assert read(*split(data, cuts)) == whole
    assert read(*(data[at : at + 1] for at in range(len(data)))) == whole
    assert whole[0] == [payload for payload, _ in messages]


@pytest.mark.parametrize("flags", [4, 8, 0x3C, 0x80, 0xFF])
def test_unknown_flags_are_a_fault_after_the_sound_frames(flags):
    messages, end, problem = read(prefix(0, 1) + b"a" + prefix(flags, 0))
    assert (messages, end) == ([b"a"], None)
    assert problem == f"the upstream sent an envelope with unknown flags 0x{flags:02x}"


@pytest.mark.parametrize("more", [b"\x00", prefix(0, 0), END])
def test_data_after_the_end_is_a_fault(more):
    for pieces in ([END + more], [END, more]):
        assert read(*pieces) == ([], b"{}", "the upstream sent data after the end of its stream")


def test_a_frame_of_16_mib_is_taken_and_one_byte_more_is_a_fault_by_its_prefix_alone():
    payload = b"x" * MAX_PAYLOAD_BYTES
    assert read(prefix(0, MAX_PAYLOAD_BYTES), payload)[0] == [payload]
    reader = EnvelopeReader()
    assert reader.feed(prefix(0, MAX_PAYLOAD_BYTES + 1)) == []
    assert reader.fault is not None
    assert reader.fault.kind is FaultKind.UPSTREAM_FAILED
    assert (
        reader.fault.problem == "the upstream sent an envelope of 16777217 bytes; at most 16777216 are taken"
    )


def test_a_gzip_bomb_is_a_fault_and_is_never_inflated_whole():
    bomb = gzip.compress(bytes(200 * 1024 * 1024), compresslevel=1)
    tracemalloc.start()
    try:
        _, _, problem = read(prefix(1, len(bomb)) + bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert problem == "the upstream sent an envelope that inflates to more than 16777216 bytes"
    assert peak < 64 * 1024 * 1024


@pytest.mark.parametrize(
    "payload",
    [b"not gzip", gzip.compress(b"abc")[:-3], gzip.compress(b"abc") + b"x", gzip.compress(b"a") * 2],
    ids=["garbage", "cut short", "trailing bytes", "two members"],
)
def test_what_is_not_one_whole_gzip_member_is_a_fault(payload):
    reader = EnvelopeReader()
    assert reader.feed(prefix(1, len(payload)) + payload) == []
    assert reader.fault is not None
    assert reader.fault.kind is FaultKind.UPSTREAM_FAILED


def test_nothing_is_taken_after_a_fault():
    reader = EnvelopeReader()
    reader.feed(prefix(9, 0))
    assert reader.feed(prefix(0, 1) + b"a") == []


def test_a_big_frame_fed_byte_by_byte_costs_linear_time():
    reader = EnvelopeReader()
    size = 1_000_000
    reader.feed(prefix(0, size))
    # A copy of the buffer for each byte would take minutes, which the time limit of a test would not allow.
    for _ in range(size - 1):
        reader.feed(b"x")
    assert reader.feed(b"x") == [b"x" * size]


def test_only_a_stream_with_its_end_and_without_a_fault_is_clean():
    for data, clean in ((b"", False), (END, True), (END + b"x", False), (prefix(0, 5) + b"ab", False)):
        reader = EnvelopeReader()
        reader.feed(data)
        assert reader.clean is clean
