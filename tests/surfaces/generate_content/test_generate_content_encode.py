"""generate_content: events -> literal streams, replies -> literal bodies."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types

from app.ledger import Findings
from app.seals import Seals
from app.surfaces.generate_content import encode, signatures
from app.surfaces.generate_content.decode import Echo
from app.surfaces.generate_content.surface import GenerateContent
from app.surfaces.surface import Decoded, ReplyFacts, StreamEncoder
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
from app.turn.fold import Fold
from app.turn.turn import Turn
from tests.support.strict import check

NAMES = '"modelVersion":"m","responseId":"r1"}'
DONE = [Usage(10, 3), Finished("stop")]
COUNTS = '"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"totalTokenCount":13},'


@pytest.fixture(autouse=True)
def known_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "secrets", SimpleNamespace(token_urlsafe=lambda size: "r1"))


def reply_facts(framing: str = "sse") -> ReplyFacts:
    decoded = Decoded(Turn("m", []), echo=Echo(framing))  # type: ignore[arg-type]
    return ReplyFacts(decoded, Findings(), "req_1", 0)


@pytest.fixture
def encoder(surface: GenerateContent) -> StreamEncoder:
    return surface.encoder(reply_facts())


@pytest.fixture
def array(surface: GenerateContent) -> StreamEncoder:
    return surface.encoder(reply_facts("array"))


@pytest.fixture
def whole(surface: GenerateContent) -> Callable[..., dict[str, Any]]:
    """The body of a reply that is told by the given events; it is checked strictly."""

    def run(*events: Event) -> dict[str, Any]:
        fold = Fold()
        fold.feed(events)
        text = surface.reply_body(reply_facts(), fold.reply).decode()
        check(types.GenerateContentResponse, text)
        return json.loads(text)  # type: ignore[no-any-return]

    return run


def chunk(part: str) -> str:
    return '{"candidates":[{"content":{"parts":[' + part + '],"role":"model"},"index":0}],' + NAMES


def last(reason: str, counts: str = COUNTS, part: str = '{"text":""}') -> str:
    return (
        '{"candidates":[{"content":{"parts":['
        + part
        + f'],"role":"model"}},"finishReason":"{reason}","index":0}}],'
        + counts
        + NAMES
    )


def events_of(stream: bytes) -> list[str]:
    """The JSON of a stream of server-sent events; every chunk is checked strictly."""
    assert stream.endswith(b"\n\n")
    chunks = []
    for block in stream.decode()[:-2].split("\n\n"):
        assert block.startswith("data: ")
        assert "\n" not in block
        chunks.append(block[6:])
        check(types.GenerateContentResponse, chunks[-1])
    return chunks


def parts_of(stream: bytes) -> list[dict[str, Any]]:
    chunks = [json.loads(each) for each in events_of(stream)]
    return [part for each in chunks for part in each["candidates"][0]["content"]["parts"]]


def call(index: int, call_id: str, name: str) -> ToolCallStarted:
    return ToolCallStarted(index, call_id, name)


def args(index: int, fragment: str) -> ToolCallArguments:
    return ToolCallArguments(index, fragment)


# Server-sent events.


def test_generate_content_streams_text_as_data_lines_only(encoder: StreamEncoder) -> None:
    assert encoder.content_type == "text/event-stream; charset=utf-8"
    assert encoder.keepalive == b"\n"
    assert encoder.opening(None) == b""
    first = encoder.feed([TextDelta('he"l'), TextDelta("lo\n")])
    rest = encoder.feed(DONE)
    assert first.decode() == (
        "data: " + chunk('{"text":"he\\"l"}') + "\n\n" + "data: " + chunk('{"text":"lo\\n"}') + "\n\n"
    )
    assert rest.decode() == "data: " + last("STOP") + "\n\n"
    events_of(first + rest)


def test_generate_content_streams_a_turn_that_says_nothing(encoder: StreamEncoder) -> None:
    assert events_of(encoder.feed(DONE)) == [last("STOP")]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        (Finished("stop"), "STOP"),
        (Finished("stop", "END"), "STOP"),
        (Finished("length"), "MAX_TOKENS"),
        (Finished("tool_calls"), "STOP"),
        (Finished("content_filter"), "SAFETY"),
    ],
)
def test_generate_content_words_every_finish(
    encoder: StreamEncoder, whole: Callable[..., dict[str, Any]], finish: Finished, reason: str
) -> None:
    chunks = events_of(encoder.feed([TextDelta("a"), Usage(10, 3), finish]))
    assert chunks == [chunk('{"text":"a"}'), last(reason)]
    assert whole(TextDelta("a"), finish)["candidates"][0]["finishReason"] == reason


def test_generate_content_reports_the_last_usage_with_cached_tokens(encoder: StreamEncoder) -> None:
    encoder.feed([Usage(20, 0, cache_read=80), TextDelta("a")])
    chunks = events_of(encoder.feed([Usage(20, 7, cache_read=70, cache_write=10), Finished("stop")]))
    assert chunks == [
        last(
            "STOP",
            '"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,"totalTokenCount":107,'
            '"cachedContentTokenCount":70},',
        )
    ]


def test_generate_content_streams_a_call_whole_when_its_arguments_are(encoder: StreamEncoder) -> None:
    assert encoder.feed([call(0, "a", "f"), args(0, '{"x":')]) == b""
    assert encoder.feed([args(0, ' "}"')]) == b""
    chunks = events_of(encoder.feed([args(0, " }")]))
    assert chunks == [chunk('{"functionCall":{"id":"a","name":"f","args":{"x": "}" }}}')]
    assert events_of(encoder.feed([Usage(10, 3), Finished("tool_calls")])) == [last("STOP")]


def test_generate_content_streams_interleaved_calls_each_whole(encoder: StreamEncoder) -> None:
    stream = encoder.feed(
        [
            TextDelta("t"),
            call(0, "a", "f"),
            call(1, "b", "g"),
            args(0, '{"x":'),
            args(1, '{"y":'),
            args(0, '"1"}'),
            args(1, '"2"}'),
            *DONE,
        ]
    )
    assert parts_of(stream) == [
        {"text": "t"},
        {"functionCall": {"id": "a", "name": "f", "args": {"x": "1"}}},
        {"functionCall": {"id": "b", "name": "g", "args": {"y": "2"}}},
        {"text": ""},
    ]


def test_generate_content_holds_text_behind_an_open_call(encoder: StreamEncoder) -> None:
    assert encoder.feed([call(0, "a", "f"), args(0, '{"x":1'), TextDelta("later")]) == b""
    assert parts_of(encoder.feed([args(0, "}")])) == [
        {"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}},
        {"text": "later"},
    ]


def test_generate_content_streams_empty_arguments_as_an_empty_object(encoder: StreamEncoder) -> None:
    chunks = events_of(encoder.feed([call(0, "a", "f"), *DONE]))
    assert chunks[0] == chunk('{"functionCall":{"id":"a","name":"f","args":{}}}')


def test_generate_content_keeps_line_breaks_out_of_data_lines(encoder: StreamEncoder) -> None:
    chunks = events_of(encoder.feed([call(0, "a", "f"), args(0, '{\r\n  "x": "\\n"\n}'), *DONE]))
    assert chunks[0] == chunk('{"functionCall":{"id":"a","name":"f","args":{    "x": "\\n" }}}')


@pytest.mark.parametrize("arguments", ['{"x": "unterm', "[1]", '"text"', "12", "{x}", '{"x":1} tail'])
def test_generate_content_fails_a_turn_whose_arguments_are_no_object(
    encoder: StreamEncoder, whole: Callable[..., dict[str, Any]], arguments: str
) -> None:
    told: list[Event] = [call(0, "a", "f"), args(0, arguments), Finished("tool_calls")]
    for run in (lambda: encoder.feed(told), lambda: whole(*told)):
        with pytest.raises(TurnFault) as caught:
            run()
        assert caught.value.kind is FaultKind.UPSTREAM_FAILED
        assert caught.value.problem == "the arguments of the call to 'f' are not a JSON object"


def test_generate_content_says_max_tokens_for_a_call_that_the_cap_cut(
    encoder: StreamEncoder, whole: Callable[..., dict[str, Any]]
) -> None:
    told: list[Event] = [
        TextDelta("t"),
        call(0, "a", "f"),
        args(0, '{"x":'),
        Usage(10, 3),
        Finished("length"),
    ]
    assert events_of(encoder.feed(told)) == [chunk('{"text":"t"}'), last("MAX_TOKENS")]
    assert whole(*told)["candidates"] == [
        {
            "content": {"parts": [{"text": "t"}], "role": "model"},
            "finishReason": "MAX_TOKENS",
            "index": 0,
        }
    ]


# Thoughts.


def test_generate_content_streams_thoughts_and_seals_them_where_they_end(
    encoder: StreamEncoder, seals: Seals
) -> None:
    stream = encoder.feed([ReasoningDelta("hm, "), ReasoningDelta("well"), TextDelta("a"), *DONE])
    seal = signatures.to_field(seals.sign("hm, well"))
    assert events_of(stream) == [
        chunk('{"text":"hm, ","thought":true}'),
        chunk('{"text":"well","thought":true}'),
        chunk('{"text":"","thought":true,"thoughtSignature":"' + seal + '"}'),
        chunk('{"text":"a"}'),
        last("STOP"),
    ]


def test_generate_content_seals_a_thought_at_the_end_of_the_turn(
    encoder: StreamEncoder, seals: Seals
) -> None:
    parts = parts_of(encoder.feed([ReasoningDelta("hm"), *DONE]))
    assert parts[1] == {
        "text": "",
        "thought": True,
        "thoughtSignature": signatures.to_field(seals.sign("hm")),
    }


def test_generate_content_gives_the_first_call_after_a_thought_the_thought_itself(
    encoder: StreamEncoder, seals: Seals
) -> None:
    parts = parts_of(
        encoder.feed(
            [ReasoningDelta("hm"), call(0, "a", "f"), call(1, "b", "f"), args(0, "{}"), args(1, "{}"), *DONE]
        )
    )
    blob = parts[2]["thoughtSignature"]
    assert signatures.unwrap(seals, blob) == "hm"
    assert "thoughtSignature" not in parts[3]


def test_generate_content_thoughts_of_a_whole_reply_come_sealed(
    whole: Callable[..., dict[str, Any]], seals: Seals
) -> None:
    body = whole(ReasoningDelta("hm"), TextDelta("a"), call(0, "c", "f"), args(0, "{}"), *DONE)
    assert body["candidates"][0]["content"]["parts"] == [
        {"text": "hm", "thought": True, "thoughtSignature": signatures.to_field(seals.sign("hm"))},
        {"text": "a"},
        {
            "functionCall": {"id": "c", "name": "f", "args": {}},
            "thoughtSignature": signatures.to_field(seals.wrap("hm")),
        },
    ]


def test_generate_content_takes_back_whatever_it_streamed(
    encoder: StreamEncoder, surface: GenerateContent, decode: Callable[..., Decoded]
) -> None:
    stream = encoder.feed(
        [ReasoningDelta("hm"), TextDelta("a"), call(0, "c", "f"), args(0, '{"x":1}'), *DONE]
    )
    contents = [json.loads(each)["candidates"][0]["content"] for each in events_of(stream)]
    # The SDK decodes signatures and writes them in the URL-safe alphabet.
    contents = json.loads(
        json.dumps(
            [
                types.Content.model_validate(each).model_dump(mode="json", by_alias=True, exclude_none=True)
                for each in contents
            ]
        )
    )
    decoded = decode({"contents": contents})
    assert decoded.notes == []
    assert [type(part).__name__ for message in decoded.turn.messages for part in message.parts] == [
        "ReasoningPart",
        "TextPart",
        "ToolCallPart",
    ]


# One JSON array.


def test_generate_content_streams_one_json_array_without_alt_sse(array: StreamEncoder) -> None:
    assert array.content_type == "application/json"
    assert array.keepalive == b"\n"
    written = array.opening(None) + array.keepalive
    written += array.feed([TextDelta("a"), TextDelta("b")]) + array.keepalive
    written += array.feed([call(0, "c", "f")])
    written += array.feed([args(0, "{}")]) + array.feed(DONE)
    assert written.decode() == (
        "[\n"
        + chunk('{"text":"a"}')
        + ",\n"
        + chunk('{"text":"b"}')
        + "\n,\n"
        + chunk('{"functionCall":{"id":"c","name":"f","args":{}}}')
        + ",\n"
        + last("STOP")
        + "]"
    )
    assert len(json.loads(written)) == 4


@pytest.mark.parametrize("before", [[], [TextDelta("a")]])
def test_generate_content_ends_the_array_with_the_fault(array: StreamEncoder, before: list[Event]) -> None:
    written = array.opening(None) + array.feed(before)
    written += array.fault(TurnFault(FaultKind.UPSTREAM_TRUNCATED, "cut off"))
    elements = json.loads(written)
    assert elements[-1] == {"error": {"code": 502, "message": "cut off", "status": "INTERNAL"}}
    assert len(elements) == 1 + len(before)


def test_generate_content_ends_the_array_when_the_encoder_itself_fails(array: StreamEncoder) -> None:
    written = array.opening(None) + array.keepalive
    with pytest.raises(TurnFault) as caught:
        array.feed([TextDelta("a"), call(0, "c", "f"), args(0, "[]"), *DONE])
    elements = json.loads(written + array.fault(caught.value))
    assert [list(element) for element in elements] == [["error"]]


def test_generate_content_streams_a_fault_as_a_data_line(encoder: StreamEncoder) -> None:
    encoder.feed([TextDelta("a")])
    fault = TurnFault(FaultKind.CAPACITY, "busy", retry_after_s=11.2)
    assert encoder.fault(fault) == (
        b'data: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE","details":'
        b'[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12s"}]}}\n\n'
    )


# Whole replies.


def test_generate_content_whole_reply_keeps_the_order_of_blocks(whole: Callable[..., dict[str, Any]]) -> None:
    body = whole(
        TextDelta("a"),
        call(0, "c", "f"),
        call(1, "d", "g"),
        args(0, '{"x":'),
        args(1, '{"y":2}'),
        args(0, "1}"),
        TextDelta("b"),
        Usage(10, 3),
        Finished("tool_calls"),
    )
    assert body == {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"text": "a"},
                        {"functionCall": {"id": "c", "name": "f", "args": {"x": 1}}},
                        {"functionCall": {"id": "d", "name": "g", "args": {"y": 2}}},
                        {"text": "b"},
                    ],
                    "role": "model",
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13},
        "modelVersion": "m",
        "responseId": "r1",
    }


def test_generate_content_whole_reply_that_says_nothing_has_a_part(
    whole: Callable[..., dict[str, Any]],
) -> None:
    assert whole(*DONE)["candidates"][0]["content"]["parts"] == [{"text": ""}]
