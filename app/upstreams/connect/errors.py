"""What the upstream's errors mean: Connect codes and HTTP statuses -> fault kinds, in words fit for callers.

Protocol: https://connectrpc.com/docs/protocol/#error-codes, #error-end-stream and #http-to-error-code.
Whatever the upstream wrote is redacted first: no token, address or stack trace of a machine behind Candor
goes out.
"""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

import orjson
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError

from app.turn.faults import FaultKind, TurnFault

_KINDS: Mapping[str, FaultKind] = {
    "canceled": FaultKind.UPSTREAM_FAILED,
    "unknown": FaultKind.UPSTREAM_FAILED,
    "invalid_argument": FaultKind.INVALID_REQUEST,
    "deadline_exceeded": FaultKind.UPSTREAM_TIMEOUT,
    "not_found": FaultKind.NOT_FOUND,
    "already_exists": FaultKind.UPSTREAM_FAILED,
    "permission_denied": FaultKind.PERMISSION,
    "resource_exhausted": FaultKind.RATE_LIMITED,
    "failed_precondition": FaultKind.UPSTREAM_FAILED,
    "aborted": FaultKind.UPSTREAM_FAILED,
    "out_of_range": FaultKind.UPSTREAM_FAILED,
    "unimplemented": FaultKind.UPSTREAM_FAILED,
    "internal": FaultKind.UPSTREAM_FAILED,
    "unavailable": FaultKind.CAPACITY,
    "data_loss": FaultKind.UPSTREAM_FAILED,
    "unauthenticated": FaultKind.UPSTREAM_AUTHENTICATION,
}

_CODE_OF_STATUS: Mapping[int, str] = {
    400: "internal",
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",
    429: "unavailable",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}

LONGEST_QUOTE = 300
"""Characters of the upstream's own message that a fault quotes."""
LONGEST_RETRY_S = 7 * 86_400.0
"""A longer wait than a week is taken for a mistake and left out."""

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>)\]]+", re.IGNORECASE)
_BEARER = re.compile(r"\bbearer\s+\S+", re.IGNORECASE)
_ADDRESS = re.compile(
    r"\[[0-9a-f:.]*:[0-9a-f:.]*\](?::\d+)?"  # [::1]:443
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"  # 10.0.0.7:443
    r"|\b[a-z][\w-]*(?:\.[\w-]+)*:\d{2,5}\b"  # db-1.internal:5432, localhost:80, server.go:121
    r"|\b(?:[a-z0-9-]+\.)+(?:internal|local|localdomain|lan|corp|svc|cluster|com|net|org|io|dev|ai|cloud)\b",
    re.IGNORECASE,
)


class ErrorReader:
    """Reads the errors of turns that run with one set of secrets.

    ``secrets`` are replaced by ``***`` wherever the upstream repeats them. ``wall_clock`` gives seconds since
    the epoch, for ``retry-after`` dates.
    """

    def __init__(self, secrets: tuple[str, ...], wall_clock: Callable[[], float] = time.time) -> None:
        self._secrets = tuple(secret for secret in secrets if secret)
        self._wall_clock = wall_clock

    def end_of_stream(self, payload: bytes, headers: Mapping[str, str]) -> TurnFault | None:
        """The fault that an end-of-stream payload reports; None when the turn ended well."""
        if not payload:
            return None
        try:
            end = orjson.loads(payload)
        except orjson.JSONDecodeError:
            end = None
        if not isinstance(end, dict):
            return TurnFault(FaultKind.UPSTREAM_FAILED, "the upstream ended its stream with nonsense")
        error = end.get("error")
        if error is None:
            return None
        metadata = end.get("metadata")
        waits = (_metadata_value(metadata, "retry-after"), headers.get("retry-after"))
        return self._fault(error, "unknown", waits)

    def http(self, status: int, headers: Mapping[str, str], body: bytes) -> TurnFault:
        """The fault that a response other than 200 reports; ``body`` is a JSON error, if anything of ours."""
        try:
            error = orjson.loads(body)
        except orjson.JSONDecodeError:
            error = None
        default = _CODE_OF_STATUS.get(status, "unknown")
        if not isinstance(error, dict) or "code" not in error:
            error = {"code": default, "message": f"HTTP status {status}"}
        return self._fault(error, default, (headers.get("retry-after"),))

    def _fault(self, error: Any, default_code: str, waits: tuple[str | None, ...]) -> TurnFault:
        """The fault of one Connect error object; ``waits`` are ``retry-after`` values, the best first."""
        if not isinstance(error, dict):
            error = {}
        code = error.get("code")
        if not isinstance(code, str) or code not in _KINDS:
            code = default_code
        listed = error.get("details")
        details = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        kind = _KINDS[code]
        if kind is FaultKind.RATE_LIMITED and any(map(_tells_quota, details)):
            kind = FaultKind.QUOTA_EXHAUSTED
        quoted = self.redact(_said(error.get("message")))
        return TurnFault(
            kind,
            f"the upstream answered with an error: {quoted or code}",
            retry_after_s=self._wait(details, waits),
        )

    def redact(self, text: str) -> str:
        """The first line of ``text`` without secrets and addresses, at most LONGEST_QUOTE characters."""
        text = text.strip().partition("\n")[0].strip()
        for secret in sorted(self._secrets, key=len, reverse=True):  # one may be a part of another
            text = text.replace(secret, "***")
        text = text[: 10 * LONGEST_QUOTE]
        text = _BEARER.sub("***", text)
        text = _URL.sub("[address]", text)
        text = _ADDRESS.sub("[address]", text)
        return text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + "…"

    def _wait(self, details: list[dict[str, Any]], waits: tuple[str | None, ...]) -> float | None:
        for detail in details:
            seconds = _retry_info(detail)
            if seconds is not None:
                return seconds
        for value in waits:
            seconds = self._retry_after(value)
            if seconds is not None:
                return seconds
        return None

    def _retry_after(self, value: str | None) -> float | None:
        """Seconds of a ``retry-after`` value: a number, or an HTTP date (RFC 9110 section 10.2.3)."""
        if not value:
            return None
        try:
            return _sane(float(value))
        except ValueError:
            pass
        try:
            when = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return _sane(max(0.0, when.timestamp() - self._wall_clock()))


def _said(message: Any) -> str:
    """The text of an error's message; of JSON that another server's error was put into, its own message."""
    if not isinstance(message, str):
        return ""
    if not message.lstrip().startswith("{"):
        return message
    try:
        inner = orjson.loads(message)
    except orjson.JSONDecodeError:
        return message
    while isinstance(inner, dict):
        inner = inner.get("error") or inner.get("message")
    return inner if isinstance(inner, str) else ""


def _sane(seconds: float) -> float | None:
    return seconds if 0 <= seconds <= LONGEST_RETRY_S else None


def _metadata_value(metadata: Any, name: str) -> str | None:
    """The first value of a header in end-of-stream metadata, whose names may have any case."""
    if not isinstance(metadata, dict):
        return None
    for key, values in metadata.items():
        if key.lower() == name:
            first = values[0] if isinstance(values, list) and values else values
            return first if isinstance(first, str) else None
    return None


def _kind_of(detail: dict[str, Any]) -> str:
    """The unqualified name of a detail's message type: ``RetryInfo``."""
    kind = detail.get("type")
    return kind.rpartition(".")[2] if isinstance(kind, str) else ""


def _tells_quota(detail: dict[str, Any]) -> bool:
    """Whether the detail says that an allowance is used up, not merely that requests come too fast."""
    kind = _kind_of(detail)
    if kind == "QuotaFailure":
        return True
    debug = detail.get("debug")
    reason = debug.get("reason") if isinstance(debug, dict) else None
    return kind == "ErrorInfo" and isinstance(reason, str) and "QUOTA" in reason.upper()


def _retry_info(detail: dict[str, Any]) -> float | None:
    """Seconds of a ``google.rpc.RetryInfo``, from its readable form or from its bytes."""
    if _kind_of(detail) != "RetryInfo":
        return None
    debug = detail.get("debug")
    delay = debug.get("retryDelay") if isinstance(debug, dict) else None
    if isinstance(delay, str) and delay.endswith("s"):
        try:
            return _sane(float(delay[:-1]))
        except ValueError:
            pass
    value = detail.get("value")
    if not isinstance(value, str):
        return None
    try:
        raw = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
        # RetryInfo has one field, #1, a Duration: tag and length (always short), then the Duration itself.
        if len(raw) < 2 or raw[0] != 0x0A or raw[1] != len(raw) - 2:
            return None
        parsed = Duration.FromString(raw[2:])
    except (binascii.Error, ValueError, DecodeError):
        return None
    return _sane(parsed.seconds + parsed.nanos / 1e9)
