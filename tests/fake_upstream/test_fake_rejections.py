"""Requests that a strict server turns away, and how it says so."""

import gzip
import json

import pytest

from fake_upstream import FakeUpstream

MIB = 1024 * 1024


def good(client):
    return client.envelope(client.request().SerializeToString())


def only_capture(fake):
    [capture] = fake.captures()
    assert capture["outcome"] == "rejected"
    assert capture["message"] is None
    assert capture["top_level_fields"] == []
    assert capture["unknown_fields"] == []
    return capture


def end_error(response):
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/connect+proto"
    assert response.content[0] == 2
    assert len(response.content) == 5 + int.from_bytes(response.content[1:5], "big")
    return json.loads(response.content[5:])["error"]


@pytest.mark.parametrize("value", [None, "application/proto", "application/connect+json", "application/grpc"])
def test_another_content_type_is_415(fake, client, value):
    response = client.post(good(client), {"content-type": value})
    assert response.status_code == 415
    assert response.headers["accept-post"] == "application/connect+proto"
    assert response.json() == {"code": "unknown", "message": "content-type must be application/connect+proto"}
    assert only_capture(fake)["error"] == "unknown: content-type must be application/connect+proto"


def test_a_compressed_http_body_is_415(fake, client):
    response = client.post(good(client), {"content-encoding": "gzip"})
    assert response.status_code == 415
    assert only_capture(fake)["token"] == "t"


def test_another_method_is_405(fake, client):
    response = client.control("GET", client.RPC)
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    assert fake.captures() == []


@pytest.mark.parametrize("value", [None, "t", "Basic t", "Bearer ", "Bearer a b"])
def test_no_bearer_is_unauthenticated(fake, client, value):
    response = client.post(good(client), {"authorization": value})
    assert response.status_code == 401
    assert response.json() == {"code": "unauthenticated", "message": "authorization must be 'Bearer TOKEN'"}
    assert only_capture(fake)["token"] is None


def test_a_bearer_that_is_not_the_session_token_is_unauthenticated(fake, client):
    response = client.post(good(client), {"authorization": "Bearer other"})
    assert response.status_code == 401
    assert response.json() == {
        "code": "unauthenticated",
        "message": "metadata.session_token is not the bearer token",
    }
    capture = only_capture(fake)
    assert capture["token"] == "other"
    assert capture["raw_hex"] == client.request().SerializeToString().hex()
    assert capture["envelope"] == {"flags": 0, "length": len(client.request().SerializeToString())}


def test_with_tokens_only_those_are_known(client_of):
    with FakeUpstream(tokens=["a", "b"]) as fake:
        client = client_of(fake)
        assert client.send(client.request(token="a")).text == "hello"
        assert client.send(client.request(token="b")).text == "hello"
        response = client.post(good(client))
        assert response.status_code == 401
        assert response.json() == {"code": "unauthenticated", "message": "the token is not known here"}
        assert [capture["outcome"] for capture in fake.captures()] == ["completed", "completed", "rejected"]


@pytest.mark.parametrize("value", [None, "2", "1.0"])
def test_the_protocol_version_must_be_1(fake, client, value):
    error = end_error(client.post(good(client), {"connect-protocol-version": value}))
    assert error == {
        "code": "invalid_argument",
        "message": 'missing required header: set connect-protocol-version to "1"',
    }
    assert only_capture(fake)["envelope"] is None


def test_an_unknown_compression_is_unimplemented(client):
    error = end_error(client.post(good(client), {"connect-content-encoding": "br"}))
    assert error["code"] == "unimplemented"


@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        (lambda e: b"", "unimplemented", "unary request has zero messages"),
        (lambda e: b"\x00\x00", "invalid_argument", "protocol error: incomplete envelope: 2 bytes"),
        (
            lambda e: e(b"abc")[:-1],
            "invalid_argument",
            "protocol error: promised 3 bytes in enveloped message, got 2 bytes",
        ),
        (lambda e: e(b"", 2), "internal", "protocol error: invalid envelope flags 0x02"),
        (lambda e: e(b"", 0x80), "internal", "protocol error: invalid envelope flags 0x80"),
        (lambda e: e(b"") + e(b""), "unimplemented", "unary request has multiple messages"),
        (lambda e: e(b"") + b"x", "unimplemented", "unary request has multiple messages"),
        (
            lambda e: e(gzip.compress(b""), 1),
            "internal",
            "protocol error: sent compressed message without compression support",
        ),
        (
            lambda e: b"\x00\x04\x00\x00\x01",
            "resource_exhausted",
            "message size 67108865 is larger than configured max 67108864",
        ),
    ],
)
def test_bad_framing(fake, client, make, code, message):
    body = make(client.envelope)
    assert end_error(client.post(body)) == {"code": code, "message": message}
    capture = only_capture(fake)
    assert capture["error"] == f"{code}: {message}"
    assert capture["raw_hex"] == body.hex()
    assert client.send().text == "hello"  # the connection still serves


@pytest.mark.parametrize("payload", [b"\x0a", b"\x0a\x05ab", b"\x12\x02\xff\xfe", b"\x07", b"\x00"])
def test_bytes_that_are_no_message_are_invalid(fake, client, payload):
    error = end_error(client.post(client.envelope(payload)))
    assert error["code"] == "invalid_argument"
    assert error["message"].startswith("unmarshal message: ")
    assert only_capture(fake)["raw_hex"] == payload.hex()


@pytest.mark.parametrize(
    "payload",
    [b"plain", gzip.compress(b"abc")[:-1], gzip.compress(b"abc") + b"x", b""],
    ids=["plain", "short", "trailing", "empty"],
)
def test_bytes_that_are_no_gzip_are_invalid(client, payload):
    error = end_error(client.post(client.envelope(payload, 1), {"connect-content-encoding": "gzip"}))
    assert error["code"] == "invalid_argument"
    assert error["message"].startswith("decompress: ")


def test_a_gzip_bomb_is_exhausted_not_inflated(client):
    bomb = gzip.compress(bytes(65 * MIB), compresslevel=1)
    error = end_error(client.post(client.envelope(bomb, 1), {"connect-content-encoding": "gzip"}))
    assert error["code"] == "resource_exhausted"


def test_a_body_beyond_the_bound_gets_its_answer(fake, client):
    response = client.post(bytes(66 * MIB))
    assert end_error(response)["code"] == "resource_exhausted"
    assert only_capture(fake)["raw_hex"] == ""


@pytest.mark.parametrize(
    "head",
    [
        "content-length: x",
        "content-length: -1",
        "content-length: 5\r\ncontent-length: 5",
        "transfer-encoding: chunked\r\ncontent-length: 5",
        "transfer-encoding: gzip",
        "transfer-encoding: chunked",  # and then no chunk size
        "content-length: 5\r\nbad line",
    ],
)
def test_bad_http_is_400_in_json(client, head):
    request = f"POST {client.RPC} HTTP/1.1\r\nhost: x\r\n{head}\r\n\r\nzzzz\r\n".encode()
    with client.raw(request) as sock:
        sock.shutdown(1)
        answer = sock.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b'{"error":' in answer
