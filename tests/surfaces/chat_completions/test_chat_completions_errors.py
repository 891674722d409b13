"""Faults in the words of chat completions: one table, and how the field is told."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from openai.types.shared import ErrorObject

from app.turn.faults import FaultKind, TurnFault, invalid, unsupported
from tests.support import strict
from tests.support.chat import SURFACE

REQUEST, SERVER, RATE = "invalid_request_error", "server_error", "rate_limit_error"


def reply(fault: TurnFault) -> tuple[int, dict[str, Any]]:
    rendered = SURFACE.fault_reply(fault, "req_1")
    told = orjson.loads(rendered.body)
    assert told.keys() == {"error"}
    return rendered.status, told["error"]


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
        (FaultKind.RATE_LIMITED, 429, RATE, "rate_limit_exceeded"),
        (FaultKind.QUOTA_EXHAUSTED, 429, RATE, "rate_limit_exceeded"),
        (FaultKind.INTERNAL, 500, SERVER, None),
        (FaultKind.UPSTREAM_AUTHENTICATION, 502, SERVER, "upstream_error"),
        (FaultKind.UPSTREAM_FAILED, 502, SERVER, "upstream_error"),
        (FaultKind.UPSTREAM_TRUNCATED, 502, SERVER, "upstream_truncated"),
        (FaultKind.CAPACITY, 503, SERVER, "capacity_exhausted"),
        (FaultKind.DROUGHT, 503, SERVER, "drought_mode"),
        (FaultKind.DRAINING, 503, SERVER, "draining"),
        (FaultKind.UPSTREAM_TIMEOUT, 504, SERVER, "upstream_timeout"),
    ],
)
def test_chat_words_every_kind_of_fault(kind: FaultKind, status: int, type_: str, code: str | None) -> None:
    told = {"message": "it is so", "type": type_, "param": None, "code": code}
    assert reply(TurnFault(kind, "it is so")) == (status, told)
    strict.check(ErrorObject, orjson.dumps(told).decode())


def test_chat_has_words_for_all_kinds() -> None:
    for kind in FaultKind:
        reply(TurnFault(kind, "x"))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (invalid("must be a string, not an integer", "messages[0].content"),
         "Invalid 'messages[0].content': must be a string, not an integer."),
        (invalid("the field is required", "model", code="missing_required_parameter"),
         "Missing required parameter: 'model'."),
        (invalid("the field is required; supported values are: 'text'", "a.type", code="missing_required_parameter"),
         "Missing required parameter: 'a.type' (supported values are: 'text')."),
        (unsupported("one turn gives one answer.", "n"), "Unsupported parameter: 'n'. One turn gives one answer."),
        (TurnFault(FaultKind.UNSUPPORTED_PARAMETER, "no", param="seed", details={"refused": ["seed", "user"]}),
         "Unsupported parameter: 'seed'. No. Also unsupported: 'user'."),
        (TurnFault(FaultKind.NOT_FOUND, "the model 'x' does not exist", param="model"),
            "The model 'x' does not exist."),
        (TurnFault(FaultKind.INVALID_REQUEST, "p", param="a", wording={"chat_completions": "as it is"}), "as it is"),
        (TurnFault(FaultKind.INVALID_REQUEST, "p", param="a", wording={"messages": "as it is"}), "Invalid 'a': p."),
    ],
)  # fmt: skip
def test_chat_joins_the_field_and_what_is_wrong_with_it(fault: TurnFault, message: str) -> None:
    _, error = reply(fault)
    assert (error["message"], error["param"]) == (message, fault.param)


def test_chat_takes_the_more_precise_code_of_a_fault() -> None:
    _, error = reply(invalid("bad", "temperature", code="invalid_type"))
    assert error["code"] == "invalid_type"


def test_chat_tells_what_a_drought_leaves() -> None:
    left = {"threshold": 5, "allowed_models": ["fake-echo"]}
    _, error = reply(TurnFault(FaultKind.DROUGHT, "only free models run", details={"drought": left}))
    assert error["drought"] == left
