"""The Response object: every required key is there, and no echo claims what is not in force."""

from __future__ import annotations

from typing import Any

import pytest

from app.turn.events import Event, TextDelta, Usage
from tests.support.responses import (
    CREATED_S,
    DEFAULT,
    DONE_S,
    EVERYTHING,
    FINISHED,
    NOTHING,
    body,
    custom,
    function,
    namespace,
    reply,
    stream,
)

HI: list[Event] = [TextDelta("hi"), Usage(3, 1), FINISHED]
SYSTEM = {"instructions": "S"}


def test_responses_object_of_the_smallest_request() -> None:
    assert reply(body(), HI) == {
        "id": "resp_",
        "object": "response",
        "created_at": CREATED_S,
        "model": "m",
        "instructions": None,
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "top_p": 1.0,
        "max_output_tokens": None,
        "text": {"format": {"type": "text"}},
        "reasoning": None,
        "truncation": "disabled",
        "max_tool_calls": None,
        "top_logprobs": 0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "store": False,
        "background": False,
        "previous_response_id": None,
        "service_tier": "default",
        "metadata": {},
        "safety_identifier": None,
        "prompt_cache_key": None,
        "status": "completed",
        "completed_at": DONE_S,
        "error": None,
        "incomplete_details": None,
        "usage": {
            "input_tokens": 3,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 4,
        },
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "hi"}],
            }
        ],
    }


def echoed(key: str, features: Any = EVERYTHING, **keys: Any) -> Any:
    return reply(body(**keys), HI, features=features)[key]


def test_responses_echoes_what_was_asked_and_is_in_force() -> None:
    keys: dict[str, Any] = {
        "instructions": "S",
        "temperature": 0.5,
        "top_p": 0.25,
        "max_output_tokens": 9,
        "metadata": {"k": "v"},
        "safety_identifier": "s",
        "prompt_cache_key": "p",
        "user": "u",
    }

    said = reply(body(**keys), HI)

    assert {key: said[key] for key in keys} == keys


def test_responses_metadata_is_in_every_event_that_carries_the_response() -> None:
    events = stream(body(metadata={"k": "v"}), HI)

    carried = [event["response"]["metadata"] for event in events if "response" in event]
    assert carried == [{"k": "v"}] * 3


def test_responses_parallel_false_echoes_what_is_in_force() -> None:
    assert echoed("parallel_tool_calls", NOTHING, parallel_tool_calls=False) is True
    assert echoed("parallel_tool_calls", EVERYTHING, parallel_tool_calls=False) is False


@pytest.mark.parametrize(
    ("keys", "key", "expected"),
    [
        ({"store": True}, "store", False),
        ({"service_tier": "priority"}, "service_tier", "default"),
        ({"truncation": "auto"}, "truncation", "disabled"),
        ({"max_tool_calls": 3}, "max_tool_calls", None),
        ({"text": {"verbosity": "low"}}, "text", {"format": {"type": "text"}}),
        ({"reasoning": {"effort": "high"}}, "reasoning", {"effort": None, "summary": None}),
        ({"reasoning": {"summary": "auto"}}, "reasoning", {"effort": None, "summary": "auto"}),
        ({"temperature": 0.5}, "temperature", 1.0),
        ({"top_p": 0.5}, "top_p", 1.0),
        ({"max_output_tokens": 5}, "max_output_tokens", None),
    ],
)
def test_responses_never_echoes_an_ignored_value_as_honoured(
    keys: dict[str, Any], key: str, expected: Any
) -> None:
    assert echoed(key, NOTHING, **keys) == expected


F = {"type": "function", "name": "f"}


@pytest.mark.parametrize(
    ("choice", "carried", "not_carried"),
    [
        ("none", "none", "none"),
        ("required", "required", "auto"),
        (F, F, {"type": "allowed_tools", "mode": "auto", "tools": [F]}),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [F]},
            {"type": "allowed_tools", "mode": "required", "tools": [F]},
            {"type": "allowed_tools", "mode": "auto", "tools": [F]},
        ),
    ],
)
def test_responses_tool_choice_is_echoed_without_a_force_that_was_ignored(
    choice: Any, carried: Any, not_carried: Any
) -> None:
    assert echoed("tool_choice", EVERYTHING, tools=[function()], tool_choice=choice) == carried
    assert echoed("tool_choice", DEFAULT, tools=[function()], tool_choice=choice, **SYSTEM) == not_carried


def test_responses_tools_are_echoed_by_their_documented_keys_without_hosted_ones() -> None:
    tools = [
        {"type": "function", "name": "f", "colour": "red"},
        custom("c", format={"type": "text"}),
        namespace("n", function("g", strict=True)),
        {"type": "tool_search", "execution": "client", "parameters": {"type": "object"}},
        {"type": "shell"},
        {"type": "web_search", "external_web_access": True},
    ]

    assert echoed("tools", tools=tools) == [
        {"type": "function", "name": "f", "description": None, "parameters": None, "strict": None},
        {"type": "custom", "name": "c", "format": {"type": "text"}},
        {
            "type": "namespace",
            "name": "n",
            "description": "",
            "tools": [
                {"type": "function", "name": "g", "description": None, "parameters": None, "strict": True}
            ],
        },
        {"type": "tool_search", "execution": "client", "parameters": {"type": "object"}},
        {"type": "shell"},
    ]


def test_responses_format_is_echoed_strict_only_when_it_is_guaranteed() -> None:
    wanted = {"type": "json_schema", "name": "o", "schema": {"type": "object"}, "strict": True}

    assert echoed("text", EVERYTHING, text={"format": wanted})["format"] == {**wanted, "description": None}
    assert echoed("text", DEFAULT, text={"format": wanted})["format"]["strict"] is False
    assert echoed("text", text={"format": {"type": "json_object"}}) == {"format": {"type": "json_object"}}
