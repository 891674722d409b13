"""Whole replies: literal bodies for literal events, all of them valid by the official SDK's models."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from app.turn.events import (
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from tests.support import strict
from tests.support.chat import custom, function, whole

USAGE = Usage(fresh=20, completion=7, cache_read=80, cache_write=3)
TOOLS = {"tools": [function("f"), function("g"), custom("c")]}
TWO_CALLS: list[Event] = [
    ToolCallStarted(0, "a", "f"),
    ToolCallStarted(1, "b", "g"),
    ToolCallArguments(0, '{"x":'),
    ToolCallArguments(1, '{"y":'),
    ToolCallArguments(0, '"1"}'),
    ToolCallArguments(1, '"2"}'),
    USAGE,
    Finished("tool_calls"),
]


def checked(events: list[Event], **keys: Any) -> dict[str, Any]:
    reply = whole(events, **keys)
    strict.check(ChatCompletion, json.dumps(reply))
    return reply


def message_of(events: list[Event], **keys: Any) -> Any:
    return checked(events, **keys)["choices"][0]["message"]


def test_chat_writes_a_text_reply() -> None:
    assert checked([TextDelta("Hel"), TextDelta("lo"), USAGE, Finished("stop")]) == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 103,
            "completion_tokens": 7,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 3},
        },
    }


def test_chat_writes_reasoning_beside_the_text() -> None:
    message = message_of([ReasoningDelta("h"), ReasoningDelta("m"), TextDelta("a"), USAGE, Finished("stop")])
    assert message == {"role": "assistant", "content": "a", "refusal": None, "reasoning_content": "hm"}


def test_chat_writes_interleaved_calls_each_with_its_own_arguments() -> None:
    reply = checked(TWO_CALLS, **TOOLS)["choices"][0]
    assert reply["finish_reason"] == "tool_calls"
    assert reply["message"] == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":"1"}'}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": '{"y":"2"}'}},
        ],
    }


def test_chat_writes_text_beside_calls() -> None:
    events: list[Event] = [TextDelta("t"), ToolCallStarted(0, "a", "f"), USAGE, Finished("tool_calls")]
    message = message_of(events, **TOOLS)
    assert (message["content"], len(message["tool_calls"])) == ("t", 1)


def test_chat_writes_empty_content_for_a_reply_that_says_nothing() -> None:
    assert message_of([USAGE, Finished("stop")])["content"] == ""


@pytest.mark.parametrize(
    ("fragments", "arguments"),
    [([], "{}"), (['{"x": "unterm'], '{"x": "unterm'), (['{ "x" ', ": 1.0 }"], '{ "x" : 1.0 }')],
)
def test_chat_passes_arguments_as_they_are_and_empty_ones_as_an_object(
    fragments: list[str], arguments: str
) -> None:
    events: list[Event] = [ToolCallStarted(0, "a", "f")]
    events += [ToolCallArguments(0, fragment) for fragment in fragments]
    message = message_of([*events, USAGE, Finished("tool_calls")], **TOOLS)
    assert message["tool_calls"][0]["function"]["arguments"] == arguments


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "content_filter"])
def test_chat_says_how_the_turn_ended_in_its_own_words(reason: Any) -> None:
    events: list[Event] = [
        ToolCallStarted(0, "a", "f"),
        ToolCallArguments(0, '{"x":'),
        USAGE,
        Finished(reason),
    ]
    assert checked(events, **TOOLS)["choices"][0]["finish_reason"] == reason


@pytest.mark.parametrize(
    ("fragments", "text"),
    [
        (['{"input":', '"say \\"hi\\"\\n"}'], 'say "hi"\n'),
        ([], ""),
        (['{"input": 5}'], '{"input": 5}'),
        (['{"patch":"x"}'], '{"patch":"x"}'),
        (['{"input": "unterm'], '{"input": "unterm'),
        (["bare text"], "bare text"),
    ],
)
def test_chat_unwraps_a_call_of_a_custom_tool(fragments: list[str], text: str) -> None:
    events: list[Event] = [ToolCallStarted(0, "a", "c")]
    events += [ToolCallArguments(0, fragment) for fragment in fragments]
    message = message_of([*events, USAGE, Finished("tool_calls")], **TOOLS)
    assert message["tool_calls"] == [{"id": "a", "type": "custom", "custom": {"name": "c", "input": text}}]


def test_chat_answers_legacy_functions_in_the_legacy_shape_with_the_first_call() -> None:
    reply = checked(TWO_CALLS, functions=[{"name": "f"}, {"name": "g"}])["choices"][0]
    assert reply["finish_reason"] == "function_call"
    assert reply["message"] == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "function_call": {"name": "f", "arguments": '{"x":"1"}'},
    }


def test_chat_echoes_metadata_as_it_was_sent() -> None:
    assert checked([USAGE, Finished("stop")], metadata={"b": "1", "a": "2"})["metadata"] == {
        "b": "1",
        "a": "2",
    }


def test_chat_echoes_no_metadata_that_was_not_sent() -> None:
    assert "metadata" not in checked([USAGE, Finished("stop")])


@pytest.mark.parametrize("tier", ["auto", "default", "priority"])
def test_chat_tells_a_caller_who_asked_for_a_tier_which_one_it_was(tier: str) -> None:
    assert checked([USAGE, Finished("stop")], service_tier=tier)["service_tier"] == "default"


def test_chat_echoes_no_ignored_value_as_if_it_were_honoured() -> None:
    ignored = {"seed": 7, "store": True, "user": "u", "verbosity": "low", "parallel_tool_calls": False}
    reply = checked([USAGE, Finished("stop")], **ignored)
    assert reply.keys() == {"id", "object", "created", "model", "choices", "usage"}


def test_chat_leaves_usage_out_when_nobody_knows_it() -> None:
    assert "usage" not in checked([Finished("stop")])
