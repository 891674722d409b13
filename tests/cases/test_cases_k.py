"""K, generateContent, and streams that arrive in odd pieces: C73, C74, C76, C78."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.upstreams.connect import wire_pb2
from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from fake_upstream.connect_wire import envelope
from tests.matrix.answers import Call, read
from tests.matrix.asking import GENERATE, SURFACES, Json, ask

NUMBERS = ("C73", "C74", "C76", "C78")
SNAKE: Json = {
    "contents": [
        {
            "role": "user",
            "parts": [{"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}, {"text": "q"}],
        }
    ],
    "system_instruction": {"parts": [{"text": "S"}]},
    "generation_config": {
        "max_output_tokens": 5,
        "stop_sequences": ["Z"],
        "top_k": 7,
        "top_p": 0.5,
        "thinking_config": {"include_thoughts": True, "thinking_budget": 3},
    },
    "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["f"]}},
    "tools": [
        {
            "function_declarations": [
                {"name": "f", "parameters_json_schema": {"type": "object", "properties": {}}},
                {"name": "g"},
            ]
        }
    ],
    "safety_settings": [],
}


def camel(value: Any) -> Any:
    """``value`` with its keys in camelCase."""
    if isinstance(value, list):
        return [camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    pairs = ((key.split("_"), inner) for key, inner in value.items())
    return {
        first + "".join(word.capitalize() for word in rest): camel(inner) for (first, *rest), inner in pairs
    }


def test_c73_snake_case_means_what_camel_case_means(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    snake, twin = (ask(standing(), GENERATE, **said) for said in (SNAKE, camel(SNAKE)))

    assert (snake.status_code, twin.status_code) == (200, 200)
    first, second = fake.captures()
    assert first["raw_hex"] == second["raw_hex"]
    message = first["message"]
    assert message["system_prompt"] == "S"
    assert message["completion"]["max_tokens"] == 5
    assert message["completion"]["top_k"] == 7
    assert [tool["name"] for tool in message["tools"]] == ["f"]
    assert message["messages"][0]["images"][0]["mime_type"] == "image/png"
    assert "tool_config.function_calling_config.mode" in snake.headers["x-candor-ignored"]
    assert "toolConfig.functionCallingConfig.mode" in twin.headers["x-candor-ignored"]


@pytest.mark.parametrize(
    ("place", "key"),
    [
        ((), "system_instruction"),
        ((), "generation_config"),
        ((), "tool_config"),
        (("generation_config",), "max_output_tokens"),
        (("generation_config", "thinking_config"), "thinking_budget"),
        (("tool_config",), "function_calling_config"),
        (("tool_config", "function_calling_config"), "allowed_function_names"),
        (("tools", 0), "function_declarations"),
        (("tools", 0, "function_declarations", 0), "parameters_json_schema"),
        (("contents", 0, "parts", 0), "inline_data"),
        (("contents", 0, "parts", 0, "inline_data"), "mime_type"),
    ],
)
def test_c73_both_spellings_of_one_key_are_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, place: tuple[Any, ...], key: str
) -> None:
    body = copy.deepcopy(SNAKE)
    holder: Any = body
    for step in place:
        holder = holder[step]
    first, *rest = key.split("_")
    holder[first + "".join(word.capitalize() for word in rest)] = holder[key]

    reply = ask(standing(), GENERATE, **body)

    assert reply.status_code == 400
    assert fake.captures() == []


def test_c74_results_without_ids_are_paired_by_name_and_order(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    called = [
        {"functionCall": {"name": "f", "args": {"x": 1}}},
        {"functionCall": {"name": "g", "args": {}}},
        {"functionCall": {"name": "f", "args": {"x": 2}}},
    ]
    answered = [
        {"functionResponse": {"name": name, "response": {"r": result}}}
        for name, result in (("g", "g1"), ("f", "f1"), ("f", "f2"))
    ]
    contents = [
        {"role": "user", "parts": [{"text": "u"}]},
        {"role": "model", "parts": called},
        {"role": "user", "parts": answered},
    ]

    for _ in range(2):
        assert ask(standing(), GENERATE, contents=contents).status_code == 200

    first, again = fake.captures()
    assert first["raw_hex"] == again["raw_hex"]
    messages = first["message"]["messages"]
    arguments = {
        call["id"]: (call["name"], json.loads(call["arguments_json"]))
        for each in messages
        for call in each.get("tool_calls", ())
    }
    assert len(arguments) == 3
    results = [
        (arguments[each["tool_call_id"]], json.loads(each["text"]))
        for each in messages
        if each["source"] == 4
    ]
    assert results == [
        (("g", {}), {"r": "g1"}),
        (("f", {"x": 1}), {"r": "f1"}),
        (("f", {"x": 2}), {"r": "f2"}),
    ]


ENUM = [
    ("invalid_argument", 400, "INVALID_ARGUMENT"),
    ("permission_denied", 403, "PERMISSION_DENIED"),
    ("not_found", 404, "NOT_FOUND"),
    ("resource_exhausted", 429, "RESOURCE_EXHAUSTED"),
    ("unavailable", 503, "UNAVAILABLE"),
    ("deadline_exceeded", 504, "DEADLINE_EXCEEDED"),
    ("internal", 502, "INTERNAL"),
    ("unauthenticated", 502, "INTERNAL"),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("code", "status", "name"), ENUM)
@pytest.mark.parametrize("message", ["q", '{"error":{"code":429,"message":"q"}}', ' {"message": "q"}'])
def test_c76_errors_have_the_enum_and_a_message_that_is_no_json(
    make_app: Callable[..., Flask],
    fake: FakeUpstream,
    code: str,
    status: int,
    name: str,
    message: str,
    stream: bool,
) -> None:
    fake.queue([s.error(code, message)])

    reply = ask(make_app(CANDOR_LOG_LEVEL="ERROR"), GENERATE, stream=stream)

    error = reply.json["error"]
    assert (reply.status_code, error["code"], error["status"]) == (status, status, name)
    assert error["message"] == "the upstream answered with an error: q"


@pytest.mark.parametrize("surface", SURFACES)
def test_c76_no_surface_hands_on_json_inside_a_message(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    fake.queue([s.error("unavailable", '{"error":{"code":503,"message":"q","status":"UNAVAILABLE"}}')])

    message = ask(standing(), surface).json["error"]["message"]

    assert message.lower().rstrip(".") == "the upstream answered with an error: q"


def stream_bytes() -> bytes:
    """An answer with text, two calls and usage, as it stands on the wire."""
    response = wire_pb2.GetChatMessageResponse
    call = wire_pb2.ToolCall
    frames = [
        response(text='a "quoted\\" wörd'),
        response(),  # an empty message
        response(tool_calls=[call(id="a", name="f"), call(id="b", name="g")]),
        response(tool_calls=[call(id="a", arguments_json='{"x":"}\\"{"}')]),
        response(tool_calls=[call(id="b", arguments_json='{"y":"ü"}')]),
        response(usage=wire_pb2.Usage(fresh=12, completion=5), finish=2),
    ]
    return b"".join(envelope(frame.SerializeToString()) for frame in frames)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 11, 64, 4096])
def test_c78_pieces_of_any_size_give_the_same_answer(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, size: int, stream: bool
) -> None:
    fake.queue([s.dribble(size), s.raw(stream_bytes()), s.end()])

    answer = read(surface, ask(standing(), surface, stream=stream).data, stream=stream)

    assert answer.text == 'a "quoted\\" wörd'
    assert answer.calls == [Call("a", "f", '{"x":"}\\"{"}'), Call("b", "g", '{"y":"ü"}')]


@pytest.mark.parametrize("surface", SURFACES)
def test_c78_a_cut_at_every_byte_of_the_first_frames_gives_the_same_answer(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    data = stream_bytes()
    for position in range(1, 60, 3):
        fake.queue([s.raw(data[:position]), s.sleep(2), s.raw(data[position:]), s.end()])
        answer = read(surface, ask(standing(), surface, stream=True).data, stream=True)
        assert (answer.text, len(answer.calls)) == ('a "quoted\\" wörd', 2)
