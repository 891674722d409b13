"""C, streaming tool calls: C16, C18, C19, C20, C21."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import Call, data_lines, named_events, read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, ask

NUMBERS = ("C16", "C18", "C19", "C20", "C21")

both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
each_surface = pytest.mark.parametrize("surface", SURFACES)


def call(index: int, call_id: str, name: str, *fragments: str) -> list[dict[str, Any]]:
    return [s.tool_call(index, call_id, name), *(s.tool_args(index, each) for each in fragments)]


@both_ways
@each_surface
@pytest.mark.parametrize("split", range(1, 9))
def test_c16_interleaved_fragments_go_to_the_call_they_name(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, split: int, stream: bool
) -> None:
    first, second = '{"x":"1"}', '{"y":"2"}'
    fake.queue(
        [
            *call(0, "a", "f"),
            *call(1, "b", "g"),
            s.tool_args(0, first[:split]),
            s.tool_args(1, second[:split]),
            s.tool_args(0, first[split:]),
            s.tool_args(1, second[split:]),
            s.finish(),
        ]
    )

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f", "g"))

    assert read(surface, reply.data, stream=stream).calls == [Call("a", "f", first), Call("b", "g", second)]


TEXT_AND_TWO_CALLS = [s.text("t"), *call(0, "a", "f", "{}"), *call(1, "b", "g", "{}"), s.finish()]


def test_c18_chat_gives_each_call_its_own_index(standing: Callable[..., Flask], fake: FakeUpstream) -> None:
    fake.queue(TEXT_AND_TWO_CALLS)
    reply = ask(standing(), CHAT, stream=True, **asking.tools(CHAT, "f", "g"))

    deltas = [
        json.loads(line)["choices"][0]["delta"]
        for line in data_lines(reply.text)[:-1]
        if json.loads(line)["choices"]
    ]
    pieces = [piece for delta in deltas for piece in delta.get("tool_calls", ())]
    assert [(piece["index"], piece["id"]) for piece in pieces if "id" in piece] == [(0, "a"), (1, "b")]


def test_c18_responses_gives_text_and_calls_their_own_output_index(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    fake.queue(TEXT_AND_TWO_CALLS)
    reply = ask(standing(), RESPONSES, stream=True, **asking.tools(RESPONSES, "f", "g"))

    events = [json.loads(data) for _, data in named_events(reply.text)]
    added = [event for event in events if event["type"] == "response.output_item.added"]
    assert [(event["output_index"], event["item"]["type"]) for event in added] == [
        (0, "message"),
        (1, "function_call"),
        (2, "function_call"),
    ]
    output = events[-1]["response"]["output"]
    assert [item.get("call_id") for item in output] == [None, "a", "b"]
    assert [item["id"] for item in output] == [event["item"]["id"] for event in added]


def test_c18_messages_gives_every_block_its_own_index(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    fake.queue(TEXT_AND_TWO_CALLS)
    reply = ask(standing(), MESSAGES, stream=True, **asking.tools(MESSAGES, "f", "g"))

    events = [json.loads(data) for _, data in named_events(reply.text)]
    starts = [event for event in events if event["type"] == "content_block_start"]
    assert [(event["index"], event["content_block"].get("id")) for event in starts] == [
        (0, None),
        (1, "a"),
        (2, "b"),
    ]


def test_c18_generate_content_gives_every_call_its_own_part(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    fake.queue(TEXT_AND_TWO_CALLS)
    reply = ask(standing(), GENERATE, **asking.tools(GENERATE, "f", "g"))

    parts = reply.json["candidates"][0]["content"]["parts"]
    assert [part.get("functionCall", {}).get("id") for part in parts] == [None, "a", "b"]


@both_ways
@each_surface
@pytest.mark.parametrize(
    "fragments", [(), ("",), ("", "")], ids=["no frame", "an empty frame", "two empty frames"]
)
def test_c19_a_call_without_arguments_has_an_empty_object(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    fragments: tuple[str, ...],
    stream: bool,
) -> None:
    fake.queue([*call(0, "a", "f", *fragments), s.finish()])

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f"))

    assert read(surface, reply.data, stream=stream).calls == [Call("a", "f", "{}")]


@both_ways
@each_surface
def test_c19_arguments_that_came_as_invalid_json_are_the_text_of_that_field(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue([s.tool_call(0, "a", "f"), s.tool_args(0, invalid_json='{"x":"1"}'), s.finish()])

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f"))

    assert read(surface, reply.data, stream=stream).calls == [Call("a", "f", '{"x":"1"}')]


@each_surface
def test_c20_unparsable_arguments_are_never_an_empty_object(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    fake.queue([*call(0, "a", "f", '{"x": "unterm'), s.finish()])

    reply = ask(standing(), surface, **asking.tools(surface, "f"))

    if surface in (CHAT, RESPONSES):
        assert read(surface, reply.data, stream=False).calls == [Call("a", "f", '{"x": "unterm')]
    else:
        assert reply.status_code == 502
        assert "'f' are not a JSON object" in reply.text


LENGTH = {
    CHAT: "length",
    RESPONSES: "incomplete/max_output_tokens",
    MESSAGES: "max_tokens",
    GENERATE: "MAX_TOKENS",
}


@both_ways
@each_surface
@pytest.mark.parametrize("fragment", ['{"x":', "{", '{"x":"1"'])
def test_c21_a_call_that_the_cap_cut_says_so(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, fragment: str, stream: bool
) -> None:
    fake.queue([s.text("t"), *call(0, "a", "f", fragment), s.usage(3, 5), s.finish()])

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f"), **asking.cap(surface, 5))

    answer = read(surface, reply.data, stream=stream)
    assert (answer.text, answer.finish, answer.error) == ("t", LENGTH[surface], None)
