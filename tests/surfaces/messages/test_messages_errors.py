"""How messages words faults."""

import json

import pytest
from anthropic.types import ErrorResponse

from app.turn.faults import FaultKind, TurnFault, invalid, unsupported
from tests.support.strict import check
from tests.surfaces.messages.kit import SURFACE, message_of

TABLE = {
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


@pytest.mark.parametrize("kind", FaultKind)
def test_every_kind_of_fault(kind):
    reply = SURFACE.fault_reply(TurnFault(kind, "what is wrong"), "req_9")
    status, name = TABLE[kind]
    assert reply.status == status
    assert json.loads(reply.body) == {
        "type": "error",
        "error": {"type": name, "message": "what is wrong"},
        "request_id": "req_9",
    }
    if name != "request_too_large":  # the API's own, which the SDK does not list
        check(ErrorResponse, reply.body.decode())


def test_the_field_is_named_with_dots():
    assert message_of(invalid("must be a string", "messages[3].content[1].type")) == (
        "messages.3.content.1.type: must be a string"
    )


def test_refusals_use_the_wording_by_which_clients_repair_themselves():
    assert message_of(unsupported("why", "messages[1].output_config")) == (
        "messages.1.output_config: Extra inputs are not permitted"
    )


def test_several_refusals_are_all_listed_with_header_tokens_first():
    fault = TurnFault(
        FaultKind.UNSUPPORTED_PARAMETER,
        "why",
        param="context_management",
        details={
            "refused": [
                "context_management",
                "anthropic-beta:a",
                "system[1].cache_control",
                "anthropic-beta:b",
            ]
        },
    )
    assert message_of(fault) == (
        "Unexpected value(s) `a`, `b` for the `anthropic-beta` header; "
        "context_management: Extra inputs are not permitted; "
        "system.1.cache_control: Extra inputs are not permitted"
    )


def test_a_wording_of_its_own_stands_as_it_is():
    text = "max_tokens: 128000 > 32000, which is the maximum allowed number of output tokens for m"
    fault = TurnFault(FaultKind.INVALID_REQUEST, "too large", param="max_tokens", wording={"messages": text})
    assert message_of(fault) == text
