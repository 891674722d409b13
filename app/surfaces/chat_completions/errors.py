"""TurnFault -> status and ``{"error": {message, type, param, code}}``, by one table.

Types and codes are those that the openai SDK and its callers branch on; the SDK picks its exception class by
the status. The same object is the in-stream fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from app.surfaces.surface import FaultReply
from app.turn.faults import FaultKind, TurnFault

SURFACE = "chat_completions"


@dataclass(frozen=True, slots=True)
class Wording:
    """How one kind of fault is told. ``code`` holds where the fault brings none of its own."""

    status: int
    type: str
    code: str | None = None


REQUEST = "invalid_request_error"
SERVER = "server_error"

TABLE = {
    FaultKind.INVALID_REQUEST: Wording(400, REQUEST),
    FaultKind.UNSUPPORTED_PARAMETER: Wording(400, REQUEST, "unsupported_parameter"),
    FaultKind.AUTHENTICATION: Wording(401, REQUEST, "invalid_api_key"),
    FaultKind.PERMISSION: Wording(403, "permission_error"),
    FaultKind.NOT_FOUND: Wording(404, REQUEST, "model_not_found"),
    FaultKind.WRONG_METHOD: Wording(405, REQUEST),
    FaultKind.WRONG_ENCODING: Wording(415, REQUEST),
    FaultKind.TOO_LARGE: Wording(413, REQUEST, "request_too_large"),
    FaultKind.RATE_LIMITED: Wording(429, "rate_limit_error", "rate_limit_exceeded"),
    FaultKind.QUOTA_EXHAUSTED: Wording(429, "rate_limit_error", "rate_limit_exceeded"),
    FaultKind.CAPACITY: Wording(503, SERVER, "capacity_exhausted"),
    FaultKind.DROUGHT: Wording(503, SERVER, "drought_mode"),
    FaultKind.DRAINING: Wording(503, SERVER, "draining"),
    FaultKind.UPSTREAM_AUTHENTICATION: Wording(502, SERVER, "upstream_error"),
    FaultKind.UPSTREAM_FAILED: Wording(502, SERVER, "upstream_error"),
    FaultKind.UPSTREAM_TRUNCATED: Wording(502, SERVER, "upstream_truncated"),
    FaultKind.UPSTREAM_TIMEOUT: Wording(504, SERVER, "upstream_timeout"),
    FaultKind.INTERNAL: Wording(500, SERVER),
}


def fault_reply(fault: TurnFault) -> FaultReply:
    """Status and body of ``fault``."""
    return FaultReply(TABLE[fault.kind].status, orjson.dumps(error_body(fault)))


def error_body(fault: TurnFault) -> dict[str, Any]:
    """``{"error": {"message", "type", "param", "code"}}``; ``param`` and ``code`` are null when there is none."""
    wording = TABLE[fault.kind]
    error: dict[str, Any] = {
        "message": message(fault),
        "type": wording.type,
        "param": fault.param,
        "code": fault.code or wording.code,
    }
    if "drought" in fault.details:
        error["drought"] = fault.details["drought"]
    return {"error": error}


def message(fault: TurnFault) -> str:
    """The field and what is wrong with it, in the vendor's manner; a refusal lists every field it refuses."""
    if SURFACE in fault.wording:
        return fault.wording[SURFACE]
    if fault.param is None:
        return fault.problem
    problem = fault.problem.rstrip(".")
    told = f"{problem[:1].upper()}{problem[1:]}."
    if fault.kind is FaultKind.NOT_FOUND:
        return told
    if fault.kind is FaultKind.UNSUPPORTED_PARAMETER:
        others = ", ".join(f"'{path}'" for path in fault.details.get("refused", ()) if path != fault.param)
        also = f" Also unsupported: {others}." if others else ""
        return f"Unsupported parameter: '{fault.param}'. {told}{also}"
    if fault.code == "missing_required_parameter":
        more = problem.removeprefix("the field is required").lstrip("; ")
        return f"Missing required parameter: '{fault.param}'" + (f" ({more})." if more else ".")
    return f"Invalid '{fault.param}': {problem}."
