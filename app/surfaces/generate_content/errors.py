"""The one table from faults to this surface's words: google.rpc.Status, over HTTP and in a stream.

Vocabulary: googleapis ``google/rpc/code.proto`` and ``error_details.proto``. Real clients read ``details``:
Gemini CLI waits by ``RetryInfo``, not by the Retry-After header.
"""

from __future__ import annotations

import math
from typing import Any

from app.turn.faults import FaultKind, TurnFault

NAME = "generate_content"
_TYPE = "type.googleapis.com/google.rpc."

_TABLE: dict[FaultKind, tuple[int, str]] = {
    FaultKind.INVALID_REQUEST: (400, "INVALID_ARGUMENT"),
    FaultKind.UNSUPPORTED_PARAMETER: (400, "INVALID_ARGUMENT"),
    FaultKind.AUTHENTICATION: (401, "UNAUTHENTICATED"),
    FaultKind.PERMISSION: (403, "PERMISSION_DENIED"),
    FaultKind.NOT_FOUND: (404, "NOT_FOUND"),
    FaultKind.WRONG_METHOD: (405, "INVALID_ARGUMENT"),
    FaultKind.WRONG_ENCODING: (415, "INVALID_ARGUMENT"),
    FaultKind.TOO_LARGE: (413, "INVALID_ARGUMENT"),
    FaultKind.RATE_LIMITED: (429, "RESOURCE_EXHAUSTED"),
    FaultKind.QUOTA_EXHAUSTED: (429, "RESOURCE_EXHAUSTED"),
    FaultKind.CAPACITY: (503, "UNAVAILABLE"),
    FaultKind.DROUGHT: (503, "UNAVAILABLE"),
    FaultKind.DRAINING: (503, "UNAVAILABLE"),
    FaultKind.UPSTREAM_AUTHENTICATION: (502, "INTERNAL"),
    FaultKind.UPSTREAM_FAILED: (502, "INTERNAL"),
    FaultKind.UPSTREAM_TRUNCATED: (502, "INTERNAL"),
    FaultKind.UPSTREAM_TIMEOUT: (504, "DEADLINE_EXCEEDED"),
    FaultKind.INTERNAL: (500, "INTERNAL"),
}


def status_of(fault: TurnFault) -> int:
    """The HTTP status, which is also ``error.code``."""
    return _TABLE[fault.kind][0]


def error_body(fault: TurnFault) -> dict[str, Any]:
    """``{"error": {"code", "message", "status", "details"}}``; ``details`` only when there are any."""
    code, status = _TABLE[fault.kind]
    error: dict[str, Any] = {"code": code, "message": _message(fault), "status": status}
    details = []
    if code == 400 and fault.param is not None:
        details.append({"@type": _TYPE + "BadRequest", "fieldViolations": _violations(fault)})
    if fault.retry_after_s is not None:
        delay = max(1, math.ceil(fault.retry_after_s))
        details.append({"@type": _TYPE + "RetryInfo", "retryDelay": f"{delay}s"})
    if details:
        error["details"] = details
    return {"error": error}


def _problem(fault: TurnFault) -> str:
    """What is wrong. A refusal names fields here, never a switch that would help."""
    return str(fault.details.get("reason", fault.problem))


def _message(fault: TurnFault) -> str:
    worded = fault.wording.get(NAME)
    if worded is not None:
        return worded
    message = _problem(fault) if fault.param is None else f"{fault.param}: {_problem(fault)}"
    others = [path for path in fault.details.get("refused", ()) if path != fault.param]
    if others:
        message += f"; not supported either: {', '.join(others)}"
    return message


def _violations(fault: TurnFault) -> list[dict[str, str]]:
    violations = [{"field": str(fault.param), "description": _problem(fault)}]
    for path in fault.details.get("refused", ()):
        if path != fault.param:
            violations.append({"field": path, "description": "not supported"})
    return violations
