"""What messages says of a turn: literal streams for literal events, and whole messages."""

import itertools
import json

import pytest
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent

from app.turn.events import Finished, ReasoningDelta, TextDelta, ToolCallArguments, ToolCallStarted, Usage
from app.turn.faults import FaultKind, TurnFault
from app.turn.fold import Fold
from app.turn.turn import Message as TurnMessage
from app.turn.turn import TextPart
from tests.support.strict import check, check_event
from tests.surfaces.messages.kit import SEALS, SURFACE, events_of, facts

USAGE = Usage(20, 7, cache_read=80, cache_write=5)


def call(index, call_id, name):
    return ToolCallStarted(index, call_id, name)


def args(index, fragment):
    return ToolCallArguments(index, fragment)


def stream(*events, batch=None, first_usage=None, **options):
    """The events of a whole stream, each accepted by the vendor's own types."""
    encoder = SURFACE.encoder(facts(**options))
    said = encoder.opening(first_usage)
    for at in range(0, len(events), batch or len(events)):
        said += encoder.feed(list(events[at : at + (batch or len(events))]))
    pairs = events_of(said)
    union = BetaRawMessageStreamEvent if options.get("manages_context") else RawMessageStreamEvent
    for name, data in pairs:
        assert name == data["type"]
        if name != "error":
            check_event(union, json.dumps(data))
    return pairs


def blocks_of(pairs):
    """The events between message_start and message_delta, without their names."""
    assert [name for name, _ in pairs[:1] + pairs[-2:]] == ["message_start", "message_delta", "message_stop"]
    return [data for _, data in pairs[1:-2]]


def whole(*events, **options):
    """The same events as one message, accepted by the vendor's own types."""
    fold = Fold()
    fold.feed(events)
    text = SURFACE.reply_body(facts(**options), fold.reply)
    check(BetaMessage if options.get("manages_context") else Message, text.decode())
    return json.loads(text)


def start(index, block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, **value):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **value}}


def stop(index):
    return {"type": "content_block_stop", "index": index}


TEXT = {"type": "text", "text": "", "citations": None}
THINKING = {"type": "thinking", "thinking": "", "signature": ""}


def tool(call_id, name):
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}, "caller": {"type": "direct"}}


def test_text_is_one_block_of_deltas_byte_for_byte():
    encoder = SURFACE.encoder(facts())
    opening = encoder.opening(USAGE)
    assert opening.startswith(b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_')
    assert encoder.feed([TextDelta('a"'), TextDelta("é\n")]) == (
        b"event: content_block_start\n"
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}\n\n'
        b"event: content_block_delta\n"
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\""}}\n\n'
        b"event: content_block_delta\n"
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\xc3\xa9\\n"}}\n\n'
    )
    assert encoder.feed([USAGE, Finished("stop")]) == (
        b"event: content_block_stop\n"
        b'data: {"type":"content_block_stop","index":0}\n\n'
        b"event: message_delta\n"
        b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,'
        b'"container":null},"usage":{"cache_creation_input_tokens":5,"cache_read_input_tokens":80,'
        b'"input_tokens":20,"output_tokens":7,"output_tokens_details":null,"server_tool_use":null}}\n\n'
        b"event: message_stop\n"
        b'data: {"type":"message_stop"}\n\n'
    )
    assert encoder.keepalive == b'event: ping\ndata: {"type":"ping"}\n\n'
    assert encoder.content_type == "text/event-stream; charset=utf-8"


def test_message_start_has_the_whole_empty_message():
    [(_, data), *_] = stream(Finished("stop"), first_usage=USAGE)
    message = data["message"]
    assert message.pop("id").startswith("msg_")
    assert message == {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "usage": {
            "cache_creation": None,
            "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": 80,
            "inference_geo": None,
            "input_tokens": 20,
            "output_tokens": 7,
            "output_tokens_details": None,
            "server_tool_use": None,
            "service_tier": "standard",
        },
    }


def test_usage_unknown_at_first_is_zero_and_then_the_last_report():
    pairs = stream(TextDelta("a"), Usage(20, 0, cache_read=80), Usage(20, 7, cache_read=80), Finished("stop"))
    assert pairs[0][1]["message"]["usage"]["input_tokens"] == 0
    usage = pairs[-2][1]["usage"]
    assert (usage["input_tokens"], usage["cache_read_input_tokens"], usage["output_tokens"]) == (20, 80, 7)


def test_reasoning_is_a_sealed_thinking_block():
    seal = SEALS.sign("hmm")
    assert blocks_of(stream(ReasoningDelta("h"), ReasoningDelta("mm"), TextDelta("a"), Finished("stop"))) == [
        start(0, THINKING),
        delta(0, "thinking_delta", thinking="h"),
        delta(0, "thinking_delta", thinking="mm"),
        delta(0, "signature_delta", signature=seal),
        stop(0),
        start(1, TEXT),
        delta(1, "text_delta", text="a"),
        stop(1),
    ]


INTERLEAVED = (
    call(0, "a", "f"),
    call(1, "b", "g"),
    args(0, '{"x":'),
    args(1, '{"y":'),
    args(0, '"1"}'),
    args(1, '"2"}'),
    Finished("tool_calls"),
)


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_interleaved_calls_become_blocks_one_after_the_other(batch):
    pairs = stream(TextDelta("t"), *INTERLEAVED, batch=batch)
    assert blocks_of(pairs) == [
        start(0, TEXT),
        delta(0, "text_delta", text="t"),
        stop(0),
        start(1, tool("a", "f")),
        delta(1, "input_json_delta", partial_json='{"x":'),
        delta(1, "input_json_delta", partial_json='"1"}'),
        stop(1),
        start(2, tool("b", "g")),
        *(
            [
                delta(2, "input_json_delta", partial_json='{"y":'),
                delta(2, "input_json_delta", partial_json='"2"}'),
            ]
        ),
        stop(2),
    ]
    assert pairs[-2][1]["delta"]["stop_reason"] == "tool_use"


def test_a_call_ends_as_soon_as_its_arguments_are_whole():
    encoder = SURFACE.encoder(facts())
    encoder.feed([call(0, "a", "f"), args(0, "{")])
    assert [data for _, data in events_of(encoder.feed([args(0, "}")]))] == [
        delta(0, "input_json_delta", partial_json="}"),
        stop(0),
    ]


def test_text_after_a_call_waits_for_its_end():
    pairs = stream(call(0, "a", "f"), TextDelta("t"), args(0, "{}"), Finished("tool_calls"), batch=1)
    assert blocks_of(pairs) == [
        start(0, tool("a", "f")),
        delta(0, "input_json_delta", partial_json="{}"),
        stop(0),
        start(1, TEXT),
        delta(1, "text_delta", text="t"),
        stop(1),
    ]


def test_no_arguments_are_an_empty_object():
    events = (call(0, "a", "f"), Finished("tool_calls"))
    assert blocks_of(stream(*events)) == [
        start(0, tool("a", "f")),
        delta(0, "input_json_delta", partial_json="{}"),
        stop(0),
    ]
    assert whole(*events)["content"][0]["input"] == {}


def test_a_call_cut_by_the_token_cap_is_no_fault():
    events = (TextDelta("t"), call(0, "a", "f"), args(0, '{"x":'), Finished("length"))
    pairs = stream(*events)
    assert blocks_of(pairs)[-2:] == [delta(1, "input_json_delta", partial_json='{"x":'), stop(1)]
    assert pairs[-2][1]["delta"]["stop_reason"] == "max_tokens"
    message = whole(*events)
    assert message["stop_reason"] == "max_tokens"
    assert [block["type"] for block in message["content"]] == ["text"]


@pytest.mark.parametrize("text", ['{"x": "unterm', "nonsense", "[1]", "null"])
def test_arguments_that_are_no_object_fail_the_turn(text):
    events = (call(0, "a", "f"), args(0, text), Finished("tool_calls"))
    for attempt in (stream, whole):
        with pytest.raises(TurnFault) as caught:
            attempt(*events)
        assert caught.value.kind is FaultKind.UPSTREAM_FAILED


@pytest.mark.parametrize(
    ("finished", "reason", "sequence"),
    [
        (Finished("stop"), "end_turn", None),
        (Finished("stop", "END"), "stop_sequence", "END"),
        (Finished("length"), "max_tokens", None),
        (Finished("tool_calls"), "tool_use", None),
        (Finished("content_filter"), "refusal", None),
    ],
)
def test_every_finish(finished, reason, sequence):
    assert stream(TextDelta("a"), finished)[-2][1]["delta"] == {
        "stop_reason": reason,
        "stop_sequence": sequence,
        "stop_details": None,
        "container": None,
    }
    message = whole(TextDelta("a"), finished)
    assert (message["stop_reason"], message["stop_sequence"]) == (reason, sequence)


def test_a_whole_message():
    message = whole(
        ReasoningDelta("hm"),
        TextDelta("a"),
        call(0, "c", "f"),
        args(0, '{"x": 1.0, "y": 123456789012345678901}'),
        TextDelta("b"),
        USAGE,
        Finished("tool_calls"),
    )
    assert message.pop("id").startswith("msg_")
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": SEALS.sign("hm")},
        {"type": "text", "text": "a", "citations": None},
        {**tool("c", "f"), "input": {"x": 1.0, "y": 123456789012345678901}},
        {"type": "text", "text": "b", "citations": None},
    ]
    assert (message["model"], message["role"], message["type"]) == ("m", "assistant", "message")
    assert message["usage"]["cache_read_input_tokens"] == 80


def test_no_edit_of_the_context_is_claimed():
    assert whole(Finished("stop"), manages_context=True)["context_management"] == {"applied_edits": []}
    ending = stream(Finished("stop"), manages_context=True)[-2][1]
    assert ending["context_management"] == {"applied_edits": []}


def test_an_empty_answer_is_an_empty_message():
    assert blocks_of(stream(Finished("stop"))) == []
    assert whole(Finished("stop"))["content"] == []


def test_a_fault_in_the_stream_is_the_last_event():
    encoder = SURFACE.encoder(facts())
    encoder.opening(None)
    encoder.feed([TextDelta("a")])
    assert encoder.fault(TurnFault(FaultKind.CAPACITY, "busy")) == (
        b"event: error\n"
        b'data: {"type":"error","error":{"type":"overloaded_error","message":"busy"},"request_id":"req_1"}\n\n'
    )


@pytest.mark.parametrize(
    "kind", [FaultKind.UPSTREAM_FAILED, FaultKind.UPSTREAM_TRUNCATED, FaultKind.UPSTREAM_TIMEOUT]
)
def test_a_fault_in_the_stream_that_may_pass_says_so(kind):
    encoder = SURFACE.encoder(facts())
    encoder.opening(None)
    assert b'"message":"it broke; try again later"' in encoder.fault(TurnFault(kind, "it broke"))


def test_one_batch_is_one_write_and_nothing_to_say_is_nothing():
    encoder = SURFACE.encoder(facts())
    assert encoder.feed([Usage(1, 1)]) == b""
    assert isinstance(encoder.feed([TextDelta("a"), ReasoningDelta("b"), TextDelta("c")]), bytes)


@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_blocks_come_in_the_order_they_were_opened_whatever_ends_first(order):
    opened = [call(index, f"id{index}", f"f{index}") for index in range(3)]
    events = [*opened, *(args(index, f'{{"n":{index}}}') for index in order), Finished("tool_calls")]
    starts = [data["content_block"]["id"] for name, data in stream(*events) if name == "content_block_start"]
    assert starts == ["id0", "id1", "id2"]
    assert [block["input"] for block in whole(*events)["content"]] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_a_stream_whose_usage_is_not_known_yet_starts_with_an_estimate_of_the_input():
    opened = facts()
    opened.decoded.turn.messages = [TurnMessage("user", [TextPart("x" * 40)], "messages[0]")]
    (_, data), *_ = events_of(SURFACE.encoder(opened).opening(None))
    assert data["message"]["usage"]["input_tokens"] == 14
