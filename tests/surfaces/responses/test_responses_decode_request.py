"""The request's top level -> Turn; wrong types are 400s with their literal path."""

from __future__ import annotations

from typing import Any

import pytest

from app.turn.turn import Message, OutputFormat, Sampling, TextPart
from tests.support.responses import body, decode, function, refused, user

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}}


def test_responses_string_input_is_one_user_message() -> None:
    turn = decode(body()).turn

    assert turn.messages == [Message("user", [TextPart("hi")], "input")]
    assert (turn.model, turn.system, turn.stream) == ("m", "", False)


def test_responses_instructions_come_first_in_the_system_text() -> None:
    turn = decode(body({"role": "developer", "content": "D"}, user(), instructions="I")).turn

    assert turn.system == "I\n\nD"


def test_responses_sampling_keeps_zero_apart_from_absent() -> None:
    turn = decode(body(temperature=0, top_p=0, top_k=0, max_output_tokens=5)).turn

    assert turn.sampling == Sampling(max_output_tokens=5, temperature=0.0, top_p=0.0, top_k=0)
    assert decode(body()).turn.sampling == Sampling()


def test_responses_session_key_is_the_prompt_cache_key() -> None:
    assert decode(body(prompt_cache_key="k")).turn.session_key == "k"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, (False, False, False)),
        ({"reasoning": {"effort": "high"}}, (False, False, False)),
        ({"reasoning": {"summary": "auto"}}, (True, True, False)),
        ({"reasoning": {"generate_summary": "detailed"}}, (True, True, False)),
        ({"include": ["reasoning.encrypted_content"]}, (True, False, True)),
        ({"reasoning": {"effort": "none", "summary": "auto"}}, (False, False, False)),
    ],
)
def test_responses_reasoning_reaches_the_encoder_when_it_is_asked_for(
    keys: dict[str, Any], expected: tuple[bool, bool, bool]
) -> None:
    decoded = decode(body(**keys))

    echo = decoded.echo
    assert (decoded.turn.show_reasoning, echo.shows_summary, echo.seals_reasoning) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, OutputFormat("json_object")),
        (
            {"type": "json_schema", "name": "o", "schema": SCHEMA, "strict": True, "description": "d"},
            OutputFormat("json_schema", SCHEMA, "o", "d", strict=True),
        ),
        ({"type": "json_schema", "name": "o", "schema": SCHEMA}, OutputFormat("json_schema", SCHEMA, "o")),
    ],
)
def test_responses_text_format_is_the_output_format(
    wanted: dict[str, Any], expected: OutputFormat | None
) -> None:
    assert decode(body(text={"format": wanted})).turn.output_format == expected


@pytest.mark.parametrize("value", [True, False, None])
def test_responses_parallel_tool_calls_is_kept_as_said(value: bool | None) -> None:
    assert decode(body(parallel_tool_calls=value)).turn.parallel_tool_calls is value


@pytest.mark.parametrize(
    ("request_body", "param", "code"),
    [
        ({"input": "hi"}, "model", "missing_required_parameter"),
        ({"model": "m"}, "input", "missing_required_parameter"),
        (body(input=""), "input", None),
        (body(input=[]), "input", None),
        (body(input=5), "input", "invalid_type"),
        (body(input={"role": "user"}), "input", "invalid_type"),
        (body(model=5), "model", "invalid_type"),
        (body(instructions=["a"]), "instructions", "invalid_type"),
        (body(stream="true"), "stream", "invalid_type"),
        (body(parallel_tool_calls="false"), "parallel_tool_calls", "invalid_type"),
        (body(parallel_tool_calls=0), "parallel_tool_calls", "invalid_type"),
        (body(temperature="1"), "temperature", "invalid_type"),
        (body(temperature=2.5), "temperature", None),
        (body(top_p=1.1), "top_p", None),
        (body(max_output_tokens=0), "max_output_tokens", None),
        (body(max_output_tokens=1.5), "max_output_tokens", "invalid_type"),
        (body(tools={}), "tools", "invalid_type"),
        (body(tools=[5]), "tools[0]", "invalid_type"),
        (body(text="plain"), "text", "invalid_type"),
        (body(text={"verbosity": "loud"}), "text.verbosity", "invalid_value"),
        (body(text={"format": "json"}), "text.format", "invalid_type"),
        (body(text={"format": {"type": "yaml"}}), "text.format.type", "invalid_value"),
        (body(text={"format": {}}), "text.format.type", "missing_required_parameter"),
        (
            body(text={"format": {"type": "json_schema", "name": "o"}}),
            "text.format.schema",
            "missing_required_parameter",
        ),
        (
            body(text={"format": {"type": "json_schema", "schema": {}}}),
            "text.format.name",
            "missing_required_parameter",
        ),
        (
            body(text={"format": {"type": "json_schema", "name": "o", "schema": {}, "strict": "yes"}}),
            "text.format.strict",
            "invalid_type",
        ),
        (body(reasoning="high"), "reasoning", "invalid_type"),
        (body(reasoning={"effort": 5}), "reasoning.effort", "invalid_type"),
        (body(reasoning={"summary": "short"}), "reasoning.summary", "invalid_value"),
        (body(include="reasoning.encrypted_content"), "include", "invalid_type"),
        (body(include=["nothing.known"]), "include[0]", "invalid_value"),
        (body(include=[5]), "include[0]", "invalid_type"),
        (body(metadata="k=v"), "metadata", "invalid_type"),
        (body(metadata={"k": 1}), "metadata.k", "invalid_type"),
        (body(metadata={"k" * 65: "v"}), "metadata", None),
        (body(metadata={"k": "v" * 513}), "metadata.k", None),
        (body(metadata={str(n): "v" for n in range(17)}), "metadata", None),
        (body(store="yes"), "store", "invalid_type"),
        (body(background="yes"), "background", "invalid_type"),
        (body(top_logprobs=21), "top_logprobs", None),
        (body(prompt_cache_key=5), "prompt_cache_key", "invalid_type"),
        (body(safety_identifier=5), "safety_identifier", "invalid_type"),
        (body(user=5), "user", "invalid_type"),
        (body(previous_response_id="resp_x"), "previous_response_id", "previous_response_not_found"),
        (body(previous_response_id=5), "previous_response_id", "invalid_type"),
    ],
)
def test_responses_refuses_what_the_protocol_cannot_mean(
    request_body: dict[str, Any], param: str, code: str | None
) -> None:
    assert refused(request_body) == (param, code)


def test_responses_null_is_absent() -> None:
    nullable = (
        "instructions",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "temperature",
        "top_p",
        "max_output_tokens",
        "text",
        "reasoning",
        "include",
        "metadata",
        "store",
        "stream",
        "stream_options",
        "previous_response_id",
        "conversation",
        "prompt",
        "background",
        "truncation",
        "user",
    )

    assert decode(body(**dict.fromkeys(nullable))).turn == decode(body()).turn


def test_responses_tools_of_the_request_are_offered_in_order() -> None:
    turn = decode(body(tools=[function("f"), function("g")])).turn

    assert [tool.name for tool in turn.tools] == ["f", "g"]
