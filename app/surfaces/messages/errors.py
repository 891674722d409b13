"""What a fault is called on the Messages surface: one table, and the vendor's own wordings.

Paths are dotted in the text (``messages.3.content.1.type``), for Claude Code reads them and repairs its request
by them: ``<path>: Extra inputs are not permitted`` takes the field out, ``Unexpected value(s) `x` for the
`anthropic-beta` header`` the token. Error types are those of the vendor's SDK; ``request_too_large`` is the
API's own, which the SDK does not list.
"""

from __future__ import annotations

from typing import Any

import orjson

from app.surfaces.messages.betas import HEADER_PATH
from app.surfaces.surface import FaultReply
from app.turn.faults import FaultKind, TurnFault

TABLE: dict[FaultKind, tuple[int, str]] = {
    FaultKind.INVALID_REQUEST: (400, "invalid_request_error"),
    FaultKind.UNSUPPORTED_PARAMETER: (400, "invalid_request_error"),
    FaultKind.AUTHENTICATION: (401, "authentication_error"),
    FaultKind.PERMISSION: (403, "permission_error"),
    FaultKind.NOT_FOUND: (404, "not_found_error"),
    FaultKind.WRONG_METHOD: (405, "invalid_request_error"),
    FaultKind.WRONG_ENCODING: (415, "invalid_request_error"),
    FaultKind.TOO_LARGE: (413, "request_too_large"),
    FaultKind.RATE_LIMITED: (429, "rate_limit_error"),
    FaultKind.QUOTA_EXHAUSTED: (429, "rate_limit_error"),
    FaultKind.CAPACITY: (529, "overloaded_error"),
    FaultKind.DROUGHT: (529, "overloaded_error"),
    FaultKind.DRAINING: (529, "overloaded_error"),
    FaultKind.UPSTREAM_AUTHENTICATION: (502, "api_error"),
    FaultKind.UPSTREAM_FAILED: (502, "api_error"),
    FaultKind.UPSTREAM_TRUNCATED: (502, "api_error"),
    FaultKind.UPSTREAM_TIMEOUT: (504, "timeout_error"),
    FaultKind.INTERNAL: (500, "api_error"),
}
"""Fault kind -> HTTP status, error type."""

AGAIN = "try again later"


def fault_reply(fault: TurnFault, request_id: str) -> FaultReply:
    """``{"type": "error", "error": {"type", "message"}, "request_id"}`` with its status."""
    return FaultReply(TABLE[fault.kind][0], orjson.dumps(error_object(fault, request_id)))


def error_object(fault: TurnFault, request_id: str) -> dict[str, Any]:
    """The error as the vendor writes it, in a reply's body and in a stream."""
    error = {"type": TABLE[fault.kind][1], "message": message_of(fault)}
    return {"type": "error", "error": error, "request_id": request_id}


def stream_error(fault: TurnFault, request_id: str) -> dict[str, Any]:
    """The same in a stream, where no status tells that a fault may pass: opencode tries again by these words."""
    event = error_object(fault, request_id)
    if TABLE[fault.kind][1] in ("api_error", "timeout_error"):
        event["error"]["message"] += f"; {AGAIN}"
    return event


def message_of(fault: TurnFault) -> str:
    """The fault in one line, with the vendor's wording where clients go by it."""
    wording = fault.wording.get("messages")
    if wording is not None:
        return wording
    if fault.param is None:
        return fault.problem
    if fault.kind is FaultKind.UNSUPPORTED_PARAMETER:
        return _not_permitted(fault.details.get("refused") or [fault.param])
    return f"{dotted(fault.param)}: {fault.problem}"


def _not_permitted(paths: list[str]) -> str:
    tokens = [path.removeprefix(HEADER_PATH) for path in paths if path.startswith(HEADER_PATH)]
    lines = [
        f"{dotted(path)}: Extra inputs are not permitted"
        for path in paths
        if not path.startswith(HEADER_PATH)
    ]
    if tokens:
        listed = ", ".join(f"`{token}`" for token in tokens)
        lines.insert(0, f"Unexpected value(s) {listed} for the `anthropic-beta` header")
    return "; ".join(lines)


def dotted(path: str) -> str:
    """``messages[3].content[1].type`` -> ``messages.3.content.1.type``."""
    return path.replace("[", ".").replace("]", "")
