"""The field at fault is named where the clients of each surface look for it, in a whole 400 and literally."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from tests.matrix import asking
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, Json
from tests.matrix.test_matrix_errors import assert_headers


def openai(message: str, param: str, code: str | None) -> Json:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return {"error": error}


def google(path: str, problem: str) -> Json:
    violation = {"field": path, "description": problem}
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    message = f"{path}: {problem}"
    return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": details}}


def anthropic(message: str) -> Json:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


FIELDS: list[tuple[str, Json, Json]] = [
    # what is sent, and the whole 400: a wrong type, a missing field, a refused one, each far down where it can be
    (
        CHAT,
        {"messages": "hi"},
        openai("Invalid 'messages': must be an array, not a string.", "messages", "invalid_type"),
    ),
    (
        CHAT,
        {"messages": None},
        openai("Missing required parameter: 'messages'.", "messages", "missing_required_parameter"),
    ),
    (
        CHAT,
        {"n": 2},
        openai(
            "Unsupported parameter: 'n'. One turn gives one answer; a caller of several reads choices[1], "
            "which would not be there.",
            "n",
            "unsupported_parameter",
        ),
    ),
    (
        RESPONSES,
        {"input": 5},
        openai("Invalid 'input': must be a string or an array, not an integer.", "input", "invalid_type"),
    ),
    (
        RESPONSES,
        {"background": True},
        openai(
            "Unsupported parameter: 'background'. A turn that runs on its own needs a queue.",
            "background",
            "unsupported_parameter",
        ),
    ),
    (MESSAGES, {"messages": "hi"}, anthropic("messages: must be an array, not a string")),
    (MESSAGES, {"max_tokens": None}, anthropic("max_tokens: the field is required")),
    (MESSAGES, {"container": "c"}, anthropic("container: Extra inputs are not permitted")),
    (
        MESSAGES,
        {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
        anthropic("messages.0.content.0.text: must be a string, not an integer"),
    ),
    (GENERATE, {"contents": "hi"}, google("contents", "must be an array, not a string")),
    (
        GENERATE,
        {"contents": [{"parts": [{"text": 5}]}]},
        google("contents[0].parts[0].text", "must be a string, not an integer"),
    ),
    (
        GENERATE,
        {"cachedContent": "c"},
        google("cachedContent", "it names a prefix of the prompt that is not here"),
    ),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("surface", "keys", "expected"), FIELDS)
def test_a_field_at_fault_is_named_where_clients_look_for_it(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    keys: Json,
    expected: Json,
    stream: bool,
) -> None:
    reply = asking.ask(standing(), surface, stream=stream, **keys)

    assert reply.status_code == 400
    said = reply.json
    if surface == MESSAGES:
        assert said.pop("request_id") == reply.headers["request-id"]
    assert said == expected
    assert_headers(reply, None, {})
    assert fake.captures() == []
