"""Streams: literal chunks for literal events, all of them valid by the official SDK's models."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionChunk

from app.surfaces.chat_completions.encode_stream import ChunkEncoder
from app.turn.events import (
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from app.turn.faults import FaultKind, TurnFault
from tests.support import strict
from tests.support.chat import REPLY_ID, body, custom, deltas, frames, function, reply_facts, stream, whole

USAGE = Usage(fresh=20, completion=7, cache_read=80)
TOOLS = {"tools": [function("f"), function("g"), custom("c")]}
WITH_USAGE = {"stream_options": {"include_usage": True}}
ROLE = {"role": "assistant", "content": None}
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


def checked(events: list[Event], **keys: Any) -> bytes:
    written = stream(events, **keys)
    *chunks, done = frames(written)
    assert done == "[DONE]"
    for chunk in chunks:
        strict.check(ChatCompletionChunk, json.dumps(chunk))
    assert sum(bool(chunk["choices"] and chunk["choices"][0]["finish_reason"]) for chunk in chunks) == 1
    return written


def argument(index: int, fragment: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": fragment}}]}


def started(index: int, call_id: str, name: str) -> dict[str, Any]:
    called = {"name": name, "arguments": ""}
    return {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": called}]}


def test_chat_streams_text_byte_for_byte() -> None:
    head = (
        b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m",'
        b'"choices":[{"index":0,"delta":'
    )
    assert checked([TextDelta("Hé"), TextDelta('"\n'), USAGE, Finished("stop")]) == (
        head
        + b'{"role":"assistant","content":null},"logprobs":null,"finish_reason":null}]}\n\n'
        + head
        + '{"content":"Hé"},"logprobs":null,"finish_reason":null}]}\n\n'.encode()
        + head
        + b'{"content":"\\"\\n"},"logprobs":null,"finish_reason":null}]}\n\n'
        + head
        + b'{},"logprobs":null,"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    )


def test_chat_streams_usage_last_when_asked_and_null_before() -> None:
    *chunks, last, done = frames(checked([TextDelta("a"), USAGE, Finished("stop")], **WITH_USAGE))
    assert [chunk["usage"] for chunk in chunks] == [None, None, None]
    assert last == {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "total_tokens": 107,
            "prompt_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 0},
        },
    }
    assert done == "[DONE]"


@pytest.mark.parametrize("keys", [{}, {"stream_options": {}}, {"stream_options": {"include_usage": False}}])
def test_chat_streams_no_usage_key_unless_asked(keys: dict[str, Any]) -> None:
    assert b"usage" not in checked([TextDelta("a"), USAGE, Finished("stop")], **keys)


def test_chat_streams_the_last_usage_that_was_reported() -> None:
    first, last = Usage(fresh=20, completion=0, cache_read=80, cache_write=9), Usage(fresh=20, completion=7)
    written = checked([first, TextDelta("a"), last, Finished("stop")], **WITH_USAGE)
    assert frames(written)[-2]["usage"]["prompt_tokens_details"] == {
        "cached_tokens": 0,
        "cache_write_tokens": 0,
    }
    assert frames(written)[-2]["usage"]["total_tokens"] == 27


def test_chat_streams_reasoning_as_reasoning_content() -> None:
    written = checked([ReasoningDelta("hm"), TextDelta("a"), USAGE, Finished("stop")])
    assert deltas(written) == [ROLE, {"reasoning_content": "hm"}, {"content": "a"}, "stop"]


def test_chat_streams_interleaved_fragments_under_the_index_of_their_call() -> None:
    assert deltas(checked(TWO_CALLS, **TOOLS)) == [
        ROLE,
        started(0, "a", "f"),
        started(1, "b", "g"),
        argument(0, '{"x":'),
        argument(1, '{"y":'),
        argument(0, '"1"}'),
        argument(1, '"2"}'),
        "tool_calls",
    ]


def test_chat_streams_empty_arguments_as_an_object() -> None:
    events: list[Event] = [
        TextDelta("t"),
        ToolCallStarted(0, "a", "f"),
        ToolCallStarted(1, "b", "g"),
        ToolCallArguments(1, "{}"),
        USAGE,
        Finished("tool_calls"),
    ]
    assert deltas(checked(events, **TOOLS)) == [
        ROLE,
        {"content": "t"},
        started(0, "a", "f"),
        started(1, "b", "g"),
        argument(1, "{}"),
        argument(0, "{}"),
        "tool_calls",
    ]


def test_chat_streams_arguments_that_do_not_parse_as_they_are() -> None:
    events: list[Event] = [ToolCallStarted(0, "a", "f"), ToolCallArguments(0, '{"x": "unterm'), USAGE]
    assert deltas(checked([*events, Finished("tool_calls")], **TOOLS))[2] == argument(0, '{"x": "unterm')


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "content_filter"])
def test_chat_streams_how_the_turn_ended_in_its_own_words(reason: Any) -> None:
    assert deltas(checked([TextDelta("a"), USAGE, Finished(reason)]))[-1] == reason


def test_chat_streams_the_text_of_a_custom_call_once_it_is_whole() -> None:
    events: list[Event] = [
        ToolCallStarted(0, "a", "c"),
        ToolCallArguments(0, '{"input":"*** Be'),
        ToolCallStarted(1, "b", "f"),
        ToolCallArguments(0, 'gin\\n"}'),
        USAGE,
        Finished("tool_calls"),
    ]
    written = stream(events, **TOOLS)  # no SDK model of chunks lists custom calls
    opened = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "c", "input": ""}}
    assert deltas(written) == [
        ROLE,
        {"tool_calls": [opened]},
        started(1, "b", "f"),
        {"tool_calls": [{"index": 0, "custom": {"input": "*** Begin\n"}}]},
        argument(1, "{}"),
        "tool_calls",
    ]


def test_chat_streams_nothing_more_for_a_custom_call_without_text() -> None:
    written = stream([ToolCallStarted(0, "a", "c"), USAGE, Finished("tool_calls")], **TOOLS)
    assert len(deltas(written)) == 3


def test_chat_streams_the_first_call_in_the_legacy_shape_to_who_sent_functions() -> None:
    written = checked(TWO_CALLS, functions=[{"name": "f"}, {"name": "g"}])
    assert deltas(written) == [
        ROLE,
        {"function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"x":'}},
        {"function_call": {"arguments": '"1"}'}},
        "function_call",
    ]


def test_chat_streams_empty_legacy_arguments_as_an_object() -> None:
    events: list[Event] = [ToolCallStarted(0, "a", "f"), USAGE, Finished("tool_calls")]
    written = checked(events, functions=[{"name": "f"}])
    assert deltas(written)[2] == {"function_call": {"arguments": "{}"}}


def test_chat_streams_the_tier_to_a_caller_who_asked_for_one() -> None:
    *chunks, _ = frames(checked([TextDelta("a"), USAGE, Finished("stop")], service_tier="flex", **WITH_USAGE))
    assert {chunk["service_tier"] for chunk in chunks} == {"default"}


def test_chat_streams_a_batch_as_one_write_and_a_silent_batch_as_none() -> None:
    encoder = ChunkEncoder(reply_facts(body(stream=True)), REPLY_ID)
    encoder.opening(USAGE)
    assert len(frames(encoder.feed([TextDelta("a"), TextDelta("b")]))) == 2
    assert encoder.feed([USAGE]) == b""


def test_chat_ends_a_failed_stream_with_the_fault_and_no_marker() -> None:
    encoder = ChunkEncoder(reply_facts(body(stream=True)), REPLY_ID)
    written = encoder.opening(None) + encoder.feed([TextDelta("a")])
    written += encoder.fault(TurnFault(FaultKind.CAPACITY, "busy", retry_after_s=30))
    assert frames(written)[-1] == {
        "error": {"message": "busy", "type": "server_error", "param": None, "code": "capacity_exhausted"}
    }
    assert b"[DONE]" not in written
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in frames(written)[:-1])


def test_chat_keeps_a_silent_stream_alive_with_a_comment() -> None:
    encoder = ChunkEncoder(reply_facts(body(stream=True)), REPLY_ID)
    assert (encoder.keepalive, encoder.content_type) == (
        b": keepalive\n\n",
        "text/event-stream; charset=utf-8",
    )


@settings(deadline=None)
@given(
    texts=st.lists(st.text(min_size=1), max_size=5),
    arguments=st.lists(st.text(min_size=1), max_size=3),
    finish=st.sampled_from(["stop", "length", "tool_calls"]),
)
def test_chat_streams_what_it_writes_whole(texts: list[str], arguments: list[str], finish: Any) -> None:
    events: list[Event] = [TextDelta(text) for text in texts]
    events += [ToolCallStarted(0, "a", "f"), ToolCallStarted(1, "b", "c")]
    events += [ToolCallArguments(index % 2, text) for index, text in enumerate(arguments)]
    events += [USAGE, Finished(finish)]
    choice = whole(events, **TOOLS)["choices"][0]
    text, function_arguments, custom_input = "", "", ""
    *said, reason = deltas(stream(events, **TOOLS))
    for delta in said:
        text += delta.get("content") or ""
        for call in delta.get("tool_calls", ()):
            function_arguments += call.get("function", {}).get("arguments", "")
            custom_input += call.get("custom", {}).get("input", "")
    first, second = choice["message"]["tool_calls"]
    assert (text or None, reason) == (choice["message"]["content"], choice["finish_reason"])
    assert (function_arguments, custom_input) == (first["function"]["arguments"], second["custom"]["input"])
