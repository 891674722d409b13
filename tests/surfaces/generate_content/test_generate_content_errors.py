"""generate_content: the table from faults to google.rpc words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.surfaces.generate_content.surface import GenerateContent
from app.turn.faults import FaultKind, TurnFault

TABLE = {
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


def told(surface: GenerateContent, fault: TurnFault) -> tuple[int, dict[str, Any]]:
    reply = surface.fault_reply(fault, "req_1")
    return reply.status, json.loads(reply.body)


@pytest.mark.parametrize("kind", list(FaultKind))
def test_generate_content_words_every_kind_of_fault(surface: GenerateContent, kind: FaultKind) -> None:
    status, rpc_status = TABLE[kind]
    assert told(surface, TurnFault(kind, "so it is")) == (
        status,
        {"error": {"code": status, "message": "so it is", "status": rpc_status}},
    )


def test_generate_content_names_the_field_in_message_and_violation(surface: GenerateContent) -> None:
    fault = TurnFault(FaultKind.INVALID_REQUEST, "must be a string", param="contents[0].parts[1].text")
    assert told(surface, fault)[1]["error"] == {
        "code": 400,
        "message": "contents[0].parts[1].text: must be a string",
        "status": "INVALID_ARGUMENT",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [
                    {"field": "contents[0].parts[1].text", "description": "must be a string"}
                ],
            }
        ],
    }


def test_generate_content_lists_every_refused_field_and_no_switch(surface: GenerateContent) -> None:
    fault = TurnFault(
        FaultKind.UNSUPPORTED_PARAMETER,
        "no force; DEVIN_CONNECT_TOOL_CHOICE=1 would honour it",
        param="a.b",
        details={"refused": ["a.b", "c"], "rows": ["a.b", "c"], "reason": "no force"},
    )
    error = told(surface, fault)[1]["error"]
    assert error["message"] == "a.b: no force; not supported either: c"
    assert error["details"][0]["fieldViolations"] == [
        {"field": "a.b", "description": "no force"},
        {"field": "c", "description": "not supported"},
    ]


@pytest.mark.parametrize(("seconds", "delay"), [(12, "12s"), (11.2, "12s"), (0, "1s"), (0.01, "1s")])
def test_generate_content_tells_when_to_retry(surface: GenerateContent, seconds: float, delay: str) -> None:
    fault = TurnFault(FaultKind.RATE_LIMITED, "slow down", retry_after_s=seconds)
    assert told(surface, fault)[1]["error"]["details"] == [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    ]


def test_generate_content_names_the_model_that_is_not_there_without_a_violation(
    surface: GenerateContent,
) -> None:
    status, body = told(
        surface, TurnFault(FaultKind.NOT_FOUND, "the model 'x' does not exist", param="model")
    )
    assert status == 404
    assert body["error"] == {
        "code": 404,
        "message": "model: the model 'x' does not exist",
        "status": "NOT_FOUND",
    }


def test_generate_content_uses_wording_made_for_it(surface: GenerateContent) -> None:
    fault = TurnFault(FaultKind.INVALID_REQUEST, "p", wording={"generate_content": "w", "messages": "n"})
    assert told(surface, fault)[1]["error"]["message"] == "w"
