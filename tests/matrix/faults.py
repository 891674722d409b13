"""How each kind of fault is told on each surface: statuses, types and bodies, in the vendors' words."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES

Json = dict[str, Any]


class Told(NamedTuple):
    """One row: OpenAI's status, type and code; Anthropic's status and type; Google's status and name.

    ``stream_code`` is what ``response.failed`` may say.
    """

    openai: tuple[int, str, str | None]
    anthropic: tuple[int, str]
    google: tuple[int, str]
    stream_code: str = "server_error"

    def status(self, surface: str) -> int:
        return {
            CHAT: self.openai[0],
            RESPONSES: self.openai[0],
            MESSAGES: self.anthropic[0],
            GENERATE: self.google[0],
        }[surface]


REQUEST, SERVER = "invalid_request_error", "server_error"

INVALID = Told((400, REQUEST, None), (400, REQUEST), (400, "INVALID_ARGUMENT"), "invalid_prompt")
UNAUTHENTICATED = Told(
    (401, REQUEST, "invalid_api_key"), (401, "authentication_error"), (401, "UNAUTHENTICATED")
)
PERMISSION = Told((403, "permission_error", None), (403, "permission_error"), (403, "PERMISSION_DENIED"))
NOT_FOUND = Told(
    (404, REQUEST, "model_not_found"), (404, "not_found_error"), (404, "NOT_FOUND"), "invalid_prompt"
)
UNKNOWN_URL = Told((404, REQUEST, "unknown_url"), (404, "not_found_error"), (404, "NOT_FOUND"))
WRONG_METHOD = Told((405, REQUEST, None), (405, REQUEST), (405, "INVALID_ARGUMENT"))
TOO_LARGE = Told((413, REQUEST, "request_too_large"), (413, "request_too_large"), (413, "INVALID_ARGUMENT"))
WRONG_ENCODING = Told((415, REQUEST, None), (415, REQUEST), (415, "INVALID_ARGUMENT"))
RATE_LIMITED = Told(
    (429, "rate_limit_error", "rate_limit_exceeded"),
    (429, "rate_limit_error"),
    (429, "RESOURCE_EXHAUSTED"),
    "rate_limit_exceeded",
)
INTERNAL = Told((500, SERVER, None), (500, "api_error"), (500, "INTERNAL"))
FAILED = Told((502, SERVER, "upstream_error"), (502, "api_error"), (502, "INTERNAL"))
TRUNCATED = Told((502, SERVER, "upstream_truncated"), (502, "api_error"), (502, "INTERNAL"))
CAPACITY = Told((503, SERVER, "capacity_exhausted"), (529, "overloaded_error"), (503, "UNAVAILABLE"))
DRAINING = Told((503, SERVER, "draining"), (529, "overloaded_error"), (503, "UNAVAILABLE"))
TIMEOUT = Told((504, SERVER, "upstream_timeout"), (504, "timeout_error"), (504, "DEADLINE_EXCEEDED"))

_RPC = "type.googleapis.com/google.rpc."


def sentence(problem: str) -> str:
    """The manner of the Responses API."""
    return f"{problem[0].upper()}{problem[1:]}."


def body(surface: str, told: Told, problem: str, *, wait_s: int | None = None, request_id: str = "") -> Json:
    """The whole body of a fault that names no field; ``problem`` says what is wrong."""
    if surface == MESSAGES:
        error = {"type": told.anthropic[1], "message": problem}
        return {"type": "error", "error": error, "request_id": request_id}
    if surface == GENERATE:
        status, name = told.google
        google: Json = {"code": status, "message": problem, "status": name}
        if wait_s is not None:
            google["details"] = [{"@type": _RPC + "RetryInfo", "retryDelay": f"{wait_s}s"}]
        return {"error": google}
    message = sentence(problem) if surface == RESPONSES else problem
    return {"error": {"message": message, "type": told.openai[1], "param": None, "code": told.openai[2]}}


def in_stream(
    surface: str, told: Told, problem: str, *, wait_s: int | None = None, request_id: str = ""
) -> Json:
    """The same fault after the answer has begun."""
    if surface == MESSAGES and told.anthropic[1] in ("api_error", "timeout_error"):
        problem += "; try again later"
    if surface != RESPONSES:
        return body(surface, told, problem, wait_s=wait_s, request_id=request_id)
    message = sentence(problem)
    if told.openai[2] not in (None, told.stream_code):
        message = f"{told.openai[2]}: {message}"
    if wait_s is not None:
        message += f" Please try again in {wait_s}s."
    return {"code": told.stream_code, "message": message}
