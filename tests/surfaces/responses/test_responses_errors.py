"""Faults in this surface's words: status, type, code and message, literally."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from app.surfaces.responses.errors import WORDINGS
from app.turn.faults import FaultKind, TurnFault, invalid
from tests.support.responses import SURFACE

REQUEST = "invalid_request_error"


def error_of(fault: TurnFault) -> tuple[int, dict[str, Any]]:
    reply = SURFACE.fault_reply(fault, "req_1")
    return reply.status, orjson.loads(reply.body)["error"]


@pytest.mark.parametrize(
    ("kind", "status", "type_", "code"),
    [
        (FaultKind.INVALID_REQUEST, 400, REQUEST, None),
        (FaultKind.UNSUPPORTED_PARAMETER, 400, REQUEST, "unsupported_parameter"),
        (FaultKind.AUTHENTICATION, 401, REQUEST, "invalid_api_key"),
        (FaultKind.PERMISSION, 403, "permission_error", None),
        (FaultKind.NOT_FOUND, 404, REQUEST, "model_not_found"),
        (FaultKind.WRONG_METHOD, 405, REQUEST, None),
        (FaultKind.TOO_LARGE, 413, REQUEST, "request_too_large"),
        (FaultKind.WRONG_ENCODING, 415, REQUEST, None),
        (FaultKind.RATE_LIMITED, 429, "rate_limit_error", "rate_limit_exceeded"),
        (FaultKind.QUOTA_EXHAUSTED, 429, "rate_limit_error", "rate_limit_exceeded"),
        (FaultKind.INTERNAL, 500, "server_error", None),
        (FaultKind.UPSTREAM_AUTHENTICATION, 502, "server_error", "upstream_error"),
        (FaultKind.UPSTREAM_FAILED, 502, "server_error", "upstream_error"),
        (FaultKind.UPSTREAM_TRUNCATED, 502, "server_error", "upstream_truncated"),
        (FaultKind.CAPACITY, 503, "server_error", "capacity_exhausted"),
        (FaultKind.DRAINING, 503, "server_error", "draining"),
        (FaultKind.UPSTREAM_TIMEOUT, 504, "server_error", "upstream_timeout"),
    ],
)
def test_responses_words_a_fault(kind: FaultKind, status: int, type_: str, code: str | None) -> None:
    assert error_of(TurnFault(kind, "it failed")) == (
        status,
        {"message": "It failed.", "type": type_, "param": None, "code": code},
    )


def test_responses_words_every_kind_of_fault() -> None:
    assert set(WORDINGS) == set(FaultKind)


def test_responses_drought_says_which_models_still_run() -> None:
    drought = {"threshold": 5, "allowed_models": ["a"]}

    status, error = error_of(
        TurnFault(FaultKind.DROUGHT, "the model is withheld", details={"drought": drought})
    )

    assert (status, error["code"], error["drought"]) == (503, "drought_mode", drought)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            invalid("must be a string, not null", "input[0].role"),
            "Invalid 'input[0].role': must be a string, not null.",
        ),
        (
            invalid("the field is required", "model", code="missing_required_parameter"),
            "Missing required parameter: 'model'.",
        ),
        (
            TurnFault(
                FaultKind.UNSUPPORTED_PARAMETER, "no such thing", param="a", details={"refused": ["a", "b"]}
            ),
            "Unsupported parameter: 'a'. No such thing. Also unsupported: 'b'.",
        ),
        (TurnFault(FaultKind.INVALID_REQUEST, "x", wording={"responses": "Said so."}), "Said so."),
    ],
)
def test_responses_message_names_the_field(fault: TurnFault, message: str) -> None:
    assert error_of(fault)[1]["message"] == message
