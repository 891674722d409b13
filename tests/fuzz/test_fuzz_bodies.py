"""Bytes that are no request, at every route that takes a body: always a fault in the surface's shape, never a defect.

Bodies of real clients with something wrong at depth are in tests/matrix.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.stored import Stored
from tests.fuzz.surfaces import OPENAPI, bounded, check_reply, surface_of

POSTS = [path for path, item in OPENAPI["paths"].items() if "post" in item]
KEYS = sorted(
    {
        key
        for schema in OPENAPI["components"]["schemas"].values()
        for key in schema.get("properties", {})
        if key != "error"
    }
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip
BODIES = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6)
ODD = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xef\xbb\xbf{}",
    b"\xff\xfe{\x00}\x00",
    b'{"model": NaN}',
    b'{"model": "\\ud800", "messages": 1}',
    b'{"a":1,"a":2}',
    b"[" * 100_000,
    b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    b'{"model": ' + b"9" * 5_000 + b"}",
    b'{"\x00": "\x00"}',
]


UNREAD = {"/v1/responses/compact": 404, "/v1/responses/{response_id}/cancel": 400}
"""Path -> the status with which it answers whatever the body is."""


@dataclass(frozen=True)
class Poster:
    """POSTs to what is there, and looks at the reply."""

    client: FlaskClient
    stored: Stored

    def __call__(self, path: str, body: bytes, **headers: str) -> int:
        """The status."""
        reply = self.client.post(
            self.stored.path(path), data=body, headers={"Content-Type": "application/json", **headers}
        )
        check_reply(surface_of(path), reply)
        assert reply.status_code == UNREAD.get(path, reply.status_code)
        assert reply.status_code != 404 or "_id}" not in path, "this was to get behind the lookup"
        return reply.status_code


@pytest.fixture
def post(fuzz_client: FlaskClient, stored: Stored) -> Poster:
    """POST bytes to the app."""
    return Poster(fuzz_client, stored)


def is_object(body: bytes) -> bool:
    """Whether a body is one that could be served."""
    try:
        return isinstance(json.loads(body), dict)
    except ValueError:
        return False


@pytest.mark.parametrize("path", POSTS)
def test_odd_bytes_are_refused_in_the_surfaces_shape(path: str, post: Poster) -> None:
    for body in ODD:
        assert 400 <= post(path, body) < 500, body[:40]


@pytest.mark.parametrize("path", POSTS)
def test_random_bytes_are_refused_in_the_surfaces_shape(path: str, post: Poster) -> None:
    @bounded(15)
    @given(st.binary(max_size=200), st.sampled_from(["", "gzip", "deflate", "zstd", "br", "gzip, gzip", "x"]))
    def run(body: bytes, coding: str) -> None:
        status = post(path, body, **({"Content-Encoding": coding} if coding else {}))
        assert 400 <= status < 500 or (not coding and is_object(body))

    run()


@pytest.mark.parametrize("path", POSTS)
def test_known_keys_with_any_values_meet_no_defect(path: str, post: Poster) -> None:
    @bounded(40)
    @given(BODIES)
    @example({})
    @example(dict.fromkeys(KEYS))
    @example({key: [] for key in KEYS})
    @example({key: {} for key in KEYS})
    @example({key: [[[]]] for key in KEYS})
    def run(body: dict[str, Any]) -> None:
        body.setdefault("model", "fake-echo")
        post(path, json.dumps(body).encode())

    run()


@pytest.mark.parametrize("path", POSTS)
def test_a_compressed_bomb_is_refused(path: str, post: Poster) -> None:
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packed.compress(b" " * (40 << 20)) + packed.flush()
    assert post(path, bomb, **{"Content-Encoding": "gzip"}) == UNREAD.get(path, 413)


@pytest.mark.parametrize("path", POSTS)
def test_any_headers_and_queries_meet_no_defect(path: str, fuzz_client: FlaskClient, stored: Stored) -> None:
    texts = st.text(
        st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=30
    )

    @bounded(15)
    @given(
        st.dictionaries(
            st.sampled_from(["prefer", "anthropic-beta", "anthropic-version", "x-goog-api-client", "accept"]),
            texts,
        ),
        st.dictionaries(st.sampled_from(["alt", "key", "beta", "fields", "x"]), st.text(max_size=10)),
    )
    def run(headers: dict[str, str], query: dict[str, str]) -> None:
        reply = fuzz_client.post(
            stored.path(path), json={"model": "fake-echo"}, headers=headers, query_string=query
        )
        check_reply(surface_of(path), reply)

    run()
