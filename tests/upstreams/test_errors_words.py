"""What of an upstream's error reaches the caller: its words, its waits, nothing that is not there."""

from __future__ import annotations

import base64

import orjson
import pytest

from app.upstreams.connect.errors import LONGEST_RETRY_S, ErrorReader

NOON = 1_764_504_000.0  # 2025-11-30 12:00:00 UTC
READER = ErrorReader((), wall_clock=lambda: NOON)


def quoted(message: object) -> str:
    """The fault's words for an error whose message is ``message``."""
    body = orjson.dumps({"code": "internal", "message": message})
    return READER.http(500, {}, body).problem.removeprefix("the upstream answered with an error: ")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("plain words", "plain words"),
        ('{"error":{"message":"inner words"}}', "inner words"),
        ('  {"error":"only this"}', "only this"),
        ('{"message":"its own"}', "its own"),
        ('{"error":null,"message":"the other"}', "the other"),
        ('{"error":{"error":{"message":"deep"}},"message":"outer"}', "deep"),
        ("{not json", "{not json"),
        ("words, then {", "words, then {"),
        ('{"error":5}', "internal"),
        ("{}", "internal"),
        (7, "internal"),
        (None, "internal"),
    ],
)
def test_the_words_of_an_error_are_those_of_the_innermost_message(message: object, words: str) -> None:
    assert quoted(message) == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"not json", "HTTP status 503"),
        (b'"a string"', "HTTP status 503"),
        (b'{"detail":"no code"}', "HTTP status 503"),
    ],
)
def test_a_body_that_is_no_error_is_told_by_its_status(body: bytes, words: str) -> None:
    assert READER.http(503, {}, body).problem == f"the upstream answered with an error: {words}"


def retry_info(value: bytes | str) -> float | None:
    """The wait of an error with a RetryInfo of these bytes."""
    text = value if isinstance(value, str) else base64.b64encode(value).decode().rstrip("=")
    detail = {"type": "google.rpc.RetryInfo", "value": text}
    body = orjson.dumps({"code": "resource_exhausted", "message": "m", "details": [detail]})
    return READER.http(429, {}, body).retry_after_s


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (b"\x0a\x02\x08\x05", 5.0),
        (b"\x0a\x03\x08\xac\x02", 300.0),
        (b"\x0a\x00", 0.0),
        (b"\x0a", None),
        (b"", None),
        (b"\x12\x02\x08\x05", None),
        (b"\x0a\x03\x08\x05", None),
        (b"\x0a\x02\x08\x05\x00", None),
        ("CgII!BQ==", None),
        ("CgIIBQ==", 5.0),
    ],
)
def test_the_bytes_of_a_retry_info_are_read_exactly(value: bytes | str, seconds: float | None) -> None:
    assert retry_info(value) == seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Sun, 30 Nov 2025 12:00:30 GMT", 30.0),
        ("Sun, 30 Nov 2025 12:00:30", 30.0),
        ("Sun, 30 Nov 2025 12:00:30 -0000", 30.0),
        ("Sun, 30 Nov 2025 11:00:00 GMT", 0.0),
        (str(LONGEST_RETRY_S), float(LONGEST_RETRY_S)),
        (str(LONGEST_RETRY_S + 1), None),
        ("-1", None),
        ("soon", None),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert READER.http(429, {"retry-after": value}, b"").retry_after_s == seconds
