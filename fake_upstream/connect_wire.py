"""The Connect protocol as a server sees it: envelopes, the checks of a request, codes and their answers.

What is wrong with a request decides how it is told, as in a real Connect server for a streaming RPC:

=========================================================  =============================================
another method on the RPC's path                           405, ``allow: POST``
content type other than ``application/connect+proto``,     415, ``accept-post``
or an HTTP ``content-encoding``
no bearer, an unknown token, a bearer that is not the       401, JSON ``unauthenticated`` (what stands in
metadata's ``session_token``                               front of the RPC answers, not the stream)
``connect-protocol-version`` absent or not ``1``            200, end-of-stream ``invalid_argument``
``connect-content-encoding`` other than gzip, identity      200, end-of-stream ``unimplemented``
a body that stops inside an envelope                       200, end-of-stream ``invalid_argument``
flags other than 0 and 1                                   200, end-of-stream ``internal``
flag 1 without ``connect-content-encoding: gzip``           200, end-of-stream ``internal``
gzip or protobuf that does not decode                      200, end-of-stream ``invalid_argument``
more than 64 MiB, on the wire or inflated                  200, end-of-stream ``resource_exhausted``
no envelope, or a second one                               200, end-of-stream ``unimplemented``
=========================================================  =============================================

A real server sends an empty body with the 405 and the 415; here they carry a JSON line for the reader.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError

from app.upstreams.connect import wire_pb2

RPC_PATH = "/exa.api_server_pb.ApiServerService/GetChatMessage"
CONTENT_TYPE = "application/connect+proto"
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

COMPRESSED = 0x01
END_OF_STREAM = 0x02
PREFIX_BYTES = 5


class Rejected(Exception):
    """A request that is turned away; ``status`` is ``None`` when the answer goes into a 200 stream."""

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class Envelope:
    """One request envelope: its prefix as received, its payload inflated."""

    flags: int
    length: int
    payload: bytes


def check_headers(headers: Mapping[str, str], tokens: Collection[str] | None) -> str:
    """Check what can be checked before the body; return the bearer token."""
    if headers.get("content-type") != CONTENT_TYPE:
        raise Rejected("unknown", f"content-type must be {CONTENT_TYPE}", 415)
    if headers.get("content-encoding", "identity") != "identity":
        raise Rejected("unknown", "content-encoding must not be used: compress the envelope", 415)
    token = bearer(headers)
    if token is None:
        raise Rejected("unauthenticated", "authorization must be 'Bearer TOKEN'", 401)
    if tokens is not None and token not in tokens:
        raise Rejected("unauthenticated", "the token is not known here", 401)
    if headers.get("connect-protocol-version") != "1":
        raise Rejected("invalid_argument", 'missing required header: set connect-protocol-version to "1"')
    encoding = headers.get("connect-content-encoding", "identity")
    if encoding not in ("gzip", "identity"):
        raise Rejected("unimplemented", f"unknown compression {encoding!r}: supported encodings are gzip")
    return token


def bearer(headers: Mapping[str, str]) -> str | None:
    """The token of ``authorization: Bearer TOKEN``, when there is one."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" and token and " " not in token else None


def read_envelope(headers: Mapping[str, str], body: bytes) -> Envelope:
    """The one envelope of the body, inflated."""
    if not body:
        raise Rejected("unimplemented", "unary request has zero messages")
    if len(body) < PREFIX_BYTES:
        raise Rejected("invalid_argument", f"protocol error: incomplete envelope: {len(body)} bytes")
    flags, length = body[0], int.from_bytes(body[1:PREFIX_BYTES], "big")
    if length > MAX_MESSAGE_BYTES:
        raise too_large(length)
    if len(body) - PREFIX_BYTES < length:
        got = f"promised {length} bytes in enveloped message, got {len(body) - PREFIX_BYTES} bytes"
        raise Rejected("invalid_argument", f"protocol error: {got}")
    if flags not in (0, COMPRESSED):
        raise Rejected("internal", f"protocol error: invalid envelope flags {flags:#04x}")
    if len(body) - PREFIX_BYTES > length:
        raise Rejected("unimplemented", "unary request has multiple messages")
    payload = body[PREFIX_BYTES:]
    if flags == COMPRESSED:
        if headers.get("connect-content-encoding") != "gzip":
            raise Rejected("internal", "protocol error: sent compressed message without compression support")
        payload = _inflate(payload)
    return Envelope(flags, length, payload)


def decode_request(payload: bytes, token: str) -> wire_pb2.GetChatMessageRequest:
    """The message of the envelope; its session token must be the bearer's."""
    message = wire_pb2.GetChatMessageRequest()
    try:
        message.ParseFromString(payload)
    except DecodeError as error:
        raise Rejected("invalid_argument", f"unmarshal message: {error}") from None
    if message.metadata.session_token != token:
        raise Rejected("unauthenticated", "metadata.session_token is not the bearer token", 401)
    return message


def _inflate(payload: bytes) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    try:
        data = inflater.decompress(payload, MAX_MESSAGE_BYTES + 1)
    except zlib.error as error:
        raise Rejected("invalid_argument", f"decompress: {error}") from None
    if len(data) > MAX_MESSAGE_BYTES:
        raise too_large(len(data))
    if not inflater.eof or inflater.unused_data:
        raise Rejected("invalid_argument", "decompress: not one whole gzip stream")
    return data


def too_large(size: int) -> Rejected:
    """A message beyond the bound."""
    message = f"message size {size} is larger than configured max {MAX_MESSAGE_BYTES}"
    return Rejected("resource_exhausted", message)


def envelope(payload: bytes, flags: int = 0, *, compress: bool = False) -> bytes:
    """Payload -> one envelope, gzip'ed on request."""
    if compress:
        payload = gzip.compress(payload, mtime=0)
        flags |= COMPRESSED
    return bytes([flags]) + len(payload).to_bytes(4, "big") + payload


def end_of_stream(
    error: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Sequence[str]] | None = None,
    *,
    compress: bool = False,
) -> bytes:
    """The last envelope: ``{}``, or with an error and trailing metadata."""
    body: dict[str, Any] = {}
    if error is not None:
        body["error"] = error
    if metadata is not None:
        body["metadata"] = metadata
    return envelope(json_bytes(body), END_OF_STREAM, compress=compress)


def ends_stream(data: bytes) -> bool | None:
    """Of raw body bytes: whether whole envelopes end with the end-of-stream one; ``None`` for garbage."""
    flags = position = 0
    while position < len(data):
        prefix = data[position : position + PREFIX_BYTES]
        end = position + PREFIX_BYTES + int.from_bytes(prefix[1:], "big")
        if flags & END_OF_STREAM or prefix[0] > COMPRESSED | END_OF_STREAM or end > len(data):
            return None
        flags, position = prefix[0], end
    return bool(flags & END_OF_STREAM)


def error_json(code: str, message: str, details: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """A Connect error as JSON; an empty message and no details are left out."""
    body: dict[str, Any] = {"code": code}
    if message:
        body["message"] = message
    if details:
        body["details"] = list(details)
    return body


def retry_info(seconds: float) -> dict[str, Any]:
    """A ``google.rpc.RetryInfo`` error detail."""
    whole, nanos = divmod(round(seconds * 1_000_000_000), 1_000_000_000)
    delay = Duration(seconds=whole, nanos=nanos).SerializeToString()
    value = b"\x0a" + bytes([len(delay)]) + delay  # field 1, retry_delay: always shorter than 128 bytes
    return {
        "type": "google.rpc.RetryInfo",
        "value": base64.b64encode(value).decode().rstrip("="),
        "debug": {"retryDelay": f"{plain_number(seconds)}s"},
    }


def plain_number(value: float) -> str:
    """``30``, ``0.5``: no exponent, no trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def json_bytes(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
