"""Errors of the upstream -> fault kinds, waits, and words without secrets."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from app.turn.faults import FaultKind, TurnFault
from app.upstreams.connect.errors import ErrorReader

NOON = 1_796_040_000.0  # 2026-11-30 12:00:00 UTC
READER = ErrorReader(("tok-secret", "jwt-secret", ""), wall_clock=lambda: NOON)


def end(error: Any, metadata: Any = None, **headers: str) -> TurnFault:
    payload = json.dumps({"error": error, "metadata": metadata}).encode()
    fault = READER.end_of_stream(payload, headers)
    assert fault is not None
    return fault


def quoted(message: str) -> str:
    """What a fault says of the upstream's own message."""
    return end({"code": "internal", "message": message}).problem.removeprefix(
        "the upstream answered with an error: "
    )


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"metadata":{"a":["b"]}}', b'{"error":null}'])
def test_an_end_without_an_error_is_a_good_end(payload):
    assert READER.end_of_stream(payload, {}) is None


@pytest.mark.parametrize("payload", [b"{", b"[]", b'"x"', b"\xff"])
def test_an_end_that_is_no_json_object_is_an_upstream_fault(payload):
    fault = READER.end_of_stream(payload, {})
    assert fault is not None
    assert (fault.kind, fault.problem) == (
        FaultKind.UPSTREAM_FAILED,
        "the upstream ended its stream with nonsense",
    )


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("canceled", FaultKind.UPSTREAM_FAILED),
        ("unknown", FaultKind.UPSTREAM_FAILED),
        ("invalid_argument", FaultKind.INVALID_REQUEST),
        ("deadline_exceeded", FaultKind.UPSTREAM_TIMEOUT),
        ("not_found", FaultKind.NOT_FOUND),
        ("already_exists", FaultKind.UPSTREAM_FAILED),
        ("permission_denied", FaultKind.PERMISSION),
        ("resource_exhausted", FaultKind.RATE_LIMITED),
        ("failed_precondition", FaultKind.UPSTREAM_FAILED),
        ("aborted", FaultKind.UPSTREAM_FAILED),
        ("out_of_range", FaultKind.UPSTREAM_FAILED),
        ("unimplemented", FaultKind.UPSTREAM_FAILED),
        ("internal", FaultKind.UPSTREAM_FAILED),
        ("unavailable", FaultKind.CAPACITY),
        ("data_loss", FaultKind.UPSTREAM_FAILED),
        ("unauthenticated", FaultKind.UPSTREAM_AUTHENTICATION),
        ("made_up", FaultKind.UPSTREAM_FAILED),
        (7, FaultKind.UPSTREAM_FAILED),
    ],
)
def test_each_connect_code_has_its_kind(code, kind):
    fault = end({"code": code, "message": "busy"})
    assert (fault.kind, fault.problem) == (kind, "the upstream answered with an error: busy")


@pytest.mark.parametrize("error", ["text", 7, [], {}, {"code": "internal", "details": 3, "message": 4}])
def test_an_error_of_another_shape_is_an_upstream_fault(error):
    assert end(error).kind is FaultKind.UPSTREAM_FAILED


@pytest.mark.parametrize(
    "detail",
    [
        {"type": "google.rpc.QuotaFailure", "value": ""},
        {"type": "google.rpc.ErrorInfo", "debug": {"reason": "DAILY_QUOTA_EXCEEDED"}},
    ],
)
def test_a_detail_that_tells_of_a_quota_makes_it_one(detail):
    assert end({"code": "resource_exhausted", "details": [detail]}).kind is FaultKind.QUOTA_EXHAUSTED
    assert end({"code": "unavailable", "details": [detail]}).kind is FaultKind.CAPACITY


def test_other_details_leave_a_rate_limit_a_rate_limit():
    details = [7, {}, {"type": "google.rpc.ErrorInfo", "debug": {"reason": "TOO_FAST"}}]
    assert end({"code": "resource_exhausted", "details": details}).kind is FaultKind.RATE_LIMITED


# --- HTTP errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, FaultKind.UPSTREAM_FAILED),
        (401, FaultKind.UPSTREAM_AUTHENTICATION),
        (403, FaultKind.PERMISSION),
        (404, FaultKind.UPSTREAM_FAILED),
        (429, FaultKind.CAPACITY),
        (500, FaultKind.UPSTREAM_FAILED),
        (502, FaultKind.CAPACITY),
        (503, FaultKind.CAPACITY),
        (504, FaultKind.CAPACITY),
        (302, FaultKind.UPSTREAM_FAILED),
        (418, FaultKind.UPSTREAM_FAILED),
    ],
)
@pytest.mark.parametrize("body", [b"", b"<html>nginx/1.2 secret-host</html>", b"[1]", b'{"message":"x"}'])
def test_an_http_status_without_a_connect_error_has_its_kind_and_quotes_nothing(status, kind, body):
    fault = READER.http(status, {}, body)
    assert (fault.kind, fault.problem) == (kind, f"the upstream answered with an error: HTTP status {status}")


def test_a_connect_error_in_the_body_says_more_than_the_status():
    body = b'{"code":"resource_exhausted","message":"slow down"}'
    fault = READER.http(429, {"retry-after": "30"}, body)
    assert (fault.kind, fault.retry_after_s) == (FaultKind.RATE_LIMITED, 30.0)
    assert fault.problem == "the upstream answered with an error: slow down"


def test_a_code_that_is_not_known_leaves_it_to_the_status():
    assert READER.http(503, {}, b'{"code":"weird","message":"m"}').kind is FaultKind.CAPACITY


# --- how long to wait ---------------------------------------------------------------------------


def retry_info(value: str | None = None, delay: str | None = None) -> dict[str, Any]:
    detail: dict[str, Any] = {"type": "google.rpc.RetryInfo"}
    if value is not None:
        detail["value"] = value
    if delay is not None:
        detail["debug"] = {"retryDelay": delay}
    return detail


def wait(*details: Any, metadata: Any = None, **headers: str) -> float | None:
    return end({"code": "unavailable", "details": list(details)}, metadata, **headers).retry_after_s


SEVEN_AND_A_HALF = base64.b64encode(b"\x0a\x08\x08\x07\x10\x80\xca\xb5\xee\x01").decode()


def test_retry_info_is_read_from_its_readable_form_and_from_its_bytes():
    assert wait(retry_info(delay="30s")) == 30.0
    assert wait(retry_info(delay="1.5s")) == 1.5
    assert wait(retry_info(SEVEN_AND_A_HALF)) == 7.5
    assert wait(retry_info(SEVEN_AND_A_HALF.rstrip("="))) == 7.5
    assert wait(retry_info(SEVEN_AND_A_HALF, delay="soon")) == 7.5


@pytest.mark.parametrize("value", ["", "!!", "AAAA", "Cg", "CgX/", "CgL//w", 7])
def test_retry_info_that_makes_no_sense_is_no_wait(value):
    assert wait(retry_info(value)) is None


def test_retry_after_is_read_from_metadata_and_headers_the_best_first():
    assert wait(metadata={"Retry-After": ["12"]}) == 12.0
    assert wait(metadata={"retry-after": "12"}) == 12.0
    assert wait(**{"retry-after": "9"}) == 9.0
    assert wait(metadata={"retry-after": ["12"]}, **{"retry-after": "9"}) == 12.0
    assert wait(retry_info(delay="3s"), metadata={"retry-after": ["12"]}) == 3.0


def test_retry_after_may_be_a_date():
    assert wait(**{"retry-after": "Mon, 30 Nov 2026 12:01:30 GMT"}) == 90.0
    assert wait(**{"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}) == 0.0


@pytest.mark.parametrize("value", ["", "soon", "-1", "nan", "inf", "1e99", "Mon, 99 Nov 2026 12:00:00 GMT"])
def test_a_retry_after_that_makes_no_sense_is_no_wait(value):
    assert wait(**{"retry-after": value}) is None


@pytest.mark.parametrize("metadata", [7, [], {"retry-after": []}, {"retry-after": [3]}, {"other": ["3"]}])
def test_metadata_that_tells_no_wait_is_no_wait(metadata):
    assert wait(metadata=metadata) is None


# --- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("bad token tok-secret given, tok-secret!", "bad token *** given, ***!"),
        ("user jwt-secret", "user ***"),
        ("sent Authorization: Bearer abc.def-ghi", "sent Authorization: ***"),
        ("see https://internal.example.com/x?key=1 for more", "see [address] for more"),
        ("dial tcp 10.0.0.7:443: connection refused", "dial tcp [address]: connection refused"),
        ("lookup 10.1.2.3 failed", "lookup [address] failed"),
        ("dial [::1]:8080 failed", "dial [address] failed"),
        ("lookup model-7.prod.svc.cluster.local: no such host", "lookup [address]: no such host"),
        ("redis-main:6379 timed out", "[address] timed out"),
        ("panic at server.go:121", "panic at [address]"),
        ("oops\nTraceback (most recent call last):\n  File x", "oops"),
        ("messages[3].content is too long: 9 of 5", "messages[3].content is too long: 9 of 5"),
        ("", "internal"),
        ("x" * 301, "x" * 299 + "…"),
        ("x" * 300, "x" * 300),
    ],
)
def test_the_upstreams_words_are_redacted(message, shown):
    assert quoted(message) == shown
