"""L, bytes, encodings, sizes: C80."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable

import pytest
import zstandard
from flask import Flask

from fake_upstream import FakeUpstream
from tests.matrix import asking
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES
from tests.matrix.test_matrix_malformed import ROUTES, assert_told

NUMBERS = ("C80",)
BOMB = 40 << 20
SMALL = {"CANDOR_MAX_BODY_MB": "1"}
COUNTED = {ROUTES[name][1] for name in ("input_tokens", "count_tokens", "countTokens")}
"""What only counts tokens asks no upstream."""


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def in_frames(data: bytes) -> bytes:
    return b"".join(zstandard.compress(data[at : at + 20]) for at in range(0, len(data), 20))


PACK: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "GZIP in capitals": ("GZip", gzip.compress),
    "zstd": ("zstd", zstandard.compress),
    "zstd in frames": ("zstd", in_frames),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "identity": ("identity", bytes),
}
each_route = pytest.mark.parametrize(("surface", "url"), ROUTES.values(), ids=ROUTES.keys())
each_coding = pytest.mark.parametrize("coding", ["gzip", "zstd", "deflate"])


@each_route
@pytest.mark.parametrize(("coding", "pack"), PACK.values(), ids=PACK.keys())
def test_c80_a_packed_body_is_read_on_every_route(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    url: str,
    coding: str,
    pack: Callable[[bytes], bytes],
) -> None:
    data = pack(json.dumps(asking.body(surface)).encode())

    reply = standing().test_client().post(url, data=data, headers={"Content-Encoding": coding})

    assert reply.status_code == 200
    assert reply.data
    turns = [capture["message"]["messages"][0]["text"] for capture in fake.captures()]
    assert turns == ([] if url in COUNTED else ["hi"])


@each_route
@pytest.mark.parametrize("coding", ["br", "compress", "gzip, gzip", "x" * 5000, "gzip;q=1"])
def test_c80_an_encoding_that_nobody_reads_is_a_415(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, url: str, coding: str
) -> None:
    reply = standing().test_client().post(url, data=b"{}", headers={"Content-Encoding": coding})

    assert reply.status_code == 415
    assert_told(surface, reply)
    assert reply.headers["Accept-Encoding"] == "gzip, deflate, zstd"
    assert len(reply.data) < 500
    assert fake.captures() == []


@each_route
@each_coding
@pytest.mark.parametrize("damage", ["plain", "cut", "flipped", "trailing"])
def test_c80_a_damaged_body_is_a_400(
    standing: Callable[..., Flask], surface: str, url: str, coding: str, damage: str
) -> None:
    plain = json.dumps(asking.body(surface)).encode()
    packed = PACK[coding][1](plain)
    data = {
        "plain": plain,
        "cut": packed[:-3],
        "flipped": packed[:6] + bytes(255 - byte for byte in packed[6:]),
        "trailing": packed + b"more",
    }[damage]

    reply = standing().test_client().post(url, data=data, headers={"Content-Encoding": coding})

    assert reply.status_code == 400
    assert_told(surface, reply)


@each_coding
@pytest.mark.parametrize("surface", [CHAT, RESPONSES, MESSAGES, GENERATE])
def test_c80_a_bomb_is_a_413_in_the_surfaces_words(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, coding: str
) -> None:
    bomb = PACK[coding][1](b" " * BOMB)
    assert len(bomb) < 1 << 20

    reply = (
        standing(**SMALL)
        .test_client()
        .post(asking.path(surface), data=bomb, headers={"Content-Encoding": coding})
    )

    assert reply.status_code == 413
    assert_told(surface, reply)
    assert fake.captures() == []


@pytest.mark.parametrize("surface", [CHAT, RESPONSES, MESSAGES, GENERATE])
def test_c80_packed_bytes_that_claim_to_be_plain_are_a_400(
    standing: Callable[..., Flask], surface: str
) -> None:
    data = gzip.compress(json.dumps(asking.body(surface)).encode())

    reply = standing().test_client().post(asking.path(surface), data=data)

    assert reply.status_code == 400
    assert_told(surface, reply)
