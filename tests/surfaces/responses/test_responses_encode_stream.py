"""Events -> the event ladder, checked object by object against the SDK's models."""

from __future__ import annotations

from typing import Any

import pytest

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
from tests.support.responses import (
    DONE_S,
    SEALS,
    body,
    custom,
    encoder,
    events_of,
    function,
    namespace,
    outputs,
    reply,
    stream,
    types,
)

SHOWN = {"reasoning": {"summary": "auto"}}
SEALED = {"include": ["reasoning.encrypted_content"]}
START_A = ToolCallStarted(0, "call_a", "f")
START_B = ToolCallStarted(1, "call_b", "g")
PLACE = {"item_id": "msg_1", "output_index": 0, "content_index": 0}


def message(text: str, status: str = "completed") -> dict[str, Any]:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
    return {"type": "message", "status": status, "role": "assistant", "content": [part]}


def called(call_id: str, name: str, arguments: str, status: str = "completed") -> dict[str, Any]:
    return {
        "type": "function_call",
        "status": status,
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def test_responses_text_is_the_whole_ladder() -> None:
    events = stream(body(), [TextDelta("h")], [TextDelta("i"), Usage(3, 1), Finished("stop")])

    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    whole = {**part, "text": "hi"}
    item = {"id": "msg_1", **message("hi")}
    assert types(events[:2]) == ["created", "in_progress"]
    assert events[0]["response"] == events[1]["response"]
    assert events[0]["response"]["status"] == "in_progress"
    assert [{k: v for k, v in e.items() if k != "sequence_number"} for e in events[2:-1]] == [
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {
                "id": "msg_1",
                "type": "message",
                "status": "in_progress",
                "role": "assistant",
                "content": [],
            },
        },
        {"type": "response.content_part.added", **PLACE, "part": part},
        {"type": "response.output_text.delta", **PLACE, "logprobs": [], "delta": "h"},
        {"type": "response.output_text.delta", **PLACE, "logprobs": [], "delta": "i"},
        {"type": "response.output_text.done", **PLACE, "logprobs": [], "text": "hi"},
        {"type": "response.content_part.done", **PLACE, "part": whole},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
    ]
    done = events[-1]["response"]
    assert (events[-1]["type"], done["status"], done["output"]) == ("response.completed", "completed", [item])
    assert (done["completed_at"], done["error"], done["incomplete_details"]) == (DONE_S, None, None)
    assert done["id"] == events[0]["response"]["id"]


def test_responses_writes_the_bytes_of_a_delta_as_they_are_documented() -> None:
    writer = encoder(body())
    writer.opening(None)
    writer.feed([TextDelta("a")])

    assert writer.feed([TextDelta('"ü\n')]) == (
        b"event: response.output_text.delta\n"
        b'data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,'
        b'"logprobs":[],"sequence_number":5,"delta":"\\"\xc3\xbc\\n"}\n\n'
    )


def test_responses_usage_counts_cached_tokens_and_the_last_report_wins() -> None:
    first, last = Usage(20, 0, cache_read=80), Usage(20, 7, cache_read=80, cache_write=1)

    done = stream(body(), [first, TextDelta("a"), last, Finished("stop")])[-1]["response"]

    assert done["usage"] == {
        "input_tokens": 101,
        "input_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 1},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 108,
    }


def test_responses_interleaved_calls_are_items_one_after_the_other() -> None:
    batch: list[Event] = [
        START_A,
        START_B,
        ToolCallArguments(0, '{"x":'),
        ToolCallArguments(1, '{"y":'),
        ToolCallArguments(0, '"1"}'),
        ToolCallArguments(1, '"2"}'),
        Finished("tool_calls"),
    ]
    request = body(tools=[function("f"), function("g")])

    events = stream(request, batch)

    deltas = [e for e in events if e["type"] == "response.function_call_arguments.delta"]
    assert [(e["item_id"], e["output_index"], e["delta"]) for e in deltas] == [
        ("fc_1", 0, '{"x":'),
        ("fc_1", 0, '"1"}'),
        ("fc_2", 1, '{"y":'),
        ("fc_2", 1, '"2"}'),
    ]
    assert types(events[2:]) == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert outputs(request, batch) == [
        called("call_a", "f", '{"x":"1"}'),
        called("call_b", "g", '{"y":"2"}'),
    ]


def test_responses_call_between_texts_makes_three_items_in_order() -> None:
    batch: list[Event] = [
        TextDelta("t"),
        START_A,
        ToolCallArguments(0, "{}"),
        TextDelta("u"),
        START_B,
        ToolCallArguments(1, "{}"),
        Finished("tool_calls"),
    ]
    request = body(tools=[function("f"), function("g")])

    assert outputs(request, batch) == [
        message("t"),
        called("call_a", "f", "{}"),
        message("u"),
        called("call_b", "g", "{}"),
    ]
    added = [e for e in stream(request, batch) if e["type"] == "response.output_item.added"]
    assert [e["output_index"] for e in added] == [0, 1, 2, 3]


@pytest.mark.parametrize("arguments", [[], [ToolCallArguments(0, "{}")]])
def test_responses_call_without_arguments_has_an_empty_object(arguments: list[Event]) -> None:
    batch = [START_A, *arguments, Finished("tool_calls")]
    request = body(tools=[function("f")])

    events = stream(request, batch)

    deltas = [e["delta"] for e in events if e["type"] == "response.function_call_arguments.delta"]
    assert "".join(deltas) == "{}"
    assert outputs(request, batch) == [called("call_a", "f", "{}")]


def test_responses_passes_arguments_that_do_not_parse_as_they_are() -> None:
    batch: list[Event] = [START_A, ToolCallArguments(0, '{"x": "unterm'), Finished("tool_calls")]

    assert outputs(body(tools=[function("f")]), batch) == [called("call_a", "f", '{"x": "unterm')]


def test_responses_turn_cut_by_the_cap_is_incomplete() -> None:
    batch: list[Event] = [TextDelta("t"), START_A, ToolCallArguments(0, '{"x":'), Finished("length")]
    request = body(tools=[function("f")])

    last = stream(request, batch)[-1]

    assert last["type"] == "response.incomplete"
    assert last["response"]["status"] == "incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert last["response"]["completed_at"] is None
    assert outputs(request, batch) == [message("t"), called("call_a", "f", '{"x":', "incomplete")]
    whole = reply(request, batch)
    assert (whole["status"], whole["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


def test_responses_turn_cut_before_the_arguments_never_passes_an_empty_object_as_intended() -> None:
    batch: list[Event] = [START_A, Finished("length")]

    assert outputs(body(tools=[function("f")]), batch) == [called("call_a", "f", "{}", "incomplete")]


def test_responses_text_cut_by_the_cap_is_an_incomplete_message() -> None:
    assert outputs(body(), [TextDelta("t"), Finished("length")]) == [message("t", "incomplete")]


def test_responses_content_filter_is_the_reason_of_an_incomplete_response() -> None:
    last = stream(body(), [TextDelta("t"), Finished("content_filter")])[-1]

    assert last["response"]["incomplete_details"] == {"reason": "content_filter"}


def test_responses_turn_that_says_nothing_has_no_items() -> None:
    assert outputs(body(), [Finished("stop")]) == []


# Reasoning


THOUGHTS: list[Event] = [ReasoningDelta("h"), ReasoningDelta("m"), TextDelta("hi"), Finished("stop")]


def test_responses_reasoning_goes_out_as_a_summary_when_it_is_asked_for() -> None:
    events = stream(body(**SHOWN), THOUGHTS)

    place = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
    assert [{k: v for k, v in e.items() if k != "sequence_number"} for e in events[2:9]] == [
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"id": "rs_1", "type": "reasoning", "summary": []},
        },
        {
            "type": "response.reasoning_summary_part.added",
            **place,
            "part": {"type": "summary_text", "text": ""},
        },
        {"type": "response.reasoning_summary_text.delta", **place, "delta": "h"},
        {"type": "response.reasoning_summary_text.delta", **place, "delta": "m"},
        {"type": "response.reasoning_summary_text.done", **place, "text": "hm"},
        {
            "type": "response.reasoning_summary_part.done",
            **place,
            "part": {"type": "summary_text", "text": "hm"},
        },
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        },
    ]
    assert outputs(body(**SHOWN), THOUGHTS)[1] == message("hi")


def test_responses_reasoning_is_sealed_when_only_that_is_asked_for() -> None:
    events = stream(body(**SEALED), THOUGHTS)

    assert types(events[2:4]) == ["output_item.added", "output_item.done"]
    item = events[3]["item"]
    assert item["summary"] == []
    assert SEALS.unwrap(item["encrypted_content"]) == "hm"
    assert not [e for e in events if "reasoning_summary" in e["type"]]


def test_responses_reasoning_is_shown_and_sealed_when_both_are_asked_for() -> None:
    (thought, _) = outputs(body(**SHOWN, **SEALED), THOUGHTS)

    assert thought["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert SEALS.unwrap(thought["encrypted_content"]) == "hm"


def test_responses_reasoning_is_not_shown_unasked() -> None:
    assert outputs(body(), THOUGHTS) == [message("hi")]


# Tools of other kinds


def test_responses_custom_tool_call_streams_the_text_inside() -> None:
    batches: list[list[Event]] = [
        [ToolCallStarted(0, "call_a", "apply_patch"), ToolCallArguments(0, '{"inp')],
        [ToolCallArguments(0, 'ut": "*** Be')],
        [ToolCallArguments(0, "gin\\n\\u00"), ToolCallArguments(0, 'fc"}')],
        [Finished("tool_calls")],
    ]
    request = body(tools=[custom("apply_patch")])

    events = stream(request, *batches)

    place = {"item_id": "ctc_1", "output_index": 0}
    added = {
        "id": "ctc_1",
        "type": "custom_tool_call",
        "call_id": "call_a",
        "name": "apply_patch",
        "input": "",
    }
    assert [{k: v for k, v in e.items() if k != "sequence_number"} for e in events[2:-1]] == [
        {"type": "response.output_item.added", "output_index": 0, "item": added},
        {"type": "response.custom_tool_call_input.delta", **place, "delta": "*** Be"},
        {"type": "response.custom_tool_call_input.delta", **place, "delta": "gin\n"},
        {"type": "response.custom_tool_call_input.delta", **place, "delta": "ü"},
        {"type": "response.custom_tool_call_input.done", **place, "input": "*** Begin\nü"},
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {**added, "input": "*** Begin\nü"},
        },
    ]
    outputs(request, *batches)


def test_responses_namespace_is_split_again_on_the_way_out() -> None:
    request = body(tools=[namespace("ns", function("f"), custom("c"))])
    batch: list[Event] = [
        ToolCallStarted(0, "call_a", "ns__f"),
        ToolCallArguments(0, "{}"),
        ToolCallStarted(1, "call_b", "ns__c"),
        ToolCallArguments(1, '{"input":"t"}'),
        Finished("tool_calls"),
    ]

    assert outputs(request, batch) == [
        {**called("call_a", "f", "{}"), "namespace": "ns"},
        {"type": "custom_tool_call", "call_id": "call_b", "name": "c", "input": "t", "namespace": "ns"},
    ]


def test_responses_name_that_only_looks_flattened_is_left_alone() -> None:
    batch: list[Event] = [ToolCallStarted(0, "call_a", "ns__f"), Finished("tool_calls")]

    assert outputs(body(tools=[function("ns__f")]), batch) == [called("call_a", "ns__f", "{}")]


CLIENT_CALLS = {
    "local_shell": (
        {"type": "local_shell"},
        '{"command":["ls"],"timeout_ms":5}',
        {
            "type": "local_shell_call",
            "action": {
                "type": "exec",
                "command": ["ls"],
                "env": {},
                "timeout_ms": 5,
                "user": None,
                "working_directory": None,
            },
        },
    ),
    "shell": (
        {"type": "shell"},
        '{"commands":["ls"]}',
        {
            "type": "shell_call",
            "action": {"commands": ["ls"], "timeout_ms": None, "max_output_length": None},
            "environment": {"type": "local"},
        },
    ),
    "apply_patch": (
        {"type": "apply_patch"},
        '{"type":"update_file","path":"a","diff":"@@"}',
        {"type": "apply_patch_call", "operation": {"type": "update_file", "path": "a", "diff": "@@"}},
    ),
    "tool_search": (
        {"type": "tool_search", "execution": "client"},
        '{"query":"q"}',
        {"type": "tool_search_call", "arguments": {"query": "q"}, "execution": "client"},
    ),
}


@pytest.mark.parametrize("name", CLIENT_CALLS)
def test_responses_client_run_call_goes_out_whole_in_its_own_item(name: str) -> None:
    tool, arguments, expected = CLIENT_CALLS[name]
    batches: list[list[Event]] = [
        [ToolCallStarted(0, "call_a", name), ToolCallArguments(0, arguments[:9])],
        [ToolCallArguments(0, arguments[9:])],
        [Finished("tool_calls")],
    ]
    request = body(tools=[tool])

    events = stream(request, *batches)

    assert types(events[2:]) == ["output_item.added", "output_item.done", "completed"]
    assert outputs(request, *batches) == [{**expected, "status": "completed", "call_id": "call_a"}]


def test_responses_what_comes_meanwhile_waits_for_a_client_run_call() -> None:
    request = body(tools=[{"type": "shell"}, {"type": "apply_patch"}, function("g")])
    batch: list[Event] = [
        TextDelta("t"),
        ToolCallStarted(0, "call_a", "shell"),
        ToolCallStarted(1, "call_b", "g"),
        ToolCallArguments(1, '{"y":'),
        ToolCallStarted(2, "call_c", "apply_patch"),
        ToolCallArguments(0, '{"commands":'),
        ToolCallArguments(2, '{"type":"delete_file",'),
        ToolCallArguments(1, "1}"),
        ToolCallArguments(2, '"path":"a"}'),
        ToolCallArguments(0, "[]}"),
        TextDelta("u"),
        Finished("tool_calls"),
    ]

    assert [item["type"] for item in outputs(request, batch)] == [
        "message",
        "shell_call",
        "function_call",
        "apply_patch_call",
        "message",
    ]
    added = [e for e in stream(request, batch) if e["type"] == "response.output_item.added"]
    assert [e["output_index"] for e in added] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("arguments", ['{"commands":"ls"}', '{"commands":'])
def test_responses_client_run_call_that_does_not_fit_its_tool_fails_the_turn(arguments: str) -> None:
    batch: list[Event] = [
        ToolCallStarted(0, "call_a", "shell"),
        ToolCallArguments(0, arguments),
        Finished("tool_calls"),
    ]
    request = body(tools=[{"type": "shell"}])

    for run in (stream, reply):
        with pytest.raises(TurnFault) as caught:
            run(request, batch)
        assert caught.value.kind is FaultKind.UPSTREAM_FAILED


def test_responses_client_run_call_cut_by_the_cap_is_told_as_it_is() -> None:
    batch: list[Event] = [
        ToolCallStarted(0, "call_a", "shell"),
        ToolCallArguments(0, '{"commands":'),
        Finished("length"),
    ]
    request = body(tools=[{"type": "shell"}])

    assert outputs(request, batch) == [called("call_a", "shell", '{"commands":', "incomplete")]


# Faults


def test_responses_fault_in_the_stream_is_response_failed_and_last() -> None:
    writer = encoder(body())
    fault = TurnFault(FaultKind.CAPACITY, "the model is busy", retry_after_s=30)

    said = writer.opening(None) + writer.feed([Usage(3, 1), TextDelta("a")]) + writer.fault(fault)

    last = events_of(said)[-1]
    assert last["type"] == "response.failed"
    assert last["response"]["status"] == "failed"
    assert last["response"]["error"] == {
        "code": "server_error",
        "message": "capacity_exhausted: The model is busy. Please try again in 30s.",
    }
    assert last["response"]["output"] == []
    assert last["response"]["usage"]["input_tokens"] == 3
    assert b"event: error" not in said


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        (FaultKind.RATE_LIMITED, "rate_limit_exceeded", "It failed."),
        (FaultKind.QUOTA_EXHAUSTED, "rate_limit_exceeded", "It failed."),
        (FaultKind.INVALID_REQUEST, "invalid_prompt", "It failed."),
        (FaultKind.UPSTREAM_TRUNCATED, "server_error", "upstream_truncated: It failed."),
        (FaultKind.UPSTREAM_TIMEOUT, "server_error", "upstream_timeout: It failed."),
        (FaultKind.UPSTREAM_FAILED, "server_error", "upstream_error: It failed."),
        (FaultKind.INTERNAL, "server_error", "It failed."),
    ],
)
def test_responses_fault_in_the_stream_has_a_code_that_the_sdk_knows(
    kind: FaultKind, code: str, message: str
) -> None:
    writer = encoder(body())

    said = writer.opening(None) + writer.fault(TurnFault(kind, "it failed"))

    assert events_of(said)[-1]["response"]["error"] == {"code": code, "message": message}


def test_responses_failed_keeps_the_items_that_were_done() -> None:
    writer = encoder(body(tools=[function("f")]))

    said = writer.opening(None) + writer.feed([TextDelta("a"), START_A])
    said += writer.fault(TurnFault(FaultKind.UPSTREAM_FAILED, "it failed"))

    assert events_of(said)[-1]["response"]["output"] == [{"id": "msg_1", **message("a")}]
