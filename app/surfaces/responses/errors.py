"""Faults in this surface's words: one table from fault kind to status, ``type`` and ``code``.

The shape is the vendor's: ``{"error": {"message", "type", "param", "code"}}``. A drought adds ``drought``.
"""

from __future__ import annotations

from typing import NamedTuple

import orjson

from app.surfaces.surface import FaultReply
from app.turn.faults import FaultKind, TurnFault

SURFACE = "responses"


class Wording(NamedTuple):
    """How one kind of fault is told. ``stream_code`` is what ``response.error.code`` may say in a stream."""

    status: int
    type: str
    code: str | None
    stream_code: str = "server_error"


_INVALID = "invalid_request_error"

WORDINGS: dict[FaultKind, Wording] = {
    FaultKind.INVALID_REQUEST: Wording(400, _INVALID, None, "invalid_prompt"),
    FaultKind.UNSUPPORTED_PARAMETER: Wording(400, _INVALID, "unsupported_parameter", "invalid_prompt"),
    FaultKind.AUTHENTICATION: Wording(401, _INVALID, "invalid_api_key"),
    FaultKind.PERMISSION: Wording(403, "permission_error", None),
    FaultKind.NOT_FOUND: Wording(404, _INVALID, "model_not_found", "invalid_prompt"),
    FaultKind.WRONG_METHOD: Wording(405, _INVALID, None),
    FaultKind.WRONG_ENCODING: Wording(415, _INVALID, None),
    FaultKind.TOO_LARGE: Wording(413, _INVALID, "request_too_large", "invalid_prompt"),
    FaultKind.RATE_LIMITED: Wording(429, "rate_limit_error", "rate_limit_exceeded", "rate_limit_exceeded"),
    FaultKind.QUOTA_EXHAUSTED: Wording(429, "rate_limit_error", "rate_limit_exceeded", "rate_limit_exceeded"),
    FaultKind.CAPACITY: Wording(503, "server_error", "capacity_exhausted"),
    FaultKind.DROUGHT: Wording(503, "server_error", "drought_mode"),
    FaultKind.DRAINING: Wording(503, "server_error", "draining"),
    FaultKind.UPSTREAM_AUTHENTICATION: Wording(502, "server_error", "upstream_error"),
    FaultKind.UPSTREAM_FAILED: Wording(502, "server_error", "upstream_error"),
    FaultKind.UPSTREAM_TRUNCATED: Wording(502, "server_error", "upstream_truncated"),
    FaultKind.UPSTREAM_TIMEOUT: Wording(504, "server_error", "upstream_timeout"),
    FaultKind.INTERNAL: Wording(500, "server_error", None),
}
"""DESIGN section 6, column "chat, responses"; ``stream_code`` is one of the SDK's ``ResponseError.code``."""


def message_of(fault: TurnFault) -> str:
    """The field and what is wrong with it; a refusal lists every field that it refuses."""
    if SURFACE in fault.wording:
        return fault.wording[SURFACE]
    problem = fault.problem.rstrip(".")
    if fault.param is None or fault.kind is FaultKind.NOT_FOUND:
        return f"{_capital(problem)}."
    if fault.kind is FaultKind.UNSUPPORTED_PARAMETER:
        others = ", ".join(f"'{path}'" for path in fault.details.get("refused", ()) if path != fault.param)
        also = f" Also unsupported: {others}." if others else ""
        return f"Unsupported parameter: '{fault.param}'. {_capital(problem)}.{also}"
    if fault.code == "missing_required_parameter":
        more = problem.removeprefix("the field is required").lstrip("; ")
        return f"Missing required parameter: '{fault.param}'" + (f" ({more})." if more else ".")
    return f"Invalid '{fault.param}': {problem}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def code_of(fault: TurnFault) -> str | None:
    """The fault's own code, else its kind's."""
    return fault.code or WORDINGS[fault.kind].code


def fault_reply(fault: TurnFault) -> FaultReply:
    """``fault`` as a real HTTP reply."""
    wording = WORDINGS[fault.kind]
    error: dict[str, object] = {
        "message": message_of(fault),
        "type": wording.type,
        "param": fault.param,
        "code": code_of(fault),
    }
    if "drought" in fault.details:
        error["drought"] = fault.details["drought"]
    return FaultReply(wording.status, orjson.dumps({"error": error}))


def stream_error(fault: TurnFault) -> dict[str, str]:
    """``response.error`` of a ``response.failed`` event: a code that the SDK knows, the precise one in the message.

    Codex CLI reads the wait out of the message: ``Please try again in 3s.``
    """
    message = message_of(fault)
    code = code_of(fault)
    stream_code = WORDINGS[fault.kind].stream_code
    if code is not None and code != stream_code:
        message = f"{code}: {message}"
    if fault.retry_after_s is not None:
        message += f" Please try again in {fault.retry_after_s:g}s."
    return {"code": stream_code, "message": message}
